"""Fields of a record of bytes as flow logs state them, in the form of `volume_records`.

Every function takes what a log states, null where it states nothing, and refuses what the field
cannot hold. Temporality is the format's declaration or the export's `temporality` setting; no value
ever decides it.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from transforms.staging.refusal import refuse
from transforms.staging.values import INT64_MAX, instant_of_microseconds

TABLE = "volume_records"
LOSSES = "loss_reports"
OVERLAY_PORTS = frozenset({4789, 6081, 8472})
"""VXLAN, Geneve, and VXLAN as Linux has it by default: destination ports of an overlay's UDP."""

_TRANSPORTS = {
    1: "ICMP", 6: "TCP", 17: "UDP", 47: "GRE", 50: "ESP", 58: "ICMPv6", 132: "SCTP",
}  # fmt: skip
"""Names of IANA protocol numbers; others stay numbers."""
_FLAGS = {
    "FIN": 1, "SYN": 2, "RST": 4, "PSH": 8, "ACK": 16, "URG": 32, "ECE": 64, "CWR": 128,
    "SYN_ACK": 256, "FIN_ACK": 512, "RST_ACK": 1024,
}  # fmt: skip
"""The flags of TCP; the last three are NetObserv's, for packets with both."""
_LETTERS = {
    "F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32, "E": 64, "C": 128, ".": 0, " ": 0, "X": 0,
}  # fmt: skip
_MOST_MICROSECONDS = 253_402_300_799_999_999
"""The end of the year 9999."""
MOST_MILLISECONDS = _MOST_MICROSECONDS // 1_000


def whole(stated: object, maximum: int, word: str) -> int | None:
    """A whole number from 0, also written as text or as a float; null where it is absent.

    Raises:
        RefusedError: It is none, or out of range; the reason begins with the word.
    """
    value = stated
    if isinstance(value, str):
        digits = value.isascii() and value.isdigit() and len(value) <= 20
        value = int(value) if digits else value
    elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    if value is None or value == "":
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(word, "a whole number", stated)
    if not 0 <= value <= maximum:
        # As it is written, so that its place can be found.
        refuse(word, f"0 to {maximum}", stated)
    return value


def octets(stated: object, word: str) -> int | None:
    """A number of bytes or packets.

    Raises:
        RefusedError: It is none, or more than a column holds.
    """
    return whole(stated, INT64_MAX, word)


def port(stated: object, word: str) -> int | None:
    """A port.

    Raises:
        RefusedError: It is none.
    """
    return whole(stated, 65_535, word)


def port_of(transport: str | None, stated: object, word: str) -> int | None:
    """A port of a transport; null where it has none, for which clouds write 0.

    Raises:
        RefusedError: It is none.
    """
    number = port(stated, word)
    return None if number == 0 and not has_ports(transport) else number


def transport(stated: object, word: str) -> str | None:
    """Name of an IANA protocol number, else the number as text.

    Raises:
        RefusedError: It is no such number.
    """
    number = whole(stated, 255, word)
    return None if number is None else _TRANSPORTS.get(number, str(number))


def _transport_named(stated: str | None) -> str | None:
    """Transport by its name in capitals; null where the text is no short word."""
    name = (stated or "")[:16].upper().replace("IPV6-ICMP", "ICMPV6").replace("ICMP6", "ICMPV6")
    if name == "ICMPV6":
        return "ICMPv6"
    return name if name.isascii() and name.isalnum() and len(name) <= 12 else None


def stated_transport(stated: object, word: str) -> str | None:
    """Transport by its IANA number or its name, as collectors write either.

    Raises:
        RefusedError: It is another number.
    """
    if isinstance(stated, str) and not stated.isdigit():
        return _transport_named(stated)
    return transport(stated, word)


def interface_numbers(values: Mapping[str, Any], *names: str) -> list[str] | None:
    """Numbers of an exporter's interfaces, but 0, which is none.

    Raises:
        RefusedError: One is no number.
    """
    numbers = [octets(values.get(name), name) for name in names]
    return [str(number) for number in numbers if number] or None


def columns_of(end: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of an end, `source` or `destination`, by what they say of it."""
    return {f"{end}_{what}": value for what, value in values.items()}


def has_ports(name: str | None) -> bool:
    """Whether a transport has ports; what a log writes there for others is something else."""
    return name in {"TCP", "UDP", "SCTP", "DCCP", "UDPLITE", "33", "136", None}


def flag_bits(names: list[str], word: str) -> int:
    """Bit set of TCP flags by name.

    Raises:
        RefusedError: A text names none.
    """
    bits = 0
    for name in names:
        bit = _FLAGS.get(name.upper())
        if bit is None:
            refuse(word, "names of TCP flags", name)
        bits |= bit
    return bits


def flags(stated: object, word: str) -> int | None:
    """Bit set of TCP flags: a number, or letters in their places such as `.AP.S.`.

    Raises:
        RefusedError: It is neither.
    """
    if not isinstance(stated, str) or not stated or stated.isdigit():
        return whole(stated, 65_535, word)
    bits = 0
    for letter in stated[:16]:
        bit = _LETTERS.get(letter)
        if bit is None:
            refuse(word, "letters of TCP flags", stated)
        bits |= bit
    return bits


def text(values: Mapping[str, Any], name: str) -> str | None:
    """A text; null where it is absent or empty.

    Raises:
        RefusedError: It is something else.
    """
    value = values.get(name)
    if value is not None and not isinstance(value, str):
        refuse(name, "a text", value)
    return value or None


def instant(stated: object, unit: int, word: str) -> datetime:
    """An instant, counted since 1970.

    Args:
        stated: A whole number.
        unit: Microseconds of its unit.
        word: Name of the field.

    Raises:
        RefusedError: It is no such number, or absent.
    """
    number = whole(stated, _MOST_MICROSECONDS // unit, word)
    at = None if number is None else instant_of_microseconds(number * unit)
    if at is None:
        refuse("no_time", f"a time in {word}", stated)
    return at


def check_interval(start_at: datetime, end_at: datetime, longest: timedelta) -> None:
    """Refuse an interval that ends before it starts, or is longer than any can be.

    Raises:
        RefusedError: It is.
    """
    if start_at > end_at:
        refuse("interval", "an end behind the start")
    if end_at - start_at > longest:
        refuse("interval", f"at most {int(longest.total_seconds())} seconds")
