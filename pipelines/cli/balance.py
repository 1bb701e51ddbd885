"""Draw the account of one run's bytes: bars per hour, by source, with what is certain and possible.

A bar is solid as far as the bytes are certain, shaded up to the best estimate and light up to what
is possible; `>` marks the source that counts, `…` an open end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len, set_cell_size

from pipelines.cli.output import people_bytes, printable

WIDTH = 80
"""Cells of a line at most."""
BAR = 22
CERTAIN, BEST, POSSIBLE = "█", "▓", "░"
DIRECTIONS = {"receive": "received", "transmit": "sent"}
SOURCES = {
    "interface_counter": ("interface", "interface_bytes"),
    "flow_record": ("flow records", "flow_bytes"),
    "sampled_flow_record": ("sampled", "estimated_bytes"),
    "storage_log": ("storage log", "storage_log_bytes"),
    "registry_log": ("registry log", "registry_log_bytes"),
}
LOWEST = {"estimated_bytes": "sampled_bytes", "registry_log_bytes": "registry_log_bytes"}
"""What is certain of a source that has no column for it."""

Row = Mapping[str, Any]


@dataclass
class Amount:
    """Bytes summed over rows; a bound is open where that of any row is."""

    best: int = 0
    least: int | None = 0
    most: int | None = 0

    def add(self, best: int, least: int | None, most: int | None) -> None:
        """Add the bytes of one row."""
        self.best += best
        self.least = None if self.least is None or least is None else self.least + least
        self.most = None if self.most is None or most is None else self.most + most

    @property
    def longest(self) -> int:
        """Largest number known."""
        return max(self.best, self.most or 0)

    def range(self) -> str:
        """Both bounds for people; nothing where they cannot be told apart."""
        low = "…" if self.least is None else people_bytes(self.least)
        high = "…" if self.most is None else people_bytes(self.most)
        return "" if low == high != "…" else f"{low} to {high}"


@dataclass
class Hour:
    """One hour of one direction."""

    sources: dict[str, Amount] = field(default_factory=dict)
    chosen_by: set[str] = field(default_factory=set)
    node: int = 0
    left: Amount = field(default_factory=Amount)
    violations: set[str] = field(default_factory=set)

    def add(self, row: Row) -> None:
        """Add the row of one pod."""
        for name, (_, column) in SOURCES.items():
            if row[column] is not None:
                least = row[LOWEST.get(column, f"min_{column}")]
                most = row.get(f"max_{column}")
                self.sources.setdefault(name, Amount()).add(row[column], least, most)
        self.chosen_by.add(row["chosen_by"])
        self.node += row["node_runtime_bytes"] or 0
        self.left.add(
            row["unattributed_bytes"], row["min_unattributed_bytes"], row["max_unattributed_bytes"]
        )
        self.violations.update(row["violations"] or ())


def balance_lines(run: str, rows: Iterable[Row]) -> list[str]:
    """Lines of the account, none longer than 80 cells.

    Args:
        run: Run, as it was asked for.
        rows: Its rows of byte_balance, in any order.
    """
    shown = list(rows)
    if not shown:
        return [_cut(f"no source saw bytes of run {printable(run)}")]
    pods = {row["pod_uid"] for row in shown}
    projects = sorted({row["project"] for row in shown if row["project"]})
    lines = [_cut(f"run {printable(run)} {printable(', '.join(projects))}".rstrip())]
    lines.append(_cut(f"{len(pods)} pod(s); hours are UTC; > is the source that counts"))
    for direction, word in DIRECTIONS.items():
        of = [row for row in shown if row["direction"] == direction]
        if of:
            lines += ["", *_direction_lines(word, of)]
    if any(row["rdma"] for row in shown):
        lines += ["", "RDMA, EFA or InfiniBand: not observed, no counter sees it"]
    return lines


def _direction_lines(word: str, rows: Sequence[Row]) -> list[str]:
    total, left = Amount(), Amount()
    hours: dict[Any, Hour] = {}
    of_day: set[tuple[str, str]] = set()
    for row in rows:
        total.add(row["chosen_bytes"], row["min_chosen_bytes"], row["max_chosen_bytes"])
        left.add(
            row["unattributed_bytes"], row["min_unattributed_bytes"], row["max_unattributed_bytes"]
        )
        hours.setdefault(row["hour_start_at"], Hour()).add(row)
        day = f"{row['hour_start_at']:%Y-%m-%d}"
        of_day.update((day, name) for name in row["day_violations"] or ())
    lines = [
        _cut(f"{word}: {_amount(total)}"),
        _cut(f"  of which no row of a dependency shows {_amount(left)}"),
    ]
    scale = max((a.longest for hour in hours.values() for a in hour.sources.values()), default=0)
    for start in sorted(hours):
        lines += _hour_lines(f"{start:%m-%d %H:%M}", hours[start], scale)
    lines += [_cut(f"! {day}: {_words(name)}") for day, name in sorted(of_day)]
    return lines


def _hour_lines(label: str, hour: Hour, scale: int) -> list[str]:
    lines = []
    for name, (word, _) in SOURCES.items():
        amount = hour.sources.get(name)
        if amount is not None:
            mark = ">" if name in hour.chosen_by else " "
            text = f"{mark}{word:<12} {people_bytes(amount.best):>9} {_bar(amount, scale)}"
            lines.append(f"{text} {amount.range()}")
    if hour.node:
        lines.append(f" {'by the node':<12} {people_bytes(hour.node):>9}")
    lines.append(f" {'unresolved':<12} {people_bytes(hour.left.best):>9} {' ' * BAR} ".rstrip())
    spread = hour.left.range()
    if spread:
        lines[-1] = f"{lines[-1]:<{25 + BAR}}{spread}"
    lines += [f"!{_words(name)}" for name in sorted(hour.violations)]
    return [
        _cut(f"{label if index == 0 else '':<11} {line}".rstrip())
        for index, line in enumerate(lines)
    ]


def _bar(amount: Amount, scale: int) -> str:
    """A bar of `BAR` cells; what is not zero has at least one."""

    def cells(value: int) -> int:
        return min(BAR, -(-value * BAR // scale)) if scale else 0

    least = cells(min(amount.least or 0, amount.best))
    best = max(least, cells(amount.best))
    if amount.most is None:
        light = BAR - best and 1
        return (CERTAIN * least + BEST * (best - least) + "…" * light).ljust(BAR)
    most = max(best, cells(amount.most))
    return (CERTAIN * least + BEST * (best - least) + POSSIBLE * (most - best)).ljust(BAR)


def _amount(amount: Amount) -> str:
    spread = amount.range()
    return people_bytes(amount.best) + (f" ({spread})" if spread else "")


def _words(name: str) -> str:
    return printable(name).replace("_", " ")


def _cut(line: str) -> str:
    return line if cell_len(line) <= WIDTH else set_cell_size(line, WIDTH - 1) + "…"
