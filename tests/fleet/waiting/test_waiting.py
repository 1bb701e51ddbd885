"""What runs waited for, left and differ in: through exports, beside a truth that none holds."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.fleet.waiting.__main__ import MEASURED, measure
from tests.fleet.waiting.fetch import PLOTS
from tests.fleet.waiting.life import SOURCES, Pod
from tests.fleet.waiting.render import DAY, MIDNIGHT, write
from tests.fleet.waiting.score import broken, is_near, score
from tests.fleet.waiting.scripted import BROKEN, PAIRS, deployments, groups, pairs
from tests.fleet.waiting.world import World
from tests.pipelines.cli.command import podledger
from tests.pipelines.plain_build import build_all

CAUSES = {
    "working", "placement", "sandbox", "image_pull", "volume", "resolve", "authenticate",
    "connect", "transfer", "throttled", "retry", "denied", "upload", "unexplained",
}  # fmt: skip
NAMED = [name for name in PAIRS if name not in {"nothing", "refused"}]


@dataclass(frozen=True)
class Built:
    """A small fleet, built: all runs of one day, and two groups that the next day has, too."""

    folder: Path
    world: World
    scripted: list[Pod]
    pairs: dict[str, Pod]
    deployments: dict[str | None, list[Pod]]

    def compared(self, *arguments: str) -> tuple[int, dict[str, object]]:
        ended = podledger("compare", *arguments, "--json", "--config", self.settings)
        return ended.code, json.loads(ended.out)

    def rows(self, query: str, table: str) -> list[tuple[Any, ...]]:
        """Rows of a query of the files of one table."""
        files = str(self.folder / "lake" / table / "*" / "*.parquet")
        return duckdb.execute(query, {"files": files}).fetchall()

    @property
    def settings(self) -> str:
        return str(self.folder / "podledger.yaml")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    of_pairs, of_deployments = pairs(), deployments()
    attempts = [pod for pods in of_deployments.values() for pod in pods]
    made = Built(
        tmp_path_factory.mktemp("waiting"), World(7, 40),
        [*of_pairs.values(), *attempts, *groups()], of_pairs, of_deployments,
    )  # fmt: skip
    settings = write(made.folder, [*made.world.pods, *made.scripted])
    build_all(settings, tables=(*MEASURED, "run_checks", "transfer_costs"))
    return made


def test_waits_storms_outputs_and_owners_of_a_small_fleet_are_the_true_ones(built: Built) -> None:
    found = score(built.folder, built.world, built.scripted)
    assert broken(found) == []
    assert found.stages >= 200
    assert set(found.bereft) == {*SOURCES, "all"}
    assert found.storms >= 8
    assert found.outputs >= 25
    assert found.faults >= 40


def test_connections_requests_and_pulls_have_the_stage_in_which_they_happened(
    built: Built,
) -> None:
    pods = {pod.uid: pod for pod in built.world.pods if pod.missing is None}
    seen = Counter[tuple[str, str]]()
    # Logs of storage cut their times to whole seconds.
    for table, uid, cut in (
        ("connections", "initiator_pod_uid", 0),
        ("object_transfers", "pod_uid", 1),
    ):
        found = built.rows(
            f"SELECT {uid}, epoch_us(start_at), stage FROM read_parquet($files)", table
        )
        for pod_uid, start_us, stage in found:
            moment = start_us / 1e6 - MIDNIGHT.timestamp()
            if pod_uid in pods:
                true = {pods[pod_uid].stage_at(at) for at in (moment, moment + 0.999 * cut)}
                if len(true) == 1:
                    assert {stage} == true, (table, pods[pod_uid].number, moment)
                    seen[table, stage] += 1
    assert set(seen) == {
        *(("connections", stage) for stage in ("init", "download")),
        *(("object_transfers", stage) for stage in ("init", "download", "upload")),
    }
    assert min(seen.values()) >= 8
    pulls = built.rows(
        "SELECT DISTINCT stage FROM read_parquet($files) WHERE operation = 'pull'",
        "run_dependency_days",
    )
    assert pulls == [("image_pull",)]


@pytest.mark.parametrize("name", NAMED)
def test_the_one_thing_that_differs_explains_the_difference(built: Built, name: str) -> None:
    a, b = built.pairs["A"], built.pairs[name]
    code, told = built.compared(a.run, b.run)
    true_us = round(1e6 * ((b.gone - b.statuses[0][0]) - (a.gone - a.statuses[0][0])))
    assert (code, told["refused"]) == (0, [])
    assert abs(told["difference_us"] - true_us) <= 2_000_000
    (piece,) = told["explained_by"]
    assert piece["factors"] == [name]
    assert abs(piece["duration_us"]) >= 0.9 * abs(true_us) >= 50_000_000


def test_where_nothing_differs_nothing_is_named(built: Built) -> None:
    code, told = built.compared(built.pairs["A"].run, built.pairs["nothing"].run)
    assert (code, told["explained_by"], told["differences"]) == (0, [], [])
    assert abs(told["difference_us"]) <= 2_000_000
    days = ("--project", "scripted", "--from", DAY, "--to", DAY, "--versus", f"{DAY}..{DAY}")
    code, told = built.compared(*days)
    assert (code, told["explained_by"], told["difference_us"]) == (0, [], 0)
    assert len(told["a"]["run_uuids"]) >= 10


def test_groups_of_two_days_differ_in_what_was_changed_between_them(built: Built) -> None:
    for project, named in (("steady", []), ("changed", ["code"])):
        days = ("--from", DAY, "--to", DAY, "--versus", "2026-03-11..2026-03-11")
        code, told = built.compared("--project", project, *days)
        assert (code, told["refused"]) == (0, [])
        for side, day in (("a", 0), ("b", 1)):
            of_day = (pod for pod in built.scripted if pod.made // 86_400 == day)
            runs = {pod.run for pod in of_day if pod.project == project}
            assert set(told[side]["run_uuids"]) == runs
            assert len(runs) == 3
        difference = 180_000_000 if named else 0
        assert abs(told["difference_us"] - difference) <= 2_000_000
        assert [piece["factors"] for piece in told["explained_by"]] == [[name] for name in named]
        for piece in told["explained_by"]:
            assert piece["duration_us"] >= 0.9 * difference


def test_what_was_seen_of_one_side_only_is_refused_with_the_reason(built: Built) -> None:
    code, told = built.compared(built.pairs["A"].run, built.pairs["refused"].run)
    assert code == 3
    why = {(part["role"], part["stage"]): part["why"] for part in told["refused"]}
    assert why["init", "init"].startswith("dns_lookups covers 100 % and 0 %: more than 5")
    assert "path" not in [name for piece in told["explained_by"] for name in piece["factors"]]


def test_a_deployment_that_failed_once_and_was_resumed_is_accepted(built: Built) -> None:
    run = built.deployments[None][0].run
    done = podledger("accept", run, "--config", built.settings)
    assert (done.code, done.out.splitlines()[-1]) == (0, "passed: 6 of 6 steps passed")


@pytest.mark.parametrize("name", BROKEN)
def test_each_step_that_is_broken_fails_alone(built: Built, name: str) -> None:
    run = built.deployments[name][0].run
    done = podledger("accept", run, "--json", "--config", built.settings)
    results = {step["step"]: step["result"] for step in json.loads(done.out)["steps"]}
    assert results.pop(BROKEN[name]) == "failed"
    assert set(results.values()) == {"passed"}
    assert done.code == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_waits_storms_outputs_and_owners_of_a_fleet_are_the_true_ones(
    tmp_path: Path, seed: int
) -> None:
    found = measure(tmp_path, seed, 300)
    assert broken(found) == []
    assert set(found.causes) == CAUSES
    assert found.stages >= 1_500
    assert found.storms >= 60


def test_the_world_spends_every_second_of_a_pod_once() -> None:
    seen = set()
    for pod in World(5, 200).pods:
        before = sum(s for k, s in pod.spent.items() if k.container is None)
        assert pod.ready is not None
        assert before == pytest.approx(pod.ready - pod.statuses[0][0])
        init = pod.turns[0]
        if init.began is not None and init.ended is not None:
            began = init.present_at or (init.earlier[0] if init.earlier else init.began)
            spent = sum(
                s for k, s in pod.spent.items() if (k.container, k.stage) == (init.name, "init")
            )
            assert spent == pytest.approx(init.ended - began)
        seen |= {spent.cause for spent in pod.spent}
    assert seen == CAUSES
    assert len(PLOTS) == 14


def test_near_is_a_second_and_two_hundredths() -> None:
    assert is_near(101.9, 99)
    assert not is_near(103, 99.9)
    assert not is_near(0, 1.1)
