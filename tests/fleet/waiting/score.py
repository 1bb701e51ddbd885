"""What was measured beside what is true: seconds per cause, storms, outputs, owners."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from tests.fleet.waiting.life import SOURCES, Pod
from tests.fleet.waiting.world import World

PAINTED = {"init", "startup", "download", "upload"}
FREE = {"transfer", "unexplained", "working", "upload", "sandbox"}
"""Causes that may get what a missing source does not explain.

Packets tell of transfers, too; what nothing cuts keeps its stage's own cause; a volume of which no
event tells is part of the time to the sandbox.
"""
FAULTS = {
    "retry_storm", "pull_failure", "denied_network", "denied_storage", "placement_wait",
    "volume_wait", "failed_import", "failed_container", "output_contradicted", "output_unproven",
    "cross_project_read", "undeclared_principal",
}  # fmt: skip
LEAST = 1.0
"""Stages that last less are not looked at on their own."""
Stage = tuple[str | None, str]


@dataclass
class CauseScore:
    """One cause over all stages with full evidence.

    Attributes:
        stages: Stages of which it took a part, by truth or measurement, and all of which left
            traces.
        near: Of these, within 1 s + 2 % of the truth.
        untraced: Stages of which it took a part that left none, or that such a part was taken for.
        true_seconds: Seconds by truth.
        seconds: Seconds measured.
        off_seconds: Sum of the differences.
    """

    stages: int = 0
    near: int = 0
    untraced: int = 0
    true_seconds: float = 0.0
    seconds: float = 0.0
    off_seconds: float = 0.0


@dataclass
class Score:
    """All that was measured; lists name what is wrong.

    Attributes:
        causes: By cause.
        stages: Stages with full evidence.
        near: Of these, all causes within 1 s + 2 %.
        far: The others.
        painted_seconds: Seconds of init, startup, download and upload with full evidence.
        unexplained_seconds: Of these, without a cause.
        truly_unexplained: Of these, by truth of what left no trace.
        bereft: Pods without one source.
        told_too_much: What such a pod's waits name although nothing left tells it.
        told_too_little: Seconds that went to no cause where a source was left out, and are missing.
        sums: Stages whose parts do not add up, and pods whose GPU time does not.
        storms: Storms by truth where evidence is full.
        missed: Storms missed.
        invented: Storms that are none.
        outputs: Outputs judged.
        misjudged: Verdicts that are wrong.
        faults: Faults planted where evidence is full.
        unowned: Faults without a finding of the right owner.
        blamed: Findings of no planted fault.
    """

    causes: dict[str, CauseScore] = field(default_factory=lambda: defaultdict(CauseScore))
    stages: int = 0
    near: int = 0
    far: list[Any] = field(default_factory=list)
    painted_seconds: float = 0.0
    unexplained_seconds: float = 0.0
    truly_unexplained: float = 0.0
    bereft: Counter[str] = field(default_factory=Counter)
    told_too_much: list[Any] = field(default_factory=list)
    told_too_little: list[Any] = field(default_factory=list)
    sums: list[Any] = field(default_factory=list)
    storms: int = 0
    missed: list[Any] = field(default_factory=list)
    invented: list[Any] = field(default_factory=list)
    outputs: int = 0
    misjudged: list[Any] = field(default_factory=list)
    faults: int = 0
    unowned: list[Any] = field(default_factory=list)
    blamed: list[Any] = field(default_factory=list)

    def add(self, other: "Score") -> None:
        """Take in another fleet's."""
        for cause, found in other.causes.items():
            mine = self.causes[cause]
            for name in vars(found):
                setattr(mine, name, getattr(mine, name) + getattr(found, name))
        for name, value in vars(other).items():
            if name != "causes":
                setattr(self, name, getattr(self, name) + value)


def is_near(found: float, true: float) -> bool:
    """Whether seconds are within 1 s + 2 % of the truth."""
    return abs(found - true) <= 1 + 0.02 * true


def score(folder: Path, world: World, others: Iterable[Pod] = ()) -> Score:
    """Compare the tables that were built of a world's exports with the world.

    Args:
        folder: Where they were built.
        world: The world.
        others: Pods beside those of the world; their sums are looked at alone.
    """
    result = Score()
    with duckdb.connect(str(folder / "podledger.duckdb"), read_only=True) as marts:
        found: dict[str, Counter[tuple[str | None, str, str]]] = defaultdict(Counter)
        for run, container, stage, cause, seconds in marts.execute(
            "SELECT run_uuid, container, stage, cause, seconds FROM waits"
        ).fetchall():
            found[run][container, stage, cause] += seconds
        for pod in world.pods:
            if pod.missing is None:
                _stages(result, pod, found[pod.run])
            else:
                _bereft(result, pod, found[pod.run])
        _storms(result, world, marts)
        _outputs(result, world, marts)
        _owners(result, world, marts)
        _sums(result, folder, [*world.pods, *others], marts)
    return result


def _stages(result: Score, pod: Pod, found: Counter[tuple[str | None, str, str]]) -> None:
    truth: dict[Stage, Counter[str]] = defaultdict(Counter)
    for spent, seconds in pod.spent.items():
        truth[spent.container, spent.stage][spent.cause] += seconds
    for (container, stage), causes in truth.items():
        if (container, stage) in pod.untold or sum(causes.values()) < LEAST:
            continue
        got = {c: s for (n, g, c), s in found.items() if (n, g) == (container, stage)}
        result.stages += 1
        is_good = True
        untraced = _untraced(pod, (container, stage))
        for cause in causes.keys() | got.keys():
            true, seconds = causes[cause], got.get(cause, 0.0)
            of_cause = result.causes[cause]
            if cause in untraced:
                of_cause.untraced += 1
            else:
                of_cause.stages += 1
                of_cause.near += is_near(seconds, true)
            of_cause.true_seconds += true
            of_cause.seconds += seconds
            of_cause.off_seconds += abs(seconds - true)
            is_good &= is_near(seconds, true)
        if stage in PAINTED:
            result.painted_seconds += sum(got.values())
            result.unexplained_seconds += got.get("unexplained", 0.0)
            result.truly_unexplained += causes["unexplained"]
        result.near += is_good
        if not is_good:
            result.far.append((pod.number, container, stage, dict(causes), got))


def _untraced(pod: Pod, stage: Stage) -> set[str]:
    """Causes of a stage that took seconds without a trace, and what these pass for.

    From the last packet of what is never answered to the next attempt all is `retry`.
    """
    found = {
        spent.cause
        for spent in pod.spent
        if (spent.container, spent.stage) == stage and spent.told_by == "nothing"
    } - {"unexplained"}
    return found | {"retry"} if found else found


def _bereft(result: Score, pod: Pod, found: Counter[tuple[str | None, str, str]]) -> None:
    """What only the missing source tells must not be named, and goes to no cause."""
    result.bereft[str(pod.missing)] += 1
    told: Counter[str] = Counter()
    lost = blurred = 0.0
    for spent, seconds in pod.spent.items():
        if spent.told_by not in SOURCES or pod.tells(spent.told_by):
            told[spent.cause] += seconds
        else:
            lost += seconds
        # Where something ended that left no trace, what comes behind it may begin.
        blurred += seconds if spent.told_by == "nothing" else 0
    got: Counter[str] = Counter()
    for (_, _, cause), seconds in found.items():
        got[cause] += seconds
    if not pod.tells("dns"):
        # Without its name a token service is any service that is connected to.
        told["connect"] += told["authenticate"]
    for cause, seconds in got.items():
        if cause not in FREE and seconds > told[cause] + blurred + 2 + 0.02 * told[cause]:
            result.told_too_much.append((pod.number, pod.missing, cause, told[cause], seconds))
    free = sum(got[cause] - told[cause] for cause in FREE)
    if free < lost - 2 - 0.02 * lost:
        result.told_too_little.append((pod.number, pod.missing, lost, free))


def _storms(result: Score, world: World, marts: duckdb.DuckDBPyConnection) -> None:
    """Which container asked is known of those alone that ran alone, so it is not compared."""
    everyone = {pod.run: pod for pod in world.pods}
    truth = Counter(
        (pod.run, activity, error_class, count)
        for pod in world.pods
        for (_, activity, error_class), count in pod.storms.items()
    )
    found = Counter(
        marts.execute(
            "SELECT run_uuid, activity, error_class, failure_count FROM storms"
        ).fetchall()
    )
    full = Counter({key: n for key, n in truth.items() if everyone[key[0]].missing is None})
    result.storms = full.total()
    result.missed = sorted(map(str, (full - found).elements()))
    result.invented = sorted(map(str, (found - truth).elements()))


def _outputs(result: Score, world: World, marts: duckdb.DuckDBPyConnection) -> None:
    found = dict(
        marts.execute(
            "SELECT run_uuid, proof FROM run_outputs WHERE resource_id LIKE '%/model.pt'"
        ).fetchall()
    )
    for pod in world.pods:
        if pod.missing in {"storage_log", "all"}:
            continue
        result.outputs += 1
        if found.get(pod.run) != pod.proof:
            result.misjudged.append((pod.number, pod.proof, found.get(pod.run)))


def _owners(result: Score, world: World, marts: duckdb.DuckDBPyConnection) -> None:
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for run, kind, responsible in marts.execute(
        "SELECT run_uuid, kind, responsible FROM findings"
    ).fetchall():
        if kind in FAULTS:
            found[run].add((kind, responsible))
    for pod in world.pods:
        if pod.missing is not None:
            continue
        result.faults += len(pod.faults)
        result.unowned += [(pod.number, *f) for f in sorted(pod.faults - found[pod.run])]
        result.blamed += [(pod.number, *f) for f in sorted(found[pod.run] - pod.faults)]


def _sums(
    result: Score, folder: Path, pods: Iterable[Pod], marts: duckdb.DuckDBPyConnection
) -> None:
    stages = folder / "lake" / "stages" / "*" / "*.parquet"
    gpus = [{"pod_uid": pod.uid, "gpus": pod.gpus} for pod in pods]
    result.sums = marts.execute(
        """
        SELECT s.stage_id, s.length_us, w.length_us
        FROM (
            SELECT stage_id, epoch_us(end_at) - epoch_us(start_at) AS length_us
            FROM read_parquet($stages)
            WHERE end_at IS NOT NULL
        ) AS s
        FULL JOIN (SELECT stage_id, sum(duration_us) AS length_us FROM waits GROUP BY stage_id) AS w
            ON s.stage_id = w.stage_id
        WHERE s.length_us IS DISTINCT FROM w.length_us
        UNION ALL
        -- From the binding to the end, once for each GPU.
        SELECT p.pod_uid, p.gpu_us, w.gpu_us
        FROM (
            SELECT
                pod_uid,
                MIN(epoch_us(start_at)) FILTER (
                    WHERE stage NOT IN ('admission', 'scheduling')
                ) AS bound_us,
                MAX(epoch_us(end_at)) AS end_us
            FROM read_parquet($stages)
            WHERE pod_uid IS NOT NULL
            GROUP BY pod_uid
            HAVING COUNT(*) = COUNT(end_at)
        ) AS s
        INNER JOIN (SELECT UNNEST($gpus, recursive := TRUE)) AS g ON s.pod_uid = g.pod_uid
        INNER JOIN (
            SELECT pod_uid, SUM(gpu_us) AS gpu_us FROM waits GROUP BY pod_uid
        ) AS w ON s.pod_uid = w.pod_uid
        CROSS JOIN LATERAL (
            SELECT s.pod_uid, g.gpus * (s.end_us - s.bound_us) AS gpu_us
        ) AS p
        WHERE p.gpu_us IS DISTINCT FROM w.gpu_us
        """,
        {"stages": str(stages), "gpus": gpus},
    ).fetchall()


def broken(found: Score) -> list[str]:
    """Bounds that are not kept, with what breaks them."""
    problems = []
    if found.near < 0.95 * found.stages:
        problems.append(f"only {found.near} of {found.stages} stages near: {found.far[:5]}")
    # States and events are cut to whole seconds: that moves up to two in or out of a stage.
    for cause, of_cause in sorted(found.causes.items()):
        if cause != "unexplained" and of_cause.near < 0.95 * of_cause.stages:
            problems.append(f"only {of_cause.near} of {of_cause.stages} stages near: {cause}")
    if found.unexplained_seconds > 0.1 * found.painted_seconds:
        problems.append(f"unexplained {found.unexplained_seconds} of {found.painted_seconds} s")
    lists = (
        "told_too_much", "told_too_little", "sums", "missed", "invented", "misjudged", "unowned",
        "blamed",
    )  # fmt: skip
    wrong = {name: getattr(found, name) for name in lists}
    problems += [f"{name.replace('_', ' ')}: {rows[:10]}" for name, rows in wrong.items() if rows]
    return problems
