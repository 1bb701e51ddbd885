"""AWS VPC flow logs: default fields with and without a first line, version 5, fields reordered."""

_DEFAULT = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start "
    "end action log-status"
)
_EVERY = (
    f"{_DEFAULT} vpc-id subnet-id instance-id tcp-flags type pkt-srcaddr pkt-dstaddr region az-id "
    "sublocation-type sublocation-id pkt-src-aws-service pkt-dst-aws-service flow-direction "
    "traffic-path reject-reason"
)
_SHUFFLED = (
    "interface-id srcaddr pkt-srcaddr dstaddr pkt-dstaddr action bytes packets start end protocol "
    "srcport dstport log-status region"
)
_INTERFACE = "eni-0a1b2c3d4e5f60718"


def _default(number: int, status: str = "OK") -> str:
    start = 1_773_223_320 + 60 * number
    if status == "NODATA":
        return f"2 111122223333 {_INTERFACE} - - - - - - - {start} {start + 55} - NODATA"
    if status == "SKIPDATA":
        return f"2 111122223333 {_INTERFACE} - - - - - - - {start} {start + 55} - SKIPDATA"
    action = "REJECT" if number % 5 == 0 else "ACCEPT"
    return (
        f"2 111122223333 {_INTERFACE} 10.30.1.{20 + number} 198.51.100.{number} {40_000 + number} "
        f"443 6 {30 + number} {40_009 * (number + 1)} {start} {start + 58} {action} OK"
    )


def _every(number: int) -> str:
    address = f"2001:db8::{number:x}" if number % 4 == 0 else f"10.30.2.{number}"
    kind = "IPv6" if number % 4 == 0 else "IPv4"
    ports = "0 0 1" if number % 7 == 6 else f"443 {50_000 + number} 6"
    return (
        f"5 111122223333 {_INTERFACE} {address} {address} {ports} 12 {1_500 * number + 40} "
        f"{1_773_223_320 + number} {1_773_223_380 + number} ACCEPT OK vpc-0a1b2c3d subnet-0a1b2c3d "
        f"i-0a1b2c3d {number % 20} {kind} {address} 203.0.113.{number} eu-west-1 euw1-az1 - - "
        f"{'S3' if number % 2 else '-'} - {'ingress' if number % 2 else 'egress'} "
        f"{'-' if number % 2 else '8'} -"
    )


def _shuffled(number: int) -> str:
    start = 1_773_223_000 + 600 * number
    return (
        f"{_INTERFACE} 192.0.2.{number} 10.0.0.{number} 203.0.113.{number} - ACCEPT "
        f"{10**12 + number} {10**9} {start} {start + 600} 17 53 {33_000 + number} OK us-east-1"
    )


def _text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


FILES: tuple[bytes, ...] = (
    _text(_DEFAULT, *(_default(n) for n in range(12)), _default(12, "NODATA")),
    _text(*(_default(n, "SKIPDATA" if n == 4 else "OK") for n in range(8))),
    _text(_EVERY, *(_every(n) for n in range(12))),
    _text(_SHUFFLED, *(_shuffled(n) for n in range(8))),
)
