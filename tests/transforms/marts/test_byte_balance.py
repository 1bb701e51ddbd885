"""byte_balance: one source counts, nothing is added twice, and totals of the marts close."""

import random
from datetime import datetime, timedelta
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.marts import byte_balance, run_dependency_days
from transforms.sql import SqlSession

RUN = "a" * 32
MB = 1_000_000
ENDPOINTS = pl.DataFrame(
    [("*.s3.*.amazonaws.com", "Amazon S3", "object I/O", "primary", True)],
    schema={
        "pattern": pl.String, "service": pl.String, "operation": pl.String, "kind": pl.String,
        "is_verified": pl.Boolean,
    },
    orient="row",
)  # fmt: skip
BUCKET_HOST = "dns://bucket.s3.eu-west-1.amazonaws.com:443"
READS = {
    read.table
    for transform in (byte_balance.TRANSFORM, run_dependency_days.TRANSFORM)
    for read in transform.reads
} - {"endpoints"}


def made(transform, **tables) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        session.register("endpoints", ENDPOINTS)
        show(session, **{name: tables.get(name, []) for name in READS})
        name = transform.build(session, BuildDay(DAY, "fleet"))
        return checked(session, transform.table, name)


def balance(**tables) -> pl.DataFrame:
    return made(byte_balance.TRANSFORM, **tables)


def counter(
    readings: list[tuple[str, int]], direction: str = "receive", first: str = "sample", **more
) -> dict[str, list[dict]]:
    """Increments between readings (time, bytes since the one before)."""
    increments = []
    for (start, _), (end, count) in pairwise(readings):
        increments.append(
            {
                "counter_increment_id": f"{direction} {end}", "cluster": "alder",
                "series_id": direction, "observer": "o", "pod_uid": "p1", "match_kind": "uid",
                "interface": "eth0", "direction": direction, "byte_layer": "frame",
                "start_at": at(start), "end_at": at(end), "spread_start_at": at(start),
                "spread_end_at": at(end), "bytes": count,
                "start_basis": "sample" if increments else first,
            } | more
        )  # fmt: skip
    pod = {"pod_uid": "p1", "cluster": "alder", "run_uuid": RUN, "attempt": 1}
    return {"pod_traffic": [pod], "counter_increments": increments}


def flow(count: int, window: str = "10:00", direction: str = "receive", **more) -> dict:
    return {
        "peer_traffic_id": f"{direction} {count} {window} {sorted(more.items())}",
        "scope": "fleet", "cluster": "alder", "local_address": "10.0.0.1", "pod_uid": "p1",
        "namespace": "ml", "pod_name": "pod", "run_uuid": RUN, "attempt": 1,
        "peer_address": "192.0.2.1", "peer_port": 443, "transport": "TCP",
        "direction": direction, "window_start_at": at(window), "bytes": count,
        "min_bytes": count, "max_bytes": count, "measured_by": "flow_record",
        "byte_layer": "packet", "observer": "eni", "match_kind": "address_window",
        "is_chosen": True,
    } | more  # fmt: skip


def transfer(count: int, start: str = "10:01", end: str = "10:02", **more) -> dict:
    return {
        "transfer_id": f"{count} {start} {sorted(more.items())}", "start_at": at(start),
        "end_at": at(end), "provider": "s3", "bucket": "bucket", "key": "key",
        "operation": "read", "object_id": "s3://bucket/key", "resource_id": "s3://bucket",
        "client_address": "10.0.0.1", "request_count": 1, "success_count": 1,
        "transferred_bytes": count, "object_size_bytes": count, "cluster": "alder",
        "pod_uid": "p1", "run_uuid": RUN, "attempt": 1, "match_kind": "uid",
        "stage": "unknown", "duration_seconds": 1.0,
    } | more  # fmt: skip


def connection(**more) -> dict:
    return {
        "connection_id": str(sorted(more.items())), "cluster": "alder", "start_at": at("10:00"),
        "end_at": at("12:00"), "transport": "TCP", "initiator_address": "10.0.0.1",
        "initiator_port": 40000, "initiator_pod_uid": "p1", "initiator_match_kind": "uid",
        "responder_address": "192.0.2.1", "responder_port": 443, "responder_match_kind": "none",
        "run_uuid": RUN, "attempt": 1, "verdict": "FORWARDED", "has_reply": True,
        "attempt_count": 1, "peer_kind": "outside", "name_kind": "dns_pod",
        "resource_id": BUCKET_HOST, "container_kind": "none", "stage": "unknown",
    } | more  # fmt: skip


def row(rows: pl.DataFrame, hour: str = "10:00", direction: str = "receive") -> dict:
    return rows.row(
        by_predicate=(pl.col("hour_start_at") == at(hour)) & (pl.col("direction") == direction),
        named=True,
    )


def each(*cases: dict[str, list[dict]]) -> list[pl.DataFrame]:
    """Rows of several cases, each of a pod of its own, from one build."""
    tables: dict[str, list[dict]] = {name: [] for name in READS}
    for number, case in enumerate(cases):
        own = {"pod_uid": f"p{number}"}
        for name, rows in case.items():
            for index, shown in enumerate(rows):
                named = {
                    key: f"{number} {index} {shown[key]}"
                    for key in ("peer_traffic_id", "transfer_id", "counter_increment_id")
                    if key in shown
                }
                tables[name].append(shown | own | named)
    rows = balance(**tables)
    return [rows.filter(pod_uid=f"p{number}") for number in range(len(cases))]


READINGS = [("10:00", 0), ("10:30", 500), ("10:59", 400), ("11:04", 100), ("11:30", 50)]


# -- which source counts -------------------------------------------------------------------------


def test_the_interface_counts_and_the_others_stand_beside_it():
    rows = balance(
        **counter(READINGS),
        peer_traffic=[flow(700), flow(80, "11:05")],
        object_transfers=[transfer(600)],
        connections=[connection()],
        runs=[{"run_uuid": RUN, "project": "vision"}],
    )
    ten = row(rows)
    assert (ten["pod_uid"], ten["run_uuid"], ten["project"]) == ("p1", RUN, "vision")
    # Of the increment over the edge (100 bytes from 10:59 to 11:04) a fifth lies before it.
    assert (ten["interface_bytes"], ten["flow_bytes"], ten["storage_log_bytes"]) == (920, 700, 600)
    assert (ten["interface_byte_layer"], ten["flow_byte_layer"]) == ("frame", "packet")
    assert (row(rows, "11:00")["interface_bytes"], ten["uncovered_seconds"]) == (130, 0.0)
    bounds = "min_interface_bytes", "max_interface_bytes"
    assert [[row(rows, hour)[name] for name in bounds] for hour in ("10:00", "11:00")] == [
        [900, 1000], [50, 150],
    ]  # fmt: skip
    assert (ten["chosen_by"], ten["chosen_bytes"]) == ("interface_counter", 920)
    # The log explains the contact with the bucket's host: its bytes stand once, in the log's row.
    assert (ten["attributed_bytes"], ten["unattributed_bytes"]) == (600, 320)
    assert (ten["min_unattributed_bytes"], ten["max_unattributed_bytes"]) == (300, 400)
    assert (ten["violations"], ten["day_violations"], ten["rdma"]) == (None, None, None)


ORDER = (
    ({}, ["flow", "log", "sample"], "interface_counter", 920, 900, 1000),
    ({"is_gap": True}, ["flow", "log", "sample"], "flow_record", 700, 700, 700),
    ({"is_reset": True}, ["flow", "log", "sample"], "flow_record", 700, 700, 700),
    ({"is_gap": True}, ["log", "sample"], "interface_counter", 920, 900, 1000),
    ({"is_reset": True}, ["log", "sample"], "interface_counter", 920, 900, None),
    ({"is_reset": True}, ["large log"], "storage_log", 950, 950, None),
    (None, ["flow", "log", "sample"], "flow_record", 700, 700, 700),
    (None, ["log", "sample"], "storage_log", 600, 600, None),
    (None, ["sample"], "sampled_flow_record", 800, 8, None),
    ({"is_reset": True}, ["sample"], "interface_counter", 920, 900, None),
)
"""Of each case the counter, what else there is, and what is chosen, at least and at most."""


def test_one_source_is_chosen_by_the_stated_order():
    sample = flow(
        8, measured_by="sampled_flow_record", max_bytes=None, estimated_bytes=800,
        peer_address="192.0.2.9",
    )  # fmt: skip
    kinds = {"log": transfer(600), "large log": transfer(950)}
    cases = [
        {
            "peer_traffic": [flow(700)] * ("flow" in others) + [sample] * ("sample" in others),
            "object_transfers": [kinds[name] for name in others if name in kinds],
            **({} if interface is None else counter(READINGS, **interface)),
        }
        for interface, others, *_ in ORDER
    ]
    for rows, case in zip(each(*cases), ORDER, strict=True):
        ten = row(rows)
        found = [ten[name] for name in ("chosen_by", "chosen_bytes")]
        found += [ten["min_chosen_bytes"], ten["max_chosen_bytes"]]
        assert found == list(case[2:]), case


def test_what_the_node_pulls_for_a_pod_stands_beside_what_its_interface_moved():
    pull = {
        "image_pull_id": "i", "cluster": "alder", "pod_uid": "p1", "run_uuid": RUN, "attempt": 1,
        "image": "registry.example.com/a:1", "registry": "registry.example.com",
        "start_at": at("10:01"), "end_at": at("10:02"), "min_transferred_bytes": 5000,
        "max_transferred_bytes": 5000, "measured_by": "image_size",
    }  # fmt: skip
    ten = row(balance(**counter(READINGS), image_pulls=[pull]))
    assert (ten["node_runtime_bytes"], ten["chosen_bytes"]) == (5000, 5920)
    assert (ten["attributed_bytes"], ten["unattributed_bytes"]) == (5000, 920)
    alone = row(balance(image_pulls=[pull]))
    assert (alone["chosen_by"], alone["chosen_bytes"], alone["unattributed_bytes"]) == (
        "none", 5000, 0,
    )  # fmt: skip


def test_what_a_pod_asks_of_a_registry_is_added_to_what_it_asks_of_storage():
    def asked(count: int, **more) -> dict:
        return {
            "event_at": at("10:10"), "provider": "harbor", "log_kind": "access", "status": 200,
            "operation": "read", "client_address": "10.0.0.1", "response_bytes": count,
            "request_bytes": 3,
        } | more  # fmt: skip

    pod = {
        "cluster": "alder", "pod_uid": "p1", "namespace": "ml", "pod_name": "pod",
        "address": "10.0.0.1", "start_at": at("09:00"), "created_at": at("09:00"),
    }  # fmt: skip
    requests = [
        asked(700),
        asked(50, event_at=at("10:50")),
        # The proxy in front of it wrote the same request down; audits have no bytes of their own.
        asked(710, log_kind="proxy"),
        asked(9000, log_kind="audit"),
        asked(9000, is_redirected=True),
        asked(9000, status=404),
        asked(9000, client_address="192.0.2.77"),
        asked(9000, event_at=at("10:10", days=-1)),
        asked(1, operation="write", request_bytes=40, event_at=at("11:10")),
    ]
    rows = balance(
        pod_intervals=[pod], registry_requests=requests, object_transfers=[transfer(600)]
    )
    ten = row(rows)
    assert (ten["registry_log_bytes"], ten["storage_log_bytes"]) == (750, 600)
    assert (ten["chosen_by"], ten["chosen_bytes"], ten["unattributed_bytes"]) == (
        "registry_log", 1350, 750,
    )  # fmt: skip
    sent = row(rows, "11:00", "transmit")
    assert (sent["chosen_by"], sent["registry_log_bytes"], sent["chosen_bytes"]) == (
        "registry_log", 40, 40,
    )  # fmt: skip
    assert rows.height == 2


def test_a_log_spreads_a_transfer_over_its_time_and_is_certain_of_what_lies_inside():
    rows = balance(object_transfers=[transfer(1000, "10:50", "11:20"), transfer(7, "11:30")])
    found = [
        tuple(row(rows, hour)[f"{bound}storage_log_bytes"] for bound in ("", "min_", "max_"))
        for hour in ("10:00", "11:00")
    ]
    assert found == [(333, 0, 1000), (674, 7, 1007)]


def test_bytes_of_no_pod_stand_by_their_address_and_close_there():
    nobody = {"pod_uid": None, "run_uuid": None, "attempt": None, "match_kind": "none"}
    rows = balance(
        peer_traffic=[
            flow(100, local_address="10.0.0.8", **nobody),
            flow(30, local_address="10.0.0.9", peer_port=40_000, **nobody),
        ],
        object_transfers=[transfer(9, client_address="198.51.100.7", **nobody)],
    )
    found = rows.select(
        "pod_uid", "local_address", "chosen_by", "chosen_bytes", "unattributed_bytes"
    )
    assert sorted(found.rows()) == [
        (None, "10.0.0.8", "flow_record", 100, 0),
        (None, "10.0.0.9", "flow_record", 30, 30),  # a client's port: the peer may have begun
        (None, "198.51.100.7", "storage_log", 9, 0),
    ]


DEVICES = (
    ("vpc.amazonaws.com/efa", "4", "not_observed"),
    ("rdma/hca_shared_devices_a", "1", "not_observed"),
    ("networking.gke.io.networks/rdma-0", "1", "not_observed"),
    ("nvidia.com/roce_gdr", "1", "not_observed"),
    ("vpc.amazonaws.com/efa", "0", None),
    ("nvidia.com/gpu", "8", None),
    ("example.com/fabric", "8", None),
    ("memory", "8Gi", None),
)


def test_traffic_past_every_interface_is_not_observed_and_sets_no_bound():
    cases = [
        counter(READINGS) | {"container_states": [{"limits": [{"name": name, "value": count}]}]}
        for name, count, _ in DEVICES
    ]
    for rows, (name, count, rdma) in zip(each(*cases), DEVICES, strict=True):
        ten = row(rows)
        most = None if rdma else 1000
        assert (ten["rdma"], ten["max_chosen_bytes"]) == (rdma, most), (name, count)


# -- violations ----------------------------------------------------------------------------------


def violations(rows: pl.DataFrame) -> list[tuple[str, list | None, list | None]]:
    return [
        (str(r["hour_start_at"])[11:13], r["violations"], r["day_violations"])
        for r in rows.sort("hour_start_at").to_dicts()
    ]


FLOW_ABOVE, LOG_ABOVE_FLOW, LOG_ABOVE = (
    ["flow_exceeds_interface"], ["storage_log_exceeds_flow"], ["storage_log_exceeds_interface"],
)  # fmt: skip


def test_what_a_lower_layer_certainly_saw_cannot_exceed_what_the_upper_may_have():
    found = each(
        counter(READINGS) | {"peer_traffic": [flow(1001)]},
        counter(READINGS) | {"peer_traffic": [flow(1051)]},
        counter(READINGS) | {"object_transfers": [transfer(1001)]},
        {"peer_traffic": [flow(700)], "object_transfers": [transfer(701)]},
    )
    assert [violations(rows) for rows in found] == [
        # The day's 1050 may hold them.
        [("10", FLOW_ABOVE, None), ("11", None, None)],
        [("10", FLOW_ABOVE, FLOW_ABOVE), ("11", None, FLOW_ABOVE)],
        [("10", LOG_ABOVE, None), ("11", None, None)],
        [("10", LOG_ABOVE_FLOW, LOG_ABOVE_FLOW)],
    ]


UNCERTAIN = (
    # As much as there may be.
    {"peer_traffic": [flow(1000)], "object_transfers": [transfer(1000)]},
    # Records that lie only partly inside are not certain.
    {"peer_traffic": [flow(5000, min_bytes=900, max_bytes=6000)]},
    # Before the counter's first reading, and behind its last.
    {"peer_traffic": [flow(5000, "09:55"), flow(5000, "11:30")]},
    {"object_transfers": [transfer(5000, "09:59", "10:01"), transfer(5000, "11:29", "11:31")]},
    # A client's clock may differ: not wholly inside the hour.
    {"object_transfers": [transfer(1040, "10:58", "10:59:59")]},
    # Without a duration the bytes may have come in the next hour.
    {"object_transfers": [transfer(1040, duration_seconds=None)]},
    # A log says nothing against flows of another hour, or of another direction.
    {"peer_traffic": [flow(1, "10:00")], "object_transfers": [transfer(100, "11:10", "11:11")]},
    {"peer_traffic": [flow(1)], "object_transfers": [transfer(600, operation="write")]},
)


def test_what_is_not_certain_is_no_violation():
    cases = [counter(READINGS) | told for told in UNCERTAIN]
    # Frames hold more of each packet than packets do.
    cases.append(
        counter(READINGS, byte_layer="packet") | {"peer_traffic": [flow(1001, byte_layer="frame")]}
    )
    # A reset hid bytes.
    cases.append(counter(READINGS, is_reset=True) | {"peer_traffic": [flow(5000)]})
    # With two interfaces nobody knows which of them was counted when.
    both = [
        shown
        for name in ("eth0", "net1")
        for shown in counter(READINGS, interface=name, series_id=name)["counter_increments"]
    ]
    cases.append({"counter_increments": both, "peer_traffic": [flow(5000)]})
    found = each(*cases)
    for rows, case in zip(found, cases, strict=True):
        assert {seen[1:] for seen in violations(rows)} == {(None, None)}, case
    assert row(found[-1])["interface_bytes"] == 1840


def test_a_counter_that_began_with_the_pod_saw_its_first_packet():
    burst = {"peer_traffic": [flow(901, "10:00")]}
    readings = [("10:02", 0), ("10:30", 900)]
    found = each(counter(readings) | burst, counter(readings, first="known_start") | burst)
    assert [violations(rows) for rows in found] == [
        [("10", None, None)],
        [("10", FLOW_ABOVE, FLOW_ABOVE)],
    ]


# -- laws ----------------------------------------------------------------------------------------


def night(seed: int) -> dict[str, list[dict]]:
    """Many pods, addresses, hours and sources, with parts that no source or row knows."""
    chance = random.Random(seed)
    pods = [None, *(f"p{n}" for n in range(40))]
    runs = {pod: chance.choice([None, "a" * 32, "b" * 32]) for pod in pods}
    runs[None] = None

    def moment(hours: float = 23.0) -> datetime:
        return at("00:00") + timedelta(microseconds=chance.randrange(int(hours * 3.6e9)))

    def whose() -> dict:
        pod = chance.choice(pods)
        return {"pod_uid": pod, "run_uuid": runs[pod], "attempt": 1 if runs[pod] else None}

    flows, transfers, pulls, windows, increments, connections = [], [], [], [], [], []
    for number in range(300):
        count = chance.choice([chance.randrange(10**6), 2**62, 7])
        window = at("00:00") + timedelta(minutes=5 * chance.randrange(288))
        kind = chance.choice(["flow_record", "sampled_flow_record"])
        flows.append(
            flow(
                count, peer_address=f"192.0.2.{chance.randrange(4)}", window_start_at=window,
                peer_port=chance.choice([443, 53, 40_000, None]), peer_traffic_id=f"f{number}",
                direction=chance.choice(["receive", "transmit"]), measured_by=kind,
                max_bytes=None if kind != "flow_record" else count,
                is_chosen=chance.random() < 0.9, local_address=f"10.0.0.{chance.randrange(3)}",
                estimated_bytes=None if kind == "flow_record" else count,
                **whose(),
            )
        )  # fmt: skip
        start = moment()
        transfers.append(
            transfer(
                chance.randrange(10**6), transfer_id=f"t{number}", start_at=start,
                end_at=start + timedelta(seconds=chance.randrange(3_000)),
                operation=chance.choice(["read", "write", "list", "head", "copy", "delete"]),
                unlogged_bytes_count=chance.choice([0, 0, 1]),
                client_address=chance.choice(["10.0.0.1", "198.51.100.1", None]),
                endpoint=chance.choice(["bucket.s3.eu-west-1.amazonaws.com", None]),
                bucket=chance.choice(["bucket", "other"]), **whose(),
            )
        )  # fmt: skip
    for number in range(40):
        owner = whose()
        start = moment()
        size = chance.choice([None, 5000, 7000])
        pulls.append(
            {
                "image_pull_id": f"i{number}", "cluster": "alder", "image": "r.example.com/a:1",
                "registry": "r.example.com", "start_at": start,
                "end_at": start + timedelta(minutes=chance.randrange(50)),
                "min_transferred_bytes": chance.choice([0, 5000]),
                "max_transferred_bytes": size,
                "measured_by": chance.choice(["image_size", "registry_log"]), **owner,
            }
        )  # fmt: skip
        start = moment()
        connections.append(
            connection(
                connection_id=f"c{number}", start_at=start, end_at=start + timedelta(hours=1),
                initiator_pod_uid=owner["pod_uid"], run_uuid=owner["run_uuid"],
                resource_id=chance.choice([BUCKET_HOST, "dns://data.example.com:443"]),
                responder_address=f"192.0.2.{chance.randrange(4)}",
            )
        )  # fmt: skip
    for pod in pods[1:30]:
        reading = at("00:00") + timedelta(minutes=chance.randrange(600))
        windows.append({"cluster": "alder", "pod_uid": pod, "run_uuid": runs[pod]})
        for number in range(chance.randrange(30)):
            later = reading + timedelta(seconds=chance.randrange(30, 2_000))
            increments.append(
                {
                    "cluster": "alder", "pod_uid": pod, "interface": "eth0", "observer": "o",
                    "direction": "receive", "byte_layer": "frame",
                    "bytes": chance.randrange(10**9), "is_reset": chance.random() < 0.05,
                    "is_gap": chance.random() < 0.05, "counter_increment_id": f"{pod} {number}",
                    "start_at": reading, "end_at": later, "spread_start_at": reading,
                    "spread_end_at": later, "start_basis": "sample", "series_id": pod,
                    "match_kind": "uid",
                }
            )  # fmt: skip
            reading = later
    return {
        "peer_traffic": flows, "object_transfers": transfers, "image_pulls": pulls,
        "connections": connections, "pod_traffic": windows, "counter_increments": increments,
        "runs": [{"run_uuid": "a" * 32, "project": "vision"}],
    }  # fmt: skip


@settings(deadline=None, max_examples=2)
@given(st.integers(0, 2**32))
def test_marts_and_what_they_leave_add_up_to_what_was_chosen_exactly(seed: int):
    tables = night(seed)
    # Few of the largest numbers, so that no sum of a row reaches the end of its column.
    for shown in tables["peer_traffic"][4:]:
        for name in ("bytes", "min_bytes", "max_bytes", "estimated_bytes"):
            if shown[name] == 2**62:
                shown[name] = 11
    rows = balance(**tables)
    marts = made(run_dependency_days.TRANSFORM, **tables)
    for direction, column in (("receive", "received_bytes"), ("transmit", "sent_bytes")):
        of = rows.filter(direction=direction)
        assert sum(marts[column].drop_nulls().to_list()) + sum(
            of["unattributed_bytes"].to_list()
        ) == sum(of["chosen_bytes"].to_list())
    for told in rows.to_dicts():
        for name in ("interface_bytes", "flow_bytes", "storage_log_bytes", "chosen_bytes"):
            if told[name] is not None:
                assert told[f"min_{name}"] <= told[name]
                assert told[f"max_{name}"] is None or told[name] <= told[f"max_{name}"]
        unattributed = told["unattributed_bytes"]
        assert (told["min_unattributed_bytes"] or unattributed) <= unattributed
        most = told["max_unattributed_bytes"]
        assert most is None or unattributed <= most


@pytest.mark.slow
def test_the_order_of_what_is_read_shows_nowhere():
    tables = night(7)
    rows = balance(**tables)
    chance = random.Random(7)
    for shuffled in tables.values():
        chance.shuffle(shuffled)
    assert balance(**tables).equals(rows)


def test_a_row_carries_how_far_the_source_that_counts_observed_the_run():
    facts = [
        {"cluster": "alder", "run_uuid": RUN, "source": source, "expected_us": 10,
         "covered_us": covered, "empty_means": "partly_observed"}
        for source, covered in (("counter_samples", 9), ("volume_records", 7))
    ]  # fmt: skip

    def found(**tables) -> set[tuple]:
        rows = balance(**tables, run_coverage_days=facts)
        return set(rows.select("chosen_by", "expected_us", "covered_us", "empty_means").rows())

    assert found(**counter([("10:00", 0), ("10:30", 5), ("11:00", 5)])) == {
        ("interface_counter", 10, 9, "partly_observed")
    }
    of_pod = {"pod_traffic": counter([])["pod_traffic"]}
    assert found(**of_pod, peer_traffic=[flow(5)]) == {("flow_record", 10, 7, "partly_observed")}
    assert found(**of_pod, object_transfers=[transfer(5)]) == {("storage_log", None, None, None)}
    assert found(peer_traffic=[flow(5, pod_uid=None, run_uuid=None, attempt=None)]) == {
        ("flow_record", None, None, None)
    }
