"""On pods that burst in their first seconds every observable byte is counted once, and in bounds.

The fleet's truth, what its exports can tell and what `increase()` makes of the same samples are
computed here and beside; README shows the table.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path

import polars as pl
import pytest

from pipelines.run import Workspace, build_table_of_day, land_days
from tests.fleet.bursts import render
from tests.fleet.bursts.increase import increase, summed
from tests.fleet.bursts.observable import Growth, Part, chosen_parts, growths
from tests.fleet.bursts.scrapes import Reading, Series, read_all
from tests.fleet.bursts.world import (
    BARE,
    DATE,
    DIRECTIONS,
    HOUR,
    MIDNIGHT,
    MINUTE,
    SECOND,
    Pod,
    make_pods,
)
from transforms.day import BuildDay
from transforms.intermediate.traffic_windows import sum_windows
from transforms.sql import SqlSession

README = Path(__file__).parents[3] / "README.md"
DAY = date.fromisoformat(DATE)
FIVE_MINUTES = 5 * MINUTE
NEEDED = ("pod_intervals", "counter_increments", "pod_traffic")

Key = tuple[str, str]
"""A pod's UID and a direction."""


@dataclass
class Fleet:
    """The fleet, what it exported, and what was built of it."""

    pods: list[Pod]
    series: list[Series]
    lake: Path

    @cached_property
    def by_key(self) -> dict[Key, list[Series]]:
        found: dict[Key, list[Series]] = defaultdict(list)
        for one in self.series:
            found[one.pod.uid, one.direction].append(one)
        return found

    @cached_property
    def growths(self) -> dict[tuple[Key, str], list[Growth]]:
        """What each observer can tell of each pod and direction."""
        return self._grown(lambda one: one.readings)

    @cached_property
    def parts(self) -> dict[Key, list[Part]]:
        return _chosen(self.growths)

    @cached_property
    def quiet_parts(self) -> dict[Key, list[Part]]:
        """The same, had no pod moved anything in its first minute."""
        return _chosen(self._grown(lambda one: one.quiet))

    def _grown(
        self, readings: Callable[[Series], Sequence[Reading]]
    ) -> dict[tuple[Key, str], list[Growth]]:
        found: dict[tuple[Key, str], list[Growth]] = defaultdict(list)
        for key, several in self.by_key.items():
            for one in several:
                grown = growths(readings(one), tells_start=one.tells_start)
                if grown:
                    found[key, render.observer(one)] += grown
        return found

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.lake / name / "*" / "*.parquet", hive_partitioning=False)


def _chosen(grown: dict[tuple[Key, str], list[Growth]]) -> dict[Key, list[Part]]:
    observers: dict[Key, dict[str, list[Growth]]] = defaultdict(dict)
    for (key, name), several in grown.items():
        observers[key][name] = several
    return {key: chosen_parts(dict(several)) for key, several in observers.items()}


def built(folder: Path, seed: int) -> Fleet:
    rng = random.Random(seed)
    pods = make_pods(rng, 204)
    series = read_all(rng, pods)
    workspace = Workspace(render.write(folder, pods, series))
    with workspace.locked():
        land_days(workspace, None)
        for table in NEEDED:
            outcomes = build_table_of_day(workspace, table, DAY)
            assert [o.problem for o in outcomes] == [None]
    return Fleet(pods, series, folder / "lake")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    return built(tmp_path_factory.mktemp("bursts"), 20260310)


def test_everything_goes_wrong_in_the_fleet(fleet: Fleet):
    restarted = {p.node.kind for p in fleet.pods if len(p.sandboxes) > 1}
    assert restarted == {p.node.kind for p in fleet.pods}
    early = sum(p.moved("receive", *p.first_minute) for p in fleet.pods)
    assert early > 0.5 * sum(p.truth("receive") for p in fleet.pods)
    # Some pods no one read; of some one replica counts in one hour, and the other in another.
    assert len(fleet.parts) < 2 * len(fleet.pods)
    owner = {id(g): name for (_, name), several in fleet.growths.items() for g in several}
    observers = [{owner[id(p.growth)] for p in parts} for parts in fleet.parts.values()]
    assert sum(len(names) > 1 for names in observers) > 5
    # Nothing that was read is refused, or taken twice.
    samples = fleet.table("counter_samples")
    assert samples.height == sum(len(s.readings) for s in fleet.series)


def test_what_is_observable_by_hand():
    def of(*readings: tuple[int, int, int], tells_start: bool) -> list[tuple[int, int, int, bool]]:
        several = [Reading(at, begun, value) for at, begun, value in readings]
        return [
            (g.start, g.end, g.size, g.hides) for g in growths(several, tells_start=tells_start)
        ]

    readings = ((30, 10, 800), (60, 10, 900), (90, 70, 200), (120, 70, 190), (150, 70, 250))
    behind = [(90, 120, 0, False), (120, 150, 50, False)]
    assert of(*readings, tells_start=True) == [
        (10, 30, 800, False), (30, 60, 100, False), (60, 70, 0, True), (70, 90, 200, False), *behind
    ]  # fmt: skip
    assert of(*readings, tells_start=False) == [
        (30, 60, 100, False), (60, 90, 200, True), *behind
    ]  # fmt: skip

    # Of hour 0 both have one reading: the smaller name counts. Of hour 1 the one with two.
    several = {
        "a": [Growth(0, HOUR // 2, 10), Growth(HOUR // 2, HOUR * 3 // 2, 101)],
        "b": [
            Growth(0, HOUR * 3 // 4, 12), Growth(HOUR * 3 // 4, HOUR * 5 // 4, 25),
            Growth(HOUR * 5 // 4, HOUR * 3 // 2, 70),
        ],
    }  # fmt: skip
    assert [(p.start, p.end, p.size) for p in chosen_parts(several)] == [
        (0, HOUR // 2, 10), (HOUR // 2, HOUR, 50),
        (HOUR, HOUR * 5 // 4, 13), (HOUR * 5 // 4, HOUR * 3 // 2, 70),
    ]  # fmt: skip


def test_increments_of_each_observer_are_what_is_observable(fleet: Fleet):
    found = fleet.table("counter_increments")
    told = {
        ((uid, direction), observer): size
        for uid, direction, observer, size in found.group_by("pod_uid", "direction", "observer")
        .agg(pl.col("bytes").sum())
        .iter_rows()
    }
    assert told == {key: sum(g.size for g in several) for key, several in fleet.growths.items()}


def test_pod_traffic_of_the_day_is_what_is_observable(fleet: Fleet):
    assert traffic(fleet) == {key: sum(p.size for p in parts) for key, parts in fleet.parts.items()}


def traffic(fleet: Fleet) -> dict[Key, int]:
    """Bytes of the day as built."""
    sums = fleet.table("pod_traffic").group_by("pod_uid", "direction").agg(pl.col("bytes").sum())
    return {(uid, direction): size for uid, direction, size in sums.iter_rows()}


@pytest.mark.parametrize("length", [FIVE_MINUTES, 24 * HOUR])
def test_observable_and_true_bytes_lie_in_the_bounds(fleet: Fleet, length: int):
    pods = {pod.uid: pod for pod in fleet.pods}
    parts: dict[tuple[Key, int], list[Part]] = defaultdict(list)
    for key, several in fleet.parts.items():
        for part in several:
            for number in range(part.start // length, (part.end - 1) // length + 1):
                cut = max(part.start, number * length), min(part.end, (number + 1) * length)
                parts[key, number].append(Part(*cut, part.growth))
    rows = windows(fleet, length)
    assert {(key, number) for key, number, _, _, _ in rows} == set(parts)
    unbounded = 0
    for key, number, size, least, most in rows:
        inside = parts[key, number]
        pod, direction = pods[key[0]], key[1]
        # What moved while someone counted.
        true = sum(pod.moved(direction, part.start, part.end) for part in inside)
        assert size == sum(part.size for part in inside)
        assert least <= min(size, true)
        assert (most is None) == any(part.growth.hides for part in inside)
        unbounded += most is None
        if most is not None:
            assert size <= most
            if not any(is_unseen_restart(pod, part.growth) for part in inside):
                assert true <= most
    assert 0 < unbounded < 0.2 * len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_fleets_are_counted_as_exactly(tmp_path: Path, seed: int):
    fleet = built(tmp_path, seed)
    test_increments_of_each_observer_are_what_is_observable(fleet)
    test_pod_traffic_of_the_day_is_what_is_observable(fleet)
    for length in (FIVE_MINUTES, HOUR, 24 * HOUR):
        test_observable_and_true_bytes_lie_in_the_bounds(fleet, length)


def is_unseen_restart(pod: Pod, growth: Growth) -> bool:
    """A new sandbox that no start tells and no value: it counted on past the old one's count."""
    return (
        pod.node.kind == BARE
        and not growth.hides
        and any(growth.start < end < growth.end for _, end in pod.sandboxes[:-1])
    )


def windows(fleet: Fleet, length: int) -> list[tuple[Key, int, int, int, int | None]]:
    with SqlSession(threads=1) as session:
        session.register(
            "counter_increments",
            fleet.table("counter_increments").with_columns(date=pl.lit(DAY)),
        )
        grain = timedelta(microseconds=length)
        found = session.frame(sum_windows(session, BuildDay(date=DAY, cluster="oak"), grain))
    columns = ("pod_uid", "direction", "window_number", "bytes", "min_bytes", "max_bytes")
    return [
        ((uid, direction), *rest) for uid, direction, *rest in found.select(columns).iter_rows()
    ]


# -- as others do it -----------------------------------------------------------------------------


def over_windows(samples: Sequence[Reading]) -> float:
    return summed(samples, FIVE_MINUTES)


def over_the_day(samples: Sequence[Reading]) -> float:
    return increase(samples, MIDNIGHT, MIDNIGHT + 24 * HOUR)


def test_increase_extrapolates_to_the_edges_and_not_below_zero():
    def samples(*pairs: tuple[int, int]) -> list[Reading]:
        return [Reading(at * SECOND, 0, value) for at, value in pairs]

    def over(end: int, *pairs: tuple[int, int]) -> float:
        return increase(samples(*pairs), 0, end * SECOND)

    # Both edges are closer than 33 s: 600 bytes in 60 s become 1000 in 100 s.
    assert over(100, (20, 5000), (50, 5300), (80, 5600)) == pytest.approx(1000)
    # The counter was at 0 but 10 s before the first sample.
    assert over(100, (20, 100), (50, 400), (80, 700)) == pytest.approx(900)
    # Edges further off count as half a spacing: 15 s each.
    assert over(200, (60, 5000), (90, 5300), (120, 5600)) == pytest.approx(900)
    # A fall adds the value before it: 5300 - 5000 and 40, extrapolated from 60 s to 100 s.
    assert over(100, (20, 5000), (50, 5300), (80, 40)) == pytest.approx(340 * 100 / 60)
    assert over(100, (20, 5000)) == 0
    # A sample at the range's start is outside, one at its end inside.
    assert over(60, (0, 5000), (30, 5300), (60, 5600)) == pytest.approx(600)


def test_the_table_of_the_readme(fleet: Fleet):
    text = README.read_text(encoding="utf-8")
    for row in rows_of_the_readme(fleet):
        assert row in text


def rows_of_the_readme(fleet: Fleet) -> list[str]:
    """The table: what is counted of all pods, and what of their first minutes is not."""
    counted: list[str] = []
    lost: list[list[str]] = []
    all_pods = {pod.uid for pod in fleet.pods}
    told = {pod.uid for pod in fleet.pods if pod.node.kind != BARE}
    for pods in (all_pods, told):
        some = [pod for pod in fleet.pods if pod.uid in pods]
        true = sum(pod.truth(d) for pod in some for d in DIRECTIONS)
        early = sum(pod.moved(d, *pod.first_minute) for pod in some for d in DIRECTIONS)
        answers = list(answers_of(fleet, pods))
        lost.append([f"{100 * (1 - (all_ - quiet) / early):.1f} %" for all_, quiet in answers])
        if pods is all_pods:
            shares = [f"{all_ / 1e12:.3f} TB ({100 * all_ / true:.1f} %)" for all_, _ in answers]
            counted = [f"{true / 1e12:.3f} TB", *shares]
    return [
        f"| bytes counted | {' | '.join(counted)} |",
        f"| not counted of pods' first minutes | 0 % | {' | '.join(lost[0])} |",
        f"| the same where starts are exported | 0 % | {' | '.join(lost[1])} |",
    ]


def answers_of(fleet: Fleet, pods: set[str]) -> Iterator[tuple[float, float]]:
    """Bytes of some pods by each way; and had they moved nothing in their first minute."""
    ours = sum(size for (uid, _), size in traffic(fleet).items() if uid in pods)
    quiet = sum(
        p.size for (uid, _), parts in fleet.quiet_parts.items() for p in parts if uid in pods
    )
    yield ours, quiet
    # One replica, as a dashboard asks one Prometheus.
    asked = [s for s in fleet.series if s.replica != "b" and s.pod.uid in pods]
    for method in (over_windows, over_the_day):
        yield sum(method(s.readings) for s in asked), sum(method(s.quiet) for s in asked)
