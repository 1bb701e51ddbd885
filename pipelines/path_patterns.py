"""Paths of exports with `{cluster}`, `{node}`, `{project}`, `%Y %m %d %H` and globs.

A pattern both finds files and reads facts from their paths.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime

CLUSTER_NAME = re.compile(r"[a-z0-9.-]{1,63}\Z")
_FIELDS = {
    "{cluster}": ("cluster", r"[a-z0-9.-]{1,63}"),
    "{node}": ("node", r"[^/]{1,253}"),
    "{project}": ("project", r"[^/]{1,253}"),
    "%Y": ("year", r"\d{4}"),
    "%m": ("month", r"\d{2}"),
    "%d": ("day", r"\d{2}"),
    "%H": ("hour", r"\d{2}"),
}
_NO_BUCKET = re.compile(r"s3://(?:[^/]*[@{%*?]|/|\Z)")
_TOKEN = re.compile(r"\{[^}]*\}|%.|\*\*/|\*\*|\*|\?|[^{%*?]+|.", re.DOTALL)


@dataclass(frozen=True)
class PathFacts:
    """What a path says.

    Attributes:
        cluster: Cluster, if the pattern names one.
        node: Node, likewise.
        project: Project, likewise.
        day: Day, if the pattern has `%Y`, `%m` and `%d`.
        hour_at: Start of the hour, or of the day where no hour stands.
    """

    cluster: str | None
    node: str | None
    project: str | None
    day: date | None
    hour_at: datetime | None


@dataclass(frozen=True)
class PathPattern:
    """A compiled pattern.

    Attributes:
        text: The pattern, behind the folder that it begins in.
        prefix: Longest literal beginning that ends with `/`; where listing starts.
        regex: Matches whole paths.
    """

    text: str
    prefix: str
    regex: re.Pattern[str]

    @classmethod
    def compile(cls, text: str, folder: str = "") -> "PathPattern":
        """Compile a pattern.

        Args:
            text: The pattern.
            folder: Folder that a relative pattern begins in; its name is taken as it is, whatever
                looks like a placeholder or a glob in it.

        Raises:
            ValueError: An unknown placeholder, `..`, `~`, another scheme than S3's or no bucket,
                or a date without year, month or day.
        """
        if "://" in text and not text.startswith("s3://"):
            message = "expected a local path or one that begins with s3://"
            raise ValueError(message)
        if _NO_BUCKET.match(text):
            message = "expected s3://bucket/…, without credentials and with the bucket spelt out"
            raise ValueError(message)
        if text.startswith("~/"):
            message = "expected a path without `~`, which is not expanded"
            raise ValueError(message)
        if any(part == ".." for part in text.split("/")):
            message = "expected a path without `..`"
            raise ValueError(message)
        start = f"{folder.rstrip('/')}/" if folder and not text.startswith(("/", "s3://")) else ""
        parts: list[str] = [re.escape(start)]
        seen: set[str] = set()
        literal, open_prefix = start, True
        for token in _TOKEN.findall(text):
            field = _FIELDS.get(token)
            if field is not None:
                name, pattern = field
                parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{pattern})")
                seen.add(name)
                open_prefix = False
            elif token.startswith(("{", "%")):
                message = f"unknown placeholder {token}; there are {', '.join(_FIELDS)}"
                raise ValueError(message)
            elif token in {"**/", "**", "*", "?"}:
                globs = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
                parts.append(globs[token])
                open_prefix = False
            else:
                parts.append(re.escape(token))
                literal += token if open_prefix else ""
        dated = seen & {"year", "month", "day", "hour"}
        if dated and not {"year", "month", "day"} <= dated:
            message = "expected %Y, %m and %d together"
            raise ValueError(message)
        prefix = literal[: literal.rfind("/") + 1]
        return cls(start + text, prefix, re.compile("".join(parts) + r"\Z", re.DOTALL))

    @property
    def names_cluster(self) -> bool:
        """Whether the pattern holds `{cluster}`."""
        return "cluster" in self.regex.groupindex

    @property
    def names_node(self) -> bool:
        """Whether the pattern holds `{node}`."""
        return "node" in self.regex.groupindex

    def facts(self, path: str) -> PathFacts | None:
        """Read the facts in a path; none where it does not match, or no such day or hour is."""
        match = self.regex.match(path)
        if match is None:
            return None
        found = match.groupdict()
        hour_at = None
        if found.get("year"):
            try:
                hour_at = datetime(
                    int(found["year"]),
                    int(found["month"]),
                    int(found["day"]),
                    int(found.get("hour") or 0),
                    tzinfo=UTC,
                )
            except ValueError:
                return None
        return PathFacts(
            found.get("cluster"),
            found.get("node"),
            found.get("project"),
            hour_at.date() if hour_at else None,
            hour_at,
        )
