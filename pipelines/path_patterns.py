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
        text: The pattern as written.
        prefix: Longest literal beginning that ends with `/`; where listing starts.
        regex: Matches whole paths.
    """

    text: str
    prefix: str
    regex: re.Pattern[str]

    @classmethod
    def compile(cls, text: str) -> "PathPattern":
        """Compile a pattern.

        Raises:
            ValueError: An unknown placeholder, `..`, or a date without year, month or day.
        """
        if any(part == ".." for part in text.split("/")):
            message = "expected a path without `..`"
            raise ValueError(message)
        parts: list[str] = []
        seen: set[str] = set()
        literal, open_prefix = "", True
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
        return cls(text, prefix, re.compile("".join(parts) + r"\Z", re.DOTALL))

    @property
    def names_cluster(self) -> bool:
        """Whether the pattern holds `{cluster}`."""
        return "cluster" in self.regex.groupindex

    @property
    def names_node(self) -> bool:
        """Whether the pattern holds `{node}`."""
        return "node" in self.regex.groupindex

    def facts(self, path: str) -> PathFacts | None:
        """Read the facts in a path; none where the path does not match."""
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
