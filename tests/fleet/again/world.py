"""Two days of a fleet whose every byte is known, and what of them was fetched again.

The fleet is told as requests with the part of the object that each read, and as pulls with the
layers that each moved. Bytes are counted in blocks, so that sets of them stay small.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

SCOPES = ("run", "node", "zone", "region", "fleet")
SIZE = 1000
NAT = "203.0.113.250"
LAST = datetime(2026, 3, 2, tzinfo=UTC)
"""The second of the two days."""
FIRST = LAST - timedelta(days=1)
REGISTRY = "registry.example.com"
IMAGE = f"oci://{REGISTRY}/ml/train@sha256:1"
ROBOT = "svc:replication"
BUCKET_REGION = "eu-west-1"

Key = tuple[str, str, datetime, str]
"""Scope, thing, start and run of a fetch."""


@dataclass(frozen=True)
class Place:
    """Where a pod of a run lives."""

    run: str
    node: str
    zone: str
    region: str
    address: str

    def key(self, scope: str) -> str:
        """Which of the scope's places it is."""
        return "" if scope == "fleet" else str(getattr(self, scope))


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
        """All bytes that it moved."""
        return sum(len(part) for part in self.parts)


@dataclass
class World:
    """The fleet: what happened, and what its logs show of it.

    Attributes:
        draw: Of all that is drawn.
        minio: Beginnings of the keys that a MinIO serves, whose log has offsets.
    """

    draw: random.Random
    minio: tuple[str, ...] = ()
    fetches: list[Fetch] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def place(self, run: str, number: int) -> Place:
        """A pod of a run, on a node of that number."""
        region = "eu-west-1" if number % 10 == 9 else "us-east-1"
        zone = f"{region}{'abc'[number % 3]}"
        address = f"10.0.0.{len(self.places) + 1}"
        found = Place(run * 4, f"n{number}", zone, region, address)
        self.places[address] = found
        return found

    def ask(self, when: datetime, place: Place, key: str, moved: int, **more: Any) -> None:
        """One request, as the storage logs it."""
        is_minio = bool(self.minio) and key.startswith(self.minio)
        self.requests.append(
            {
                "event_at": when,
                "record_id": f"request {len(self.requests)}",
                # MinIO stamps a request when it was answered.
                "source_format": "minio_audit" if is_minio else "s3_access_log",
                "provider": "minio" if is_minio else "s3",
                "bucket": "hot" if is_minio else "commons" if key == "data/shared" else "lake",
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
                "bucket_region": None if is_minio else BUCKET_REGION,
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
            stated: dict[str, Any] = {"status": status}
            if self.minio and key.startswith(self.minio):
                stated["response_offset_bytes"] = part.start
            self.ask(moment, place, key, len(part), **stated, **more)

    def whole(self, when: datetime, place: Place, key: str, content: str = "", **more: Any) -> None:
        """Read an object in one request."""
        self.read(when, place, key, [range(SIZE)], content, **more)

    def write(self, when: datetime, place: Place, key: str) -> None:
        """Write an object anew."""
        sent = {"operation": "write", "operation_name": "REST.PUT.OBJECT", "status": 200}
        self.ask(when, place, key, 0, **sent)

    def pull(self, when: datetime, place: Place, layers: list[range], *, is_logged: bool) -> None:
        """Pull an image, of which the node has some layers; a runtime may log what it read."""
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
                "image": f"{REGISTRY}/ml/train:1",
                "image_digest": "sha256:1",
                "registry": REGISTRY,
                "image_bytes": SIZE,
                "measured_by": "application_log" if is_logged else "image_size",
                "reader_zone": place.zone,
                "reader_region": place.region,
                **bounds,
            }
        )


def at(day: datetime, clock: str) -> datetime:
    """The instant `HH:MM` of a day."""
    hour, minute = clock.split(":")
    return day + timedelta(hours=int(hour), minutes=int(minute))


def fleet(seed: int, *, minio: tuple[str, ...] = ()) -> World:
    """Tell two days of a fleet."""
    world = World(random.Random(seed), minio)
    draw = world.draw

    def clock(day: datetime, start: int, stop: int) -> datetime:
        return day + timedelta(seconds=draw.randrange(start * 3600, stop * 3600))

    # A sweep of 40 runs over one dataset in another region.
    for number in range(40):
        place = world.place(f"{number:08x}", number % 8)
        day = FIRST if number < 20 else LAST
        start = clock(day, 12, 14)
        for offset, key in enumerate(("data/train/a", "data/train/b")):
            world.whole(start + timedelta(seconds=10 * offset), place, key)
    # Epochs: whole reads, and parallel parts that cover the object.
    trainer = world.place("eeeeeeee", 1)
    for epoch in range(3):
        start = at(LAST, "15:00") + timedelta(minutes=20 * epoch)
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
        world.read(clock(draw.choice([FIRST, LAST]), 1, 23), place, "data/ranges", parts)
    # A download that broke off, and another that did not.
    world.read(at(LAST, "16:00"), trainer, "data/broken", [range(400)])
    world.whole(at(LAST, "16:10"), trainer, "data/broken")
    # An object that is written anew while runs read it, with other bytes of the same size.
    for number in range(6):
        place = world.place(f"c{number:07x}", number)
        for content, hour in (("old", 8), ("new", 10)):
            world.whole(clock(LAST, hour, hour + 1), place, "data/changed", content)
    world.write(at(LAST, "07:59"), trainer, "data/changed")
    world.write(at(LAST, "09:30"), trainer, "data/changed")
    # Readers behind one shared address, of whom the log shows no more.
    for number in range(5):
        place = world.place(f"a{number:07x}", number)
        hidden = {"client_address": NAT if number % 2 else place.address}
        world.whole(clock(LAST, 17, 18), place, "data/shared", **hidden)
    # What is no read.
    noise = world.place("99999999", 3)
    world.ask(at(LAST, "18:00"), noise, "data/train/a", 431, status=304)
    world.ask(at(LAST, "18:01"), noise, "data/train/a", 243, status=403, object_size_bytes=None)
    world.ask(at(LAST, "18:02"), noise, "data/train/a", 0, operation="head", status=200)
    robot = {"principal": ROBOT, "status": 200, "bucket": "commons"}
    world.ask(at(LAST, "18:03"), noise, "data/train/a", SIZE, **robot)
    # An image that 30 nodes pull, of which some had two of its three layers.
    layers = [range(300), range(300, 600), range(600, SIZE)]
    for number in range(30):
        place = world.place(f"b{number:07x}", number)
        moved = layers[:1] if number % 7 == 3 else layers
        world.pull(clock(LAST, 5, 7), place, moved, is_logged=number % 2 == 0)
    return world


def truth(world: World) -> dict[Key, tuple[int, int]]:
    """Bytes that each fetch fetched again.

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
