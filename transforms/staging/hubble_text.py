r"""Tell what a text beside Hubble's events is: an agent's log, printed output, an archive.

Where Cilium exports to `stdout` (since 1.16), events stand among the log lines of the agent and its
proxy. `hubble observe` prints text unless it is asked for JSON, and that text is no export: it
names no year, no zone and no identity of a pod. A sysdump is an archive of many files.

Sources: pkg/logging of Cilium (logrus, since 1.18 slog: `time=… level=… msg=…`, as text or JSON),
klog (`I0310 10:00:30.500000 1 file.go:7] …`), Envoy's log format, hubble/pkg/printer/printer.go
(`-o compact`, `dict` and `table`), bugtool/cmd/root.go (`# command`, fence, output, fence).
"""

import re
from typing import Literal, NamedTuple

AGENT_LOG = "agent_log"
"""Why a line of a log is ignored."""
MARKDOWN = "markdown"
"""Why a line is ignored that cilium-bugtool puts around the output of a command."""
EVENT_TEXT = "text_output: expected JSON, as `hubble observe -o jsonpb` prints it, got"
"""Reason for refusing a line of printed events, up to the name of the form."""

_LINE_START = 512
"""Bytes of a line that are looked at."""
_WORD = rb'(?:"(?:[^"\\]|\\.){0,200}"|[^\s"]{1,200})'
_LOG = re.compile(
    rb"(?:"
    rb"(?:(?:time|ts)=" + _WORD + rb" )?level=[A-Za-z]{4,8}(?: |\Z)"
    rb"|[IWEF][01]\d[0-3]\d [0-2]\d:[0-5]\d:[0-6]\d\.\d{1,9} +\d+ [^\s\]]{1,200}\]"
    rb"|\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{1,9}\]\[[^\]\s]{1,20}\]\[[a-z]{4,8}\]"
    rb"|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? "
    rb")"
)
_CILIUM_LOG = re.compile(rb"level=[A-Za-z]{4,8} .*\b(?:subsys|module)=", re.DOTALL)
_DAY = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
_STAMP = rb"(?:" + _DAY + rb"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,40}|N/A)"
_COMPACT = re.compile(
    _STAMP + rb"(?: \[[^\]]{0,300}\])?: (?:.{1,900} (?:->|<-|<>) .|[A-Z_]{5,60} \(|.{1,900} MARK: )"
    rb"|EVENTS LOST: "
)
_DICT = re.compile(
    rb" *(?:TIMESTAMP|NODE|SOURCE|DESTINATION|TYPE|VERDICT|SUMMARY|STATE|NODES|MESSAGE|DETAILS"
    rb"|FROM|MARK|CPU): |-{12}\Z"
)
_TABLE_HEADER = re.compile(rb"TIMESTAMP {2,}.*\b(?:SUMMARY|DETAILS|MESSAGE) *\Z")
_TABLE = re.compile(_STAMP + rb" {3}")
_MARKDOWN = re.compile(rb"```\Z|# \S|> Error while running '")
_ZIP, _TAR_MAGIC, _TAR_AT = b"PK\x03\x04", b"ustar", 257
_SYSDUMP = re.compile(rb"cilium-sysdump|hubble-flows-|cilium-bugtool")


class Archive(NamedTuple):
    """An archive of files.

    Attributes:
        kind: Its kind.
        is_sysdump: Whether its first members have names as those of a Cilium sysdump.
    """

    kind: Literal["zip", "tar"]
    is_sysdump: bool

    @property
    def reason(self) -> str:
        """Why it is refused."""
        return (
            "archive: expected the unpacked files of a sysdump (hubble-flows-*.json), "
            f"got a {self.kind} archive"
        )


def archive(start: bytes) -> Archive | None:
    """The archive that a file is, by its beginning; none where it is none."""
    kind: Literal["zip", "tar"]
    if start.startswith(_ZIP):
        kind = "zip"
    elif start[_TAR_AT : _TAR_AT + len(_TAR_MAGIC)] == _TAR_MAGIC:
        kind = "tar"
    else:
        return None
    return Archive(kind, _SYSDUMP.search(start[: 64 << 10]) is not None)


def is_log(line: bytes) -> bool:
    """Whether a line is one of the agent's or its proxy's log."""
    return _LOG.match(line[:_LINE_START]) is not None


def is_cilium_log(line: bytes) -> bool:
    """Whether a line is one of a log whose fields are those of Cilium."""
    return is_log(line) and _CILIUM_LOG.search(line[:4_096]) is not None


def is_markdown(line: bytes) -> bool:
    """Whether a line is one that cilium-bugtool puts around the output of a command."""
    return _MARKDOWN.match(line[:_LINE_START]) is not None


def printed_form(line: bytes) -> str | None:
    """The form in which a line prints an event: `compact`, `dict` or `table`; none if in none."""
    start = line[:1_024]
    if _COMPACT.match(start):
        return "compact"
    if _TABLE_HEADER.match(start) or _TABLE.match(start):
        return "table"
    return "dict" if _DICT.match(start) else None
