"""Laws of stages: whatever is lost, they tile, and days are one pass cut at midnight."""

from datetime import date, datetime, timedelta
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY
from tests.transforms.intermediate.stage_rows import build
from tests.transforms.marts.wait_world import World

KEY = ("run_uuid", "pod_uid", "container")
SOURCES = ("pod_states", "container_states", "kube_event_states")


class Shifted(World):
    """The same world, so many hours later."""

    def __init__(self, seed: int, day: date, pods: int, hours: float) -> None:
        self._hours = hours
        super().__init__(seed, day, pods)

    def _at(self, second: float) -> datetime:
        return super()._at(second + self._hours * 3_600)


def staged(world: World, random: Random, loss: float) -> dict[str, list[dict[str, object]]]:
    """What the world exports of Kubernetes, with a part of the rows lost, in any order."""
    found = {}
    for name in SOURCES:
        rows = [r for r in world.exports[name] if name == "pod_states" or random.random() > loss]
        random.shuffle(rows)
        found[name] = [forgetful(row, random, loss) for row in rows]
    return found


def forgetful(row: dict[str, object], random: Random, loss: float) -> dict[str, object]:
    """A row without some of the times that it may leave out."""
    optional = {
        "scheduled_at", "sandbox_ready_at", "sandbox_ended_at", "last_finished_at", "started_at",
        "finished_at",
    }  # fmt: skip
    return {k: v for k, v in row.items() if k not in optional or random.random() > loss}


def check_tiles(stages: pl.DataFrame) -> None:
    """Stages of one timeline meet: none overlap, and no time is left between them."""
    for _, rows in stages.group_by(KEY):
        line = rows.sort("start_at")
        starts, ends = line["start_at"].to_list(), line["end_at"].to_list()
        assert ends[:-1] == starts[1:]
        assert all(end is None or end > start for start, end in zip(starts, ends, strict=True))
    ordered = stages.filter(pl.col("end_at").is_not_null())
    assert ordered.filter(pl.col("end_earliest_at") > pl.col("end_at")).is_empty()
    assert ordered.filter(pl.col("end_latest_at") < pl.col("end_at")).is_empty()


def law(seed: int, pods: int) -> None:
    random = Random(seed)
    loss = random.choice((0.0, 0.1, 0.4))
    rows = staged(World(seed, DAY, pods), random, loss)
    stages = build(**rows)
    check_tiles(stages)
    assert stages["pod_uid"].n_unique() == pods
    if loss == 0:
        assert stages.filter(pl.col("stage") == "unknown").is_empty()
    shuffled = {name: random.sample(found, len(found)) for name, found in rows.items()}
    assert build(**shuffled).equals(stages)


@settings(max_examples=1, deadline=None)
@given(st.integers(0, 2**32))
def test_stages_tile_whatever_is_lost(seed: int) -> None:
    law(seed, 40)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_stages_tile_whatever_is_lost_of_many_worlds(seed: int) -> None:
    law(seed, 40)


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**32))
def test_two_days_of_stages_are_one_pass_cut_at_midnight(seed: int) -> None:
    hours = 22.7
    loss = Random(seed).choice((0.0, 0.3))
    whole = build(**staged(World(seed, DAY, 40), Random(seed), loss))
    later = staged(Shifted(seed, DAY, 40, hours), Random(seed), loss)
    next_day = DAY + timedelta(days=1)
    first, second = build(**later), build(next_day, **later)
    midnight = pl.lit(next_day).cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    moved = whole.with_columns(pl.col("start_at", "end_at") + timedelta(hours=hours))
    # How long a pull waited in its node's queue is known when it ends, so the step is left out.
    shown = ("pod_uid", "container", "stage", "start_at", "end_at", "end_basis")
    open_then = (pl.col("start_at") < midnight) & (pl.col("end_at") >= midnight)
    before = moved.filter(pl.col("start_at") < midnight).with_columns(
        end_at=pl.when(~open_then).then("end_at"),
        end_basis=pl.when(open_then).then(pl.lit("open")).otherwise("end_basis"),
    )
    behind = moved.filter(pl.col("end_at") > midnight)
    assert first.height
    assert second.height
    for found, expected in ((first, before), (second, behind)):
        assert found.select(shown).sort(shown).equals(expected.select(shown).sort(shown))
    both = first.filter(pl.col("end_at").is_null())["stage_id"]
    # One that ends at midnight itself is open on its day, and the next has nothing of it.
    assert set(second.filter(pl.col("start_at") < midnight)["stage_id"]) <= set(both)
