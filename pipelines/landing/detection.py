"""Tell the format of a file from its content, never from its name."""

from dataclasses import dataclass
from pathlib import Path

from pipelines.landing.formats import parsers
from pipelines.landing.readers import head, scan
from transforms.staging.parser import Parser


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
        return contradiction or Detected(parser, parser.recognise(beginning).variant)
    if not beginning and (broken := scan(path).broken) is not None:
        return broken.reason
    return detect(beginning, has_record_format=record_format is not None)


def detect(head: bytes, *, has_record_format: bool = False) -> Detected | str:
    """Choose the parser that recognises the head of a file most surely.

    Args:
        head: The first bytes of the text.
        has_record_format: Whether a record format says what lines without a header hold; without
            one, what only may be a format is not taken for it.

    Returns:
        The parser, or why none is chosen: two equally sure parsers are no answer.
    """
    if not head.strip():
        return "the file is empty"
    found = sorted(
        ((p.recognise(head), p) for p in parsers().values()),
        key=lambda pair: (-pair[0].score, pair[1].name),
    )
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
    other = detect(head)
    if isinstance(other, Detected):
        return f"stated as {parser.name}, but the content is {other.parser.name}"
    return None
