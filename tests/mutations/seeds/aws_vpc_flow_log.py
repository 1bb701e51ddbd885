"""AWS flow logs: default fields with and without a first line, later versions, rows, gateways."""

import json

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


_LATER = (
    f"{_EVERY} ecs-cluster-name ecs-task-id ecs-container-id resource-id encryption-status "
    "instance-tag interface-type next-hop-interface-id next-hop-az-id next-hop-interface-type"
)


def _later(number: int) -> str:
    return (
        f"{_every(number)} train 0f1e{number} c{number} - {number % 4} a%20tag "
        f"{'nat_gateway' if number % 3 else '-'} eni-0b{number} euw1-az2 transit_gateway"
    )


def _gateway(number: int) -> str:
    return (
        "6 TransitGateway 111122223333 tgw-0a1b2c3d tgw-attach-0a1b 111122223333 444455556666 "
        "vpc-0a vpc-0b subnet-0a subnet-0b eni-0a eni-0b euw1-az1 euw1-az2 tgw-attach-0c2d "
        f"10.30.1.{number} 10.40.1.9 {40_000 + number} 443 6 {30 + number} {40_009 + number} "
        f"{1_773_223_320 + number} {1_773_223_380 + number} {'SKIPDATA' if number == 3 else 'OK'} "
        f"IPv4 0 0 {number} 0 26 eu-west-1 {'ingress' if number % 2 else 'egress'} - -"
    )


def _row(number: int) -> str:
    """A row of a Parquet file, whose numbers are numbers."""
    values = zip(_EVERY.split(), _every(number).split(), strict=True)
    row: dict[str, str | int | None] = {
        name.replace("-", "_"): None
        if text == "-"
        else int(text)
        if text.isdigit() and name != "account-id"
        else text
        for name, text in values
    }
    if number == 5:
        row |= {"log_status": "SKIPDATA", "bytes": None, "packets": None}
    return json.dumps(row)


def _text(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


FILES: tuple[bytes, ...] = (
    _text(_DEFAULT, *(_default(n) for n in range(12)), _default(12, "NODATA")),
    _text(*(_default(n, "SKIPDATA" if n == 4 else "OK") for n in range(8))),
    _text(_EVERY, *(_every(n) for n in range(12))),
    _text(_SHUFFLED, *(_shuffled(n) for n in range(8))),
    _text(_LATER, *(_later(n) for n in range(8))),
    _text(*(_gateway(n) for n in range(8))),
    _text(*(_row(n) for n in range(8))),
)
