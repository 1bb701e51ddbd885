"""A small fleet whose every byte is known: the bounds of its repeats hold the truth in every scope.

The product sees sizes and sums of bytes, offsets where a log has them (S3's has none, MinIO's has),
and of readers behind the shared address nothing.
"""

import re
from collections import defaultdict
from datetime import timedelta

import polars as pl
import pytest

from tests.fleet.again.world import FIRST, IMAGE, LAST, SCOPES, SIZE, World, fleet, truth
from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.marts.price_sheet import sheet
from transforms.day import BuildDay
from transforms.intermediate import object_transfers
from transforms.marts import repeat_transfers
from transforms.sql import SqlSession

EVE = DAY - timedelta(days=1)
BUILT = tuple(DAY - timedelta(days=n) for n in range(1, 60))


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


@pytest.mark.parametrize("minio", [(), ("data/",)])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_bounds_hold_the_truth_in_every_scope_and_equal_it_where_it_is_determined(
    seed: int, minio: tuple[str, ...]
):
    """By whole reads, or by offsets that a log states."""
    assert (FIRST.date(), LAST.date()) == (EVE, DAY)
    world = fleet(seed, minio=minio)
    rows = repeats(world)
    told = truth(world)
    hidden = {(f.thing, f.at): f.place.run for f in world.fetches if f.is_hidden}
    stated = {}
    for row in rows.to_dicts():
        thing = re.sub("^s3://(lake|hot|commons)/", "", row["object_id"])
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
        is_told = key[1].startswith((*whole, "data/ranges") if minio else whole)
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
    # 30 nodes of two regions pull one image: in no node again, in its region each but the first.
    assert [scope for scope, thing, *_ in stated if thing == IMAGE].count("region") == 28
    assert sums["node", IMAGE] == [0] * 4
    assert total("fleet", IMAGE, 0) > 0


@pytest.mark.slow
def test_bounds_do_not_depend_on_the_order_of_records():
    world = fleet(3)
    first = repeats(world)
    world.requests.reverse()
    world.pulls.reverse()
    assert first.equals(repeats(world))
