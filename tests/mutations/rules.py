"""What each format's own documents say of its records, beyond the rules of JSON and text files.

Keys that may be absent, texts that may hold anything, numbers that may be large. Written from the
documents that the parsers name as their sources, never from the parsers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from tests.mutations.json_spans import Member, Node, nodes, spans
from tests.mutations.operators import Operator

FREE_TEXTS = (
    "naïve café 数据集 \U0001d518".encode(), b"a b  c", b"x" * 3_000, b"100%25", b"=1+1",
    b"{not json}", b"../..", b"(unknown)", b"\\u00e9\\n\\t", b"-",
)  # fmt: skip
LARGE = (b"0", b"1", b"4294967296", b"9007199254740993", b"1099511627776000")


@dataclass(frozen=True)
class Rules:
    """What may be done to a record of a format that stays valid.

    Attributes:
        optional: Keys that may be absent.
        free: Keys whose text may be any.
        large: Keys whose whole number may be any up to 2**53.
        change: A change of a line of text that leaves it valid.
    """

    optional: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    large: frozenset[str] = frozenset()
    change: Operator | None = None


def rules(
    optional: str = "", free: str = "", large: str = "", change: Operator | None = None
) -> Rules:
    """Rules by names parted by blanks."""
    words = (frozenset(text.split()) for text in (optional, free, large))
    return Rules(*words, change=change)


def valid_change(found: Rules) -> Operator:
    """The change that a format's rules allow."""
    return partial(_changed, found)


def _changed(found: Rules, data: bytes, random: Random) -> bytes | None:
    tree = spans(data)
    if tree is None or tree.kind == "number":
        return found.change(data, random) if found.change else None
    choices: list[tuple[frozenset[str], Callable[[bytes, Node, int, Member, Random], Any]]] = [
        (found.optional, _without),
        (found.free, _with_text),
        (found.large, _with_number),
    ]
    names, change = random.choice(choices)
    places = [
        (node, index, member)
        for node in nodes(tree)
        if node.kind == "object"
        for index, member in enumerate(node.members)
        if member.key in names
    ]
    return change(data, *random.choice(places), random) if places else None


def _without(data: bytes, node: Node, index: int, _member: Member, _random: Random) -> bytes:
    texts = [data[m.start : m.value.end] for i, m in enumerate(node.members) if i != index]
    return data[: node.start] + b"{" + b",".join(texts) + b"}" + data[node.end :]


def _with_text(data: bytes, _node: Node, _i: int, member: Member, random: Random) -> bytes | None:
    if member.value.kind != "string":
        return None
    text = random.choice(FREE_TEXTS)
    return data[: member.value.start + 1] + text + data[member.value.end - 1 :]


def _with_number(data: bytes, _node: Node, _i: int, member: Member, random: Random) -> bytes | None:
    number = random.choice(LARGE)
    if member.value.kind == "string":
        number = b'"' + number + b'"'
    elif member.value.kind != "number":
        return None
    return data[: member.value.start] + number + data[member.value.end :]


def large_vpc_numbers(data: bytes, random: Random) -> bytes | None:
    """Let packets and bytes of a record with the default order of fields be any number."""
    fields = data.split(b" ")
    if len(fields) < 14 or not all(fields[n].isdigit() for n in (0, 8, 9)):
        return None
    fields[random.choice((8, 9))] = random.choice(LARGE)
    return b" ".join(fields)


RULES: dict[str, Rules] = {
    "otlp": rules(
        optional="description schemaUrl version startTimeUnixNano flags unit scope name",
        free="description",
        large="asInt",
    ),
    "aws_vpc_flow_log": rules(change=large_vpc_numbers),
    "polyaxon": rules(
        optional="schedule_at wait_time duration meta_info pipeline original pending tags settings "
        "user bookmarked resources readme description raw_content live_state inputs outputs "
        "message reason managed_by is_managed path state summary collectLogs termination volumes "
        "imagePullSecrets startTime lastReconcileTime resourceVersion",
        free="description readme message",
    ),
}
