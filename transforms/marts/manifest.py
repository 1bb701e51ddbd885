"""The manifest of a run: one sanitised record of what the tables know of it, as one JSON document.

`manifest_of` is a pure function of rows: equal rows give equal documents, whatever their order.
The document answers in order what ran, what it used, where it waited, what it left and what is not
known; what someone should do and the exports that hold the evidence follow. Its form is
`schemas/manifest-1.schema.json`; VERSION rises when a reader of the old form could misread it.

Rules:
- Times are UTC in ISO 8601 with microseconds, durations integer microseconds (`_us`), money decimal
  text. There are no sums of floats.
- A sum is null where one of its parts is not known: unknown is never 0.
- A section whose table is not there is null, and `what_is_not_known` says so.
- Every text passes redaction again, free text as prose, what identifies something as a name.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from transforms.redaction import redact_within

VERSION = 1
LONGEST_TEXT = 4_096
"""Characters of one text at most."""

PROSE = frozenset({
    "first_error", "reason", "reasons", "detail", "suggested_change", "shown_by", "name",
    "statement", "status",
})  # fmt: skip
"""Fields that hold free text; all others identify something."""

Row = Mapping[str, Any]
Document = dict[str, Any]

RUN = (
    "run_uuid", "name", "project", "run_owner", "kind", "runtime", "queue", "pipeline_uuid",
    "original_uuid", "status", "outcome", "outputs_proof", "created_at",
)  # fmt: skip
ATTEMPT = (
    "attempt", "cluster", "namespace", "start_at", "end_at", "pod_count", "pod_uids", "nodes",
    "gpu_count", "pod_us", "code_revision", "image_digests", "run_match_kind",
)  # fmt: skip
NODE = ("cluster", "node", "instance_type")
IMAGE = (
    "image", "image_digest", "pod_uid", "container", "node", "was_present", "start_at", "end_at",
)  # fmt: skip
DEPENDENCY = (
    "attempt", "container_role", "stage", "resource_id", "endpoint", "operation", "resource_kind",
    "service", "endpoint_kind", "version", "version_basis", "declaration", "first_seen_at",
    "last_seen_at", "connection_count", "request_count", "denied_count", "throttled_count",
    "not_found_count", "error_count", "retry_count", "first_error", "received_bytes",
    "min_received_bytes", "max_received_bytes", "sent_bytes", "min_sent_bytes", "max_sent_bytes",
    "measured_by", "accounted_in", "match_kind", "name_kind", "empty_means", "sources",
)  # fmt: skip
VERSIONED = ("resource_id", "resource_kind", "version", "version_basis", "declaration")
COST_KEY = (
    "resource_id", "distance", "gateway", "charge_kind", "from_region", "to_region", "measured_by",
)  # fmt: skip
COST_SUMS = ("bytes", "min_bytes", "max_bytes", "request_count", "min_usd", "usd", "max_usd")
REPEAT_KEY = ("scope", "resource_id", "resource_kind", "grade", "remedy")
REPEAT_SUMS = (
    "transferred_bytes", "min_repeat_bytes", "max_repeat_bytes", "min_avoidable_usd",
    "max_avoidable_usd",
)  # fmt: skip
WAIT_KEY = ("attempt", "container_role", "container", "stage", "step", "cause", "resource_id")
STORM = (
    "container_role", "resource_id", "activity", "error_class", "start_at", "end_at",
    "failure_count", "first_error", "status", "retry_end", "responsible",
)  # fmt: skip
OUTPUT = (
    "resource_id", "name", "expected_from", "proof", "reason", "uploaded_at", "deleted_at",
    "object_count", "remaining_object_count", "bytes", "evidence_ids",
)  # fmt: skip
COVERAGE = (
    "source", "cluster", "expected_us", "covered_us", "doubtful_us", "lost_count", "reasons",
    "empty_means",
)  # fmt: skip
FINDING = (
    "rank", "kind", "severity", "responsible", "resource_id", "subject", "detail",
    "occurrence_count", "suggested_change", "shown_by", "lost_us", "lost_gpu_us", "avoidable_usd",
    "evidence_ids",
)  # fmt: skip
OBSERVATION = (
    "format", "export", "cluster", "node", "landing_date", "file", "content_hash", "size_bytes",
    "first_event_at", "last_event_at", "export_file_id",
)  # fmt: skip

CODE_SCHEMES = ("git+", "git:", "ssh:")
DATA_SCHEMES = ("s3:", "gs:", "az:", "hf:", "minio:")
SEEN = ("declared_seen", "declared_denied", "seen_not_declared")


@dataclass(frozen=True)
class RunFacts:
    """All rows about one run.

    Attributes:
        run_uuid: The run.
        rows: Rows by table, newest of run-level tables; null for a table that is not there. Beside
            the marts: `image_pulls`, `nodes` (cluster, node, instance_type) and `observations`
            (`export_files` that its rows came from, with `file` for the last part of the path).
    """

    run_uuid: str
    rows: Mapping[str, Sequence[Row] | None]

    def of(self, table: str) -> Sequence[Row]:
        """Rows of a table; none if it is not there."""
        return self.rows.get(table) or ()


def manifest_of(facts: RunFacts) -> Document:
    """Make the document of a run.

    Args:
        facts: Its rows; `runs` holds at least one.

    Returns:
        What `schemas/manifest-1.schema.json` describes: dicts, lists, text, integers, booleans and
        null alone.
    """
    runs = sorted(facts.of("runs"), key=lambda row: (row["attempt"] is None, row["attempt"] or 0))
    dates = [row["as_of_date"] for row in runs if row.get("as_of_date") is not None]
    used = _used(facts)
    waited = _waited(facts)
    left = _outputs(facts)
    return {
        "manifest_version": VERSION,
        "as_of_date": _value("as_of_date", max(dates, default=None)),
        "is_final": all(bool(row["is_final"]) for row in runs),
        "what_ran": _ran(facts, runs),
        "what_it_used": used,
        "where_it_waited": waited,
        "what_it_left": left,
        "what_is_not_known": _unknown(facts, runs, used, waited, left),
        "findings": _section(facts, "findings", FINDING),
        "observations": chosen(facts.of("observations"), OBSERVATION),
    }


def chosen(rows: Iterable[Row], columns: Sequence[str]) -> list[Document]:
    """Some columns of rows as JSON holds them, each row once, in a total order."""
    found = [{name: _value(name, row.get(name)) for name in columns} for row in rows]
    return in_order(found, columns)


def in_order(rows: Iterable[Document], columns: Sequence[str]) -> list[Document]:
    """Rows by their columns, null last, equal ones once."""

    def order(row: Document) -> tuple[Any, ...]:
        return tuple((row[name] is None, 0 if row[name] is None else row[name]) for name in columns)

    sorted_rows = sorted(rows, key=order)
    return [r for i, r in enumerate(sorted_rows) if i == 0 or r != sorted_rows[i - 1]]


def summed(
    rows: Iterable[Row], key: Sequence[str], sums: Sequence[str]
) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Exact sums by key; a sum is null where one of its parts is."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        values = {name: row.get(name) for name in sums}
        group = tuple(row.get(name) for name in key)
        before = found.get(group)
        if before is not None:
            values = {name: _plus(before[name], value) for name, value in values.items()}
        found[group] = values
    return found


def _plus(left: Any, right: Any) -> Any:  # noqa: ANN401  integers or money
    return None if left is None or right is None else left + right


def _least(left: Any, right: Any) -> Any:  # noqa: ANN401  times
    known = [value for value in (left, right) if value is not None]
    return min(known, default=None)


def _value(name: str, value: Any) -> Any:  # noqa: ANN401  any cell
    """A cell as JSON holds it, without credentials."""
    if isinstance(value, str):
        return redact_within(value, LONGEST_TEXT, prose=name in PROSE)
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, list | tuple):
        return [_value(name, part) for part in value]
    return value


def _grouped(rows: Iterable[Row], key: Sequence[str], sums: Sequence[str]) -> list[Document]:
    groups = summed(rows, key, sums)
    found = [
        {name: _value(name, cell) for name, cell in zip(key, group, strict=True)}
        | {name: _value(name, cell) for name, cell in values.items()}
        for group, values in groups.items()
    ]
    return in_order(found, (*key, *sums))


def _ran(facts: RunFacts, runs: Sequence[Row]) -> Document:
    stated = {
        name: next((r[name] for r in reversed(runs) if r.get(name) is not None), None)
        for name in RUN
    }
    starts = [row["start_at"] for row in runs if row["start_at"] is not None]
    ends = [row["end_at"] for row in runs]
    is_open = any(end is None for end in ends)
    return {
        **{name: _value(name, value) for name, value in stated.items()},
        "start_at": _value("start_at", min(starts, default=None)),
        "end_at": None if is_open else _value("end_at", max(ends, default=None)),
        "attempts": chosen(runs, ATTEMPT),
        "nodes": chosen(facts.of("nodes"), NODE),
    }


def _used(facts: RunFacts) -> Document:
    dependencies = facts.of("run_dependencies")
    costs = facts.of("transfer_costs")
    total = {name: _total(costs, name) for name in ("min_usd", "usd", "max_usd")}
    return {
        "code": chosen(_of_schemes(dependencies, CODE_SCHEMES), VERSIONED),
        "images": chosen(_newest(facts.of("image_pulls"), "image_pull_id"), IMAGE),
        "data_and_models": chosen(_of_schemes(dependencies, DATA_SCHEMES), VERSIONED),
        "dependencies": chosen(dependencies, DEPENDENCY),
        "costs": _grouped(costs, COST_KEY, COST_SUMS),
        "total_cost": total,
        "repeats": _grouped(facts.of("repeat_transfers"), REPEAT_KEY, REPEAT_SUMS),
    }


def _of_schemes(rows: Iterable[Row], schemes: tuple[str, ...]) -> list[Row]:
    """What it read of some kinds: what it wrote is what it left."""
    return [
        row
        for row in rows
        if str(row["resource_id"]).startswith(schemes)
        and row["operation"] not in {"write", "delete"}
    ]


def _total(rows: Sequence[Row], name: str) -> str | None:
    known = [row[name] for row in rows if row.get(name) is not None]
    if not known or len(known) < len(rows):
        return None
    return f"{sum(known, start=Decimal(0)):f}"


def _waited(facts: RunFacts) -> Document:
    waits = facts.of("waits")
    parts: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in waits:
        group = tuple(row.get(name) for name in WAIT_KEY)
        part = parts.setdefault(
            group,
            {
                "start_at": None, "end_at": None, "duration_us": 0, "gpu_us": 0,
                "transferred_bytes": None, "errors": [],
            },
        )  # fmt: skip
        part["start_at"] = _least(part["start_at"], row["start_at"])
        part["end_at"] = max(filter(None, (part["end_at"], row["end_at"])))
        part["duration_us"] += row["duration_us"]
        part["gpu_us"] = _plus(part["gpu_us"], row.get("gpu_us"))
        told = [part["transferred_bytes"], row.get("transferred_bytes")]
        # No request log tells of parts without a request: what is logged is what can be added.
        known = [count for count in told if count is not None]
        part["transferred_bytes"] = sum(known) if known else None
        if row.get("first_error") is not None:
            part["errors"].append((row["start_at"], row["first_error"]))
    found = []
    for group, part in parts.items():
        first_error = min(part.pop("errors"), default=(None, None))[1]
        cells = dict(zip(WAIT_KEY, group, strict=True)) | part | {"first_error": first_error}
        found.append({name: _value(name, cell) for name, cell in cells.items()})
    order = ("start_at", *WAIT_KEY)
    return {
        "by_cause": _grouped(waits, ("cause",), ("duration_us", "gpu_us")),
        "waits": in_order(found, order),
        "storms": chosen(_newest(facts.of("storms"), "storm_id"), STORM),
    }


def _newest(rows: Iterable[Row], name: str) -> list[Row]:
    """One row an id: that of the day that reaches farthest."""
    found: dict[str, Row] = {}
    for row in rows:
        before = found.get(row[name])
        if before is None or before["date"] < row["date"]:
            found[row[name]] = row
    return list(found.values())


def _outputs(facts: RunFacts) -> Document:
    writes = [
        row
        for row in facts.of("run_dependencies")
        if row["operation"] == "write" and row["declaration"] in SEEN
    ]
    columns = ("resource_id", "first_seen_at", "last_seen_at", "request_count", "sent_bytes")
    return {
        "outputs": _section(facts, "run_outputs", OUTPUT),
        "writes_seen": chosen(writes, columns),
    }


def _section(facts: RunFacts, table: str, columns: Sequence[str]) -> list[Document] | None:
    rows = facts.rows.get(table)
    return None if rows is None else chosen(rows, columns)


def _unknown(
    facts: RunFacts, runs: Sequence[Row], used: Document, waited: Document, left: Document
) -> Document:
    told: list[tuple[str, str]] = []
    tell = told.append
    tables = (
        "run_dependencies", "waits", "storms", "run_outputs", "transfer_costs", "repeat_transfers",
        "run_coverage", "findings",
    )  # fmt: skip
    for table in tables:
        if facts.rows.get(table) is None:
            tell((table, "this lake has no such table: nothing is said about it"))
    _tell_run(runs, used, tell)
    _tell_dependencies(facts.of("run_dependencies"), used, tell)
    unpriced = sum(row["usd"] is None for row in used["costs"])
    if unpriced:
        tell(("costs", f"{unpriced} of {len(used['costs'])} amounts have no single price"))
    for row in waited["by_cause"]:
        if row["cause"] == "unexplained" and row["duration_us"]:
            tell(("waits", f"{row['duration_us']} us are explained by no evidence"))
        if row["gpu_us"] is None:
            tell(("waits", f"GPU time of the cause {row['cause']}: a pod's requests are not known"))
    for row in left["outputs"] or ():
        if row["proof"] != "proven":
            where = row["resource_id"] or row["name"] or "an output"
            tell((where, f"output {row['proof']}: whether it stands is not proven"))
    return {
        "statements": in_order(
            [
                {"about": _value("about", about), "statement": _value("statement", statement)}
                for about, statement in told
            ],
            ("about", "statement"),
        ),
        "coverage": chosen(facts.of("run_coverage"), COVERAGE),
    }


def _tell_run(runs: Sequence[Row], used: Document, tell: Callable[[tuple[str, str]], None]) -> None:
    if any(row["end_at"] is None for row in runs):
        tell(("run", "it has not ended, or no pod of an attempt was seen"))
    if not all(row["is_final"] for row in runs):
        tell(("run", "its days are not final: files that come later may change this record"))
    if all(row["code_revision"] is None for row in runs) and not any(
        row["version"] for row in used["code"]
    ):
        tell(("code", "no revision of its code is stated"))
    if not any(row["image_digests"] for row in runs):
        tell(("images", "no digest of an image that it ran is known"))


def _tell_dependencies(
    rows: Sequence[Row], used: Document, tell: Callable[[tuple[str, str]], None]
) -> None:
    versions: dict[str, bool] = {}
    for row in used["data_and_models"]:
        name = row["resource_id"]
        versions[name] = versions.get(name, False) or row["version"] is not None
    for name in sorted(name for name, is_known in versions.items() if not is_known):
        tell((name, "its version is not known"))
    for row in rows:
        if row["declaration"] == "declared_not_observable":
            tell((row["resource_id"], "declared; no source could show whether it was used"))
    unmeasured = sum(
        row["received_bytes"] is None and row["accounted_in"] is None
        for row in rows
        if row["declaration"] in SEEN
    )
    if unmeasured:
        tell(("dependencies", f"{unmeasured} contacts have no measured bytes"))
