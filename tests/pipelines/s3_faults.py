"""A proxy on loopback between podledger and the S3 server, which damages answers as it is told.

Signatures hold, since the name of the host that a client signs goes on to the server.
"""

import http.client
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

Kind = Literal[
    "InternalError",
    "SlowDown",
    "AccessDenied",
    "XMinioStorageFull",
    "reset",
    "lost answer",
    "short",
    "silence",
]
STATUS = {"InternalError": 500, "SlowDown": 503, "AccessDenied": 403, "XMinioStorageFull": 507}
_HOP = {"connection", "keep-alive", "transfer-encoding", "expect"}


@dataclass
class Fault:
    """What goes wrong.

    Attributes:
        kind: An error of the store that it answers in place of doing what was asked; `reset`: the
            connection breaks in the middle of what is read, or before what is written arrives;
            `lost answer`: it does what was asked, and the connection breaks; `short`: half of what
            is read, as if that were all; `silence`: nothing is done and nothing answered.
        method: Of these requests.
        place: That these match: path and query.
        after: So many of them go well first.
        times: So many go wrong; all if none.
        happened: How many did.
    """

    kind: Kind
    method: str = "GET"
    place: str = ""
    after: int = 0
    times: int | None = None
    happened: int = field(default=0)

    def meets(self, method: str, path: str) -> bool:
        """Whether this request goes wrong."""
        if method != self.method or not re.search(self.place, path):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        if self.times is not None and self.happened >= self.times:
            return False
        self.happened += 1
        return True


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    server: str
    faults: list[Fault]
    lock: threading.Lock
    ended: threading.Event


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Proxy

    def _answer(self) -> None:
        with self.server.lock:
            fault = next((f for f in self.server.faults if f.meets(self.command, self.path)), None)
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if fault is not None and fault.kind in STATUS:
            text = f"<Error><Code>{fault.kind}</Code><Message>as told</Message></Error>".encode()
            body = b"" if self.command == "HEAD" else text
            self._send(STATUS[fault.kind], {"Content-Type": "application/xml"}, body, len(body))
            return
        if fault is not None and fault.kind == "silence":
            self.server.ended.wait()
            self._break()
            return
        if fault is not None and fault.kind == "reset" and self.command == "PUT":
            self._break()
            return
        there = http.client.HTTPConnection(self.server.server, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOP}
        there.request(self.command, self.path, body=sent, headers=headers)
        answer = there.getresponse()
        body = answer.read()
        length = int(answer.headers.get("Content-Length") or len(body))
        if self.command != "HEAD":
            length = len(body)
        there.close()
        if fault is not None and fault.kind == "short":
            body = body[: len(body) // 2]
            length = len(body)
        if fault is not None and fault.kind == "lost answer":
            self._break()
            return
        if fault is not None and fault.kind == "reset":
            self._send(answer.status, dict(answer.headers), body[: len(body) // 2], length)
            self._break()
            return
        self._send(answer.status, dict(answer.headers), body, length)

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _answer  # noqa: N815  as the base class asks

    def _send(self, status: int, headers: dict[str, str], body: bytes, length: int) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in {*_HOP, "content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def _break(self) -> None:
        """Break the connection off, as a cable does: with a reset, not an end."""
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        with suppress(OSError):
            self.connection.close()

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""

    def handle(self) -> None:
        """A client that goes away is no error of the proxy."""
        with suppress(OSError, ValueError):
            super().handle()

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()


@contextmanager
def damaging(endpoint: str, *faults: Fault) -> Iterator[str]:
    """Stand in front of a server; gives the endpoint that clients are to use."""
    proxy = _Proxy(("127.0.0.1", 0), _Handler)
    proxy.server = urlsplit(endpoint).netloc
    proxy.faults = list(faults)
    proxy.lock = threading.Lock()
    proxy.ended = threading.Event()
    thread = threading.Thread(target=proxy.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_address[1]}"
    finally:
        proxy.ended.set()
        proxy.shutdown()
        proxy.server_close()
        thread.join()
