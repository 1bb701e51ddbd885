"""A small fleet whose every byte is known: the bounds of its repeats hold the truth in every scope.

The fleet is told as requests with the part of the object that each read, and as pulls with the
layers that each moved. The truth counts bytes of a content that its scope had fetched before; the
product sees sizes and sums of bytes, offsets where a log has them (S3's has none, MinIO's has), and
of readers behind the shared address nothing.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.marts.price_sheet import sheet
from transforms.day import BuildDay
from transforms.intermediate import object_transfers
from transforms.marts import repeat_transfers
from transforms.sql import SqlSession

SCOPES = ("run", "node", "zone", "region", "fleet")
SIZE = 1000
NAT = "203.0.113.250"
EVE = DAY - timedelta(days=1)
BUILT = tuple(DAY - timedelta(days=n) for n in range(1, 60))
IMAGE = "oci://registry.example.com/ml/train@sha256:1"


@dataclass(frozen=True)
class Place:
    """Where a pod of a run lives."""

    run: str
    node: str
    zone: str
    region: str
    address: str

    def key(self, scope: str) -> str:
        return "" if scope == "fleet" else getattr(self, scope)


@dataclass
class Fetch:
    """One fetch in truth: its place, content and the bytes of it, as often as they were moved."""

    at: datetime
    place: Place
    thing: str
    content: str
    parts: list[range]
    is_hidden: bool = False

    @property
    def moved(self) -> int:
        return sum(len(part) for part in self.parts)


@dataclass
class World:
    """The fleet: what happened, and what its logs show of it."""

    draw: random.Random
    has_offsets: bool = False
    fetches: list[Fetch] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def place(self, run: str, number: int) -> Place:
        region = "eu-west-1" if number % 10 == 9 else "us-east-1"
        zone = f"{region}{'abc'[number % 3]}"
        address = f"10.0.0.{len(self.places) + 1}"
        found = Place(run * 4, f"n{number}", zone, region, address)
        self.places[address] = found
        return found

    def ask(self, when: datetime, place: Place, key: str, moved: int, **more: Any) -> None:
        # MinIO stamps a request when it was answered.
        self.requests.append(
            {
                "event_at": when,
                "record_id": f"request {len(self.requests)}",
                "source_format": "minio_audit" if self.has_offsets else "s3_access_log",
                "provider": "minio" if self.has_offsets else "s3",
                "bucket": "lake",
                "key": key,
                "operation": "read",
                "operation_name": "REST.GET.OBJECT",
                "status": 206,
                "response_bytes": moved,
                "object_size_bytes": SIZE,
                "client_address": place.address,
                "principal": "reader",
                "user_agent": "agent",
                "duration_seconds": 0.5,
                "bucket_region": "eu-west-1",
                **more,
            }
        )

    def read(
        self,
        when: datetime,
        place: Place,
        key: str,
        parts: list[range],
        content: str = "",
        **more: Any,
    ) -> None:
        """Read parts of an object in one burst, one of them after a failed attempt."""
        hidden = more.get("client_address") == NAT
        self.fetches.append(Fetch(when, place, key, content, parts, hidden))
        for number, part in enumerate(parts):
            status = 200 if part.start == 0 and len(parts) == 1 else 206
            moment = when + timedelta(seconds=number)
            if number == 1:
                self.ask(moment, place, key, 77, **more, status=503, object_size_bytes=None)
            stated = {"response_offset_bytes": part.start} if self.has_offsets else {}
            self.ask(moment, place, key, len(part), **{"status": status, **stated, **more})

    def whole(self, when: datetime, place: Place, key: str, content: str = "", **more: Any) -> None:
        self.read(when, place, key, [range(SIZE)], content, **more)

    def write(self, when: datetime, place: Place, key: str, **more: Any) -> None:
        sent = {"operation": "write", "operation_name": "REST.PUT.OBJECT", "status": 200}
        self.ask(when, place, key, 0, **sent, **more)

    def pull(self, when: datetime, place: Place, layers: list[range], *, is_logged: bool) -> None:
        fetch = Fetch(when, place, IMAGE, "", layers)
        self.fetches.append(fetch)
        bounds = {"min_transferred_bytes": 0, "max_transferred_bytes": SIZE}
        if is_logged:
            bounds = dict.fromkeys(bounds, fetch.moved)
        self.pulls.append(
            {
                "image_pull_id": f"pull {place.node}",
                "date": when.date(),
                "cluster": "alder",
                "pod_uid": place.address,
                "node": place.node,
                "run_uuid": place.run,
                "start_at": when,
                "end_at": when + timedelta(seconds=20),
                "image": "registry.example.com/ml/train:1",
                "image_digest": "sha256:1",
                "registry": "registry.example.com",
                "image_bytes": SIZE,
                "measured_by": "application_log" if is_logged else "image_size",
                "reader_zone": place.zone,
                "reader_region": place.region,
                **bounds,
            }
        )


def fleet(seed: int, *, has_offsets: bool = False) -> World:
    """Tell two days of a fleet."""
    world = World(random.Random(seed), has_offsets)
    draw = world.draw

    def clock(day: date, start: int, stop: int) -> datetime:
        return at("00:00", day) + timedelta(seconds=draw.randrange(start * 3600, stop * 3600))

    # A sweep of 40 runs over one dataset in another region.
    for number in range(40):
        place = world.place(f"{number:08x}", number % 8)
        day = EVE if number < 20 else DAY
        start = clock(day, 12, 14)
        for offset, key in enumerate(("data/train/a", "data/train/b")):
            world.whole(start + timedelta(seconds=10 * offset), place, key)
    # Epochs: whole reads, and parallel parts that cover the object.
    trainer = world.place("eeeeeeee", 1)
    for epoch in range(3):
        start = at("15:00") + timedelta(minutes=20 * epoch)
        world.whole(start, trainer, "data/epochs/whole")
        parts = [range(n, n + 100) for n in range(0, SIZE, 100)]
        draw.shuffle(parts)
        world.read(start, trainer, "data/epochs/parts", parts)
    # Readers of any ranges, some of them within one burst again and beyond the object.
    for number in range(12):
        place = world.place(f"f{number:07x}", draw.randrange(10))
        parts = []
        for _ in range(draw.randrange(1, 6)):
            begin = draw.randrange(0, 900, 100)
            parts.append(range(begin, begin + draw.randrange(100, 1001 - begin, 100)))
        world.read(clock(draw.choice([EVE, DAY]), 1, 23), place, "data/ranges", parts)
    # A download that broke off, and another that did not.
    world.read(at("16:00"), trainer, "data/broken", [range(400)])
    world.whole(at("16:10"), trainer, "data/broken")
    # An object that is written anew while runs read it, with other bytes of the same size.
    for number in range(6):
        place = world.place(f"c{number:07x}", number)
        for content, hour in (("old", 8), ("new", 10)):
            world.whole(clock(DAY, hour, hour + 1), place, "data/changed", content)
    world.write(at("07:59"), trainer, "data/changed")
    world.write(at("09:30"), trainer, "data/changed")
    # Readers behind one shared address, of whom the log shows no more.
    for number in range(5):
        place = world.place(f"a{number:07x}", number)
        hidden = {"client_address": NAT if number % 2 else place.address}
        world.whole(clock(DAY, 17, 18), place, "data/shared", **hidden)
    # What is no read.
    noise = world.place("99999999", 3)
    world.ask(at("18:00"), noise, "data/train/a", 431, status=304)
    world.ask(at("18:01"), noise, "data/train/a", 243, status=403, object_size_bytes=None)
    world.ask(at("18:02"), noise, "data/train/a", 0, operation="head", status=200)
    world.ask(at("18:03"), noise, "data/train/a", SIZE, principal="svc:replication", status=200)
    # An image that 30 nodes pull, of which some had two of its three layers.
    layers = [range(300), range(300, 600), range(600, SIZE)]
    for number in range(30):
        place = world.place(f"b{number:07x}", number)
        moved = layers[:1] if number % 7 == 3 else layers
        world.pull(clock(DAY, 5, 7), place, moved, is_logged=number % 2 == 0)
    return world


Key = tuple[str, str, datetime, str]


def truth(world: World) -> dict[Key, tuple[int, int]]:
    """Bytes that each fetch fetched again, by scope, thing, start and run.

    First what an earlier fetch had, or went with all that the scope held beyond the object
    (definitions.md 26: re-reading within one burst below the object's size is no repeat), then also
    what the burst itself had.
    """
    found = {}
    for scope in SCOPES:
        held: dict[tuple[str, str, str], set[int]] = defaultdict(set)
        for item in sorted(world.fetches, key=lambda fetch: fetch.at):
            before = held[item.place.key(scope), item.thing, item.content]
            again = sum(sum(byte in before for byte in part) for part in item.parts)
            again = max(again, len(before) + item.moved - SIZE)
            new = set().union(*item.parts) - before
            found[scope, item.thing, item.at, item.place.run] = again, item.moved - len(new)
            before |= new
    return found


def repeats(world: World) -> pl.DataFrame:
    """Build both days, each alone, from requests and pulls."""
    pods = [
        {
            "cluster": "alder", "pod_uid": p.address, "pod_name": p.address, "namespace": "ml",
            "address": address, "start_at": at("00:00", days=-1),
            "created_at": at("00:00", days=-1), "node": p.node, "zone": p.zone,
            "region": p.region, "run_uuid": p.run, "attempt": 1,
        }
        for address, p in world.places.items()
    ]  # fmt: skip
    made: list[pl.DataFrame] = []
    rows = []
    for day in (EVE, DAY):
        facts = BuildDay(day, "fleet", built_days=BUILT)
        with SqlSession(threads=1) as session:
            show(
                session,
                object_requests=world.draw.sample(world.requests, len(world.requests)),
                pod_intervals=[pod | {"date": day} for pod in pods],
                **{read.table: [] for read in object_transfers.TRANSFORM.reads
                   if read.table not in {"object_requests", "pod_intervals"}},
            )  # fmt: skip
            name = object_transfers.build(session, facts)
            made.append(checked(session, "object_transfers", name).with_columns(date=pl.lit(day)))
        with SqlSession(threads=1) as session:
            show(
                session,
                image_pulls=[pull for pull in world.pulls if pull["date"] <= day],
                **{read.table: [] for read in repeat_transfers.TRANSFORM.reads
                   if read.table not in {"object_transfers", "image_pulls", "prices"}},
            )  # fmt: skip
            session.register("prices", sheet())
            session.register("object_transfers", pl.concat(made))
            name = repeat_transfers.build(session, facts)
            rows.append(checked(session, "repeat_transfers", name).with_columns(date=pl.lit(day)))
    return pl.concat(rows)


@pytest.mark.parametrize("has_offsets", [False, True])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_bounds_hold_the_truth_in_every_scope_and_equal_it_where_it_is_determined(
    seed: int, *, has_offsets: bool
):
    """By whole reads, or by offsets that a log states."""
    world = fleet(seed, has_offsets=has_offsets)
    rows = repeats(world)
    told = truth(world)
    hidden = {(f.thing, f.at): f.place.run for f in world.fetches if f.is_hidden}
    stated = {}
    for row in rows.to_dicts():
        thing = row["object_id"].removeprefix("s3://lake/")
        run = row["run_uuid"] or hidden[thing, row["start_at"]]
        stated[row["scope"], thing, row["start_at"], run] = row
    assert set(stated) <= set(told)

    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for key, (again, at_all) in told.items():
        row = stated.get(key)
        least, most = (row["min_repeat_bytes"], row["max_repeat_bytes"]) if row else (0, 0)
        # What is possible is possible in each row; what is certain is so in the sum.
        assert again <= most, (key, again, most)
        total = sums[key[0], key[1]]
        for place, count in enumerate((least, again, most, at_all)):
            total[place] += count
        # What breaks off after a status of 200 began with the object.
        whole = ("data/train", "data/epochs", "data/changed", "data/broken")
        is_told = key[1].startswith((*whole, "data/ranges") if has_offsets else whole)
        if is_told or (key[0] in {"node", "run"} and key[1].startswith("oci://")):
            assert least == again == most, (key, least, again, most)
    for scope_and_thing, (least, again, most, at_all) in sums.items():
        assert least <= at_all, scope_and_thing
        assert again <= most, scope_and_thing
        if scope_and_thing[1] != "data/ranges":
            assert again == at_all

    def total(scope: str, thing: str, place: int = 1) -> int:
        return sums[scope, thing][place]

    # By hand: 40 runs read two objects of the dataset, the first of them on either day.
    assert total("fleet", "data/train/a") == 39 * SIZE
    assert total("run", "data/train/a") == 0
    assert total("region", "data/train/b") == 39 * SIZE
    assert total("node", "data/train/b") == 32 * SIZE
    # After a part of 400 bytes the whole object: 400 of them again.
    assert [total(scope, "data/broken") for scope in SCOPES] == [400] * 5
    # Three epochs fetch the object twice more, in parts or whole.
    assert [total(scope, "data/epochs/parts") for scope in SCOPES] == [2 * SIZE] * 5
    # Six runs read the old content and the new one: five of each anew, in no run again.
    assert (total("fleet", "data/changed"), total("run", "data/changed")) == (10 * SIZE, 0)
    # Three readers are known and two are not: no repeat of theirs is certain but in the fleet.
    assert sums["fleet", "data/shared"] == [4 * SIZE] * 4
    assert (total("node", "data/shared", 0), total("node", "data/shared")) == (0, 0)
    assert total("node", "data/shared", 2) >= 2 * SIZE
    # 30 nodes pull one image: in no node again, in the regions nearly each time.
    assert sums["node", IMAGE] == [0] * 4
    assert total("fleet", IMAGE, 0) > 0


@pytest.mark.slow
def test_bounds_do_not_depend_on_the_order_of_records():
    world = fleet(3)
    first = repeats(world)
    world.requests.reverse()
    world.pulls.reverse()
    assert first.equals(repeats(world))
