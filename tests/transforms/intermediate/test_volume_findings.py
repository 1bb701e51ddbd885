"""Numbers that contradict what they are declared to be are held back, and told."""

from datetime import timedelta
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.intermediate.peer_examples import Export, staged
from transforms.day import BuildDay
from transforms.intermediate import peer_traffic, volume_findings, volume_intervals
from transforms.sql import SqlSession
from transforms.staging import aws_vpc_flow_log, prometheus

OUT = "203.0.113.9"
OUR_EXPORTERS = "198.51.100."


def told(
    number: int, port: int, temporality: str, *numbers: tuple[str, str, int], **more: Any
) -> list[dict[str, Any]]:
    """Records of exporter `number` on one connection of host `10.50.<number>.1`."""
    return [
        {
            "cluster": "alder", "source_format": "netflow_json",
            "reporter": f"{OUR_EXPORTERS}{number}", "source_address": f"10.50.{number}.1",
            "source_port": port, "destination_address": OUT, "destination_port": 443,
            "transport": "TCP", "temporality": temporality, "scaled": "raw",
            "byte_layer": "packet", "start_at": at(start), "end_at": at(end), "bytes": count,
            "record_id": f"r-{number}-{port}-{place}", **more,
        }
        for place, (start, end, count) in enumerate(numbers)
    ]  # fmt: skip


def since(*counts: int) -> list[tuple[str, str, int]]:
    """Reports of every minute that all begin at 08:00."""
    return [("08:00", f"08:{minute:02d}", count) for minute, count in enumerate(counts, 1)]


def tiled(*counts: int) -> list[tuple[str, str, int]]:
    """Reports of one minute each."""
    return [(f"08:{n:02d}", f"08:{n + 1:02d}", count) for n, count in enumerate(counts)]


def mixed(*counts: int) -> list[tuple[str, str, int]]:
    """Reports of one minute each, every half minute."""
    moments = [f"08:{n // 2:02d}:{'30' if n % 2 else '00'}" for n in range(len(counts) + 2)]
    return [(moments[n], moments[n + 2], count) for n, count in enumerate(counts)]


GROWS = "declared as differences, but only grow, as totals do"
NO_NAME = {"reporter": None}
RECORDS = [
    # 1: totals that are declared as differences. Of two records nobody knows, one is the same
    # either way.
    *told(1, 1, "delta", *since(100, 250, 400)),
    *told(1, 2, "delta", *since(50, 70)),
    *told(1, 3, "delta", *since(33)),
    # 2: differences of an exporter that states the connection's beginning; by chance one grows.
    *told(2, 1, "delta", *since(300, 100, 200)),
    *told(2, 2, "delta", *since(10, 20, 15)),
    *told(2, 3, "delta", *since(1, 2, 3)),
    # 3 and 4: totals whose beginning is the last report's end; seven reports may rise by chance.
    *told(3, 1, "delta", *tiled(1, 2, 3, 4, 5, 6, 7, 8)),
    *told(4, 1, "delta", *tiled(1, 2, 3, 4, 5, 6, 7)),
    # 5: two counters under one name. 6: differences that are declared as totals.
    *told(5, 1, "cumulative", *since(100, 40, 200, 80, 300, 120)),
    *told(6, 1, "cumulative", *since(100, 50, 60, 20, 30, 10)),
    # 7: totals that begin anew with every report, but never fall.
    *told(7, 1, "cumulative", *tiled(100, 250, 400)),
    # 8: a counter that began anew once. 9: an old reading. 10: ports that are used again.
    *told(8, 1, "cumulative", *since(100, 250, 40, 90)),
    *told(9, 1, "cumulative", *since(100, 1_000, 990, 1_100)),
    *told(10, 1, "cumulative", *since(100, 250), ("08:10", "08:11", 400)),
    # 11 and 12: reports that overlap, of an observer without a name, and of one with a name.
    *told(11, 1, "delta", *mixed(100, 90, 110, 95), **NO_NAME),
    *told(12, 1, "delta", *mixed(100, 90, 110, 95)),
    # 13: nothing tells what a reading grew by, how much was left out, when it was read, of whom.
    *told(13, 1, "cumulative", ("08:00", "08:01", 77), start_at=at("00:00", days=-3)),
    *told(13, 2, "delta", *tiled(5), scaled="unknown"),
    *told(13, 3, "cumulative", *since(6, 9), sample_kind="grid_point"),
    *told(13, 4, "delta", *tiled(8), destination_address=None),
    # 14: of two that saw one connection at once, one is held back; what follows it is another one.
    *told(14, 1, "per_connection_total", ("08:00", "08:10", 500), flow_id="a", **NO_NAME),
    *told(14, 1, "per_connection_total", ("08:01", "08:11", 480), flow_id="b",
          record_id="second", **NO_NAME),
    *told(14, 1, "per_connection_total", ("08:11", "08:12", 20), flow_id="c", **NO_NAME),
]  # fmt: skip


def built(table: str, records: list[dict[str, Any]], days: int = 0) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(
            session, volume_records=records, pod_intervals=[], node_states=[], name_bindings=[],
            address_ranges=[],
        )  # fmt: skip
        day = BuildDay(date=DAY + timedelta(days=days), cluster="fleet", clusters=())
        transform = {"peer_traffic": peer_traffic, "volume_findings": volume_findings}[table]
        return checked(session, table, transform.build(session, day))


def test_what_contradicts_its_declaration_is_in_no_sum():
    rows = built("peer_traffic", RECORDS).filter(pl.col("is_chosen"))
    sums = dict(rows.group_by("local_address").agg(pl.col("bytes").sum()).iter_rows())
    assert {int(address.split(".")[2]): count for address, count in sums.items()} == {
        1: 33, 2: 600 + 45 + 6, 4: 28, 8: 250 + 90, 9: 1_100, 10: 250 + 400, 12: 395, 14: 520,
    }  # fmt: skip
    # What a counter counted between its last reading and its end is nowhere.
    unbounded = rows.filter(pl.col("max_bytes").is_null())["local_address"].unique()
    assert unbounded.to_list() == ["10.50.8.1"]


def test_what_is_held_back_is_told_with_its_reason():
    found = built("volume_findings", RECORDS)
    shown = ("observer", "kind", "is_contradiction", "record_count", "connection_count", "bytes")
    assert sorted(found.select(shown).rows()) == sorted(
        [
            (f"{OUR_EXPORTERS}1", "delta_only_grows", True, 5, 2, 870),
            (f"{OUR_EXPORTERS}3", "delta_only_grows", True, 8, 1, 36),
            (f"{OUR_EXPORTERS}5", "interleaved_observers", True, 6, 1, 300),
            (f"{OUR_EXPORTERS}6", "falls_like_delta", True, 6, 1, 100),
            (f"{OUR_EXPORTERS}7", "moving_start", True, 3, 1, 400),
            ("netflow_json", "interleaved_observers", True, 4, 1, 395),
            (f"{OUR_EXPORTERS}13", "unknown_start", False, 1, 1, 77),
            (f"{OUR_EXPORTERS}13", "unknown_scale", False, 1, 1, 5),
            (f"{OUR_EXPORTERS}13", "no_reading", False, 2, 1, 9),
            (f"{OUR_EXPORTERS}13", "no_address", False, 1, 1, 8),
            ("netflow_json", "second_observer", True, 1, 1, 480),
        ]
    )
    shown = ("scope", "temporality", "detail", "record_id", "first_at", "last_at")
    [row] = found.filter(observer=f"{OUR_EXPORTERS}1").select(shown).rows()
    assert row == (
        "alder",
        "delta",
        f"{GROWS}; the largest: TCP 10.50.1.1 port 1 to {OUT} port 443",
        "r-1-1-2",
        at("08:00"),
        at("08:03"),
    )


@pytest.mark.parametrize(
    ("temporality", "contradicting", "kind"),
    [
        ("delta", (10, 20, 30, 40, 50, 60, 70, 80), "delta_only_grows"),
        ("cumulative", (100, 40, 200, 80, 300, 120, 400, 160), "interleaved_observers"),
    ],
)
def test_days_that_are_built_alone_say_the_same_of_what_is_held_back(
    temporality: str, contradicting: tuple[int, ...], kind: str
):
    """Reports of each minute: the first day's contradict; what begins on it is in no day's sum."""
    is_total = temporality == "cumulative"
    # Behind midnight a report of 5 bytes, then of 9 and 2; or a total that grows by as much.
    numbers = (*contradicting, *((165, 174, 176) if is_total else (5, 9, 2)))
    midnight, minute = at("00:00"), timedelta(minutes=1)
    ends = [midnight + minute * n + minute / 2 for n in range(-len(contradicting), 3)]
    records = [
        told(1, 1, temporality, ("00:00", "00:01", count), record_id=f"r{end}",
             start_at=ends[0] - minute if is_total else end - minute, end_at=end)[0]
        for end, count in zip(ends, numbers, strict=True)
    ]  # fmt: skip
    sums = [built("peer_traffic", records, day)["bytes"].sum() for day in (-1, 0, 1)]
    assert sums == [0, 9 + 2, 0]
    held = [
        built("volume_findings", records, day).filter(kind=kind)["record_count"].to_list()
        for day in (-1, 0, 1)
    ]
    assert held == ([[8], [], []] if is_total else [[9], [], []])


def counted(metric: str, labels: dict[str, str], *values: tuple[str, int]) -> str:
    """Text of one counter."""
    inner = ",".join(f'{name}="{text}"' for name, text in labels.items())
    return "".join(
        f"{metric}{{{inner}}} {value} {int(at(clock).timestamp())}000\n" for clock, value in values
    )


KUBECOST = "kubecost_pod_network_egress_bytes_total"
OBI = "obi_network_flow_bytes_total"


def findings_of(text: str) -> list[tuple[Any, ...]]:
    records = staged([Export(prometheus.PARSER, text)], "agent")
    assert built("peer_traffic", records).is_empty()
    shown = ("kind", "record_count", "connection_count", "bytes", "detail")
    return sorted(built("volume_findings", records).select(shown).rows())


def test_kubecosts_pods_are_told_and_how_far_their_bytes_went():
    """250 of train-0 went to the internet, 7 + 3 of train-1, whose agent began anew, nearby."""
    far = {"internet": "true", "sameZone": "false", "sameRegion": "false"}
    near = {"internet": "false", "same_zone": "false", "same_region": "true", "service": "aws-s3"}
    one, other = ({"namespace": "ml", "pod_name": f"train-{n}"} for n in (0, 1))
    found = findings_of(
        counted(KUBECOST, one | far, ("08:00", 100), ("08:01", 350))
        + counted(KUBECOST, other | near, ("08:00", 90), ("08:01", 97), ("08:02", 3))
    )
    largest = "the largest: ml/train-0 to unknown (internet)"
    begun = "a first reading of a counter that began before the look-back"
    assert found == [
        ("no_address", 5, 2, 260, f"an end without an address; {largest}"),
        ("unknown_start", 2, 2, 190, f"{begun}; {largest}"),
    ]


def test_obis_workloads_without_addresses_are_told():
    """Its defaults name owners only. It forgot the series in 10 minutes without a byte: 50 + 30."""
    owners = {
        "k8s_src_owner_name": "train", "k8s_src_owner_type": "Job", "k8s_src_namespace": "ml",
        "k8s_dst_name": "store", "k8s_dst_type": "Service", "k8s_dst_namespace": "data",
        "direction": "request",
    }  # fmt: skip
    readings = [("08:00", 100), ("08:01", 150), ("08:11", 30)]
    found = findings_of(counted(OBI, owners, *readings))
    assert [row[:4] for row in found] == [
        ("no_address", 3, 1, 80), ("unknown_start", 1, 1, 100),
    ]  # fmt: skip
    assert found[0][4].endswith("the largest: ml/Job/train to data/store")


def test_remote_memory_access_is_told_and_in_no_sum():
    """It passes no interface: beside what the pod's interface counted it would balance nothing."""
    header = "interface-id instance-id srcaddr dstaddr bytes start end action log-status type"
    moment = int(at("08:00").timestamp())
    text = "\n".join(
        f"eni-a i-a 10.1.0.1 10.1.0.2 {count} {moment} {moment + 58} ACCEPT OK {kind}"
        for count, kind in ((9_000_000, "EFA"), (700, "IPv4"))
    )
    records = staged([Export(aws_vpc_flow_log.PARSER, f"{header}\n{text}")], "vpc")
    assert built("peer_traffic", records)["bytes"].to_list() == [700]
    [row] = built("volume_findings", records).select("kind", "record_count", "bytes").rows()
    assert row == ("remote_memory", 1, 9_000_000)


def test_a_record_counts_on_the_day_on_which_it_begins():
    begun = (at("23:59", days=-1), at("00:00"), at("23:59:59"), at("00:00", days=1))
    records = [
        row
        for port, start in enumerate(begun)
        for row in told(
            1, port, "delta", *tiled(8), start_at=start, end_at=start, source_address=None
        )
    ]
    [row] = built("volume_findings", records).select("record_count", "first_at", "last_at").rows()
    assert row == (2, begun[1], begun[2])


@pytest.mark.parametrize("flows", ["ab", "ba"])
def test_of_two_parts_of_one_record_the_first_counts_whatever_their_order(flows):
    """A record that tells one connection twice, with the same times and bytes."""
    parts = [
        row | {"flow_id": flow, "row_index": part, "export_file_id": "f", "record_index": 0}
        for part, flow in enumerate(flows)
        for row in told(
            14, 1, "per_connection_total", ("08:00", "08:10", 500), record_id="one", **NO_NAME
        )
    ]
    day = BuildDay(date=DAY, cluster="fleet", clusters=())
    for rows in (parts, parts[::-1]):
        with SqlSession(threads=1) as session:
            show(session, volume_records=rows)
            volume_intervals.find_intervals(session, day)
            left = session.frame("volume_left_out")
        assert left.select("record_index", "row_index", "kind").rows() == [
            (0, 1, "second_observer")
        ]
