"""Tell the format of a file from its content, never from its name."""

from dataclasses import dataclass

from pipelines.landing.formats import parsers
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


def detect(head: bytes) -> Detected | str:
    """Choose the parser that recognises the head of a file most surely.

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
    return Detected(parser, best.variant)


def verify(parser: Parser, head: bytes) -> str | None:
    """Check a stated format; returns what contradicts it, if anything does.

    A stated format is believed where nothing recognises the content, such as a header-less file.
    """
    if not head.strip() or parser.recognise(head).score > 0:
        return None
    other = detect(head)
    if isinstance(other, Detected):
        return f"stated as {parser.name}, but the content is {other.parser.name}"
    return None
