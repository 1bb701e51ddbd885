"""What runs waited for, measured through exports and beside a truth that no export holds."""

from pathlib import Path

import pytest

from tests.fleet.waiting.__main__ import measure
from tests.fleet.waiting.fetch import PLOTS
from tests.fleet.waiting.life import SOURCES
from tests.fleet.waiting.score import broken, is_near
from tests.fleet.waiting.world import World

CAUSES = {
    "working", "placement", "sandbox", "image_pull", "volume", "resolve", "authenticate",
    "connect", "transfer", "throttled", "retry", "denied", "upload", "unexplained",
}  # fmt: skip


def test_waits_storms_outputs_and_owners_of_a_small_fleet_are_the_true_ones(
    tmp_path: Path,
) -> None:
    found = measure(tmp_path, 7, 40)
    assert broken(found) == []
    assert found.stages >= 200
    assert set(found.bereft) == {*SOURCES, "all"}
    assert (found.storms >= 8, found.outputs >= 25, found.faults >= 40) == (True, True, True)


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
    world = World(5, 200)
    seen = set()
    for pod in world.pods:
        pod_level = sum(s for k, s in pod.spent.items() if k.container is None)
        assert pod.ready is not None
        assert pod_level == pytest.approx(pod.ready - pod.statuses[0][0])
        init = pod.turns[0]
        if init.began is not None and init.ended is not None:
            began = init.earlier[0] if init.earlier else init.began
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
