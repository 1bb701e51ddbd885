"""The stage in which something of a pod happened."""

from datetime import timedelta
from typing import Any

import polars as pl

from tests.transforms.frames import DAY, at, show
from transforms.intermediate.stage_match import match_stages
from transforms.sql import SqlSession

POD, OTHER = "aaaaaaaa-0000-0000-0000-00000000000a", "aaaaaaaa-0000-0000-0000-00000000000b"


def stage(
    name: str, container: str | None, start: str, end: str | None, role: str | None = "main",
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    return {
        "cluster": "alder", "pod_uid": POD, "container": container, "container_role": role,
        "stage": name, "start_at": at(start), "end_at": at(end) if end else None, "date": DAY,
    } | more  # fmt: skip


STAGES = [
    stage("sandbox", None, "10:00", "10:00:30", None),
    stage("image_pull", "init", "10:00:30", "10:00:50", "init"),
    stage("init", "init", "10:00:50", "10:01", "init"),
    stage("image_pull", "main", "10:01", "10:02"),
    stage("download", "main", "10:02", "10:10"),
    stage("compute", "main", "10:10", None),
    stage("compute", "sidecar", "10:02:05", None, "sidecar"),
    # Two containers that do different things.
    stage("compute", "one", "10:00", "11:00", pod_uid=OTHER),
    stage("download", "two", "10:30", "11:00", pod_uid=OTHER),
]


def matched(
    *items: tuple[str, str | None, str], day: int = 0, stages: list[dict[str, Any]] | None = None
) -> list[str | None]:
    """Stages of (pod, container, time)."""
    rows = [
        {
            "item_id": number, "cluster": "alder", "pod_uid": pod, "container": container,
            "event_at": at(moment, days=day),
        }
        for number, (pod, container, moment) in enumerate(items)
    ]  # fmt: skip
    schema = pl.Schema(
        {
            "item_id": pl.Int64(), "cluster": pl.String(), "pod_uid": pl.String(),
            "container": pl.String(), "event_at": pl.Datetime("us", "UTC"),
        }
    )  # fmt: skip
    with SqlSession(threads=1) as session:
        again = [s | {"date": DAY + timedelta(days=1)} for s in STAGES]
        show(session, stages=[*STAGES, *again] if stages is None else stages)
        session.register("stage_input", pl.DataFrame(rows, schema=schema, orient="row"))
        found = dict(session.frame(match_stages(session)).select("item_id", "stage").rows())
        return [found.get(number, "unmatched") for number in range(len(items))]


def test_a_moment_is_of_the_stage_that_holds_it() -> None:
    assert matched(
        (POD, None, "10:00:55"),
        # In the second that the kubelet cut off of the start, nothing else ran.
        (POD, None, "10:00:49"),
        (POD, None, "10:05"),
        (POD, "sidecar", "10:05"),
        (POD, "main", "10:59"),
        # Nothing of the pod runs while it pulls, unless two seconds before a start.
        (POD, None, "10:01:30"),
        (POD, None, "10:01:59"),
        (POD, None, "09:00"),
        ("cccccccc-0000-0000-0000-00000000000c", None, "10:05"),
    ) == [
        "init", "init", "download", "compute", "compute", "unmatched", "download", "unmatched",
        "unmatched",
    ]  # fmt: skip


def test_several_stages_at_once_are_none() -> None:
    assert matched((OTHER, None, "10:20"), (OTHER, None, "10:40"), (OTHER, "two", "10:40")) == [
        "compute",
        None,
        "download",
    ]


def test_a_stage_that_is_open_on_two_days_holds_both() -> None:
    assert matched((POD, "main", "00:00:01"), (POD, None, "23:00"), day=1) == ["compute"] * 2


def test_of_two_days_that_name_a_stage_differently_up_to_one_instant_the_later_counts() -> None:
    third = "cccccccc-0000-0000-0000-00000000000c"
    told = [
        stage("startup", "main", "10:00", None, pod_uid=third),
        stage("download", "main", "10:00", "10:30", pod_uid=third, end_at=at("00:00", days=1),
              date=DAY + timedelta(days=1)),
        # Two of one day: the later name.
        stage("startup", "main", "10:00", "10:30", pod_uid=POD),
        stage("compute", "main", "10:00", "10:30", pod_uid=POD),
    ]  # fmt: skip
    asked = [(third, None, "10:05"), (POD, None, "10:05")]
    for rows in (told, told[::-1]):
        assert matched(*asked, stages=rows) == ["download", "startup"]
