"""CoreDNS: lines of all versions in their wrappers, its own JSON, lines of other plugins."""

import json

_AT = "2026-03-10T08:00:{:02d}.{:09d}Z"
_LINE = '192.0.2.31:{port} - {id} "{type} IN {name} udp 63 false 1232" {tail}'
_OK = "NOERROR qr,rd,ra 94 0.001293327s"


def _line(number: int, kind: str = "A", name: str = "data.example.com.", tail: str = _OK) -> str:
    return _LINE.format(port=40_000 + number, id=number, type=kind, name=name, tail=tail)


_ASKED = [
    _line(1),
    _line(2, "AAAA"),
    _line(
        3, name="pypi.example.org.ml.svc.cluster.local.", tail="NXDOMAIN qr,aa,rd 147 0.000046555s"
    ),
    _line(4, tail="- - 0 6.002435968s"),
    _line(5, tail="SERVFAIL qr,rd 36 2.5ms"),
    _line(6, "TYPE65", r"a\032b.example.com."),
    _line(7) + ' "0"',
    _line(8).replace("192.0.2.31:", "[2001:db8::1]:").replace("udp", "tcp"),
]
_OTHERS = [
    ".:53",
    "CoreDNS-1.11.1",
    "linux/amd64, go1.20.7, ae2bbc2",
    "[INFO] plugin/reload: Running configuration SHA512 = 0123abcd",
    "[ERROR] plugin/errors: 2 other.example.com. A: read udp 192.0.2.53:53: i/o timeout",
    "[WARNING] plugin/errors: 4 errors like '^error.*!$' occurred in last 30s",
    "[INFO] SIGTERM: Shutting down servers then terminating",
    '[INFO] 127.0.0.1:4 - 4 "HINFO IN 801711229840.2946366312. udp 57 false 512" NXDOMAIN qr 9 1s',
]


def _cri(number: int, text: str, tag: str = "F") -> str:
    return f"{_AT.format(number, number)} stdout {tag} {text}"


def _own(number: int, **fields: object) -> str:
    record = {
        "time": _AT.format(number, number),
        "level": "INFO",
        "msg": _line(number),
        "plugin": "log",
        "client_ip": "192.0.2.31",
        "qname": "data.example.com.",
        "qtype": "A",
        "rcode": "NOERROR",
        "duration_seconds": 0.001293327,
    }
    return json.dumps(record | fields)


def _file(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


FILES: tuple[bytes, ...] = (
    _file(*(_cri(n, line) for n, line in enumerate([*_OTHERS[:4], *_ASKED, *_OTHERS[4:]]))),
    _file(
        _line(1).join(["2019-01-24T17:13:10.262Z [INFO] ", ""]),
        *(f"{_AT.format(n, n)} [INFO] {line}" for n, line in enumerate(_ASKED)),
        _line(9).replace("- 9 ", "- [10/Mar/2026:09:00:06 +0100] 9 "),
    ),
    _file(
        *(_own(n) for n in range(4)),
        _own(4, msg="asked", rcode=None),
        _own(5, msg="2 other.example.com. A: timeout", plugin="errors", level="ERROR"),
        _own(6, msg="Running configuration", plugin="reload"),
    ),
)
