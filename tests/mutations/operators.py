"""What is done to one record: pure functions of its bytes and a source of randomness.

`MEANING_KEPT` and `VALIDITY_KEPT` are the oracle, which knows nothing of the parsers: by the rules
of JSON, RFC 3339 and text files the record says the same behind the former, and is still a valid
record behind the latter. Of what the others give nothing is known, but that it is some record.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from tests.mutations.json_spans import Member, Node, nodes, spans

Operator = Callable[[bytes, Random], bytes | None]
"""Gives the changed record; none where there is nothing that it could change."""

_TIME = re.compile(
    rb"(?<![\d.])(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)(?![\d:])"
)
_NUMBER = re.compile(rb"(?<![\w.\"-])-?\d+(?:\.\d+)?(?![\w.\"])")
HUGE = (
    b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"-1", b"-0", b"0",
    b"-9223372036854775809", b"1e400", b"-1e400", b"1e-400", b"0.1", b"1.5e3", b"4294967296",
    b"9" * 400, b"0." + b"3" * 400, b"65536", b"253402300800", b"99999999999999999",
)  # fmt: skip
TIMES = (
    b"1970-01-01T00:00:00Z", b"1969-12-31T23:59:59.999999999Z", b"9999-12-31T23:59:59.999999999Z",
    b"2026-06-30T23:59:60Z", b"2026-06-30T23:59:60.999999999Z", b"0000-01-01T00:00:00Z",
    b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-14:00", b"10000-01-01T00:00:00Z",
    b"2026-03-10T12:00:00", b"2026-03-10T12:00:00.123Z", b"2026-03-10T12:00:00.123456Z",
    b"2026-03-10T12:00:00.123456789Z", b"2026-03-10T12:00:00.1234567890123Z",
    b"2026-03-10T12:00:00+05:30", b"2026-03-10t12:00:00z", b"2026-13-40T25:61:61Z",
    b"2026-03-10T24:00:00Z", b"2026-02-29T00:00:00Z", b"2026-03-10T12:00:00+99:99", b"-1",
)  # fmt: skip
_OTHER_VALUES = (
    b"null", b"true", b"false", b"0", b"-1", b'""', b'"-"', b"[]", b"{}", b"[null]", b'"x"',
    b'{"a":{"b":[1,2,{"c":null}]}}', b"[[]]", b'[1,"2",3.5]', b'"NaN"', b'"-5s"', b'"-0.25"',
    b'"' + b"9" * 400 + b'"', b'"9223372036854775808"', b"1e308", b'" "', b'"\\u0000"',
)  # fmt: skip
_TEXTS = (
    b"\\u0000", b"\\u202e", b"\\n\\r\\t", b"' OR 1=1; DROP TABLE x--",
    b"%00%ff", b"..\\/..\\/etc", b"a" * 70_000, "ünïcødé \U0001d518".encode(), b"\\ufeff",
    b"{{}}", b"$(x)", b"," * 300, b"\\\"" * 300,
)  # fmt: skip


def _put(data: bytes, start: int, end: int, text: bytes) -> bytes:
    return data[:start] + text + data[end:]


def _choose(data: bytes, random: Random, *kinds: str) -> Node | None:
    """Some value of the kinds, the record itself among them."""
    tree = spans(data)
    found = [] if tree is None else [n for n in nodes(tree) if not kinds or n.kind in kinds]
    return random.choice(found) if found else None


def _choose_member(data: bytes, random: Random) -> tuple[Node, int, Member] | None:
    tree = spans(data)
    if tree is None:
        return None
    found = [(n, i, m) for n in nodes(tree) if n.kind == "object" for i, m in enumerate(n.members)]
    return random.choice(found) if found else None


# What keeps the meaning of a record.


def unknown_key_at_top(data: bytes, random: Random) -> bytes | None:
    """Add a key that no version has, at the top."""
    tree = spans(data)
    if tree is None or tree.kind != "object" or not tree.members:
        return None
    value = random.choice((b'"1"', b"1", b"null", b"[1,2]", b'{"a":{"b":"c"}}', b"2.5", b"true"))
    at = random.choice(tree.members).start
    return _put(data, at, at, b'"xUnknownKey9":' + value + b",")


def reordered_keys(data: bytes, random: Random) -> bytes | None:
    """Shuffle the keys of an object, whose order says nothing."""
    node = _choose(data, random, "object")
    if node is None or len(node.members) < 2:
        return None
    texts = [data[m.start : m.value.end] for m in node.members]
    random.shuffle(texts)
    return _put(data, node.start, node.end, b"{" + b",".join(texts) + b"}")


def spaces(data: bytes, random: Random) -> bytes | None:
    """Put blanks and tabs between the values."""
    tree = spans(data)
    if tree is None or tree.kind not in {"object", "array"}:
        return None
    places = sorted({m.value.start for n in nodes(tree) for m in n.members}, reverse=True)
    for place in places:
        if random.random() < 0.5:
            data = _put(data, place, place, random.choice((b" ", b"  ", b"\t")))
    return data


def escaped_letters(data: bytes, random: Random) -> bytes | None:
    """Write letters of a text as escapes of JSON."""
    node = _choose(data, random, "string")
    if node is None:
        return None
    text = data[node.start + 1 : node.end - 1]
    if not text or b"\\" in text or not text.isascii():
        return None
    at = random.randrange(len(text))
    escape = b"\\u%04x" % text[at]
    return _put(data, node.start + 1 + at, node.start + 2 + at, escape)


def zero_fraction_digits(data: bytes, random: Random) -> bytes | None:
    """Write a time with more fraction digits, which are zeros."""
    found = [m for m in _TIME.finditer(data) if len(m[2] or b"") < 9]
    if not found:
        return None
    match = random.choice(found)
    digits = (match[2] or b"").ljust(random.choice((3, 6, 9)), b"0")
    return _put(data, match.end(1), match.start(3), b"." + digits)


def zone_as_offset(data: bytes, random: Random) -> bytes | None:
    """Write `Z` as `+00:00`."""
    found = [m for m in _TIME.finditer(data) if m[3] == b"Z"]
    if not found:
        return None
    match = random.choice(found)
    return _put(data, match.start(3), match.end(3), b"+00:00")


def carriage_return(data: bytes, random: Random) -> bytes | None:  # noqa: ARG001
    """End the line as Windows does."""
    return data if data.endswith(b"\r") else data + b"\r"


# What keeps a record valid.


def unknown_key(data: bytes, random: Random) -> bytes | None:
    """Add a key that no version has, to some object inside."""
    node = _choose(data, random, "object")
    if node is None or not node.members:
        return None
    at = random.choice(node.members).start
    return _put(data, at, at, b'"xUnknownKey9":"1",')


def fewer_fraction_digits(data: bytes, random: Random) -> bytes | None:
    """Write a time with fewer fraction digits."""
    found = [m for m in _TIME.finditer(data) if m[2]]
    if not found:
        return None
    match = random.choice(found)
    digits = match[2][: random.choice((0, 3, 6))]
    return _put(data, match.end(1), match.start(3), b"." + digits if digits else b"")


# What may make anything of a record of JSON, which is JSON still.


def duplicate_key(data: bytes, random: Random) -> bytes | None:
    """Write a key twice, with the same or another value."""
    found = _choose_member(data, random)
    if found is None:
        return None
    _, _, member = found
    text = data[member.start : member.value.end]
    if random.random() < 0.7:
        text = text[: member.value.start - member.start] + random.choice(_OTHER_VALUES)
    return _put(data, member.start, member.start, text + b",")


def dropped_key(data: bytes, random: Random) -> bytes | None:
    """Leave a key out."""
    found = _choose_member(data, random)
    if found is None:
        return None
    node, index, _ = found
    texts = [data[m.start : m.value.end] for i, m in enumerate(node.members) if i != index]
    return _put(data, node.start, node.end, b"{" + b",".join(texts) + b"}")


def other_value(data: bytes, random: Random) -> bytes | None:
    """Put a value of another type or size in the place of one."""
    node = _choose(data, random)
    if node is None:
        return None
    return _put(data, node.start, node.end, random.choice(_OTHER_VALUES))


def huge_number(data: bytes, random: Random) -> bytes | None:
    """Put a huge, a negative or a broken number in the place of one."""
    node = _choose(data, random, "number") or _choose(data, random, "string")
    number = random.choice(HUGE)
    if node is None:
        return None
    if node.kind == "string":
        number = b'"' + number + b'"'
    return _put(data, node.start, node.end, number)


def other_time(data: bytes, random: Random) -> bytes | None:
    """Put another time in the place of one, possible or not."""
    found = list(_TIME.finditer(data))
    if not found:
        return None
    match = random.choice(found)
    return _put(data, *match.span(), random.choice(TIMES))


def other_text(data: bytes, random: Random) -> bytes | None:
    """Put a hostile text in the place of one, or behind it."""
    node = _choose(data, random, "string")
    if node is None:
        return None
    start = node.end - 1 if random.random() < 0.4 else node.start + 1
    return _put(data, start, node.end - 1, random.choice(_TEXTS))


def negative(data: bytes, random: Random) -> bytes | None:
    """Put a sign before a number, or before a text that begins with a digit."""
    node = _choose(data, random, "number", "string")
    if node is None:
        return None
    at = node.start + (node.kind == "string")
    return _put(data, at, at, b"-") if data[at : at + 1].isdigit() else None


def exchanged_values(data: bytes, random: Random) -> bytes | None:
    """Let two values change places."""
    one, two = _choose(data, random), _choose(data, random)
    if one is None or two is None or one.end > two.start:
        return None
    between = data[one.end : two.start]
    changed = data[two.start : two.end] + between + data[one.start : one.end]
    return _put(data, one.start, two.end, changed)


# Damage of bytes: the record may be no JSON any more.


def truncated(data: bytes, random: Random) -> bytes | None:
    """Cut the end off."""
    return data[: random.randrange(1, len(data))] if len(data) > 1 else None


def beheaded(data: bytes, random: Random) -> bytes | None:
    """Cut the beginning off, as where a file was rotated."""
    return data[random.randrange(1, len(data)) :] if len(data) > 1 else None


def cut_out(data: bytes, random: Random) -> bytes | None:
    """Cut some bytes out."""
    at = random.randrange(len(data))
    return data[:at] + data[at + random.choice((1, 2, 5, 40)) :]


def flipped_bit(data: bytes, random: Random) -> bytes | None:
    """Flip some bits."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def other_bytes(data: bytes, random: Random) -> bytes | None:
    """Write other bytes over some: NUL, no UTF-8, any."""
    at = random.randrange(len(data))
    size = random.choice((0, 1, 4))
    text = random.choice((b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", random.randbytes(3)))
    return _put(data, at, at + size, text)


def inserted_mark(data: bytes, random: Random) -> bytes | None:
    """Insert a sign that structure is made of."""
    marks = (
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b" ",
        b"\t",
        b"#",
        b"\r",
        b"\xef\xbb\xbf",
    )
    at = random.randrange(len(data) + 1)
    return _put(data, at, at, random.choice(marks))


def torn(data: bytes, random: Random) -> bytes | None:
    """Break the line in two."""
    at = random.randrange(len(data))
    return _put(data, at, at, b"\n")


def glued_inside(data: bytes, random: Random) -> bytes | None:
    """Write a part of the record into itself, as where two processes write one file."""
    at, start = random.randrange(len(data)), random.randrange(len(data))
    return _put(data, at, at, data[start : start + random.randrange(1, 200)])


def deep(data: bytes, random: Random) -> bytes | None:
    """Put very deep JSON in the place of a value."""
    node = _choose(data, random)
    if node is None:
        return None
    depth = random.choice((200, 2_000, 60_000))
    opened, closed = random.choice(((b"[", b"]"), (b'{"a":', b"}")))
    text = opened * depth + b"1" + closed * (depth if random.random() < 0.8 else depth // 2)
    return _put(data, node.start, node.end, text)


def lone_surrogate(data: bytes, random: Random) -> bytes | None:
    """Put half of a pair of escapes into a text: decoders refuse all that it stands in."""
    node = _choose(data, random, "string")
    if node is None:
        return None
    text = random.choice((b"\\ud800", b"\\udfff\\ud800", b"\\udc00x"))
    return _put(data, node.end - 1, node.end - 1, text)


def no_json_number(data: bytes, random: Random) -> bytes | None:
    """Put a number that JSON does not know in the place of one."""
    node = _choose(data, random, "number", "word")
    if node is None:
        return None
    numbers = b"NaN", b"Infinity", b"-Infinity", b"0x10", b"01", b"1.", b".5", b"+1", b"1e", b"--1"
    return _put(data, node.start, node.end, random.choice(numbers))


# Texts of fields: quotes, missing and additional fields.


def _delimiter(data: bytes) -> bytes:
    return max((b"\t", b",", b" "), key=lambda mark: (data.count(mark), mark == b"\t"))


def _on_fields(
    change: Callable[[list[bytes], Random], None], data: bytes, random: Random
) -> bytes | None:
    mark = _delimiter(data)
    fields = data.split(mark)
    change(fields, random)
    return mark.join(fields)


def _missing_field(fields: list[bytes], random: Random) -> None:
    del fields[random.randrange(len(fields))]


def _additional_field(fields: list[bytes], random: Random) -> None:
    text = random.choice((b"", b"-", b"x", b'"', b'"a b"', fields[random.randrange(len(fields))]))
    fields.insert(random.randrange(len(fields) + 1), text)


def _other_field(fields: list[bytes], random: Random) -> None:
    texts = (b"", b"-", b'"', b'""', b'"x', b"\\", b"x" * 70_000, b"\x00", b"%", b"[", b"'", b"(")
    fields[random.randrange(len(fields))] = random.choice(texts + HUGE + TIMES)


def _exchanged_fields(fields: list[bytes], random: Random) -> None:
    one, two = random.randrange(len(fields)), random.randrange(len(fields))
    fields[one], fields[two] = fields[two], fields[one]


def number_in_text(data: bytes, random: Random) -> bytes | None:
    """Put another number in the place of one, wherever it stands."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return None
    return _put(data, *random.choice(found).span(), random.choice(HUGE))


MEANING_KEPT: dict[str, Operator] = {
    "unknown_key_at_top": unknown_key_at_top,
    "reordered_keys": reordered_keys,
    "spaces": spaces,
    "escaped_letters": escaped_letters,
    "zero_fraction_digits": zero_fraction_digits,
    "zone_as_offset": zone_as_offset,
}
VALIDITY_KEPT: dict[str, Operator] = {
    "unknown_key": unknown_key,
    "fewer_fraction_digits": fewer_fraction_digits,
}
JSON_CHANGES: dict[str, Operator] = {
    "duplicate_key": duplicate_key,
    "dropped_key": dropped_key,
    "other_value": other_value,
    "huge_number": huge_number,
    "other_time": other_time,
    "other_text": other_text,
    "negative": negative,
    "exchanged_values": exchanged_values,
}
"""Changes of a record of JSON that leave it JSON."""
LINE_MEANING_KEPT: dict[str, Operator] = {"carriage_return": carriage_return}
DAMAGE: dict[str, Operator] = {
    "truncated": truncated,
    "beheaded": beheaded,
    "cut_out": cut_out,
    "flipped_bit": flipped_bit,
    "other_bytes": other_bytes,
    "inserted_mark": inserted_mark,
    "torn": torn,
    "glued_inside": glued_inside,
    "deep": deep,
    "lone_surrogate": lone_surrogate,
    "no_json_number": no_json_number,
    "other_time": other_time,
    "number_in_text": number_in_text,
}
"""Changes of a line that leave nothing sure."""
FIELD_CHANGES: dict[str, Operator] = {
    "missing_field": partial(_on_fields, _missing_field),
    "additional_field": partial(_on_fields, _additional_field),
    "other_field": partial(_on_fields, _other_field),
    "exchanged_fields": partial(_on_fields, _exchanged_fields),
}
"""The same for lines of fields."""
GARBAGE = (
    b"{}", b"[]", b"null", b"1", b'"x"', b'{"a":1}', b"[1,2]", b"[{}]", b"{", b"[", b"}", b"]",
    b"time=2026-03-10T00:00:00Z level=info msg=started", b"\x00\x00\x00", b"\xff\xfe\x00{",
    b"x" * 70_000, b"{" * 50_000, b"[" * 50_000, b'{"a":' * 50_000, b"#", b"#fields", b"# x", b"-",
    b'"', b"\\", b",", b"\t", b"\xef\xbb\xbf{}",
    b"9" * 400,
    b'{"message":"\\ud800"}', b"<html></html>", b"%", b"None",
)  # fmt: skip
"""Lines that are no record of any format."""
