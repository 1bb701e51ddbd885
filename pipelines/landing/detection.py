"""Tell the format of a file from its content, never from its name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.landing.formats import parsers
from pipelines.landing.readers import head, scan
from transforms.staging.parser import Parser, Recognition
from transforms.staging.wrapped_files import Wrapping, wrapping_for, wrappings

_IS_SURE = 2
"""Score from which a format is told by its structure."""


@dataclass(frozen=True)
class Detected:
    """What a file is.

    Attributes:
        parser: Its parser.
        variant: What exactly, for people.
    """

    parser: Parser
    variant: str


def identify(path: Path, format_name: str | None, record_format: str | None) -> Detected | str:
    """Tell what a file is.

    Args:
        path: The file.
        format_name: Its format, if it is stated.
        record_format: The record format that is stated for it.

    Returns:
        The format, or why none is believed.
    """
    beginning = head(path)
    if format_name is not None:
        parser = parsers()[format_name]
        contradiction = verify(parser, beginning)
        found = _without_wrappers(parser, beginning, wrappings(beginning))
        return contradiction or Detected(parser, found.variant)
    if not beginning and (broken := scan(path).broken) is not None:
        return broken.reason
    return detect(beginning, has_record_format=record_format is not None)


def detect(head: bytes, *, has_record_format: bool = False) -> Detected | str:
    """Choose the parser that recognises the head of a file most surely.

    Where none is sure of it as it is, wrappers that stand around its records are taken off.

    Args:
        head: The first bytes of the text.
        has_record_format: Whether a record format says what lines without a header hold; without
            one, what only may be a format is not taken for it.

    Returns:
        The parser, or why none is chosen: two equally sure parsers are no answer.
    """
    if not head.strip():
        return "the file is empty"
    found = _ranked((p.recognise(head), p) for p in parsers().values())
    if found[0][0].score < _IS_SURE and (wrapped := wrappings(head)):
        found = _ranked((_without_wrappers(p, head, wrapped), p) for p in parsers().values())
    best, parser = found[0]
    if best.score == 0:
        names = ", ".join(parsers())
        return f"no known format recognises it (known: {names})"
    rivals = [p.name for r, p in found if r.score == best.score]
    if len(rivals) > 1:
        return f"it may be {' or '.join(rivals)}; state the format"
    if best.score == 1 and not has_record_format:
        return f"it may be {parser.name} ({best.variant}); state the format"
    return Detected(parser, best.variant)


def verify(parser: Parser, head: bytes) -> str | None:
    """Check a stated format; returns what contradicts it, if anything does.

    A stated format is believed where nothing else is sure of the content, such as of a header-less
    file.
    """
    if not head.strip() or parser.recognise(head).score > 0:
        return None
    if _without_wrappers(parser, head, wrappings(head)).score > 0:
        return None
    other = detect(head)
    if isinstance(other, Detected):
        return f"stated as {parser.name}, but the content is {other.parser.name}"
    return None


def _ranked(found: Iterable[tuple[Recognition, Parser]]) -> list[tuple[Recognition, Parser]]:
    return sorted(found, key=lambda pair: (-pair[0].score, pair[1].name))


def _without_wrappers(parser: Parser, head: bytes, wrapped: Sequence[Wrapping]) -> Recognition:
    """How surely a head is of a format, in wrappers or without; the variant names them."""
    as_it_is = parser.recognise(head)
    wrapping = wrapping_for(parser, head, wrapped) if wrapped else None
    if wrapping is None:
        return as_it_is
    inner = wrapping.recognition(parser.recognise)
    if inner.score <= as_it_is.score or not wrapping.label:
        return max(as_it_is, inner, key=lambda found: found.score)
    return Recognition(inner.score, f"{inner.variant} in {wrapping.label}")
