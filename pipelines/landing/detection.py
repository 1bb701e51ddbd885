"""Tell the format of a file from its content, never from its name."""

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.landing.formats import parsers
from pipelines.landing.readers import head, scan
from transforms.staging.parser import Parser, Recognition
from transforms.staging.wrapped_files import Wrapping, wrapping_for, wrappings

_IS_SURE = 2
"""Score from which a format is told by its structure."""
_ENCODINGS = (
    ("UTF-32", (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    ("UTF-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)
"""Encodings that no format has, with the marks that files in them begin with; longer ones first."""


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
    encoding = _other_encoding(beginning)
    if encoding is not None:
        return encoding
    if format_name is not None:
        parser = parsers()[format_name]
        contradiction = verify(parser, beginning)
        found = _without_wrappers(parser, beginning, wrappings(beginning))
        return contradiction or Detected(parser, found.recognition.variant)
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
    wrapped = wrappings(head)
    found = _ranked(_Found(p, p.recognise(head)) for p in parsers().values())
    if found[0].recognition.score < _IS_SURE and wrapped:
        found = _ranked(_without_wrappers(p, head, wrapped) for p in parsers().values())
    best = found[0]
    score, variant = best.recognition.score, best.recognition.variant
    if score == 0:
        names = ", ".join(parsers())
        return f"no known format recognises it (known: {names})"
    rivals = [f.parser.name for f in found if f.rank == best.rank]
    if len(rivals) > 1:
        return f"it may be {' or '.join(rivals)}; state the format"
    if score == 1 and not has_record_format:
        return f"it may be {best.parser.name} ({variant}); state the format"
    return Detected(best.parser, _without_wrappers(best.parser, head, wrapped).recognition.variant)


def verify(parser: Parser, head: bytes) -> str | None:
    """Check a stated format; returns what contradicts it, if anything does.

    A stated format is believed where nothing else is sure of the content, such as of a header-less
    file.
    """
    if not head.strip() or parser.recognise(head).score > 0:
        return None
    if _without_wrappers(parser, head, wrappings(head)).recognition.score > 0:
        return None
    other = detect(head)
    if isinstance(other, Detected):
        return f"stated as {parser.name}, but the content is {other.parser.name}"
    return None


def _other_encoding(head: bytes) -> str | None:
    """Which encoding a text is in, where its first bytes say that it is none that is read."""
    for name, marks in _ENCODINGS:
        for mark in marks:
            if head.startswith(mark):
                return (
                    f"encoded as {name} (it begins with the bytes {mark.hex(' ')}); expected UTF-8"
                )
    return None


@dataclass(frozen=True)
class _Found:
    """How surely a head is of a format, behind how many wrappers."""

    parser: Parser
    recognition: Recognition
    depth: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """Surest first, then what stands in fewer wrappers: a log entry may hold a log line."""
        return -self.recognition.score, self.depth


def _ranked(found: Iterable[_Found]) -> list[_Found]:
    return sorted(found, key=lambda one: (one.rank, one.parser.name))


def _without_wrappers(parser: Parser, head: bytes, wrapped: Sequence[Wrapping]) -> _Found:
    """How surely a head is of a format once its wrappers are off, which the variant names."""
    wrapping = wrapping_for(parser, head, wrapped) if wrapped else None
    if wrapping is None:
        return _Found(parser, parser.recognise(head))
    found = wrapping.recognition(parser.recognise)
    if found.variant and wrapping.label:
        found = Recognition(found.score, f"{found.variant} in {wrapping.label}")
    return _Found(parser, found, len(wrapping.chain))
