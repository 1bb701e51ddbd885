"""repeat_transfers: the formulas of definitions.md 26, on hand-made cases and against an oracle."""

import random
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.marts.repeat_transfers import TRANSFORM, history_basis
from transforms.sql import SqlSession

ONE = timedelta(days=1)
LOOK_BACK = timedelta(days=30)
RUN = "a" * 32
OTHER = "b" * 32
EVERY_DAY = tuple(DAY - n * ONE for n in range(1, 60))


@dataclass(frozen=True)
class Read:
    """One read with its bytes by day."""

    id: str
    start: datetime
    bytes: dict[date, int]
    size: int | None = 100
    object: str = "s3://bucket/key@v1"
    version: str | None = "v1"
    run: str | None = RUN
    node: str | None = "n1"
    cluster: str | None = "alder"

    def rows(self) -> list[dict]:
        return [
            {
                "date": day,
                "transfer_id": self.id,
                "start_at": self.start,
                "provider": "s3",
                "bucket": "bucket",
                "key": "key",
                "version_id": self.version,
                "operation": "read",
                "object_id": self.object,
                "resource_id": "s3://bucket",
                "success_count": 1,
                "transferred_bytes": count,
                "object_size_bytes": self.size,
                "cluster": self.cluster,
                "node": self.node,
                "run_uuid": self.run,
                "match_kind": "uid",
            }
            for day, count in self.bytes.items()
        ]


def read(id_: str, clock: str, count: int = 100, *, days: int = 0, **more) -> Read:
    start = at(clock, days=days)
    return Read(id_, start, {start.date(): count}, **more)


def built(reads: list[Read], day: date = DAY, built_days=EVERY_DAY, extra=()) -> pl.DataFrame:
    rows = [row for item in reads for row in item.rows() if row["date"] <= day]
    with SqlSession(threads=1) as session:
        show(
            session,
            object_transfers=[*rows, *extra],
            runs=[{"run_uuid": RUN, "project": "vision", "date": day}],
        )
        name = TRANSFORM.build(session, BuildDay(day, "fleet", built_days=built_days))
        return checked(session, "repeat_transfers", name)


def facts(rows: pl.DataFrame) -> list[tuple]:
    return rows.select(
        "transfer_id", "scope", "scope_id", "previous_transfer_id", "min_repeat_bytes",
        "max_repeat_bytes",
    ).rows()  # fmt: skip


def test_a_second_whole_read_repeats_the_first_in_every_scope_that_holds_both():
    rows = built([read("t1", "10:00"), read("t2", "11:00", node="n2")])
    assert facts(rows) == [
        ("t2", "fleet", None, "t1", 100, 100),
        ("t2", "run", RUN, "t1", 100, 100),
    ]
    row = rows.row(0, named=True)
    assert (row["previous_at"], row["previous_run_uuid"], row["project"]) == (
        at("10:00"), RUN, "vision",
    )  # fmt: skip
    assert (row["grade"], row["history_basis"], row["min_avoidable_usd"], row["remedy"]) == (
        "object", "complete", None, None,
    )  # fmt: skip


def test_parts_below_the_whole_object_are_possibly_but_not_certainly_repeated():
    rows = built([read("t1", "10:00", 40), read("t2", "11:00", 40), read("t3", "12:00", 40)])
    fleet = rows.filter(scope="fleet")
    assert facts(fleet) == [
        ("t2", "fleet", None, "t1", 0, 40),
        ("t3", "fleet", None, "t2", 20, 40),
    ]


def test_a_burst_beyond_the_objects_size_repeats_itself():
    rows = built([read("t1", "10:00", 150)])
    assert facts(rows) == [
        ("t1", "fleet", None, None, 50, 50),
        ("t1", "node", "n1", None, 50, 50),
        ("t1", "run", RUN, None, 50, 50),
    ]
    assert rows["previous_at"].to_list() == [at("10:00")] * 3
    assert built([read("t1", "10:00", 99)]).height == 0


def test_without_a_size_nothing_is_certain():
    rows = built([read("t1", "10:00", size=None), read("t2", "11:00", size=None)])
    assert facts(rows.filter(scope="fleet")) == [("t2", "fleet", None, "t1", 0, 100)]


def test_equal_node_names_of_two_clusters_are_two_nodes():
    rows = built([read("t1", "10:00", run=OTHER), read("t2", "11:00", cluster="birch")])
    assert rows["scope"].to_list() == ["fleet"]


def test_a_read_of_an_unknown_run_and_node_has_rows_with_min_zero_and_the_fleets_max():
    rows = built([read("t1", "10:00"), read("t2", "11:00", run=None, node=None, cluster=None)])
    assert facts(rows) == [
        ("t2", "fleet", None, "t1", 100, 100),
        ("t2", "node", None, "t1", 0, 100),
        ("t2", "run", None, "t1", 0, 100),
    ]
    assert built([read("t1", "10:00", run=None, node=None)]).height == 0


def test_earlier_reads_of_an_unknown_place_raise_max_and_never_min():
    rows = built([read("t1", "10:00", run=None, node=None), read("t2", "11:00")])
    assert facts(rows) == [
        ("t2", "fleet", None, "t1", 100, 100),
        ("t2", "node", "n1", "t1", 0, 100),
        ("t2", "run", RUN, "t1", 0, 100),
    ]


def test_a_known_earlier_read_of_the_scope_is_named_before_a_later_one_of_unknown_place():
    rows = built([read("t1", "10:00"), read("t2", "11:00", run=None), read("t3", "12:00")])
    assert facts(rows.filter(scope="run", transfer_id="t3")) == [("t3", "run", RUN, "t1", 100, 100)]


def test_reads_older_than_the_look_back_count_for_nothing():
    edge = read("t2", "11:00").start - LOOK_BACK
    just = [Read("t1", edge, {edge.date(): 100}), read("t2", "11:00")]
    assert facts(built(just).filter(scope="fleet")) == [("t2", "fleet", None, "t1", 100, 100)]
    older = [replace(just[0], start=edge - timedelta(microseconds=1)), just[1]]
    assert built(older).height == 0


def test_a_read_over_midnight_has_a_row_in_each_day_with_that_days_bytes():
    over = Read("t2", at("23:00", days=-1), {DAY - ONE: 60, DAY: 70})
    reads = [read("t1", "08:00", 30, days=-1), over]
    first, second = built(reads, DAY - ONE), built(reads)
    assert facts(first.filter(scope="fleet")) == [("t2", "fleet", None, "t1", 0, 60)]
    assert facts(second.filter(scope="fleet")) == [("t2", "fleet", None, "t1", 60, 70)]
    assert second["transferred_bytes"].to_list() == [70] * 3


def test_what_an_earlier_read_moved_after_this_one_began_its_day_is_no_earlier_read():
    long = Read("t1", at("22:00", days=-1), {DAY - ONE: 50, DAY: 50})
    over = Read("t2", at("23:00", days=-1), {DAY - ONE: 50, DAY: 50})
    rows = built([long, over]).filter(scope="fleet", transfer_id="t2")
    assert facts(rows) == [("t2", "fleet", None, "t1", 50, 50)]


def test_reads_at_one_instant_are_ordered_by_their_id():
    rows = built([read("t2", "10:00"), read("t1", "10:00")])
    assert facts(rows.filter(scope="fleet")) == [("t2", "fleet", None, "t1", 100, 100)]


def test_another_size_of_an_unversioned_object_is_another_content():
    plain = {"version": None, "object": "s3://bucket/key"}
    reads = [
        read("t1", "10:00", **plain),
        read("t2", "11:00", 90, size=90, **plain),
        read("t3", "12:00", **plain),
        read("t4", "13:00", 10, size=None, **plain),
        read("t5", "14:00", 90, size=90, **plain),
    ]
    assert facts(built(reads).filter(scope="fleet")) == [
        ("t3", "fleet", None, "t1", 100, 100),
        ("t4", "fleet", None, "t3", 0, 10),
        ("t5", "fleet", None, "t4", 90, 90),
    ]


def test_only_successful_reads_that_moved_bytes_repeat_and_are_repeated():
    first = read("t0", "09:00", 0).rows()[0]
    extra = [
        first,
        first | {"transfer_id": "t00", "not_modified_count": 1, "unlogged_bytes_count": 1},
        first | {"transfer_id": "w", "operation": "write", "transferred_bytes": 100},
    ]
    assert built([read("t1", "10:00")], extra=extra).height == 0
    unlogged = [first | {"unlogged_bytes_count": 1}]
    rows = built([read("t1", "10:00")], extra=unlogged)
    assert facts(rows.filter(scope="fleet")) == [("t1", "fleet", None, "t0", 0, 100)]


def test_forged_sizes_do_not_stop_the_day():
    most = 2**63 - 1
    reads = [read(f"t{n}", "10:00", most, size=size) for n, size in enumerate((most, most, 1))]
    rows = built(reads).filter(scope="fleet")
    assert rows["min_repeat_bytes"].to_list() == [most, most]


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ((), "complete"),
        ((date(2026, 2, 28),), "not built: 2026-02-28"),
        (
            (date(2026, 1, 31), date(2026, 2, 1), date(2026, 2, 2), date(2026, 3, 1)),
            "not built: 2026-01-31 to 2026-02-02, 2026-03-01",
        ),
        ((date(2026, 1, 30),), "complete"),
    ],
)
def test_days_of_the_look_back_that_are_not_built_are_named(missing, expected):
    known = tuple(day for day in EVERY_DAY if day not in missing)
    assert history_basis(DAY, BuildDay(DAY, "fleet", built_days=known)) == expected
    rows = built([read("t1", "10:00", 150)], built_days=known)
    assert rows["history_basis"].unique().to_list() == [expected]


def place(item: Read, scope: str) -> str | None:
    if scope == "fleet":
        return ""
    if scope == "run":
        return item.run
    return None if item.node is None or item.cluster is None else f"{item.cluster}/{item.node}"


def oracle(reads: list[Read], day: date) -> list[tuple]:
    """The rows of one day, by the words of definitions.md 26 and nothing else."""
    rows = []
    for item in reads:
        moved = item.bytes.get(day, 0)
        if not moved:
            continue
        own = sum(count for d, count in item.bytes.items() if d < day)
        earlier = [
            other
            for other in reads
            if other.object == item.object
            and (other.start, other.id) < (item.start, item.id)
            and other.start >= item.start - LOOK_BACK
            and any(d <= item.start.date() and count for d, count in other.bytes.items())
            and not (
                item.version is None
                and None not in (item.size, other.size)
                and item.size != other.size
            )
        ]
        fleet = None
        for scope in ("fleet", "node", "run"):
            here = place(item, scope)
            if here is None:
                if fleet is not None:
                    rows.append((item.id, scope, fleet[3], 0, fleet[5]))
                continue
            inside = [other for other in earlier if place(other, scope) == here]
            perhaps = [other for other in earlier if place(other, scope) is None]
            before = own + sum(
                count
                for other in inside
                for d, count in other.bytes.items()
                if d <= item.start.date()
            )
            least = 0
            if item.size is not None:
                least = max(0, before + moved - item.size) - max(0, before - item.size)
            if not inside and not perhaps and not least:
                continue
            previous = max(inside or perhaps, key=lambda o: (o.start, o.id), default=None)
            most = moved if previous else least
            row = (item.id, scope, here, previous.id if previous else None, least, most)
            if scope == "fleet":
                fleet = row
            rows.append((row[0], scope, row[3], row[4], row[5]))
    return sorted(rows)


def drawn(seed: int) -> list[Read]:
    draw = random.Random(seed)
    reads = []
    for number in range(60):
        start = at("00:00", days=-draw.randrange(34)) + timedelta(
            minutes=draw.randrange(24 * 60), seconds=draw.choice([0, 0, 1])
        )
        days = [start.date()]
        if draw.random() < 0.3 and start.date() < DAY:
            days.append(start.date() + ONE)
        version = draw.choice(["v1", "v2", None])
        reads.append(
            Read(
                id=f"t{draw.randrange(10**6):06d}{number}",
                start=start,
                bytes={day: draw.choice([0, 1, 30, 70, 100, 180]) for day in days},
                size=draw.choice([100, 150, None]) if version is None else 100,
                object=f"s3://bucket/key{'@' + version if version else ''}",
                version=version,
                run=draw.choice([RUN, OTHER, None]),
                node=draw.choice(["n1", "n2", None]),
                cluster=draw.choice(["alder", "birch"]),
            )
        )
    return reads


@settings(max_examples=4)
@given(st.integers(0, 2**32))
def test_rows_equal_a_slow_count(seed):
    reads = drawn(seed)
    for day in (DAY - ONE, DAY):
        rows = built(reads, day)
        found = rows.select(
            "transfer_id", "scope", "previous_transfer_id", "min_repeat_bytes", "max_repeat_bytes"
        ).rows()
        assert sorted(found) == oracle(reads, day)
        assert (rows["min_repeat_bytes"] <= rows["max_repeat_bytes"]).all()
        assert (rows["max_repeat_bytes"] <= rows["transferred_bytes"]).all()


@settings(max_examples=1)
@given(st.integers(0, 2**32))
def test_the_minima_of_all_days_are_what_was_read_beyond_one_object_in_any_order(seed):
    draw = random.Random(seed)
    reads = [replace(item, bytes=dict(item.bytes)) for item in drawn(seed)]
    # One version, and nothing over midnight, so that every byte before a read is known to be so.
    reads = [
        replace(item, bytes={item.start.date(): 30}, version="v1", size=100, object="s3://b/k@v1")
        for item in reads
        if item.start.date() >= DAY - 3 * ONE
    ]
    draw.shuffle(reads)
    days = [DAY - n * ONE for n in range(3, -1, -1)]
    found = sum(built(reads, day).filter(scope="fleet")["min_repeat_bytes"].sum() for day in days)
    assert found == max(0, 30 * len(reads) - 100)
