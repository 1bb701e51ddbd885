"""What a transform is: the table it makes, what it reads, and the function that makes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from transforms.day import BuildDay
from transforms.sql import SqlSession

Span = Literal[
    "day", "connections", "pods", "names", "counters", "credentials", "transfers", "repeats",
    "history",
]  # fmt: skip
"""Which days are read: the day alone, a look-back of the settings, or all earlier days."""


@dataclass(frozen=True)
class Reads:
    """One table that a transform reads.

    The session shows it as a view of that name. A staging view holds the table's columns without
    repeated rows, of every part whose event range meets the span (so rows outside the span may
    stand in it). A view of an intermediate or mart table also has a `date` column.

    Attributes:
        table: Table name.
        span: Which days, up to the built day (staging: up to the skew guard behind it).
        ahead: Also what lies up to `look_ahead` behind the day (bytes and coverage).
        repeated: Of a staging table, the session also shows `all_<table>`, which holds repeated
            rows too: for what a file as a whole says. Which of the files that hold a record is
            credited with it depends on the order in which they landed, and must not show.
        part: Of an intermediate or mart table, the part (`Transform.parts`) that alone can change
            what is made: where it stays as it was, what else changed in the table is no reason to
            make this one again.
    """

    table: str
    span: Span = "day"
    ahead: bool = False
    repeated: bool = False
    part: str | None = None


@dataclass(frozen=True)
class Transform:
    """How one intermediate or mart table is made.

    Attributes:
        table: Table made.
        reads: What it reads.
        build: Makes a table or view in the session and returns its name; it holds exactly the
            columns of the table's schema (any order of rows: publication sorts).
        rows_from: Those of the tables read of which rows are made: where none of them has any,
            there is nothing to compute. If none are named, it is always computed.
        version: Raised when the logic changes, so that older partitions are known to be stale.
        parts: Parts of the rows that other transforms read alone: each takes session, day and the
            name of what `build` made, and names a table with what is read of it.
    """

    table: str
    reads: tuple[Reads, ...]
    build: Callable[[SqlSession, BuildDay], str]
    rows_from: tuple[str, ...] = ()
    version: int = 1
    parts: Mapping[str, Callable[[SqlSession, BuildDay, str], str]] = field(default_factory=dict)
