"""Measured waits and storms beside a world's truth, through all tables that they are made from."""

from collections import Counter, defaultdict

import polars as pl
import pytest

from schemas.registry import table_spec
from tests.transforms.frames import ADDRESS_RANGES, DAY, checked, frame
from tests.transforms.marts.wait_world import CLUSTER, Life, World
from transforms.day import BuildDay
from transforms.registry import transforms
from transforms.sql import SqlSession

pytestmark = pytest.mark.slow
CHAIN = (
    "pod_intervals", "image_pulls", "stages", "connections", "object_transfers", "waits", "storms",
)  # fmt: skip
SPECIAL = {"address_ranges", "endpoints", "deliveries", "export_files"}


def made_of(world: World) -> dict[str, pl.DataFrame]:
    """All tables of the chain, each of those before it."""
    made: dict[str, pl.DataFrame] = {}
    for table in CHAIN:
        transform, spec = transforms()[table], table_spec(table)
        with SqlSession(threads=1) as session:
            for read in transform.reads:
                if read.table in SPECIAL:
                    session.register(read.table, special(read.table))
                elif read.table in made:
                    dated = made[read.table].with_columns(date=pl.lit(DAY))
                    session.register(read.table, dated)
                else:
                    derived = table_spec(read.table).layer != "staging"
                    rows = world.exports.get(read.table, [])
                    session.register(read.table, frame(read.table, rows, date_column=derived))
            day = BuildDay(DAY, CLUSTER if spec.scope != "fleet" else "fleet")
            made[table] = checked(session, table, transform.build(session, day))
    return made


def special(name: str) -> pl.DataFrame:
    assert name == "address_ranges"
    return pl.DataFrame(schema=ADDRESS_RANGES)


def measured(waits: pl.DataFrame, pod: Life) -> Counter[tuple[str | None, str, str]]:
    found: Counter[tuple[str | None, str, str]] = Counter()
    rows = waits.filter(pl.col("pod_uid") == pod.uid)
    for key in rows.select("container", "stage", "cause", "seconds").rows():
        found[key[:3]] += key[3]
    return found


@pytest.fixture(scope="module")
def world() -> World:
    return World(seed=20260302, day=DAY, pods=60)


@pytest.fixture(scope="module")
def made(world: World) -> dict[str, pl.DataFrame]:
    return made_of(world)


def test_waits_are_near_the_truth_and_explained_where_evidence_is_full(
    world: World, made: dict[str, pl.DataFrame]
) -> None:
    near, explained, stages = 0, 0, 0
    for pod in world.pods:
        if pod.evidence != "full":
            continue
        truth: dict[tuple[str | None, str], Counter[str]] = defaultdict(Counter)
        for (container, stage, cause), seconds in pod.truth.items():
            truth[container, stage][cause] += seconds
        found = measured(made["waits"], pod)
        for (container, stage), causes in truth.items():
            got = {c: s for (n, g, c), s in found.items() if (n, g) == (container, stage)}
            stages += 1
            near += all(
                abs(got.get(cause, 0) - causes[cause]) <= 1 + 0.02 * causes[cause]
                for cause in causes.keys() | got.keys()
            )
            explained += got.get("unexplained", 0) <= 0.1 * sum(got.values())
    assert stages >= 250
    assert near >= 0.95 * stages, (near, stages)
    assert explained >= 0.95 * stages, (explained, stages)


def test_what_no_evidence_tells_is_unexplained(world: World, made: dict[str, pl.DataFrame]) -> None:
    for pod in world.pods:
        init = {c: s for (_, g, c), s in measured(made["waits"], pod).items() if g == "init"}
        if pod.evidence == "none":
            assert set(init) == {"unexplained"}
        elif pod.evidence == "no_storage_log":
            # Flows tell what moved and when it was answered, never why it did not.
            assert set(init) <= {"transfer", "connect", "resolve", "unexplained"}
            moved = pod.truth["init", "init", "transfer"]
            assert init["transfer"] >= moved - 1


def test_parts_add_up_to_their_stages_and_gpus_to_the_pods(
    world: World, made: dict[str, pl.DataFrame]
) -> None:
    parts = made["waits"].group_by("stage_id").agg(pl.col("duration_us").sum())
    length = (pl.col("end_at") - pl.col("start_at")).dt.total_microseconds().alias("length_us")
    joined = made["stages"].select("stage_id", length).join(parts, "stage_id", how="left")
    assert joined.filter(pl.col("length_us") != pl.col("duration_us")).is_empty()
    for pod in world.pods:
        of_pod = made["stages"].filter(pl.col("pod_uid") == pod.uid)
        bound = of_pod.filter(pl.col("stage") == "sandbox")["start_at"].min()
        whole = round((of_pod["end_at"].max() - bound).total_seconds() * 1e6)
        assert made["waits"].filter(pl.col("pod_uid") == pod.uid)["gpu_us"].sum() == whole


def test_all_storms_of_the_world_are_found_and_no_others(
    world: World, made: dict[str, pl.DataFrame]
) -> None:
    truth = {
        (pod.uid, error_class, count)
        for pod in world.pods
        if pod.evidence == "full"
        for error_class, count in pod.storms
    }
    found = made["storms"].select("pod_uid", "error_class", "failure_count").rows()
    assert len(truth) >= 3
    assert set(found) == truth
    assert set(made["storms"]["responsible"]) == {"storage"}
    assert set(made["storms"]["retry_end"]) == {"recovered"}
