"""Bytes between two ends: ranges, days, samples, and what holds for many connections at once."""

import random
from collections import Counter
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.transforms.frames import at
from tests.transforms.intermediate.test_peer_traffic import OUT, POD, of, pod, record

TOTAL = {
    "source_format": "zeek_conn", "interface_id": None, "instance_id": None, "flow_id": "C1",
    "temporality": "per_connection_total",
}  # fmt: skip
RUNNING = TOTAL | {
    "source_format": "antrea", "reporter": "aggregator", "flow_id": None,
    "temporality": "cumulative",
}  # fmt: skip


def moment(clock: str, days: int) -> datetime:
    return at(clock, days=days)


# Each case has a peer of its own, so that all are built at once.
LIFE, MIDNIGHT, OLD, OLDER = (f"203.0.113.{n}" for n in range(1, 5))


@pytest.fixture(scope="module")
def days() -> pl.DataFrame:
    """Three days of connections that last."""
    life = [
        record(moment("23:00", -1), moment("01:00", 1), POD, LIFE, bytes=26_000, **TOTAL),
        record("12:01", "12:04", POD, LIFE, bytes=7, source_port=1, **TOTAL | {"flow_id": "C2"}),
    ]
    midnight = [
        record(moment("23:40", -1), end, POD, MIDNIGHT, bytes=count, **RUNNING)
        for end, count in (
            (moment("03:10", 0), 9_000), (moment("23:50", -1), 1_000), (moment("00:10", 0), 3_000),
            # The day before has ended for over an hour when this is read.
            (moment("02:00", 1), 10_000),
        )
    ]  # fmt: skip
    late = record(moment("22:00", -2), moment("08:01", 0), POD, OLD, bytes=900, **RUNNING)
    before = record(moment("22:00", -2), moment("08:02", -1), POD, OLDER, bytes=500, **RUNNING)
    after = late | {"destination_address": OLDER, "destination_packet_address": OLDER}
    return of([*life, *midnight, late, before, after], days=(-1, 0, 1))


def daily(rows: pl.DataFrame, peer: str) -> list[int]:
    """Bytes to a peer by day."""
    day = pl.col("window_start_at").dt.date()
    found = rows.filter(peer_address=peer).group_by(day).agg(pl.col("bytes").sum())
    return found.sort("window_start_at")["bytes"].to_list()


def test_a_connections_total_lies_somewhere_in_its_life(days: pl.DataFrame):
    """26,000 bytes in 26 hours: 1,000 an hour at best, and on no day for certain."""
    assert daily(days, LIFE) == [1_000, 24_007, 1_000]
    noon = days.filter(peer_address=LIFE, window_start_at=at("12:00"))
    assert noon.select("bytes", "min_bytes", "max_bytes").rows() == [(83 + 7, 7, 26_007)]


def test_a_running_total_goes_on_over_midnight(days: pl.DataFrame):
    """A day has its part of what a reading up to an hour behind it tells; later ones tell none."""
    assert daily(days, MIDNIGHT) == [2_000, 7_000, 1_000]


def test_a_total_read_longer_ago_than_the_look_back_is_none_to_grow_from(days: pl.DataFrame):
    assert daily(days, OLD) == []
    # Each is read on the day behind that on which it began, later than that day looks ahead.
    assert daily(days, OLDER) == [500, 400]


SAMPLED = {"source_format": "netobserv", "interface_id": None, "instance_id": None, "reporter": "n"}
NOT_BY_PACKETS: list[tuple[dict[str, Any], tuple[str, int, int | None, bool]]] = [
    # Google multiplies, for packets and log entries that it left out at rates of its own.
    ({"scaled": "scaled"}, ("by_source", 0, 1_000, True)),
    ({"sampling_interval": 50, "sampled_unit": "flows"}, ("flows", 1_000, 50_000, True)),
    ({"scaled": "unknown"}, ("unknown", 0, None, False)),
    ({"sampling_interval": 2**40}, ("unknown", 0, None, False)),
]
RATES, HOSTILE = "203.0.113.100", "203.0.113.101"
"""Peers; those of the others are numbered."""


@pytest.fixture(scope="module")
def samples() -> pl.DataFrame:
    """Records of samples of each kind."""
    largest = {"bytes": 2**63 - 1, "packets": 1, "sampling_interval": 2**20}
    rates: list[dict[str, Any]] = [
        {"bytes": 6_000, "packets": 4, "sampling_interval": 50},
        {"bytes": 3_000, "packets": 30, "sampling_interval": 10},
    ]
    return of([
        *(record("08:01", "08:02", POD, RATES, **SAMPLED | more) for more in rates),
        *[record("08:01", "08:02", POD, HOSTILE, **SAMPLED | largest)] * 50,
        *(
            record("08:01", "08:02", POD, f"203.0.113.{n}", bytes=1_000, **SAMPLED | more)
            for n, (more, _) in enumerate(NOT_BY_PACKETS)
        ),
    ])  # fmt: skip


def test_samples_of_several_rates_add_up_with_their_errors(samples: pl.DataFrame):
    """By hand: estimates 50 * 6,000 + 10 * 3,000; squares of sizes of each record apart."""
    [row] = samples.filter(peer_address=RATES).to_dicts()
    told = ("bytes", "min_bytes", "max_bytes", "estimated_bytes", "sampling_kind", "measured_by")
    assert [row[name] for name in told] == [
        9_000, 9_000, None, 330_000, "packets", "sampled_flow_record",
    ]  # fmt: skip
    # 4 packets of 1,500 bytes and 30 of 100; or all of a record in one packet.
    even = 50 * 49 * 4 * 1_500**2 + 10 * 9 * 30 * 100**2
    most = 50 * 49 * 6_000**2 + 10 * 9 * 3_000**2
    assert row["min_sampling_error_ratio"] == pytest.approx(1.96 * even**0.5 / 330_000)
    assert row["sampling_error_ratio"] == pytest.approx(1.96 * most**0.5 / 330_000)


@pytest.mark.parametrize("number", range(len(NOT_BY_PACKETS)))
def test_what_was_not_sampled_by_packets_has_no_error(samples: pl.DataFrame, number: int):
    rows = samples.filter(peer_address=f"203.0.113.{number}")
    shown = ("sampling_kind", "min_bytes", "estimated_bytes", "is_chosen")
    assert rows.select(shown).rows() == [NOT_BY_PACKETS[number][1]]
    errors = ("sampling_error_ratio", "min_sampling_error_ratio", "max_bytes")
    assert rows.select(errors).rows() == [(None, None, None)]


def test_hostile_numbers_of_samples_do_not_stop_the_day(samples: pl.DataFrame):
    rows = samples.filter(peer_address=HOSTILE)
    assert rows.select("bytes", "estimated_bytes").rows() == [(2**63 - 1, 2**63 - 1)]


def test_what_repeats_by_the_kind_of_its_observer_counts_once():
    """A balancer's interface beside the machine's; a router that meters what comes and leaves."""
    balancer = {"interface_id": "eni-0", "interface_type": "network_load_balancer"}
    router = {"source_format": "netflow_json", "interface_id": None, "instance_id": None,
              "reporter": "198.51.100.1"}  # fmt: skip
    rows = of([
        record("08:01", "08:02", POD, OUT),
        record("08:01", "08:03", POD, OUT, **balancer),
        *(
            record("09:01", "09:02", POD, OUT, flow_direction=way, **router)
            for way in ("ingress", "egress")
        ),
    ])  # fmt: skip
    assert rows.select("observer", "bytes", "is_chosen").sort("observer").rows() == [
        ("198.51.100.1/egress", 100, True),
        ("198.51.100.1/ingress", 100, False),
        ("eni-0", 100, False),
        ("eni-a", 100, True),
    ]


# -- laws ----------------------------------------------------------------------------------------

TICK = timedelta(microseconds=1)
PODS = [pod(f"{n:03d}", f"10.1.{n // 100}.{n % 100}", "00:00") for n in range(400)]
CLOUD = {"instance_id": "i", "flow_direction": "egress"}
AZURE = {"source_format": "azure_flow_log", "instance_id": None, "flow_direction": "egress"}


def connections(draw: random.Random, count: int) -> list[dict[str, Any]]:
    """Connections between pods of four sources, from the evening on into the next day."""
    found = []
    for number in range(count):
        # Pods of one source only, so that what is chosen does not depend on the others.
        source = draw.randrange(4)
        a, b = draw.sample(range(100 * source, 100 * source + 100), 2)
        start = at("21:00") + timedelta(seconds=draw.randrange(5 * 3600))
        steps = [draw.choice([0, 1, 7, 1_500, 10**12]) for _ in range(draw.randrange(1, 7))]
        found.append({
            "source": source, "a": PODS[a]["address"], "b": PODS[b]["address"], "start": start,
            "port": 1_024 + number, "steps": steps, "spacing": draw.randrange(1, 1_500),
        })  # fmt: skip
    return found


def exported(connection: dict[str, Any]) -> list[dict[str, Any]]:
    """What the source's own observer exports of a connection."""
    start, spacing = connection["start"], timedelta(seconds=connection["spacing"])
    steps = connection["steps"]
    ends = [start + spacing * (n + 1) for n in range(len(steps))]
    common = {"source_port": connection["port"]}
    a, b = connection["a"], connection["b"]
    if connection["source"] == 0:
        return [
            record(end - spacing, end, a, b, bytes=step, interface_id=f"eni-{a}", **CLOUD | common)
            for end, step in zip(ends, steps, strict=True)
        ]
    if connection["source"] == 1:
        whole = {"bytes": sum(steps), "flow_id": f"C{connection['port']}", "node": "sensor-a"}
        return [record(start, ends[-1], a, b, **TOTAL | whole | common)]
    if connection["source"] == 3:
        return tuples(connection, 0, interface_id=f"card-{a}", rule_list="a")
    return [
        record(start, end, a, b, bytes=sum(steps[: n + 1]), **RUNNING | common)
        for n, end in enumerate(ends)
    ]


def tuples(connection: dict[str, Any], late: int, **observer: Any) -> list[dict[str, Any]]:
    """Azure's: when each was written is all that it tells, up to 100 minutes behind the last."""
    own = AZURE | {"source_port": connection["port"]} | observer
    written = [
        connection["start"] + timedelta(seconds=late + 4 * connection["spacing"] * n)
        for n in range(len(connection["steps"]) + 1)
    ]
    ends = connection["a"], connection["b"]
    return [
        record(written[0], written[0], *ends, bytes=0, connection_state="B", **own),
        *(
            record(end - timedelta(minutes=5), end, *ends, bytes=step, connection_state="C", **own)
            for end, step in zip(written[1:], connection["steps"], strict=True)
        ),
    ]


def seen_again(connection: dict[str, Any]) -> list[dict[str, Any]]:
    """The same packets as others saw them: the other interface, a gateway, a sensor, rule lists."""
    found = exported(connection)
    if connection["source"] == 0:
        other = {"interface_id": f"eni-{connection['b']}", "flow_direction": "ingress"}
        gateway = {"interface_id": "eni-nat", "instance_id": None, "flow_direction": None}
        return [item | more for item in found for more in (other, gateway)]
    if connection["source"] == 1:
        return [item | {"node": "sensor-b", "flow_id": f"D{item['flow_id']}"} for item in found]
    if connection["source"] == 3:
        other = {"interface_id": f"card-{connection['b']}", "flow_direction": "ingress"}
        card = {"interface_id": f"card-{connection['a']}"}
        return [
            *tuples(connection, 0, rule_list="a", **other),
            *tuples(connection, 1, rule_list="b", **card),
            *tuples(connection, 1, rule_list="b", **other),
        ]
    # The aggregator's own differences stand beside its totals.
    return []


Reading = tuple[datetime, datetime, int]
"""When a connection began, when its total was read, the total."""


def readings(draw: random.Random) -> list[Reading]:
    """Readings of one pair of ports: growth, old readings, a restart, new connections, gaps.

    What would contradict a total is not among them: falls that come back, ports that are used
    again within a second.
    """
    start = now = at("10:00", days=-1) + timedelta(seconds=draw.randrange(20 * 3600))
    value, has_restarted, found = 0, False, []
    for _ in range(draw.randrange(1, 14)):
        spacing = draw.choice([1, 60, 900, 7_200, 7_200, 90_000])
        now += timedelta(seconds=spacing)
        event = draw.randrange(8)
        if event == 0 and not has_restarted:
            has_restarted = True
            value //= 2
        elif event == 1 and spacing > 1:
            start = now - timedelta(seconds=draw.randrange(1, spacing - 5))
            value = 0
        value += draw.choice([0, 3, 1_000, 10**9])
        found.append((start, now, value))
        if event == 2:
            old = value - value // 9
            now += timedelta(seconds=30)
            found.append((start, now, old))
    return found


def growth_by_day(told: list[Reading]) -> Counter[date]:
    """Bytes of each day, read slowly from reference/counters.md 3.2 and definitions.md 2 and 3."""
    day, hour = timedelta(days=1), timedelta(hours=1)
    at_once: dict[datetime, tuple[datetime, int]] = {}
    for start, end, value in told:
        before = at_once.get(end, (start, value))
        at_once[end] = (max(start, before[0]), max(value, before[1]))
    found: Counter[date] = Counter()
    last: tuple[datetime, datetime, int] | None = None
    segment: list[tuple[datetime, int]] = []
    for end, (start, value) in sorted(at_once.items()):
        begin, grown = start, value
        is_same = False
        if last is None or end - last[1] > day:
            grown = value if end - start <= day else 0
        elif not (start > last[1] or (start == last[1] and start != last[0])):
            begin = last[1]
            is_small = 8 * (last[2] - value) < last[2] and start == last[0]
            is_same = value >= last[2] or is_small
            if is_same:
                largest = max(count for moment, count in segment if end - moment <= day)
                grown = max(0, value - largest)
        segment = [*(segment if is_same else []), (end, value)]
        last = (start, end, value)
        # No day has a part that ended over an hour before the end was read.
        seen = (end - hour).replace(hour=0, minute=0, second=0, microsecond=0)
        begin = max(begin, seen)
        edge = begin
        while edge < end:
            following = min(end, edge.replace(hour=0, minute=0, second=0, microsecond=0) + day)
            parts = [grown * ((e - begin) // TICK) // ((end - begin) // TICK)
                     for e in (edge, following)]  # fmt: skip
            found[edge.date()] += parts[1] - parts[0]
            edge = following
    return found


def total(start: datetime, end: datetime, value: int, number: int) -> dict[str, Any]:
    """A running total, as a connection's or as a counter's."""
    stated = {"series_id": f"s{number}", "counter_start_at": start} if number % 2 else {}
    begun = end if stated else start
    return record(begun, end, POD, OUT, bytes=value, destination_port=number, **RUNNING, **stated)


def sums(rows: pl.DataFrame) -> Counter[tuple[str, str, str]]:
    """Chosen bytes by local and peer address and direction."""
    chosen = rows.filter(pl.col("is_chosen"), pl.col("peer_address") != OUT)
    found: Counter[tuple[str, str, str]] = Counter()
    for local, peer, direction, count in chosen.select(
        "local_address", "peer_address", "direction", "bytes"
    ).iter_rows():
        found[local, peer, direction] += count
    return found


def check_laws(seed: int, count: int) -> None:
    draw = random.Random(seed)
    drawn = connections(draw, count)
    expected: Counter[tuple[str, str, str]] = Counter()
    for item in drawn:
        expected[item["a"], item["b"], "transmit"] += sum(item["steps"])
        expected[item["b"], item["a"], "receive"] += sum(item["steps"])
    records = [row for item in drawn for row in (*exported(item), *seen_again(item))]
    # Beside them running totals of all shapes, each to a port of its own, some read twice; every
    # other one is a counter that states when it began.
    series = {1_000 + n: readings(draw) for n in range(count // 3)}
    records += [
        total(start, end, value, number)
        for number, told in series.items()
        for start, end, value in (*told, *told[:2])
    ]
    draw.shuffle(records)
    rows = of(records, [*PODS, pod("running", POD, "00:00")], days=(0, 1))
    assert sums(rows) == expected
    assert rows.filter(pl.col("min_bytes") > pl.col("bytes")).is_empty()
    assert rows.filter(pl.col("max_bytes") < pl.col("bytes")).is_empty()
    day = pl.col("window_start_at").dt.date()
    running = rows.filter(pl.col("peer_address") == OUT).group_by("peer_port", day)
    found = {(port, on): count for port, on, count in running.agg(pl.col("bytes").sum()).rows()}
    days = {at("00:00").date(), at("00:00", days=1).date()}
    told = {
        (number, on): count
        for number, told in series.items()
        for on, count in growth_by_day(told).items()
        if on in days
    }
    assert {k: v for k, v in found.items() if v} == {k: v for k, v in told.items() if v}


@given(seed=st.integers(0, 2**32))
@settings(max_examples=1, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_each_packet_counts_once_at_each_end_whoever_saw_it_and_however_days_are_cut(seed: int):
    check_laws(seed, 450)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_the_same_of_many_more(seed: int):
    check_laws(seed, 1_500)
