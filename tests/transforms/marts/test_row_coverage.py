"""Rows of marts carry how far what can show them observed their run, by hand."""

from typing import Any

import polars as pl
import pytest

from schemas.registry import tables
from schemas.views import views
from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay, ClusterFacts
from transforms.marts.row_coverage import cover_rows_of_day, cover_rows_of_lives
from transforms.marts.run_coverage_days import TRANSFORM
from transforms.sql import SqlSession

RUN, OTHER = "a" * 32, "b" * 32
HOUR = 3_600_000_000
CLUSTERS = (ClusterFacts("alder"), ClusterFacts("birch"))
TABLES = (("alder", "flows"), ("alder", "dns_lookups"), ("fleet", "object_requests"))
COVERAGE = ("expected_us", "covered_us", "empty_means")


def pod(uid: str, start: str, end: str, **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder", "pod_uid": uid, "address": f"address of {uid}", "node": "n1",
        "run_uuid": RUN, "start_at": at(start), "end_at": at(end),
    } | more  # fmt: skip


def said(start: str, end: str, status: str = "covered", **more: Any) -> dict[str, Any]:
    return {
        "cluster": "alder", "source": "flows", "node": "n1", "start_at": at(start),
        "end_at": at(end), "status": status, "node_coverage_id": f"{start} {end} {more}",
        "reason": None if status == "covered" else f"{status} words",
    } | more  # fmt: skip


def days(pods: list[dict[str, Any]], coverage: list[dict[str, Any]]) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(session, pod_intervals=pods, node_coverage=coverage)
        day = BuildDay(DAY, "fleet", clusters=CLUSTERS, export_tables=TABLES)
        return checked(session, "run_coverage_days", TRANSFORM.build(session, day))


def test_a_day_is_covered_as_far_as_its_pods_hours_were() -> None:
    rows = days(
        [pod("p1", "10:00", "12:00"), pod("p2", "11:00", "12:00", node="n2"),
         pod("p3", "03:00", "04:00", run_uuid=None), pod("p4", "05:00", "07:00", run_uuid=None)],
        [said("00:00", "11:00"), said("11:00", "11:30", "lossy", lost_count=42),
         said("10:00", "13:00", node="n2"), said("10:00", "24:00".replace("24:00", "23:00"),
              source="dns_lookups", node=None),
         said("00:00", "23:00", "unknown", source="object_requests:b", node=None, cluster="fleet")],
    )  # fmt: skip
    found = {(r["run_uuid"], r["source"]): r for r in rows.iter_rows(named=True)}
    # Two hours of p1 and one of p2; n1 is covered until 11, in doubt until 11:30, then silent.
    flows = found[RUN, "flows"]
    assert [flows[c] for c in ("expected_us", "covered_us", "doubtful_us", "lost_count")] == [
        3 * HOUR, 2 * HOUR, HOUR // 2, 42,
    ]  # fmt: skip
    assert (flows["empty_means"], flows["reasons"]) == (
        "partly_observed", ["lossy words", "nothing said"],
    )  # fmt: skip
    assert found[RUN, "dns_lookups"]["empty_means"] == "nothing_happened"
    bucket = found[RUN, "object_requests:b"]
    assert (bucket["covered_us"], bucket["doubtful_us"]) == (0, 3 * HOUR)
    assert bucket["empty_means"] == "not_observed"
    # Pods of no run are one: an hour and two.
    assert found[None, "flows"]["expected_us"] == found[None, "flows"]["covered_us"] == 3 * HOUR
    assert len(found) == 6


FACTS = [
    ("flows", 90, "partly_observed"), ("dns_lookups", 80, "partly_observed"),
    ("volume_records", 100, "nothing_happened"), ("counter_samples", 0, "not_observed"),
    ("object_requests:b", 100, "nothing_happened"), ("object_requests:account/c", 7,
                                                      "partly_observed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("resource", "operation", "covered", "means"),
    [
        ("s3://b/key", "read", 100, "nothing_happened"),
        ("gs://b", "list", 100, "nothing_happened"),
        ("s3://unknown/key", "read", None, "not_observed"),
        ("dns://a.example.com:443", "connect", 80, "partly_observed"),
        ("git+https://example.com/x@1", "connect", 80, "partly_observed"),
        ("dns://10.0.0.2:53", "resolve", 80, "partly_observed"),
        ("ip://192.0.2.1:443", "connect", 100, "nothing_happened"),
        ("kube://alder/ml/api:80", "connect", 90, "partly_observed"),
        ("node://alder/n1:10250", "connect", 90, "partly_observed"),
        (None, "volume_records", 100, "nothing_happened"),
        (None, "counter_samples", 0, "not_observed"),
        ("oci://r/i@sha256:1", "pull", None, None),
        ("oci://r/i@sha256:1", "connect", None, None),
        ("kube://alder/ml/persistentvolumeclaims/x", "connect", None, None),
        ("s3://b/key", None, None, None),
    ],
)
@pytest.mark.parametrize("is_of_day", [True, False])
def test_what_can_show_a_row_says_how_far_it_was_observed(
    resource: str | None, operation: str | None, covered: int | None, means: str | None,
    *, is_of_day: bool,
) -> None:  # fmt: skip
    facts = [
        {"cluster": "alder", "run_uuid": RUN, "source": source, "expected_us": 100,
         "covered_us": us, "empty_means": said_of}
        for source, us, said_of in FACTS
    ]  # fmt: skip
    asked = {
        "row": [1, 2],
        "asked_cluster": ["alder" if is_of_day else None] * 2,
        "asked_run": [RUN, OTHER],
        "asked_resource": [resource] * 2,
        "asked_operation": [operation] * 2,
    }
    schema = {"row": pl.Int64} | dict.fromkeys(list(asked)[1:], pl.String)
    with SqlSession(threads=1) as session:
        show(session, run_coverage_days=facts, run_coverage=facts)
        session.register("mart_rows", pl.DataFrame(asked, schema=schema))
        if is_of_day:
            made = session.frame(cover_rows_of_day(session))
        else:
            made = session.frame(cover_rows_of_lives(session, BuildDay(DAY, "fleet")))
    assert sorted(made.columns) == sorted(("row", *COVERAGE))
    rows = {row["row"]: row for row in made.iter_rows(named=True)}
    expected = None if covered is None else 100
    assert tuple(rows[1][c] for c in COVERAGE) == (expected, covered, means)
    # Nothing is known of the other run.
    assert tuple(rows[2][c] for c in COVERAGE) == (None, None, means and "not_observed")


@pytest.mark.parametrize(
    ("flows", "lookups", "means"),
    [(100, 100, "nothing_happened"), (100, None, "partly_observed"), (100, 0, "not_observed"),
     (0, 100, "not_observed"), (100, 99, "partly_observed")],
)  # fmt: skip
def test_a_named_host_needs_flows_and_look_ups(
    flows: int | None, lookups: int | None, means: str
) -> None:
    whole = {100: "nothing_happened", 99: "partly_observed", 0: "not_observed"}
    facts = [
        {"cluster": "alder", "run_uuid": RUN, "source": source, "expected_us": 100,
         "covered_us": us, "empty_means": whole[us]}
        for source, us in (("flows", flows), ("dns_lookups", lookups)) if us is not None
    ]  # fmt: skip
    row = {"asked_cluster": "alder", "asked_run": RUN, "asked_operation": "connect",
           "asked_resource": "dns://a.example.com:443"}  # fmt: skip
    with SqlSession(threads=1) as session:
        show(session, run_coverage_days=facts)
        session.register("mart_rows", pl.DataFrame([row]))
        made = session.frame(cover_rows_of_day(session)).row(0, named=True)
    covered = min(us for us in (flows, lookups) if us is not None)
    assert (made["covered_us"], made["empty_means"]) == (covered, means)


def test_every_mart_row_carries_its_coverage() -> None:
    marts = {name: spec for name, spec in tables().items() if spec.layer == "marts"}
    without = {
        name
        for name, spec in marts.items()
        if not {c.name for c in spec.columns} >= {"expected_us", "covered_us", "empty_means"}
        and not {c.name for c in spec.columns} >= {"coverage_ratio", "empty_means"}
    }
    # A line of a bill is of no run and no node; its docstring says so.
    assert without == {"bill_reconciliation"}
    assert "no coverage of its own" in (marts["bill_reconciliation"].model.__doc__ or "")
    assert "coverage_ratio" in {c.name for c in views()["dependencies"].columns}
