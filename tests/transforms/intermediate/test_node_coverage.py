"""What was observed at all."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.intermediate.node_coverage import build
from transforms.sql import SqlSession

BEFORE, NEXT = DAY - timedelta(days=1), DAY + timedelta(days=1)
MIDNIGHT = at("00:00", days=1)
FOLDER = "exports/alder/hubble/node-a"


def file(name: str, first: datetime | None, last: datetime | None, **more: Any) -> dict[str, Any]:
    """A Hubble file of node-a."""
    return {
        "export_file_id": name,
        "export": "alder-hubble",
        "format": "hubble",
        "cluster": "alder",
        "node": "node-a",
        "path": f"{FOLDER}/{name}",
        "landing_date": DAY,
        "content_hash": name,
        "accepted_count": 10,
        "first_event_at": first,
        "last_event_at": last,
    } | more


def flow(name: str, seen: datetime | None, **more: Any) -> dict[str, Any]:
    return {"export_file_id": name, "cluster": "alder", "node": "node-a", "event_at": seen} | more


def loss(name: str, told: datetime | None, count: int | None = 5, **more: Any) -> dict[str, Any]:
    return {
        "export_file_id": name,
        "cluster": "alder",
        "source": "flows",
        "node": "node-a",
        "event_at": told,
        "lost_count": count,
        "kind": "lost",
        "reason": "PERF_EVENT_RING_BUFFER",
    } | more


def pod(node: str = "node-a") -> dict[str, Any]:
    return {"cluster": "alder", "pod_uid": f"pod-{node}", "node": node}


def built(
    *,
    cluster: str = "alder",
    tables: Iterable[str] = ("flows",),
    day: date = DAY,
    pods: Iterable[dict[str, Any]] = (),
    **shown: Iterable[dict[str, Any]],
) -> pl.DataFrame:
    frames: dict[str, Iterable[dict[str, Any]]] = {
        "export_files": [],
        "flows": [],
        "loss_reports": [],
        "object_requests": [],
        "volume_records": [],
        "dns_lookups": [],
        "node_states": [],
        "deliveries": [],
        "node_coverage": [],
        "pod_intervals": [p | {"date": day} for p in pods],
    } | shown
    for name in ("flows", "loss_reports", "object_requests", "dns_lookups"):
        frames.setdefault(f"all_{name}", frames[name])
    with SqlSession(threads=1) as session:
        show(session, **frames)
        facts = BuildDay(
            date=day,
            cluster=cluster,
            export_tables=tuple((cluster, table) for table in tables),
            final_after=timedelta(days=2),
        )
        return checked(session, "node_coverage", build(session, facts))


def tiles(rows: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    chosen = columns or ("status", "reason")
    return rows.sort("source", "node", "start_at").select("start_at", "end_at", *chosen).rows()


def test_a_node_is_covered_from_the_first_to_the_last_event_of_its_file():
    rows = built(export_files=[file("events.log", at("01:00"), at("22:00"))], pods=[pod()])
    assert tiles(rows) == [
        (at("00:00"), at("01:00"), "missing", "before the first event"),
        (at("01:00"), at("22:00"), "covered", None),
        (at("22:00"), MIDNIGHT, "missing", "after the last event"),
    ]
    assert rows.select("cluster", "source", "node").unique().rows() == [
        ("alder", "flows", "node-a")
    ]


def test_a_node_with_a_pod_but_no_file_is_missing_all_day():
    rows = built(pods=[pod(), pod("node-b")], export_files=[file("f", at("00:00"), MIDNIGHT)])
    assert tiles(rows.filter(pl.col("node") == "node-b")) == [
        (at("00:00"), MIDNIGHT, "missing", "no file")
    ]


def test_a_file_may_go_on_a_minute_after_the_last_ones_end_or_rotation():
    files = [
        file("events-2026-03-02T10-00-00.000.log", at("00:00"), at("08:30")),
        file("events.log", at("10:01:00"), at("12:00")),
        file("later.log", at("12:01:00"), at("13:00")),
        file("last.log", at("13:01:00.000001"), at("14:00")),
    ]
    rows = built(export_files=files)
    assert tiles(rows) == [
        (at("00:00"), at("13:00"), "covered", None),
        (at("13:00"), at("13:01:00.000001"), "missing", "gap between files"),
        (at("13:01:00.000001"), at("14:00"), "covered", None),
        (at("14:00"), MIDNIGHT, "missing", "after the last event"),
    ]


def test_a_rotation_that_another_path_of_the_same_content_names_counts():
    files = [
        file("events.log.1", at("00:00"), at("08:30"), content_hash="same"),
        file(
            "events-2026-03-02T10-00-00.000.log.gz", None, None, content_hash="same",
            same_content_as="events.log.1", accepted_count=0,
        ),
        file("events.log", at("10:00:59"), MIDNIGHT),
    ]  # fmt: skip
    assert tiles(built(export_files=files)) == [(at("00:00"), MIDNIGHT, "covered", None)]


def test_a_grown_file_overlaps_the_one_that_it_grew_from():
    files = [
        file("a", at("00:00"), at("08:00")),
        file("b", at("00:00"), MIDNIGHT, grown_from="a"),
    ]
    assert tiles(built(export_files=files)) == [(at("00:00"), MIDNIGHT, "covered", None)]


def test_a_chain_is_carried_over_both_midnights():
    files = [
        file("yesterday", at("10:00", days=-1), at("23:59:50", days=-1)),
        file("today", at("00:00:20"), at("23:59:55")),
        file("tomorrow", at("00:00:05", days=1), at("00:30", days=1)),
    ]
    assert tiles(built(export_files=files)) == [(at("00:00"), MIDNIGHT, "covered", None)]


def test_files_of_two_exports_are_united_but_no_chain():
    files = [
        file("a", at("00:00"), at("10:00")),
        file("b", at("10:00:30"), at("20:00"), export="other"),
        file("c", at("09:00"), at("10:00:10"), export="other"),
    ]
    assert tiles(built(export_files=files)) == [
        (at("00:00"), at("20:00"), "covered", None),
        (at("20:00"), MIDNIGHT, "missing", "after the last event"),
    ]
    assert [t[2] for t in tiles(built(export_files=files[:2]))] == [
        "covered", "missing", "covered", "missing",
    ]  # fmt: skip


def test_a_file_of_several_nodes_covers_each_by_its_own_events():
    files = [file("f", at("01:00"), at("23:00"), node=None)]
    flows = [
        flow("f", at("01:00")),
        flow("f", at("05:00")),
        flow("f", at("02:00"), node="node-b"),
        flow("f", at("23:00"), node="node-b"),
    ]
    rows = built(export_files=files, flows=flows).filter(pl.col("status") == "covered")
    assert rows.sort("node").select("node", "start_at", "end_at").rows() == [
        ("node-a", at("01:00"), at("05:00")),
        ("node-b", at("02:00"), at("23:00")),
    ]


def test_the_name_in_the_events_goes_before_the_paths():
    files = [file("f", at("01:00"), at("23:00"), node="10-0-0-1")]
    rows = built(export_files=files, flows=[flow("f", at("02:00"))], pods=[pod()])
    assert rows["node"].unique().to_list() == ["node-a"]
    assert rows.filter(pl.col("status") == "covered").select("start_at", "end_at").row(0) == (
        at("01:00"),
        at("23:00"),
    )


WHOLE = file("f", at("00:00"), MIDNIGHT)


@pytest.mark.parametrize(
    ("report", "start", "end"),
    [
        ({"event_at": at("10:00")}, at("09:59:59"), at("10:00:01")),
        ({"start_at": at("09:58"), "end_at": at("10:00")}, at("09:58"), at("10:00")),
        ({"start_at": at("10:00"), "end_at": at("10:00")}, at("09:59:59"), at("10:00:01")),
        ({"event_at": None}, at("00:00"), MIDNIGHT),
        ({"node": None}, at("09:59:59"), at("10:00:01")),
    ],
)
def test_lost_events_make_their_stretch_lossy(
    report: dict[str, Any], start: datetime, end: datetime
):
    rows = built(export_files=[WHOLE], loss_reports=[loss("f", at("10:00"), **report)])
    lossy = rows.filter(pl.col("status") == "lossy")
    assert tiles(lossy, "lost_count", "reason") == [(start, end, 5, "lost: PERF_EVENT_RING_BUFFER")]
    assert rows["lost_count"].sum() == 5


def test_a_loss_without_a_number_has_none():
    rows = built(export_files=[WHOLE], loss_reports=[loss("f", at("10:00"), None)])
    assert rows.filter(pl.col("status") == "lossy")["lost_count"].to_list() == [None]


def test_losses_that_overlap_are_told_together_and_counted_once_each():
    rows = built(
        export_files=[WHOLE],
        loss_reports=[
            loss("f", None, 3, start_at=at("10:00"), end_at=at("10:10")),
            loss("f", None, 4, start_at=at("10:05"), end_at=at("10:20"), reason="QUEUE"),
        ],
    )
    assert tiles(rows.filter(pl.col("status") == "lossy"), "lost_count", "reason") == [
        (at("10:00"), at("10:05"), 3, "lost: PERF_EVENT_RING_BUFFER"),
        (at("10:05"), at("10:10"), 4, "lost: PERF_EVENT_RING_BUFFER, lost: QUEUE"),
        (at("10:10"), at("10:20"), None, "lost: QUEUE"),
    ]


def test_a_loss_where_no_file_is_stays_missing_but_counts():
    rows = built(
        export_files=[file("f", at("12:00"), MIDNIGHT)],
        loss_reports=[loss("f", None, start_at=at("11:00"), end_at=at("13:00"))],
    )
    assert tiles(rows, "status", "lost_count") == [
        (at("00:00"), at("12:00"), "missing", 5),
        (at("12:00"), at("13:00"), "lossy", None),
        (at("13:00"), MIDNIGHT, "covered", None),
    ]


def test_a_loss_over_midnight_counts_on_the_day_on_which_it_begins():
    files = [file("f", at("00:00"), at("12:00", days=1))]
    report = loss("f", None, start_at=at("23:00"), end_at=at("01:00", days=1))
    today = built(export_files=files, loss_reports=[report])
    tomorrow = built(export_files=files, loss_reports=[report], day=NEXT)
    assert tiles(today.filter(pl.col("status") == "lossy"), "lost_count") == [
        (at("23:00"), MIDNIGHT, 5)
    ]
    assert tiles(tomorrow.filter(pl.col("status") == "lossy"), "lost_count") == [
        (MIDNIGHT, at("01:00", days=1), None)
    ]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("skipped", "lossy"),
        ("truncated", "lossy"),
        ("sampled", "sampled"),
        ("rotated_away", "missing"),
    ],
)
def test_each_kind_of_loss_has_its_status(kind: str, status: str):
    rows = built(export_files=[WHOLE], loss_reports=[loss("f", at("10:00"), kind=kind)])
    assert [t[2] for t in tiles(rows)] == ["covered", status, "covered"]


def test_a_file_with_masked_records_is_masked_as_a_whole():
    files = [file("f", at("00:00"), at("10:00")), file("g", at("10:00:10"), MIDNIGHT)]
    flows = [flow("g", None, is_masked=True), flow("g", at("12:00"), is_masked=True)]
    rows = built(export_files=files, flows=flows)
    assert tiles(rows, "status", "masked_count") == [
        (at("00:00"), at("10:00:10"), "covered", 0),
        (at("10:00:10"), MIDNIGHT, "masked", 2),
    ]


def test_files_without_any_time_are_masked_on_the_day_they_landed():
    files = [file("f", None, None)]
    assert tiles(built(export_files=files, pods=[pod()]), "status", "masked_count") == [
        (at("00:00"), MIDNIGHT, "masked", 10)
    ]
    assert tiles(built(export_files=files, pods=[pod()], day=NEXT), "status")[0][2] == "missing"


def test_files_without_any_time_explain_what_lies_between_others_and_their_records_are_counted():
    before, behind = file("f", at("00:00"), at("10:00")), file("g", at("12:00"), MIDNIGHT)
    rows = built(export_files=[before, file("m", None, None), behind])
    assert tiles(rows, "status", "reason", "masked_count") == [
        (at("00:00"), at("10:00"), "covered", None, 10),
        (at("10:00"), at("12:00"), "masked", "records without a time", 0),
        (at("12:00"), MIDNIGHT, "covered", None, 0),
    ]


@pytest.mark.parametrize(
    ("told", "status", "reason"),
    [
        ([{"verdict": "FORWARDED"}, {"verdict": "DROPPED"}], "covered", None),
        ([{"verdict": "DROPPED"}], "unknown", "only dropped flows are told"),
        ([{"verdict": None}], "covered", None),
        (
            [{"verdict": "DROPPED"}, {"verdict": "FORWARDED", "event_at": at("10:00", days=-1)}],
            "unknown",
            "only dropped flows are told",
        ),
        ([{"verdict": "FORWARDED"}, {"flow_count": 3}], "masked", "lines count flows"),
        ([{"agent_event": "IPCACHE_UPSERTED"}], "covered", None),
        (
            [
                {"verdict": "DROPPED", "node": "node-b"},
                {"verdict": "FORWARDED", "event_at": at("08:00")},
                {"verdict": "FORWARDED"},
            ],
            "covered",
            None,
        ),
    ],
)
def test_an_export_that_leaves_out_connections_covers_none(told, status, reason):
    flows = [flow("f", at("10:00")) | more for more in told]
    rows = built(export_files=[file("f", at("00:00"), MIDNIGHT)], flows=flows, pods=[pod()])
    found = rows.filter(pl.col("node") == "node-a").select("status", "reason").unique().rows()
    assert (status, reason) in found


def test_what_an_export_of_drops_leaves_out_another_one_may_cover():
    files = [
        file("f", at("00:00"), MIDNIGHT, export="drops"),
        file("g", at("06:00"), at("12:00"), export="all"),
    ]
    flows = [
        flow("f", at("10:00"), verdict="DROPPED"),
        flow("g", at("10:00"), verdict="FORWARDED"),
    ]
    assert tiles(built(export_files=files, flows=flows, pods=[pod()])) == [
        (at("00:00"), at("06:00"), "unknown", "only dropped flows are told"),
        (at("06:00"), at("12:00"), "covered", None),
        (at("12:00"), MIDNIGHT, "unknown", "only dropped flows are told"),
    ]


def test_a_cluster_whose_exports_cannot_fill_flows_has_no_such_rows():
    assert built(pods=[pod()], tables=()).height == 0


# -- logs that are judged by the hour --------------------------------------------------------------


def delivered(
    export: str = "s3",
    statuses: Iterable[str] = ("complete", "complete", "complete"),
    latest: datetime | None = None,
    **more: Any,
) -> list[dict[str, Any]]:
    """Deliveries of successive landing days from the test day on."""
    return [
        {
            "cluster": "alder",
            "export": export,
            "format": "s3_access_log",
            "landing_date": DAY + timedelta(days=n),
            "status": status,
            "latest_event_at": latest or at("23:00", days=n),
        }
        | more
        for n, status in enumerate(statuses)
    ]


def hourly(*deliveries: list[dict[str, Any]], **more: Any) -> list[tuple[Any, ...]]:
    rows = built(
        tables=["object_requests"], deliveries=[d for some in deliveries for d in some], **more
    )
    assert rows["node"].null_count() == rows.height
    return tiles(rows, "source", "status", "reason")


ALL_DAY = (at("00:00"), MIDNIGHT, "object_requests")


def test_an_hour_is_covered_once_all_its_deliveries_came_and_later_records_exist():
    assert hourly(delivered(statuses=["complete"] * 4)) == [(*ALL_DAY, "covered", None)]


def test_hours_without_a_later_record_are_unknown():
    assert hourly(delivered(statuses=["complete"] * 4, latest=at("10:30"))) == [
        (at("00:00"), at("10:00"), "object_requests", "covered", None),
        (at("10:00"), MIDNIGHT, "object_requests", "unknown", "no record later than the hour (s3)"),
    ]


@pytest.mark.parametrize(
    ("statuses", "status", "reason"),
    [
        (["complete"] * 2, "unknown", "deliveries are still awaited (s3)"),
        (["complete", "partial", "complete", "complete"], "unknown", "a delivery is partial (s3)"),
        (["missing", "complete", "complete", "complete"], "missing", "a delivery is missing (s3)"),
        (
            ["complete", "complete", "not_configured", "complete"],
            "unknown",
            "a delivery is not configured (s3)",
        ),
        (["late", "complete"], "unknown", "deliveries are still awaited (s3)"),
    ],
)
def test_hours_whose_deliveries_did_not_all_come_are_not_covered(
    statuses: list[str], status: str, reason: str
):
    assert hourly(delivered(statuses=statuses)) == [(*ALL_DAY, status, reason)]


def test_what_is_delivered_behind_the_watermark_has_no_say():
    found = hourly(delivered(statuses=["complete"] * 4 + ["missing"]))
    assert found == [(*ALL_DAY, "covered", None)]


def test_without_a_known_export_all_is_unknown():
    assert hourly() == [(*ALL_DAY, "unknown", "no export of this table is known")]


def test_an_export_whose_format_is_detected_is_known_by_its_files():
    files = [file("f", at("01:00"), at("02:00"), export="auto", format="cloudtrail")]
    deliveries = delivered("auto", ["complete"] * 4, format="auto")
    assert hourly(deliveries, export_files=files) == [(*ALL_DAY, "covered", None)]


def test_of_several_exports_of_one_table_the_best_counts():
    found = hourly(delivered(statuses=["missing"] * 4), delivered("trail", ["complete"] * 4))
    assert found == [(*ALL_DAY, "covered", None)]


def request(bucket: str, name: str) -> dict[str, Any]:
    return {"cluster": "alder", "bucket": bucket, "export_file_id": name, "event_at": at("10:00")}


def test_a_bucket_is_judged_by_the_exports_that_log_it_and_by_all_if_none_does():
    found = hourly(
        delivered("one", ["complete"] * 4),
        delivered("two", ["missing"] * 4),
        export_files=[
            file("1", at("09:00"), at("11:00"), export="one", format="s3_access_log"),
            file("2", at("09:00"), at("11:00"), export="two", format="s3_access_log"),
        ],
        object_requests=[
            request("a", "1"),
            request("b", "2"),
            request("c", "1"),
            request("c", "2"),
        ],
        node_coverage=[
            {"cluster": "alder", "source": "object_requests:quiet", "date": BEFORE},
            {"cluster": "alder", "source": "object_requests:a", "date": BEFORE},
            {"cluster": "birch", "source": "object_requests:elsewhere", "date": BEFORE},
        ],
    )
    assert [row[2:] for row in found] == [
        ("object_requests:a", "covered", None),
        ("object_requests:b", "missing", "a delivery is missing (two)"),
        ("object_requests:c", "covered", None),
        ("object_requests:quiet", "missing", "a delivery is missing (two)"),
    ]


def test_the_fleets_logs_are_judged_apart_from_the_clusters():
    deliveries = delivered(statuses=["complete"] * 4, cluster="fleet")
    rows = built(
        cluster="fleet",
        tables=["object_requests"],
        deliveries=deliveries + delivered("own", ["missing"] * 4),
        export_files=[
            file("1", at("09:00"), at("11:00"), export="s3", format="s3_access_log", cluster=None)
        ],
        object_requests=[request("a", "1") | {"cluster": None}, request("b", "1")],
        pods=[pod()],
    )
    assert rows.select("cluster", "source", "status").rows() == [
        ("fleet", "object_requests:a", "covered")
    ]


NO_POLICY = "Hubble tells no look-up: no policy sends DNS through its proxy"
BY_POLICY = "Hubble tells only look-ups that a policy sends through its proxy"


@pytest.mark.parametrize(
    ("told", "status", "reason"),
    [([], "missing", NO_POLICY), ([{"source_format": "hubble"}], "unknown", BY_POLICY)],
)
def test_hubble_alone_does_not_cover_lookups(told, status, reason):
    rows = built(
        tables=["dns_lookups", "flows"],
        deliveries=delivered("alder-hubble", ["complete"] * 4, format="hubble"),
        export_files=[WHOLE],
        dns_lookups=[lookup() | more for more in told],
    )
    assert rows.sort("source").select("source", "status", "reason").rows() == [
        ("dns_lookups", status, reason),
        ("flows", "covered", None),
    ]


def lookup(time: str = "10:00", **more: Any) -> dict[str, Any]:
    """A look-up of a pod that was answered with an address."""
    return {
        "export_file_id": "d", "cluster": "alder", "event_at": at(time), "is_response": True,
        "client_address": "10.0.0.7", "query_name": "data.example.com", "query_type": "A",
        "rcode": "NOERROR", "source_format": "coredns",
        "answers": [
            {"name": "data.example.com", "type": "A", "data": "203.0.113.9", "ttl": 30}
        ],
    } | more  # fmt: skip


def naming(*lookups: dict[str, Any], **more: Any) -> list[tuple[Any, ...]]:
    """What is said of the look-ups of a day whose deliveries are complete."""
    shown: dict[str, Any] = {
        "tables": ["dns_lookups"],
        "deliveries": delivered("dns", ["complete"] * 4, format="coredns"),
        "export_files": [file("d", at("00:00"), MIDNIGHT, export="dns", format="coredns")],
        "dns_lookups": lookups,
    }
    rows = built(**shown | more)
    return rows.sort("node", "start_at").select("node", "status", "reason").rows()


FAILED = {"rcode": "NXDOMAIN", "answers": None}


@pytest.mark.parametrize(
    ("lookups", "status", "reason"),
    [
        ([{}], "covered", None),
        ([{}, FAILED, {"answers": None}], "covered", None),
        ([FAILED], "unknown", "only failed look-ups are told (dns)"),
        (
            [FAILED, {"query_type": "AAAA"}],
            "unknown",
            "only failed look-ups of type A are told (dns)",
        ),
        ([{"answers": None}], "masked", "no look-up tells its answers (dns)"),
        ([{"answers": []}], "covered", None),
        (
            [{"answers": None, "is_response": False, "rcode": None}],
            "masked",
            "no look-up tells its answers (dns)",
        ),
        ([{"client_address": None}], "masked", "no look-up names its client (dns)"),
        ([{"client_address": None, "client_pod_name": "pod-a"}], "covered", None),
        ([{"event_at": at("10:00", days=-1), "answers": None}], "covered", None),
        ([{"cluster": "birch", "answers": None}], "covered", None),
    ],
)
def test_a_log_of_look_ups_covers_only_what_it_shows(lookups, status, reason):
    assert naming(*(lookup(**more) for more in lookups)) == [(None, status, reason)]


def test_what_a_log_leaves_out_is_judged_behind_what_did_not_come():
    found = naming(
        lookup(answers=None), deliveries=delivered("dns", ["missing"] * 4, format="coredns")
    )
    assert found == [(None, "missing", "a delivery is missing (dns)")]


def test_of_two_logs_of_look_ups_the_one_with_answers_counts():
    found = naming(
        lookup(answers=None),
        lookup(export_file_id="e"),
        deliveries=[
            *delivered("dns", ["complete"] * 4, format="coredns"),
            *delivered("tap", ["complete"] * 4, format="dns_collector"),
        ],
        export_files=[
            file("d", at("00:00"), MIDNIGHT, export="dns", format="coredns"),
            file("e", at("00:00"), MIDNIGHT, export="tap", format="dns_collector"),
        ],
    )
    assert found == [(None, "covered", None)]


CACHED = "only the node asked: a cache may speak for its pods"
TWO_NODES = [
    pod() | {"address": "10.0.0.7", "namespace": "ml", "pod_name": "pod-a"},
    pod("node-b") | {"address": "10.0.1.7", "namespace": "ml", "pod_name": "pod-b"},
]


@pytest.mark.parametrize(
    ("client", "statuses"),
    [
        ({"client_address": "192.0.2.2"}, ["covered", "masked"]),
        ({"client_address": "169.254.20.10", "node": "node-b"}, ["covered", "masked"]),
        ({"client_address": "192.0.2.9"}, ["covered"]),
    ],
)
def test_a_node_that_asks_for_its_pods_has_a_cache_that_hides_them(client, statuses):
    nodes = [{"cluster": "alder", "node": "node-b", "addresses": ["192.0.2.2"]}]
    found = naming(lookup(), lookup(**client), pods=TWO_NODES, node_states=nodes)
    assert [status for _, status, _ in found] == statuses
    if len(statuses) > 1:
        assert found[1] == ("node-b", "masked", CACHED)


@pytest.mark.parametrize(
    "own",
    [
        {"client_address": "10.0.1.7"},
        {"client_address": None, "client_namespace": "ml", "client_pod_name": "pod-b"},
    ],
)
def test_a_node_whose_pods_ask_for_themselves_has_no_such_cache(own):
    nodes = [{"cluster": "alder", "node": "node-b", "addresses": ["192.0.2.2"]}]
    asked = [lookup(), lookup(client_address="192.0.2.2"), lookup(**own)]
    assert naming(*asked, pods=TWO_NODES, node_states=nodes) == [(None, "covered", None)]
    assert naming(*asked[::-1], pods=TWO_NODES, node_states=nodes) == [(None, "covered", None)]


def test_states_of_objects_have_no_coverage():
    assert built(tables=["pod_states", "run_versions", "kube_event_states"]).height == 0


ESTIMATED = "records are estimates of the source, made from samples"
NOT_TOLD = "records may be sampled, at a rate that is not stated"


def test_sampled_and_skipped_records_cast_doubt_on_covered_hours():
    deliveries = delivered("vpc", ["complete"] * 4, format="aws_vpc_flow_log")
    shown: dict[str, Any] = {
        "tables": ["volume_records"],
        "export_files": [file("v", at("09:00"), at("11:00"), export="vpc", format="x")],
        "volume_records": [
            {
                "cluster": "alder",
                "start_at": at("09:59"),
                "end_at": at("10:01"),
                "sampling_interval": interval,
            }
            for interval in (1, 10, None)
        ] + [
            {"cluster": "alder", "start_at": at(start), "end_at": at(end), "scaled": scaled}
            for start, end, scaled in (
                ("14:10", "14:20", "scaled"), ("15:10", "15:20", "raw"),
                ("16:10", "16:20", "unknown"), ("17:10", "17:20", "unknown"),
                ("17:10", "17:20", "scaled"),
            )
        ],
        "loss_reports": [
            loss("v", None, None, source="volume_records", node=None, kind="skipped",
                 reason="SKIPDATA eni-1", start_at=at("12:00"), end_at=at("12:10"))
        ],
    }  # fmt: skip
    columns = ("status", "sampled_ratio", "reason")
    assert tiles(built(deliveries=deliveries, **shown), *columns) == [
        (at("00:00"), at("09:00"), "covered", None, None),
        (at("09:00"), at("11:00"), "sampled", 0.1, "records are sampled"),
        (at("11:00"), at("12:00"), "covered", None, None),
        (at("12:00"), at("12:10"), "lossy", None, "skipped: SKIPDATA eni-1"),
        (at("12:10"), at("14:00"), "covered", None, None),
        (at("14:00"), at("15:00"), "sampled", None, ESTIMATED),
        (at("15:00"), at("16:00"), "covered", None, None),
        (at("16:00"), at("17:00"), "unknown", None, NOT_TOLD),
        (at("17:00"), at("18:00"), "sampled", None, f"{ESTIMATED}, {NOT_TOLD}"),
        (at("18:00"), MIDNIGHT, "covered", None, None),
    ]
    assert [t[2] for t in tiles(built(deliveries=deliveries[:1], **shown))] == ["unknown"]


# -- which file is credited ------------------------------------------------------------------------


@pytest.mark.parametrize("credited", ["early", "grown"])
def test_a_grown_file_of_several_nodes_is_one_chain_whichever_file_is_credited(credited: str):
    """Both nodes are quiet around the end of the early copy."""
    seen = {"early": (at("00:00"), at("09:00")), "grown": (at("00:00"), at("09:00"), MIDNIGHT)}
    files = [file(name, times[0], times[-1], node=None) for name, times in seen.items()]
    rows = [
        flow(name, time, node=node, record_id=f"{node} {time}")
        for name, times in seen.items()
        for time in times
        for node in ("node-a", "node-b")
    ]
    new = [r for r in rows if r["export_file_id"] == credited or r["event_at"] == MIDNIGHT]
    found = built(export_files=files, flows=new, all_flows=rows)
    assert found.select("node", "start_at", "end_at", "status").rows() == [
        (node, at("00:00"), MIDNIGHT, "covered") for node in ("node-a", "node-b")
    ]


@pytest.mark.parametrize("credited", ["early", "grown"])
def test_a_masked_record_of_two_files_counts_once_with_the_earlier_one(credited: str):
    files = [
        file("early", at("01:00"), at("02:00")),
        file("grown", at("01:00"), at("03:00")),
        file("later", at("04:00"), at("05:00")),
    ]
    rows = [
        flow(name, None, is_masked=True, record_id=record)
        for name, record in [("early", "1"), ("grown", "1"), ("grown", "2"), ("later", "2")]
    ]
    new = [r for r in rows if r["export_file_id"] in {credited, "later"}]
    found = built(export_files=files, flows=new, all_flows=rows)
    assert found["masked_count"].sum() == 2
    masked = found.filter(pl.col("masked_count") > 0)
    assert masked.select("start_at", "masked_count").rows() == [(at("01:00"), 2)]


@pytest.mark.parametrize("read", [0, 1])
def test_a_content_of_two_exports_and_days_says_the_same_whichever_was_read(read: int):
    def copy(number: int) -> dict[str, Any]:
        place = {
            "export": ("first", "second")[number],
            "landing_date": (DAY, NEXT)[number],
            "content_hash": "same",
        }
        if number == read:
            return file(f"copy-{number}", None, None, accepted_count=4, **place)
        known = {"accepted_count": 0, "same_content_as": f"copy-{read}"}
        return file(f"copy-{number}", None, None, **known, **place)

    files = [copy(0), copy(1)]
    assert tiles(built(export_files=files), "status", "masked_count") == [
        (at("00:00"), MIDNIGHT, "masked", 4)
    ]
    assert built(export_files=files, day=NEXT).is_empty()


@pytest.mark.parametrize("credited", ["early", "grown"])
def test_a_loss_without_a_time_is_of_the_first_file_that_reports_it(credited: str):
    files = [
        file("early", at("00:00"), at("02:00")),
        file("grown", at("00:00"), MIDNIGHT),
    ]
    rows = [loss(name, None, record_id="1") for name in ("early", "grown")]
    new = [r for r in rows if r["export_file_id"] == credited]
    found = built(export_files=files, loss_reports=new, all_loss_reports=rows)
    assert [t[:3] for t in tiles(found)] == [
        (at("00:00"), at("02:00:00.000001"), "lossy"),
        (at("02:00:00.000001"), MIDNIGHT, "covered"),
    ]


@pytest.mark.parametrize("credited", ["1", "2"])
def test_an_export_names_a_bucket_by_repeated_records_too(credited: str):
    files = [
        file("1", at("09:00"), at("11:00"), export="one", format="s3_access_log"),
        file("2", at("09:00"), at("11:00"), export="two", format="s3_access_log"),
    ]
    rows = [request("a", "1") | {"record_id": "r"}, request("a", "2") | {"record_id": "r"}]
    found = hourly(
        delivered("one", ["complete"] * 4),
        delivered("two", ["missing"] * 4),
        export_files=files,
        object_requests=[r for r in rows if r["export_file_id"] == credited],
        all_object_requests=rows,
    )
    assert [row[2:] for row in found] == [("object_requests:a", "covered", None)]


# -- laws ------------------------------------------------------------------------------------------


@st.composite
def exports(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    """Files of three nodes over three days, with losses and masked records."""
    files, losses, flows = [], [], []
    for number in range(draw(st.integers(min_value=4, max_value=20))):
        node = draw(st.sampled_from(["node-a", "node-b", "node-c"]))
        start = at("00:00", days=-1) + timedelta(minutes=draw(st.integers(0, 3 * 1440)))
        end = start + timedelta(minutes=draw(st.integers(0, 600)))
        rotated = end + timedelta(minutes=draw(st.integers(0, 30)))
        name = f"{number}-{rotated:%Y-%m-%dT%H-%M-%S}.000.log"
        files.append(file(name, start, end, node=node, export=draw(st.sampled_from("pq"))))
        if draw(st.booleans()):
            told = start + (end - start) * draw(st.floats(min_value=0, max_value=1))
            losses.append(loss(name, told, number, node=node))
        if draw(st.integers(0, 4)) == 0:
            flows.append(flow(name, None, node=node, is_masked=True))
    return {"export_files": files, "loss_reports": losses, "flows": flows}


@settings(max_examples=4)
@given(exported=exports(), data=st.data())
def test_intervals_tile_the_day_whatever_the_order_of_files(
    exported: dict[str, list[dict[str, Any]]], data: st.DataObject
):
    rows = built(pods=[pod()], **exported)
    for _, group in rows.sort("start_at").group_by("node", maintain_order=True):
        assert group["start_at"][0] == at("00:00")
        assert group["end_at"][-1] == MIDNIGHT
        assert group["end_at"][:-1].equals(group["start_at"][1:], check_names=False)
    mixed = {name: data.draw(st.permutations(some)) for name, some in exported.items()}
    assert rows.equals(built(pods=[pod()], **mixed))


@settings(max_examples=3)
@given(exported=exports())
def test_losses_add_up_over_days(exported: dict[str, list[dict[str, Any]]]):
    first = at("00:00", days=-1) - timedelta(seconds=1)
    days = [built(day=BEFORE + timedelta(days=n), **exported) for n in range(4)]
    counted = sum(int(rows["lost_count"].sum() or 0) for rows in days)
    told = [r for r in exported["loss_reports"] if r["event_at"] - timedelta(seconds=1) >= first]
    nodes_by_day = [set(rows["node"]) for rows in days]
    expected = sum(
        r["lost_count"]
        for r in told
        if (n := (r["event_at"] - timedelta(seconds=1)).date().toordinal() - BEFORE.toordinal())
        in range(4)
        and r["node"] in nodes_by_day[n]
    )
    assert counted == expected
