"""What must never be written: credentials, tokens, headers, signed query strings.

Every text that comes from an export passes through here before the first byte is written.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

from transforms.decoded_views import View, is_plain, views
from transforms.secret_patterns import MASK, Span, named_spans, secret_spans

MAX_PASSES = 4
"""A mask can uncover nothing new but in contrived text; the passes end when nothing changes."""

HARMLESS_PARAMETERS = frozenset(
    {
        "versionid", "partnumber", "uploadid", "list-type", "prefix", "delimiter", "max-keys",
        "uploads", "acl", "location", "versioning", "versions", "tagging", "restype", "comp",
        "generation", "alt", "uploadtype", "x-id",
    }
)  # fmt: skip
"""Query parameters, in lower case, that `clean_url` keeps."""

EXCERPT_WINDOW = 16_384
EXCERPT_MARGIN = 4_096
"""An excerpt looks at this much text at first; its last part is not shown, as a secret may be cut
there beyond recognition."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_SEPARATOR = re.compile("[=:]|3[dDaA]")
_ENCODED_SLASH = re.compile(r"2[fF]|\\/")
_SLASH = "\ue000"
"""Stands for a slash that is part of a value; a character of no text's own."""
_SHORT_ESCAPE = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class KeyedHash:
    """Keyed hash for join keys that are secrets (access key ids).

    Attributes:
        key: Bytes of `redaction_key_file`; without it every hash is null.
    """

    key: bytes | None

    def of(self, value: str) -> str | None:
        """HMAC-SHA-256 of the value, 32 hex digits; null without a key."""
        if self.key is None:
            return None
        return hmac.new(self.key, value.encode(), hashlib.sha256).hexdigest()[:32]


def redact(text: str) -> str:
    """Mask every credential in free text (messages, reasons, user agents, free-form values).

    Masked by `***`: known token shapes, values of secret names in the spellings of URLs, JSON,
    YAML, headers and command lines, userinfo of URLs, private keys, and long random-looking runs
    of base64; also where they are percent-encoded (once or twice) or escaped as JSON or HTML.
    The text around them stays. Hex digests stay: commits, image digests and ids are no secrets.
    """
    return _mask(text, prose=True)


def redact_name(text: str) -> str:
    """Mask credentials in a name, key or path that identifies something.

    As `redact`, but sparing: names that differ must stay different, so random-looking runs stay,
    and `token=bert/part-0` is a partition of a data set and no credential.
    """
    return _mask(text, prose=False)


def redact_within(text: str, limit: int, *, prose: bool) -> str:
    """Redact and cut a text so that the work is bounded and no secret is cut beyond recognition.

    Args:
        text: Any text.
        limit: Characters of the result at most; a last `…` says that it was cut.
        prose: Whether it is free text (see `redact`), or a name (see `redact_name`).
    """
    size = 2 * limit + EXCERPT_MARGIN
    if len(text) <= size:
        shown = _mask(text, prose=prose)
        return shown if len(shown) <= limit else shown[: limit - 1] + "…"
    # The mask of the whole part, then only what lies before its uncertain end: masks may be so
    # long that it would be shown.
    part = text[:size]
    spans = _merged(_spans(part, prose=prose))
    shown = _mask(_masked(part[:-EXCERPT_MARGIN], spans), prose=prose)
    return shown[: limit - 1] + "…"


def clean_url(url: str) -> str:
    """Take userinfo, fragment and all query parameters but a few harmless ones off a URL.

    Args:
        url: A URL, absolute or not; text that is none is treated as a path.

    Returns:
        The URL; what looks like a credential inside host or path is masked.
    """
    rest, _, query = url.partition("#")[0].partition("?")
    scheme, mark, after = rest.partition("://")
    if not mark and rest.startswith("//"):
        scheme, mark, after = "", "//", rest[2:]
    if not mark:
        scheme, after = "", rest
    authority, slash, path = after.partition("/")
    authority = authority.rpartition("@")[2]
    cleaned = redact_name(f"{scheme}{mark}{authority}{slash}{path}")
    kept = "&".join(p for p in query.split("&") if _is_harmless_parameter(p))
    return f"{cleaned}?{kept}" if kept else cleaned


def path_without_query(path: str) -> str:
    """Cut a path before `?` and `#` and mask what looks like a credential in it."""
    return redact_name(path.partition("?")[0].partition("#")[0])


def excerpt(raw: bytes, limit: int = 200) -> str:
    """Show the beginning of a record: decoded, redacted, then cut.

    Args:
        raw: The record as read; bytes that are no UTF-8 show as the replacement character.
        limit: Length of the result at most.

    Returns:
        One line without control characters; `…` at its end says that it was cut.
    """
    window = EXCERPT_WINDOW + 4 * limit
    while True:
        part = raw[:window].decode("utf-8", "replace")
        if len(raw) <= window:
            shown = _escape_controls(redact(part))
            return shown if len(shown) <= limit else shown[: limit - 1] + "…"
        # The mask of the whole window, then only what lies before its uncertain end.
        spans = _merged(_spans(part, prose=True))
        shown = _escape_controls(redact(_masked(part[:-EXCERPT_MARGIN], spans)))
        if len(shown) >= limit:
            return shown[: limit - 1] + "…"
        window *= 4


def excerpt_around(raw: bytes, at: int, before: int = 44, after: int = 28) -> tuple[str, int]:
    """Show what stands around a place of a record: decoded, redacted, then cut.

    Args:
        raw: The record as read.
        at: A byte of it.
        before: Characters in front of the place at most.
        after: Characters from the place on at most.

    Returns:
        One line without control characters, `…` at its ends where it was cut, and the number of
        characters in front of the place; a place inside a mask is the mask's beginning.
    """
    start, end = max(0, at - EXCERPT_WINDOW), at + EXCERPT_MARGIN + 4 * after
    text = raw[start:end].decode("utf-8", "replace")
    place = min(len(raw[start:at].decode("utf-8", "replace")), len(text))
    for _ in range(MAX_PASSES):
        spans = _merged(_spans(text, prose=True))
        text, place = _masked(text, spans), _moved(place, spans)
        if not spans:
            break
    head, tail = _escape_controls(text[:place]), _escape_controls(text[place:])
    if start > 0 or len(head) > before:
        head = "…" + head[max(0, len(head) - before + 1) :]
    if end < len(raw) or len(tail) > after:
        tail = tail[: after - 1] + "…"
    return head + tail, len(head)


def _moved(place: int, spans: list[Span]) -> int:
    """Where a place of a text stands when the spans are masked."""
    shift = 0
    for start, end in spans:
        if start >= place:
            break
        if end > place:
            return start + shift
        shift += len(MASK) - (end - start)
    return place + shift


def _is_harmless_parameter(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return (
        name in HARMLESS_PARAMETERS
        and "?" not in parameter  # a second query, stuck to the first
        and redact(parameter) == parameter
    )


def remember_plain_names(names: Iterable[str]) -> None:
    """Note names of which it is known that `redact_name` leaves them as they are.

    Many names are told at once by `staging.plain_names`, faster than one by one.
    """
    if len(_PLAIN_NAMES) > _MOST_PLAIN:
        _PLAIN_NAMES.clear()
    _PLAIN_NAMES.update(names)


_PLAIN_NAMES: set[str] = set()
_PLAIN_TEXTS: set[str] = set()
_MOST_PLAIN = 50_000
_LONGEST_PLAIN = 256
"""Characters of a text that is remembered: names of images, nodes, labels and agents repeat."""


def _mask(text: str, *, prose: bool) -> str:
    plain = _PLAIN_TEXTS if prose else _PLAIN_NAMES
    if text in plain:
        return text
    for number in range(MAX_PASSES):
        spans = _spans(text, prose=prose)
        masked = _masked(text, _merged(spans)) if spans else text
        if masked == text:
            if not number and len(text) <= _LONGEST_PLAIN:
                if len(plain) > _MOST_PLAIN:
                    plain.clear()
                plain.add(text)
            break
        text = masked
    return text


def _spans(text: str, *, prose: bool) -> list[Span]:
    """Places of secrets in the text, found in it and in its decoded forms."""
    if is_plain(text):
        return [span for span in secret_spans(text, prose=prose) if span[1] > span[0]]
    found = []
    for view in views(text):
        spans = [*secret_spans(view.text, prose=prose)]
        if not prose and view.parent is not None and _has_slash_in_value(text):
            spans += named_spans(_with_marked_slashes(text, view))
        found += [(view.origin(start), view.origin(end)) for start, end in spans if end > start]
    return found


def _has_slash_in_value(text: str) -> bool:
    """Whether an encoded slash stands behind what may part a name and a value."""
    first = _SEPARATOR.search(text)
    return first is not None and _ENCODED_SLASH.search(text, first.end()) is not None


def _with_marked_slashes(text: str, view: View) -> str:
    """A decoded name in which slashes that are written encoded end no value."""
    return re.sub(
        "/", lambda at: "/" if text[view.origin(at.start())] == "/" else _SLASH, view.text
    )


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _masked(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    place = 0
    for start, end in spans:
        if start >= len(text):
            break
        pieces += (text[place:start], MASK)
        place = end
    pieces.append(text[place:])
    return "".join(pieces)


def _escape_controls(text: str) -> str:
    def escape(match: re.Match[str]) -> str:
        character = match[0]
        code = ord(character)
        return _SHORT_ESCAPE.get(character) or (
            f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
        )

    return _CONTROL.sub(escape, text)
