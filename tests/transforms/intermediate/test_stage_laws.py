"""Laws of stages: whatever is lost, they tile, and days are one pass cut at midnight."""

from datetime import date, datetime, timedelta
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tests.transforms.frames import DAY, at
from tests.transforms.intermediate.stage_rows import (
    Rows,
    build,
    build_days,
    container,
    event,
    mark,
    pod_state,
    pull,
    spans,
)
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


def told_late(events: Rows, moment: datetime) -> set[str]:
    """Pods with a pull that only its end tells of, after a moment.

    Nothing says before its end that it began, so the day of its start cannot know of it.
    """
    begun = {(e["involved_uid"], e["container"]) for e in events if e["reason"] == "Pulling"}
    return {
        e["involved_uid"]
        for e in events
        if e["reason"] == "Pulled" and e["event_at"] >= moment
        and (e["involved_uid"], e["container"]) not in begun
    }  # fmt: skip


def midnight_law(seed: int) -> None:
    hours = 22.7
    loss = Random(seed).choice((0.0, 0.3))
    whole = build(**staged(World(seed, DAY, 40), Random(seed), loss))
    later = staged(Shifted(seed, DAY, 40, hours), Random(seed), loss)
    next_day = DAY + timedelta(days=1)
    first, second = build_days((DAY, next_day), **later)
    midnight = pl.lit(at("00:00", days=1))
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
    in_time = ~pl.col("pod_uid").is_in(told_late(later["kube_event_states"], at("00:00", days=1)))
    assert first.filter(in_time)["pod_uid"].n_unique() >= 20
    for found, expected in ((first.filter(in_time), before.filter(in_time)), (second, behind)):
        assert_frame_equal(found.select(shown).sort(shown), expected.select(shown).sort(shown))
    both = first.filter(pl.col("end_at").is_null())["stage_id"]
    # One that ends at midnight itself is open on its day, and the next has nothing of it.
    crossing = second.filter(in_time, pl.col("start_at") < midnight)
    assert set(crossing["stage_id"]) <= set(both)
    check_tiles(first)
    check_tiles(second)


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**32))
def test_two_days_of_stages_are_one_pass_cut_at_midnight(seed: int) -> None:
    midnight_law(seed)


MAIN = "polyaxon-main"
FROM_TO = {"started_at": at("10:04:10"), "finished_at": at("11:00:03"), "exit_code": 0}
CONDITION = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
TIES: dict[str, Rows] = {
    "pod_states": [
        # Two exports of one instant, under one identity, that say different things.
        *(
            pod_state(
                "10:00:10", scheduled_at=None, record_id="same", phase="Pending", reason=reason,
                conditions=[CONDITION | {"message": f"0/{count} nodes"} for count in counts],
            )
            for reason, counts in (("Evicted", (7, 3)), ("NodeLost", (5, 9)))
        ),
        pod_state("11:00:20", phase="Succeeded", sandbox_ended_at=at("11:00:10")),
    ],
    "container_states": [
        container(
            MAIN, "main", "terminated", "11:00:20",
            started_at=at("10:04:03"), finished_at=at("10:59:30"), exit_code=0,
        ),
        # Of two sidecars that end at once the second was only killed.
        container("first-sidecar", "sidecar", "terminated", "11:00:20", **FROM_TO),
        container("other-sidecar", "sidecar", "running", "10:30", started_at=at("10:04:10")),
        # Turned to at one instant, by an event and by a state.
        container("init-a", "init", "terminated", "11:00:20",
                  started_at=at("10:01"), finished_at=at("10:02"), exit_code=0),
        # What it waits for, told twice.
        *(
            container("late", "sidecar", "waiting", "11:00:20", record_id="same", reason=reason)
            for reason in ("CrashLoopBackOff", "CreateContainerError")
        ),
    ],
    "kube_event_states": [
        *pull(MAIN, "10:02:01", "10:04:01", "2m0s", "2m0s"),
        event("Created", "Created container: late", "10:01", container="late"),
        event("Killing", "Stopping container other-sidecar", "11:00:03", container="other-sidecar"),
        *(event(reason, "not yet", "10:00:35") for reason in ("FailedMount", "FailedAttachVolume")),
    ],
    "stage_marks": [
        *(
            mark("dataset_download", phase, moment, resource=resource, record_id=record, **more)
            for phase, moment in (("start", "10:05"), ("end", "10:15"))
            # The last in order of content comes first in that of the records.
            for record, resource, more in (
                ("m1", "s3://lake/b", {"row_index": 0}), ("m2", "s3://lake/a", {"row_index": 1}),
                ("m1", "s3://lake/c", {"row_index": 0}),
            )
        ),
        # Two without a start go back by what they state, to one instant.
        *(
            mark("model_download", "end", "10:20", elapsed_seconds=60.0, resource=resource)
            for resource in ("hf://org/b", "hf://org/a")
        ),
    ],
}  # fmt: skip


def test_rows_that_tie_in_time_give_the_same_in_any_order() -> None:
    stages = build(**TIES)
    random = Random(1)
    orders: list[dict[str, Rows]] = [
        {name: rows[::-1] for name, rows in TIES.items()},
        {name: random.sample(rows, len(rows)) for name, rows in TIES.items()},
    ]
    for other in orders:
        assert build(**other).equals(stages)
    check_tiles(stages)
    pod = {row[0]: row[1:] for row in spans(stages, "end_basis", "reason", "message")}
    assert pod["scheduling"][2:] == ("condition", "FailedScheduling", "0/3 nodes")
    assert pod["volume_mount"][3:] == ("FailedAttachVolume", "not yet")
    assert spans(stages, "start_basis", "end_basis", container=MAIN)[-1] == (
        "teardown", at("11:00:03"), at("11:00:10"), "terminated", "condition",
    )  # fmt: skip
    downloads = stages.filter(stage="download").sort("start_at")
    assert downloads["start_at", "end_at", "resource_id"].rows() == [
        (at("10:05"), at("10:15"), "s3://lake/a"),
        (at("10:19"), at("10:20"), "hf://org/b"),
    ]
