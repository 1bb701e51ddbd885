"""repeat_transfers: the formulas of definitions.md 26, on hand-made cases and against an oracle."""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.reference.catalogue import load_endpoints
from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.marts.price_sheet import BY_HAND, GIB, sheet
from transforms.day import BuildDay, ClusterFacts
from transforms.marts import repeat_transfers
from transforms.marts.repeat_transfers import TRANSFORM, history_basis
from transforms.sql import SqlSession

ONE = timedelta(days=1)
LOOK_BACK = timedelta(days=30)
RUN = "a" * 32
ZONE = "us-east-1a"
REGION = "us-east-1"
SCOPES = ("fleet", "node", "region", "run", "zone")
OTHER = "b" * 32
CLUSTERS = (ClusterFacts("alder", "aws", "us-east-1"), ClusterFacts("birch", "aws", "us-east-1"))
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
    zone: str | None = ZONE
    region: str | None = REGION
    etag: str | None = None
    parts: dict[date, list[range]] = field(default_factory=dict)
    is_whole: bool = False
    facts: dict = field(default_factory=dict)

    def ranges(self, day: date) -> list[dict] | None:
        """The day's parts as disjoint ranges with how often each byte was moved."""
        if day not in self.parts:
            return None
        counts = Counter(byte for part in self.parts[day] for byte in part)
        found: list[dict] = []
        for byte in sorted(counts):
            if found and found[-1]["stop"] == byte and found[-1]["count"] == counts[byte]:
                found[-1]["stop"] = byte + 1
            else:
                found.append({"start": byte, "stop": byte + 1, "count": counts[byte]})
        return found

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
                "reader_zone": self.zone,
                "reader_region": self.region,
                "etag": self.etag,
                "is_complete": self.is_whole,
                "read_ranges": self.ranges(day),
                "match_kind": "uid",
                **self.facts,
            }
            for day, count in self.bytes.items()
        ]


def read(id_: str, clock: str, count: int = 100, *, days: int = 0, **more) -> Read:
    start = at(clock, days=days)
    return Read(id_, start, {start.date(): count}, **more)


def built(
    reads: list[Read],
    day: date = DAY,
    built_days=EVERY_DAY,
    extra=(),
    prices: tuple[dict, ...] = (),
    **tables,
) -> pl.DataFrame:
    rows = [row for item in reads for row in item.rows() if row["date"] <= day]
    shown = {
        "object_transfers": [*rows, *extra],
        "image_pulls": [],
        "run_dependency_days": [],
        "declared_dependencies": [],
        "pod_intervals": [],
        "peer_traffic": [],
        "run_coverage_days": [],
        "runs": [{"run_uuid": RUN, "project": "vision", "date": day}],
    }
    with SqlSession(threads=1) as session:
        show(session, **shown | tables)
        session.register("prices", sheet(*prices))
        facts = BuildDay(day, "fleet", clusters=CLUSTERS, built_days=built_days)
        name = TRANSFORM.build(session, facts)
        return checked(session, "repeat_transfers", name)


NOWHERE = {"run": None, "node": None, "cluster": None, "zone": None, "region": None}


def write(clock: str, *, days: int = 0, **more) -> dict:
    """A write of the object, as the row of its transfer."""
    moment = at(clock, days=days)
    return read("w", clock, days=days, version=None, object="s3://bucket/key").rows()[0] | {
        "transfer_id": f"w{moment}", "operation": "write", "change_times": [moment], **more,
    }  # fmt: skip


def facts(rows: pl.DataFrame) -> list[tuple]:
    return rows.select(
        "transfer_id", "scope", "scope_id", "previous_transfer_id", "min_repeat_bytes",
        "max_repeat_bytes",
    ).rows()  # fmt: skip


def test_a_second_whole_read_repeats_the_first_in_every_scope_that_holds_both():
    rows = built([read("t1", "10:00"), read("t2", "11:00", node="n2")])
    assert facts(rows) == [
        ("t2", "fleet", None, "t1", 100, 100),
        ("t2", "region", REGION, "t1", 100, 100),
        ("t2", "run", RUN, "t1", 100, 100),
        ("t2", "zone", ZONE, "t1", 100, 100),
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


def part(id_: str, clock: str, *parts: range, days: int = 0, **more) -> Read:
    """A burst of parts whose places in the object are known."""
    found = read(id_, clock, sum(map(len, parts)), days=days, **more)
    return replace(found, parts={found.start.date(): list(parts)})


def fleet_bounds(reads: list[Read], **more) -> dict[str, list[int]]:
    rows = built(reads, **more).filter(scope="fleet")
    names = ("transfer_id", "min_repeat_bytes", "max_repeat_bytes")
    return {id_: bounds for id_, *bounds in rows.select(names).rows()}


def test_parts_of_known_place_repeat_what_they_share_with_earlier_ones():
    reads = [
        part("a", "08:00", range(60)),
        # Another part of the object is nothing again, and no row.
        part("b", "09:00", range(60, 80)),
        part("c", "10:00", range(50, 90)),
        # Twice the same within one burst: only what others had is again.
        part("d", "11:00", range(90, 95), range(90, 95), range(85, 90)),
        # A whole read repeats all that was read, and is repeated wholly.
        read("e", "12:00", is_whole=True),
        part("f", "13:00", range(3)),
    ]
    assert fleet_bounds(reads) == {"c": [30, 30], "d": [5, 5], "e": [95, 95], "f": [3, 3]}


def test_parts_of_unknown_place_among_known_ones_leave_a_range():
    reads = [
        part("a", "08:00", range(60)),
        read("b", "09:00", 30),
        # 20 of them are known to be again; of the rest b may have had any, or none.
        part("c", "10:00", range(40, 70)),
        # At most 100 different bytes: 60 and 30 and 10 before, so all of these are beyond.
        read("d", "11:00", 25),
        part("e", "12:00", range(70, 75)),
    ]
    assert fleet_bounds(reads) == {
        "b": [0, 30], "c": [20, 30], "d": [25, 25], "e": [5, 5],
    }  # fmt: skip
    # Without a size only what parts share is certain.
    unsized = [replace(item, size=None) for item in reads]
    assert fleet_bounds(unsized) == {
        "b": [0, 30], "c": [20, 30], "d": [0, 25], "e": [0, 5],
    }  # fmt: skip


def test_parts_are_compared_within_one_content_and_look_back():
    old = part("old", "08:00", range(60), days=-31)
    kept = part("kept", "08:00", range(10, 20), days=-29)
    now = part("now", "09:00", range(50))
    assert fleet_bounds([old, now]) == {}
    assert fleet_bounds([old, kept, now]) == {"now": [10, 10]}
    plain = {"version": None, "object": "s3://bucket/key"}
    before = part("before", "08:00", range(50), **plain)
    after = part("after", "10:00", range(50), **plain)
    assert fleet_bounds([before, after]) == {"after": [50, 50]}
    assert fleet_bounds([before, after], extra=[write("09:00")]) == {}


def test_of_one_thing_with_too_many_pieces_only_the_sums_count(monkeypatch):
    reads = [part("a", "08:00", range(10), range(20, 30)), part("b", "09:00", range(5, 25))]
    # The first part is cut at 5, the second at 25, and that of b at 10 and 20: 2 + 2 + 3 pieces.
    for limit, expected in ((7, [10, 10]), (6, [0, 20])):
        monkeypatch.setattr(repeat_transfers, "MOST_PIECES", limit)
        assert fleet_bounds(reads) == {"b": expected}


def test_forged_parts_do_not_stop_the_day():
    most = 2**63 - 1
    facts = {"read_ranges": [{"start": 0, "stop": most, "count": most}], "transferred_bytes": most}
    reads = [read(id_, clock, facts=facts) for id_, clock in (("a", "08:00"), ("b", "09:00"))]
    assert set(fleet_bounds(reads)) == {"a", "b"}


def test_a_burst_beyond_the_objects_size_repeats_itself():
    rows = built([read("t1", "10:00", 150)])
    assert facts(rows) == [
        ("t1", "fleet", None, None, 50, 50),
        ("t1", "node", "n1", None, 50, 50),
        ("t1", "region", REGION, None, 50, 50),
        ("t1", "run", RUN, None, 50, 50),
        ("t1", "zone", ZONE, None, 50, 50),
    ]
    assert rows["previous_at"].to_list() == [at("10:00")] * 5
    assert built([read("t1", "10:00", 99)]).height == 0


def test_without_a_size_nothing_is_certain():
    rows = built([read("t1", "10:00", size=None), read("t2", "11:00", size=None)])
    assert facts(rows.filter(scope="fleet")) == [("t2", "fleet", None, "t1", 0, 100)]


def test_equal_node_names_of_two_clusters_are_two_nodes():
    rows = built([read("t1", "10:00", run=OTHER), read("t2", "11:00", cluster="birch")])
    assert rows["scope"].to_list() == ["fleet", "region", "zone"]


def test_reads_of_other_zones_and_regions_repeat_in_what_holds_both():
    zones = [read("t1", "10:00", run=OTHER), read("t2", "11:00", node="n2", zone="us-east-1b")]
    assert built(zones)["scope"].to_list() == ["fleet", "region"]
    far = read("t2", "11:00", node="n2", zone="eu-west-1a", region="eu-west-1")
    assert built([zones[0], far])["scope"].to_list() == ["fleet"]
    placed = read("t1", "10:00", run=OTHER, node=None, cluster=None, zone=None)
    assert facts(built([placed, zones[1]])) == [
        ("t2", "fleet", None, "t1", 100, 100),
        ("t2", "node", "n2", "t1", 0, 100),
        ("t2", "region", REGION, "t1", 100, 100),
        ("t2", "zone", "us-east-1b", "t1", 0, 100),
    ]


def test_a_read_of_an_unknown_run_and_node_has_rows_with_min_zero_and_the_fleets_max():
    rows = built([read("t1", "10:00"), read("t2", "11:00", **NOWHERE)])
    assert facts(rows) == [
        ("t2", "fleet", None, "t1", 100, 100),
        ("t2", "node", None, "t1", 0, 100),
        ("t2", "region", None, "t1", 0, 100),
        ("t2", "run", None, "t1", 0, 100),
        ("t2", "zone", None, "t1", 0, 100),
    ]
    assert built([read("t1", "10:00", **NOWHERE)]).height == 0


def test_earlier_reads_of_an_unknown_place_raise_max_and_never_min():
    rows = built([read("t1", "10:00", **NOWHERE), read("t2", "11:00")])
    assert facts(rows) == [
        ("t2", "fleet", None, "t1", 100, 100),
        ("t2", "node", "n1", "t1", 0, 100),
        ("t2", "region", REGION, "t1", 0, 100),
        ("t2", "run", RUN, "t1", 0, 100),
        ("t2", "zone", ZONE, "t1", 0, 100),
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
    assert second["transferred_bytes"].to_list() == [70] * 5


def test_what_an_earlier_read_moved_after_this_one_began_its_day_is_no_earlier_read():
    long = Read("t1", at("22:00", days=-1), {DAY - ONE: 50, DAY: 50})
    over = Read("t2", at("23:00", days=-1), {DAY - ONE: 50, DAY: 50})
    rows = built([long, over]).filter(scope="fleet", transfer_id="t2")
    assert facts(rows) == [("t2", "fleet", None, "t1", 50, 50)]


def test_reads_at_one_instant_are_ordered_by_their_id():
    rows = built([read("t2", "10:00"), read("t1", "10:00")])
    assert facts(rows.filter(scope="fleet")) == [("t2", "fleet", None, "t1", 100, 100)]


def test_readers_that_name_one_object_differently_repeat_it_and_each_row_bears_its_own_name():
    """What is the same is told by the object; the name is that of the later reader's run."""
    whole = {"resource_id": "s3://bucket/data", "dataset_id": "s3://bucket/data"}
    part_of = {"resource_id": "s3://bucket/data/train", "dataset_id": "s3://bucket/data/train"}
    third = "c" * 32
    reads = [
        read("t1", "10:00", facts=whole),
        read("t2", "11:00", run=OTHER, node="n2", facts=part_of),
        read("t3", "12:00", run=third, node="n3", facts=whole),
    ]
    rows = built(reads).filter(scope="fleet")
    assert rows.select("run_uuid", "dataset_id", "resource_id", "previous_run_uuid").rows() == [
        (OTHER, *part_of.values(), RUN),
        (third, *whole.values(), OTHER),
    ]
    # Named alike or not, the same bytes are fetched again.
    alike = built([replace(item, facts=whole) for item in reads]).filter(scope="fleet")
    assert facts(alike) == facts(rows)
    assert rows["min_repeat_bytes"].to_list() == [100, 100]


PLAIN = {"version": None, "object": "s3://bucket/key"}


def test_another_size_of_an_unversioned_object_is_another_content_and_one_that_returns_too():
    reads = [
        read("t1", "10:00", **PLAIN),
        read("t2", "11:00", 90, size=90, **PLAIN),
        read("t3", "12:00", **PLAIN),
        read("t4", "13:00", 10, size=None, **PLAIN),
        read("t5", "14:00", **PLAIN),
        read("t6", "15:00", 90, size=90, **PLAIN),
    ]
    assert facts(built(reads).filter(scope="fleet")) == [
        ("t4", "fleet", None, "t3", 0, 10),
        ("t5", "fleet", None, "t4", 100, 100),
    ]


def test_another_etag_of_an_unversioned_object_is_another_content():
    reads = [
        read("t1", "10:00", etag="a", **PLAIN),
        read("t2", "11:00", etag="b", **PLAIN),
        read("t3", "12:00", etag="b", **PLAIN),
        read("t4", "13:00", **PLAIN),
    ]
    assert facts(built(reads).filter(scope="fleet")) == [
        ("t3", "fleet", None, "t2", 100, 100),
        ("t4", "fleet", None, "t3", 100, 100),
    ]


def test_a_write_between_two_reads_breaks_the_identity_of_an_unversioned_object():
    reads = [read("t1", "10:00", **PLAIN), read("t2", "12:00", **PLAIN)]
    assert built(reads, extra=[write("11:00")]).height == 0
    assert built(reads, extra=[write("12:00")]).height == 0
    assert built(reads, extra=[write("11:00", version_id="v", object_id="s3://bucket/key@v")]
                 ).height == 0  # fmt: skip
    yesterday = [read("t1", "10:00", days=-2, **PLAIN), read("t2", "12:00", **PLAIN)]
    assert built(yesterday, extra=[write("11:00", days=-1, date=DAY - ONE)]).height == 0
    for beside in (
        write("10:00"), write("12:00:01"), write("11:00", object_id="s3://bucket/key2"),
        write("11:00", provider="gcs"), write("11:00", change_times=None),
    ):  # fmt: skip
        rows = built(reads, extra=[beside]).filter(scope="fleet")
        assert facts(rows) == [("t2", "fleet", None, "t1", 100, 100)]
    versions = [read("t1", "10:00"), read("t2", "12:00")]
    rows = built(versions, extra=[write("11:00")]).filter(scope="fleet")
    assert facts(rows) == [("t2", "fleet", None, "t1", 100, 100)]


def test_a_change_within_the_day_leaves_what_was_read_before_it_to_the_old_content():
    reads = [
        *(read(f"t{hour}", f"{hour}:00", **PLAIN) for hour in (10, 11, 13, 14)),
        read("t15", "15:00", run=None, node=None, **PLAIN),
    ]
    rows = built(reads, extra=[write("12:00")]).filter(scope="run")
    assert facts(rows) == [
        ("t11", "run", RUN, "t10", 100, 100),
        ("t14", "run", RUN, "t13", 100, 100),
        ("t15", "run", None, "t14", 0, 100),
    ]


def test_reads_that_the_log_leaves_without_bytes_lie_between_none_and_the_whole_object():
    unlogged = {"unlogged_bytes_count": 1, "request_count": 1}
    reads = [read("t1", "10:00"), read("t2", "11:00", 0, facts=unlogged)]
    (row,) = built(reads).filter(scope="fleet").to_dicts()
    assert (row["transferred_bytes"], row["min_repeat_bytes"], row["max_repeat_bytes"]) == (
        None, 0, 100,
    )  # fmt: skip
    thrice = [read("t1", "10:00", 0, facts={"unlogged_bytes_count": 3})]
    (row,) = built(thrice).filter(scope="fleet").to_dicts()
    assert (row["min_repeat_bytes"], row["max_repeat_bytes"]) == (0, 200)
    open_ended = [reads[0], read("t2", "11:00", 0, size=None, facts=unlogged)]
    (row,) = built(open_ended).filter(scope="fleet").to_dicts()
    assert (row["min_repeat_bytes"], row["max_repeat_bytes"]) == (0, None)


def test_what_the_storage_reads_for_itself_is_no_read():
    for principal in ("svc:replication", "AmazonS3"):
        own = read("t1", "10:00", facts={"principal": principal})
        assert built([own, read("t2", "11:00")]).height == 0


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


# -- remedies and what they avoid ----------------------------------------------------------------

FAR = {"bucket_region": "eu-west-1"}
NEAR = {"bucket_region": "us-east-1"}
PUBLIC = {"client_address": "203.0.113.250"}


def assert_names_what_to_test(rows: pl.DataFrame) -> None:
    """Each remedy comes with its evidence and with two things to test after the change."""
    for row in rows.to_dicts():
        told = [row["remedy_evidence"], row["test_after"]]
        assert (row["remedy"] is None) == (told == [None, None])
        if row["remedy"] is not None:
            assert "Cold worker: " in row["test_after"]
            assert "Updated model: " in row["test_after"]


def remedies(rows: pl.DataFrame, id_: str = "t2") -> dict[str, str | None]:
    return dict(rows.filter(transfer_id=id_).select("scope", "remedy").rows())


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            {}, {"facts": FAR},
            {
                "run": "node_cache", "node": "node_cache", "zone": "zone_cache",
                "region": "move_job", "fleet": "move_job",
            },
        ),
        (
            {"run": OTHER}, {"facts": FAR, "node": "n2"},
            {"zone": "zone_cache", "region": "bucket_replica", "fleet": "bucket_replica"},
        ),
        (
            {}, {"facts": FAR, "node": "n2"},
            {
                "run": "zone_cache", "zone": "zone_cache", "region": "move_job",
                "fleet": "move_job",
            },
        ),
        (
            {"run": OTHER}, {"facts": NEAR | PUBLIC, "node": "n2", "zone": "us-east-1b"},
            {"region": "gateway_endpoint", "fleet": "gateway_endpoint"},
        ),
        (
            {"run": OTHER},
            {"facts": NEAR | PUBLIC | {"vpc_endpoint_id": "vpce-1"}, "node": "n2",
             "zone": "us-east-1b"},
            {"region": "zone_cache", "fleet": "zone_cache"},
        ),
        (
            {"run": OTHER}, {"facts": NEAR, "node": "n2", "zone": "us-east-1b"},
            {"region": "zone_cache", "fleet": "zone_cache"},
        ),
        (
            {"run": OTHER}, {"node": "n2", "zone": "us-east-1b"},
            {"region": None, "fleet": None},
        ),
        (
            {}, {"facts": FAR, **NOWHERE},
            {"run": None, "node": None, "zone": None, "region": None, "fleet": None},
        ),
    ],
)  # fmt: skip
def test_a_remedy_acts_where_the_repeat_is(first: dict, second: dict, expected: dict):
    rows = built([read("t1", "10:00", **first), read("t2", "11:00", **second)])
    assert remedies(rows) == expected
    assert_names_what_to_test(rows)


def test_a_remedy_states_the_evidence_that_led_to_it():
    rows = built([read("t1", "10:00", run=OTHER), read("t2", "11:00", node="n2", facts=FAR)])
    evidence = dict(rows.select("scope", "remedy_evidence").rows())
    before = f"read before at 2026-03-02T10:00:00Z by run {OTHER} on node alder/n1"
    assert evidence == {
        "zone": f"{before}; this zone is {ZONE}",
        "region": f"{before}; bucket in eu-west-1, reader in us-east-1",
        "fleet": f"{before}; bucket in eu-west-1, reader in us-east-1",
    }
    public = built([read("t1", "10:00"), read("t2", "11:00", zone="z", facts=NEAR | PUBLIC)])
    assert public.filter(scope="region")["remedy_evidence"].item().endswith(
        "; bucket in us-east-1, reader in us-east-1; the storage saw the public address "
        "203.0.113.250 and no endpoint"
    )  # fmt: skip
    itself = built([read("t1", "10:00", 150)])
    assert itself["remedy"].unique().to_list() == ["node_cache"]
    assert itself["remedy_evidence"][0].startswith("one transfer read more than the object holds")


def test_avoidable_is_what_the_repeated_bytes_cost_on_their_path():
    across = FAR | {"client_address": "10.0.0.1", "vpc_endpoint_id": "vpce-9"}
    half = {"count": GIB // 2, "size": GIB}
    reads = [
        read("t1", "10:00", GIB, size=GIB), read("t2", "11:00", GIB, size=GIB, facts=across),
        read("t3", "12:00", **half, facts=NEAR | PUBLIC),
        read("t4", "13:00", GIB, size=None, facts=across),
    ]  # fmt: skip
    rows = built(reads, prices=BY_HAND).filter(scope="fleet")
    usd = {row["transfer_id"]: row for row in rows.to_dicts()}

    def amounts(id_: str) -> tuple[Decimal | None, Decimal | None]:
        return usd[id_]["min_avoidable_usd"], usd[id_]["max_avoidable_usd"]

    # Across regions from the bucket's, and an endpoint that may stand in between.
    least, most = amounts("t2")
    assert least == Decimal("0.03")
    assert most >= least
    # In the region the transfer is free; a public address may be NAT's.
    assert amounts("t3")[0] == 0
    # Bytes that need not have been read before avoid nothing for certain.
    assert amounts("t4") == (0, most)
    assert built(reads)["min_avoidable_usd"].to_list() == [None] * len(built(reads))


# -- images, repositories and package hosts ------------------------------------------------------

DIGEST = "sha256:" + "1" * 64
IMAGE = f"oci://registry.example.com/ml/train@{DIGEST}"


def pull(id_: str, clock: str, *, least: int = 0, most: int | None = 100, **more) -> dict:
    return {
        "image_pull_id": id_,
        "cluster": "alder",
        "pod_uid": f"pod-{id_}",
        "node": "n1",
        "run_uuid": RUN,
        "start_at": at(clock),
        "end_at": at(clock) + timedelta(seconds=30),
        "image": "registry.example.com/ml/train:1",
        "image_digest": DIGEST,
        "registry": "registry.example.com",
        "image_bytes": 100,
        "min_transferred_bytes": least,
        "max_transferred_bytes": most,
        "measured_by": "image_size",
        "reader_zone": ZONE,
        "reader_region": REGION,
    } | more


def test_one_image_pulled_to_several_nodes_repeats_in_their_zone_and_region():
    pulls = [pull("p1", "10:00"), pull("p2", "11:00", node="n2", run_uuid=OTHER)]
    rows = built([], image_pulls=pulls)
    assert facts(rows) == [
        ("p2", "fleet", None, "p1", 0, 100),
        ("p2", "region", REGION, "p1", 0, 100),
        ("p2", "zone", ZONE, "p1", 0, 100),
    ]
    row = rows.to_dicts()[0]
    assert (row["object_id"], row["dataset_id"]) == (IMAGE, IMAGE.partition("@")[0])
    assert (row["resource_kind"], row["grade"]) == ("image", "object")
    assert (row["transferred_bytes"], row["object_size_bytes"]) == (None, 100)
    assert set(rows["remedy"]) == {"image_mirror"}
    again = built([], image_pulls=[pull("p1", "10:00"), pull("p2", "11:00")])
    assert remedies(again, "p2") == {
        "run": "image_pre_pull", "node": "image_pre_pull", "zone": "image_mirror",
        "region": "image_mirror", "fleet": "image_mirror",
    }  # fmt: skip
    assert_names_what_to_test(rows)
    assert_names_what_to_test(again)


def test_pulls_whose_bytes_a_log_tells_repeat_for_certain_beyond_one_image():
    logged = {"measured_by": "application_log", "least": 100, "most": 100}
    pulls = [pull(f"p{n}", f"1{n}:00", node=f"n{n}", **logged) for n in (1, 2)]
    pulls += [pull("p3", "13:00", node="n3", **(logged | {"least": 30, "most": 30}))]
    rows = built([], image_pulls=pulls).filter(scope="zone")
    assert facts(rows) == [
        ("p2", "zone", ZONE, "p1", 100, 100),
        ("p3", "zone", ZONE, "p2", 30, 30),
    ]


def test_pulls_that_moved_nothing_or_have_not_ended_repeat_nothing():
    first, present = pull("p1", "10:00"), {"was_present": True, "most": 0}
    assert built([], image_pulls=[first, pull("p2", "11:00", **present)]).height == 0
    assert built([], image_pulls=[pull("p0", "09:00", **present), first]).height == 0
    assert built([], image_pulls=[first, pull("p2", "11:00", end_at=None, most=None)]).height == 0
    assert built([], image_pulls=[first, pull("p2", "11:00", image_digest="sha256:2")]).height == 0
    begun = pull("p0", "09:59", end_at=None, most=None)
    assert facts(built([], image_pulls=[begun, first]).filter(scope="node")) == [
        ("p1", "node", "n1", "p0", 0, 100)
    ]


def test_a_pull_by_tag_alone_is_a_contact_with_the_registry():
    tagged = {"image_digest": None, "least": 100}
    rows = built([], image_pulls=[pull("p1", "10:00", **tagged), pull("p2", "11:00", **tagged)])
    row = rows.filter(scope="fleet").to_dicts()[0]
    assert (row["grade"], row["object_id"]) == (
        "endpoint", "oci://registry.example.com/ml/train:1",
    )  # fmt: skip
    assert (row["min_repeat_bytes"], row["max_repeat_bytes"]) == (0, 100)


HUB = {"service": "Hugging Face Hub", "resource_id": "dns://huggingface.co:443"}
GIT = {"service": "GitHub", "resource_id": "dns://github.com:443"}
REVISION = "git+https://github.com/acme/train.git@9f1c2ab"


def contact(clock: str, run: str | None = RUN, *, days: int = 0, **more) -> dict:
    return {
        "date": DAY + days * ONE,
        "cluster": "alder",
        "run_uuid": run,
        "attempt": 1 if run else None,
        "operation": "connect",
        "measured_by": "flow_record",
        "resource_kind": "host",
        "pod_uids": [f"pod-{run}"],
        "first_seen_at": at(clock, days=days),
        "connection_count": 1,
        "received_bytes": 50,
        "min_received_bytes": 40,
        "max_received_bytes": 60,
        "match_kind": "uid",
        **HUB,
        **more,
    }


def lived(run: str | None = RUN, **more) -> dict:
    place = {"cluster": "alder", "node": "n1", "zone": ZONE, "region": REGION}
    return {"pod_uid": f"pod-{run}", **place, **more}


PODS = [lived(), lived(OTHER, node="n2")]


@pytest.mark.parametrize(
    ("service", "host", "kind"),
    [
        ("Hugging Face Hub", "dns://huggingface.co:443", "model_hub"),
        ("GitHub", "dns://github.com:443", "git"),
        ("PyPI", "dns://files.pythonhosted.org:443", "package_index"),
        ("Debian", "dns://deb.debian.org:80", "package_index"),
    ],
)
def test_what_a_host_serves_is_a_resource_graded_by_the_endpoint(service, host, kind):
    named = {"service": service, "resource_id": host}
    uses = [contact("10:00", OTHER, **named), contact("11:00", **named)]
    rows = built([], run_dependency_days=uses).filter(scope="fleet")
    assert rows.select("resource_kind", "grade", "object_id", "resource_id").rows() == [
        (kind, "endpoint", host, host)
    ]
    assert rows.select("min_repeat_bytes", "max_repeat_bytes").rows() == [(0, 60)]


def test_hosts_that_serve_packages_are_those_of_the_catalogue():
    catalogue = load_endpoints()
    with SqlSession() as session:
        session.create("kinds", "transforms.marts", "repeat_contact_kinds")
        kinds = dict(session.frame("kinds").select("service", "resource_kind").rows())
    assert set(kinds) <= set(catalogue["service"])
    managers = pl.col("operation").str.contains(r"\b(apt|yum|dnf|apk|pip)\b")
    hosts = set(catalogue.filter(managers)["service"])
    assert {kinds.get(service) for service in hosts} == {"package_index"}


def test_a_run_that_contacts_a_host_again_repeats_between_nothing_and_all_that_it_received():
    uses = [contact("10:00", OTHER), contact("11:00")]
    rows = built([], run_dependency_days=uses, pod_intervals=PODS)
    assert [row[1:3] + row[4:] for row in facts(rows)] == [
        ("fleet", None, 0, 60), ("region", REGION, 0, 60), ("zone", ZONE, 0, 60),
    ]  # fmt: skip
    row = rows.to_dicts()[0]
    assert (row["resource_kind"], row["grade"]) == ("model_hub", "endpoint")
    assert (row["object_id"], row["dataset_id"]) == ("dns://huggingface.co:443", None)
    assert (row["transferred_bytes"], row["min_transferred_bytes"]) == (50, 40)
    assert (row["run_uuid"], row["previous_run_uuid"], row["measured_by"]) == (
        RUN, OTHER, "flow_record",
    )  # fmt: skip
    assert set(rows["remedy"]) == {"pin_revision"}
    assert row["remedy_evidence"].endswith("only the host is known, no revision is declared")
    assert_names_what_to_test(rows)


def test_bytes_of_a_contact_that_nobody_measured_are_not_bounded():
    nothing = {f"{part}received_bytes": None for part in ("", "min_", "max_")}
    uses = [contact("10:00", OTHER), contact("11:00", **nothing, measured_by="none")]
    (row,) = built([], run_dependency_days=uses).filter(scope="fleet").to_dicts()
    assert (row["min_repeat_bytes"], row["max_repeat_bytes"]) == (0, None)
    assert (row["transferred_bytes"], row["max_transferred_bytes"]) == (None, None)


def test_hosts_of_a_repository_that_the_run_declares_stand_for_it_with_its_revision():
    declared = [{"run_uuid": run, "resource_id": REVISION} for run in (RUN, OTHER)]
    pack = {**GIT, "resource_id": "dns://codeload.github.com:443", "received_bytes": 7}
    uses = [contact("10:00", OTHER, **GIT), contact("11:00", **GIT), contact("11:01", **pack)]
    rows = built([], run_dependency_days=uses, declared_dependencies=declared)
    found = rows.filter(scope="fleet").select("object_id", "dataset_id", "resource_kind").rows()
    assert found == [(REVISION, REVISION.partition("@")[0], "git")]
    assert rows["remedy_evidence"][0].endswith(f"declared as {REVISION}")
    other = "git+https://git.example.com/acme/train.git"
    own = [{"run_uuid": run, "resource_id": other} for run in (RUN, OTHER)]
    hosts = {"service": None, "resource_id": "dns://git.example.com:443"}
    uses = [contact("10:00", OTHER, **hosts), contact("11:00", **hosts)]
    rows = built([], run_dependency_days=uses, declared_dependencies=own)
    assert set(rows["object_id"]) == {other}
    assert built([], run_dependency_days=uses).height == 0
    models = [{"run_uuid": run, "resource_id": f"hf://acme/{name}@main"}
              for run in (RUN, OTHER) for name in ("a", "b")]  # fmt: skip
    uses = [contact("10:00", OTHER), contact("11:00")]
    rows = built([], run_dependency_days=uses, declared_dependencies=models)
    assert set(rows["object_id"]) == {"dns://huggingface.co:443"}
    rows = built([], run_dependency_days=uses, declared_dependencies=models[::2])
    assert set(rows["object_id"]) == {"hf://acme/a@main"}


def test_what_is_no_fetch_of_a_run_from_such_a_host_repeats_nothing():
    first = contact("10:00", OTHER)
    for later in (
        contact("11:00", None), contact("11:00", service="Amazon S3"),
        contact("11:00", endpoint_kind="auth"), contact("11:00", accounted_in="s3://b"),
        contact("11:00", denied_count=1), contact("11:00", operation="resolve"),
    ):  # fmt: skip
        assert built([], run_dependency_days=[first, later]).height == 0
    rows = built([], run_dependency_days=[contact("10:00", None), contact("11:00")])
    assert set(rows["scope"]) == set(SCOPES)
    assert set(rows["min_repeat_bytes"]) == {0}


def test_a_contact_over_midnight_is_one_and_a_new_connection_is_another():
    uses = [contact("10:00", OTHER, days=-2), contact("23:59", days=-1),
            contact("00:00", connection_count=0)]  # fmt: skip
    fleet = built([], run_dependency_days=uses).filter(scope="fleet").to_dicts()
    assert [row["start_at"] for row in fleet] == [at("23:59", days=-1)]
    assert [row["previous_run_uuid"] for row in fleet] == [OTHER]
    again = [*uses[:2], contact("00:00")]
    (row,) = built([], run_dependency_days=again).filter(scope="run").to_dicts()
    assert (row["start_at"], row["previous_at"]) == (at("00:00"), at("23:59", days=-1))


# -- laws ----------------------------------------------------------------------------------------


def place(item: Read, scope: str) -> str | None:
    if scope == "node":
        return None if item.node is None or item.cluster is None else f"{item.cluster}/{item.node}"
    return {"fleet": "", "run": item.run, "zone": item.zone, "region": item.region}[scope]


def contents(item: Read, reads: list[Read], writes: list[datetime], day: date) -> dict[str, int]:
    """Which content each read of the item's object read, as known when the item's first day ended.

    One walk over all that happened to the object, in the order of time.
    """
    if item.version is not None:
        return defaultdict(int)
    known = [
        other
        for other in reads
        if other.object == item.object
        and (
            any(d <= item.start.date() and count for d, count in other.bytes.items())
            or (other.bytes.get(day) and other.start.date() == item.start.date())
        )
    ]
    events = [(moment, 0, "", None) for moment in writes if moment.date() <= item.start.date()]
    events += [(other.start, 1, other.id, other) for other in known]
    labels = {}
    number, size, etag = 0, None, None
    for _, is_read, id_, other in sorted(events, key=lambda e: e[:3]):
        if not is_read:
            number, size, etag = number + 1, None, None
            continue
        changed = None not in (size, other.size) and size != other.size
        changed |= None not in (etag, other.etag) and etag != other.etag
        number, size, etag = number + changed, other.size or size, other.etag or etag
        labels[id_] = number
    return labels


def parts_of(item: Read, day: date) -> list[range] | None:
    """Parts of the object that it moved on a day, where they are known."""
    return [range(item.bytes[day])] if item.is_whole else item.parts.get(day)


def overlap(item: Read, day: date, held: set[int]) -> int:
    """Bytes of a day, as often as they were moved, that are known to be held."""
    return sum(byte in held for part in parts_of(item, day) or [] for byte in part)


def held_by(inside: list[Read], day: date) -> tuple[set[int], int, bool]:
    """Bytes that reads are known to have moved to the end of a day, how many more, if any."""
    held: set[int] = set()
    loose, is_open = 0, False
    for other in inside:
        for moved_on, count in other.bytes.items():
            if moved_on <= day and count:
                known = parts_of(other, moved_on)
                held.update(*(known or []))
                loose += count if known is None else 0
                is_open |= known is None
    return held, loose, is_open


def oracle(reads: list[Read], writes: list[datetime], day: date) -> list[tuple]:
    """The rows of one day, by the words of definitions.md 26, and byte by byte where ranges tell.

    What is known to be read again is so for certain. The rest of a read is new to the scope, unless
    the scope holds the whole object: the different bytes that it is known to hold, and those of
    which nobody knows which they are.
    """
    rows = []
    for item in reads:
        moved = item.bytes.get(day, 0)
        if not moved:
            continue
        earlier = [
            other
            for other in reads
            if other.object == item.object
            and (other.start, other.id) < (item.start, item.id)
            and other.start >= item.start - LOOK_BACK
            and any(d <= item.start.date() and count for d, count in other.bytes.items())
        ]
        labels = contents(item, reads, writes, day)
        earlier = [other for other in earlier if labels[other.id] == labels[item.id]]
        fleet = None
        for scope in SCOPES:
            here = place(item, scope)
            if here is None:
                if fleet is not None and fleet[5]:
                    rows.append((item.id, scope, fleet[3], 0, fleet[5]))
                continue
            inside = [other for other in earlier if place(other, scope) == here]
            perhaps = [other for other in earlier if place(other, scope) is None]
            held, loose, is_open = held_by(inside, item.start.date())
            own = sum(count - overlap(item, d, held) for d, count in item.bytes.items() if d < day)
            before, again = len(held) + loose + own, overlap(item, day, held)
            least = again
            if item.size is not None:
                new = moved - again
                least += max(0, before + new - item.size) - max(0, before - item.size)
            is_open |= bool(perhaps) or parts_of(item, day) is None
            is_exact = item.size is not None and not is_open
            previous = max(inside or perhaps, key=lambda o: (o.start, o.id), default=None)
            most = moved if previous and not is_exact else least
            if fleet is not None and fleet[6]:
                most = min(most, fleet[5])
            row = (item.id, scope, here, previous.id if previous else None, least, most, is_exact)
            if scope == "fleet":
                fleet = row
            if not most:
                continue
            rows.append((row[0], scope, row[3], row[4], row[5]))
    return sorted(rows)


def drawn(seed: int) -> list[Read]:
    """Reads of some objects: whole, by parts of known or unknown place, over midnight or not."""
    draw = random.Random(seed)
    reads = []
    share = draw.choice([0.0, 0.4, 1.0])
    for number in range(60):
        start = at("00:00", days=-draw.randrange(34)) + timedelta(
            minutes=draw.randrange(24 * 60), seconds=draw.choice([0, 0, 1])
        )
        days = [start.date()]
        if draw.random() < 0.3 and start.date() < DAY:
            days.append(start.date() + ONE)
        version = draw.choice(["v1", "v2", None])
        size = draw.choice([100, 100, 150, None]) if version is None else 100
        counts = {day: draw.choice([0, 1, 30, 70, 100, 180]) for day in days}
        parts = {}
        is_whole = size is not None and len(days) == 1 and draw.random() < 0.2
        if is_whole:
            counts = {days[0]: size}
        elif draw.random() < share:
            for day in days:
                begins = [draw.randrange(0, 100, 10) for _ in range(draw.randrange(4))]
                parts[day] = [range(b, draw.randrange(b, 100, 5) + 5) for b in begins]
                counts[day] = sum(map(len, parts[day]))
            if draw.random() < 0.2:
                del parts[days[-1]]
        reads.append(
            Read(
                id=f"t{draw.randrange(10**6):06d}{number}",
                start=start,
                bytes=counts,
                parts={day: found for day, found in parts.items() if found},
                is_whole=is_whole,
                size=size,
                etag=draw.choice(["a", "a", "b", None]) if version is None else None,
                object=f"s3://bucket/key{'@' + version if version else ''}",
                version=version,
                run=draw.choice([RUN, OTHER, None]),
                node=draw.choice(["n1", "n2", None]),
                cluster=draw.choice(["alder", "birch"]),
                zone=draw.choice([ZONE, "us-east-1b", None]),
                region=draw.choice([REGION, "eu-west-1", None]),
            )
        )
    return reads


@settings(max_examples=4)
@given(st.integers(0, 2**32))
def test_rows_equal_a_slow_count(seed):
    reads = drawn(seed)
    draw = random.Random(seed)
    writes = [(f"{draw.randrange(10, 24)}:30", -draw.randrange(34)) for _ in range(3)]
    moments = [at(clock, days=days) for clock, days in writes]
    for day in (DAY - ONE, DAY):
        changes = [write(c, days=d, date=DAY + d * ONE) for c, d in writes if DAY + d * ONE <= day]
        rows = built(reads, day, extra=changes)
        found = rows.select(
            "transfer_id", "scope", "previous_transfer_id", "min_repeat_bytes", "max_repeat_bytes"
        ).rows()
        assert sorted(found, key=repr) == sorted(oracle(reads, moments, day), key=repr)
        assert (rows["min_repeat_bytes"] <= rows["max_repeat_bytes"]).all()
        assert (rows["max_repeat_bytes"] <= rows["transferred_bytes"]).all()


@settings(max_examples=1)
@given(st.integers(0, 2**32))
def test_the_minima_of_all_days_are_what_was_read_beyond_one_object_in_any_order(seed):
    draw = random.Random(seed)
    reads = [replace(item, bytes=dict(item.bytes)) for item in drawn(seed)]
    # One version, and nothing over midnight, so that every byte before a read is known to be so.
    reads = [
        replace(
            item,
            bytes={item.start.date(): 30},
            parts={},
            is_whole=False,
            version="v1",
            size=100,
            object="s3://b/k@v1",
        )
        for item in reads
        if item.start.date() >= DAY - 3 * ONE
    ]
    draw.shuffle(reads)
    days = [DAY - n * ONE for n in range(3, -1, -1)]
    found = sum(built(reads, day).filter(scope="fleet")["min_repeat_bytes"].sum() for day in days)
    assert found == max(0, 30 * len(reads) - 100)


def test_a_repeat_carries_how_far_its_buckets_log_observed_the_reader():
    fact = {"cluster": "alder", "run_uuid": RUN, "source": "object_requests:bucket",
            "expected_us": 10, "covered_us": 10, "empty_means": "nothing_happened"}  # fmt: skip
    rows = built(
        [read("t1", "08:00"), read("t2", "09:00"), read("t3", "10:00", run="b" * 32)],
        run_coverage_days=[fact],
    )
    found = rows.select("transfer_id", "expected_us", "covered_us", "empty_means").rows()
    assert set(found) == {
        ("t2", 10, 10, "nothing_happened"),
        # Of the other run nothing is said.
        ("t3", None, None, "not_observed"),
    }
