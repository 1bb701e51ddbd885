"""A manifest as Markdown: what ran, what it used, where it waited, what it left, what is not known.

It is made from the JSON document alone; what is shortened here stands there in full.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pipelines.cli.output import people_bytes
from pipelines.markdown import bullets, fitted, statement, table

Row = Mapping[str, Any]

DECLARED = {
    "declared_seen": "yes, seen",
    "declared_not_seen": "yes, not seen",
    "declared_denied": "yes, denied",
    "declared_not_observable": "yes, no source",
    "seen_not_declared": "no",
}
"""Declarations in few words."""


def markdown_of(document: Mapping[str, Any]) -> str:
    """Write a manifest as Markdown of at most 100 columns.

    Args:
        document: What `manifest_of` made.
    """
    title = document["what_ran"]["name"] or document["what_ran"]["run_uuid"]
    lines = [
        f"# Run {fitted(title, 90)}",
        "",
        *bullets(
            [
                ("covered up to", document["as_of_date"]),
                ("final", "yes" if document["is_final"] else "no: later files may change it"),
                ("form", f"podledger manifest, version {document['manifest_version']}"),
            ]
        ),
        *_ran(document["what_ran"]),
        *_used(document["what_it_used"]),
        *_waited(document["where_it_waited"]),
        *_left(document["what_it_left"]),
        *_unknown(document["what_is_not_known"]),
        *_findings(document["findings"]),
        *_observations(document["observations"]),
    ]
    return "\n".join(lines) + "\n"


def seconds(microseconds: int | None) -> str | None:
    """A duration in seconds with one decimal, exact up to there.

    >>> seconds(61_250_000)
    '61.3 s'
    """
    if microseconds is None:
        return None
    tenths = (abs(microseconds) + 50_000) // 100_000
    sign = "-" if microseconds < 0 and tenths else ""
    return f"{sign}{tenths // 10}.{tenths % 10} s"


def _heading(text: str, level: int = 2) -> list[str]:
    return ["", f"{'#' * level} {text}", ""]


def _listed(columns: Sequence[str], rows: Iterable[Sequence[Any]], empty: str) -> list[str]:
    found = list(rows)
    return table(columns, found) if found else [empty]


def _clock(instant: str | None) -> str | None:
    """A time to the second."""
    return None if instant is None else f"{instant[:10]} {instant[11:19]}"


def _bytes(row: Row, best: str, least: str, most: str) -> str:
    if row[best] is None and row[least] is None:
        return "not measured"
    if row[best] == row[least] == row[most]:
        return people_bytes(row[best])
    shown = people_bytes(row[best]) if row[best] is not None else "?"
    low = "?" if row[least] is None else people_bytes(row[least])
    high = "…" if row[most] is None else people_bytes(row[most])
    return f"{shown} ({low} to {high})"


def _ran(ran: Row) -> list[str]:
    facts = [
        (name.replace("_", " "), ran[name])
        for name in (
            "run_uuid",
            "project",
            "run_owner",
            "kind",
            "runtime",
            "queue",
            "outcome",
            "outputs_proof",
        )
    ]
    facts += [
        ("created", _clock(ran["created_at"])),
        ("started", _clock(ran["start_at"])),
        ("ended", _clock(ran["end_at"])),
    ]
    for name in ("original_uuid", "pipeline_uuid"):
        if ran[name] is not None:
            facts.append((name.replace("_", " "), ran[name]))
    attempts = (
        (
            row["attempt"], row["cluster"], row["pod_count"], row["gpu_count"],
            _clock(row["start_at"]), _clock(row["end_at"]), row["code_revision"],
        )
        for row in ran["attempts"]
    )  # fmt: skip
    columns = ("attempt>", "cluster", "pods>", "GPUs>", "start (UTC)", "end (UTC)", "code")
    nodes = ((row["cluster"], row["node"], row["instance_type"]) for row in ran["nodes"])
    return [
        *_heading("What ran"),
        *bullets(facts),
        "",
        *_listed(columns, attempts, "No attempt was seen."),
        "",
        *_listed(("cluster", "node", "type"), nodes, "No node of it is known."),
    ]


def _used(used: Row) -> list[str]:
    versions = [
        (
            kind,
            row["resource_id"],
            row["version"],
            row["version_basis"],
            DECLARED[row["declaration"]],
        )
        for kind, name in (("code", "code"), ("data or model", "data_and_models"))
        for row in used[name]
    ]
    images = (
        (row["image"], row["image_digest"], row["container"], row["was_present"])
        for row in used["images"]
    )
    contacts = (
        (
            row["resource_id"], row["operation"], row["stage"], DECLARED[row["declaration"]],
            _bytes(row, "received_bytes", "min_received_bytes", "max_received_bytes"),
            row["denied_count"] + row["error_count"] + row["throttled_count"],
        )
        for row in used["dependencies"]
    )  # fmt: skip
    costs = [
        (
            row["resource_id"], row["charge_kind"], f"{row['distance']}/{row['gateway']}",
            people_bytes(row["bytes"]), row["usd"],
        )
        for row in used["costs"]
    ]  # fmt: skip
    repeats = (
        (
            row["scope"], row["resource_id"], row["remedy"],
            _bytes(row, "max_repeat_bytes", "min_repeat_bytes", "max_repeat_bytes"),
            row["max_avoidable_usd"],
        )
        for row in used["repeats"]
    )  # fmt: skip
    total = used["total_cost"]
    return [
        *_heading("What it used"),
        *_listed(
            ("what", "resource", "version", "basis", "declared"),
            versions,
            "No code, dataset or model of it is known.",
        ),
        *_heading("Images", 3),
        *_listed(("image", "digest", "container", "present"), images, "No pull was seen."),
        *_heading("Dependencies", 3),
        *_listed(
            ("resource", "operation", "stage", "declared", "received", "failed>"),
            contacts,
            "No dependency was seen or declared.",
        ),
        *_heading("Costs", 3),
        *_listed(
            ("resource", "charge", "path", "bytes>", "USD>"), costs, "No charge of it is known."
        ),
        *([] if not costs else ["", *bullets([
            ("total USD", total["usd"]),
            ("at least", total["min_usd"]),
            ("at most", total["max_usd"]),
        ])]),
        *_heading("Fetched again (scopes are never added)", 3),
        *_listed(
            ("scope", "resource", "remedy", "repeated", "avoidable USD>"),
            repeats,
            "Nothing was seen to be fetched again.",
        ),
    ]  # fmt: skip


def _waited(waited: Row) -> list[str]:
    causes = (
        (row["cause"], seconds(row["duration_us"]), _gpu(row["gpu_us"]))
        for row in waited["by_cause"]
    )
    parts = (
        (
            row["container"] or "(pod)", row["stage"], row["cause"], row["resource_id"] or "-",
            seconds(row["duration_us"]), _gpu(row["gpu_us"]), row["first_error"] or "-",
        )
        for row in waited["waits"]
    )  # fmt: skip
    storms = (
        (
            row["resource_id"], row["error_class"], row["failure_count"], row["retry_end"],
            row["responsible"],
        )
        for row in waited["storms"]
    )  # fmt: skip
    return [
        *_heading("Where it waited"),
        *_listed(("cause", "time>", "GPU time>"), causes, "No stage of it is known."),
        *_heading("By container and stage", 3),
        *_listed(
            ("container", "stage", "cause", "resource", "time>", "GPU time>", "error"),
            parts,
            "No stage of it is known.",
        ),
        *_heading("Failed over and over", 3),
        *_listed(
            ("resource", "error", "failures>", "retries", "responsible"), storms, "Nothing did."
        ),
    ]


def _gpu(microseconds: int | None) -> str:
    return seconds(microseconds) or "?"


def _left(left: Row) -> list[str]:
    outputs = left["outputs"]
    shown = (
        (
            row["resource_id"] or row["name"], row["expected_from"], row["proof"],
            _clock(row["uploaded_at"]) or "-", people_bytes(row["bytes"]),
        )
        for row in outputs or ()
    )  # fmt: skip
    writes = (
        (row["resource_id"], row["request_count"], people_bytes(row["sent_bytes"]))
        for row in left["writes_seen"]
    )
    empty = "Outputs are not judged." if outputs is None else "No output was expected."
    return [
        *_heading("What it left"),
        *_listed(("output", "expected from", "proof", "written (UTC)", "bytes>"), shown, empty),
        *_heading("Writes seen", 3),
        *_listed(("resource", "requests>", "bytes>"), writes, "None."),
    ]


def _unknown(unknown: Row) -> list[str]:
    coverage = (
        (
            row["source"], row["cluster"], seconds(row["covered_us"]), seconds(row["expected_us"]),
            row["lost_count"], row["empty_means"], ", ".join(row["reasons"]) or "-",
        )
        for row in unknown["coverage"]
    )  # fmt: skip
    told = [
        line for row in unknown["statements"] for line in statement(row["about"], row["statement"])
    ]
    return [
        *_heading("What is not known"),
        *(told or ["Nothing is missing."]),
        *_heading("How far its sources saw it", 3),
        *_listed(
            ("source", "cluster", "covered>", "of>", "lost>", "empty means", "reasons"),
            coverage,
            "No source is known that should have seen it.",
        ),
    ]


def _findings(findings: Sequence[Row] | None) -> list[str]:
    shown = (
        (row["kind"], row["responsible"], row["resource_id"] or "-", _gpu(row["lost_gpu_us"]))
        for row in findings or ()
    )
    changes = dict.fromkeys(
        (row["kind"], text) for row in findings or () for text in _advice(row) if text is not None
    )
    empty = "Findings are not judged." if findings is None else "Nothing is suggested."
    return [
        *_heading("What someone should do"),
        *_listed(("finding", "responsible", "resource", "GPU time lost>"), shown, empty),
        *([""] if changes else []),
        *(line for kind, text in changes for line in statement(kind, text)),
    ]


def _advice(row: Row) -> tuple[str | None, str | None]:
    shown_by = row["shown_by"]
    return row["suggested_change"], shown_by and f"shown by: {shown_by}"


def _observations(observations: Sequence[Row]) -> list[str]:
    shown = ((row["format"], row["file"], row["content_hash"]) for row in observations)
    return [
        *_heading("Retained observations"),
        *_listed(("format", "file", "SHA-256"), shown, "None."),
    ]
