"""Build stages of rows, or of real files, for tests."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from tests.transforms.frames import DAY, at, checked, frame, show
from tests.transforms.staging.export_text import parse_file, rows
from transforms.day import BuildDay
from transforms.intermediate import image_pulls, pod_intervals, stages
from transforms.sql import SqlSession
from transforms.staging.kubernetes import PARSER

POD = "aaaaaaaa-0000-0000-0000-00000000000a"
RUN = "0123456789abcdef0123456789abcdef"
CLUSTER = "alder"
Rows = list[dict[str, Any]]
STAGED = (
    "pod_states", "container_states", "kube_event_states", "run_versions", "run_statuses",
    "stage_marks", "node_states", "resource_claims", "flows",
)  # fmt: skip
PULLS = {read.table for read in image_pulls.TRANSFORM.reads}


def build(
    day: date = DAY,
    cluster: str = CLUSTER,
    before: Iterable[dict[str, Any]] = (),
    **staged: Rows,
) -> pl.DataFrame:
    """Stages of one day from staging rows, with pod_intervals and image_pulls made of the same."""
    with SqlSession(threads=1) as session:
        return build_in(session, day, cluster, before, **staged)


def build_days(days: Iterable[date], cluster: str = CLUSTER, **staged: Rows) -> list[pl.DataFrame]:
    """Stages of days that follow each other, each built beside what the days before published."""
    built: list[pl.DataFrame] = []
    published: dict[str, list[pl.DataFrame]] = {"image_pulls": [], "stages": []}
    for day in days:
        with SqlSession(threads=1) as session:
            before = [row for frames in published["stages"] for row in frames.to_dicts()]
            made = build_in(session, day, cluster, before, published["image_pulls"], **staged)
            pulls = session.frame("image_pulls").filter(date=day)
        published["image_pulls"].append(pulls)
        published["stages"].append(made.with_columns(date=pl.lit(day)))
        built.append(made)
    return built


def build_in(
    session: SqlSession,
    day: date,
    cluster: str = CLUSTER,
    before: Iterable[dict[str, Any]] = (),
    pulls_before: Iterable[pl.DataFrame] = (),
    **staged: Rows,
) -> pl.DataFrame:
    """The same in a session, which keeps the views of what it made for the next table."""
    show(session, **{name: staged.get(name, []) for name in STAGED})
    published = {"image_pulls": list(pulls_before)}
    for table in ("pod_intervals", "image_pulls"):
        session.register(table, frame(table, [], date_column=True))
    for read in PULLS - set(STAGED) - {"pod_intervals", "image_pulls"}:
        session.register(read, frame(read, [], date_column=read == "stages"))
    session.register("stages", frame("stages", before, date_column=True))
    built = BuildDay(day, cluster)
    for table, transform in (
        ("pod_intervals", pod_intervals.TRANSFORM),
        ("image_pulls", image_pulls.TRANSFORM),
    ):
        made = checked(session, table, transform.build(session, built))
        session.connection.unregister(table)
        dated = made.with_columns(date=pl.lit(day))
        session.register(table, pl.concat([*published.get(table, []), dated]))
    return checked(session, "stages", stages.build(session, built))


def build_all(
    scenarios: Mapping[str, Mapping[str, Rows]], day: date = DAY, cluster: str = CLUSTER
) -> dict[str, pl.DataFrame]:
    """Stages of several scenarios, each of pods and a run of its own, built at once.

    A build costs a second whatever it holds. Rows come back with the ids that scenarios use.
    """
    staged: dict[str, Rows] = {name: [] for name in STAGED}
    for number, scenario in enumerate(scenarios.values()):
        for table, found in scenario.items():
            staged[table] += [_relabelled(row, number) for row in found]
    stages = build(day, cluster, **staged)
    made = {}
    for number, name in enumerate(scenarios):
        of_pod = pl.col("pod_uid").str.ends_with(f"{number:03x}")
        of_run = pl.col("run_uuid") == _run(number)
        chosen = stages.filter(of_pod.fill_null(value=False) | of_run.fill_null(value=False))
        made[name] = chosen.with_columns(
            run_uuid=pl.when(pl.col("run_uuid").is_not_null()).then(pl.lit(RUN))
        )
    return made


def _run(number: int) -> str:
    return f"{RUN[:-3]}{number:03x}"


def _relabelled(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    changed = dict(row)
    for column in ("pod_uid", "involved_uid"):
        if changed.get(column):
            changed[column] = f"{changed[column][:-3]}{number:03x}"
    for column in ("pod_name", "involved_name", "event_uid", "event_name", "record_id"):
        if changed.get(column):
            changed[column] = f"{changed[column]}-{number}"
    if changed.get("run_uuid"):
        changed["run_uuid"] = _run(number)
    if changed.get("addresses"):
        changed["addresses"] = [a.replace("10.0.0.", f"10.0.{number}.") for a in row["addresses"]]
    return changed


def of_files(folder: Path, *names: str, day: date) -> pl.DataFrame:
    """Stages of one day from files of Kubernetes objects."""
    staged: dict[str, Rows] = {}
    for name in names:
        parsed = parse_file(PARSER, folder / name, landing_date=day)
        for table in ("pod_states", "container_states", "kube_event_states"):
            found = [row | {"cluster": CLUSTER} for row in rows(parsed, table)]
            staged.setdefault(table, []).extend(found)
    return build(day, **staged)


def spans(stages: pl.DataFrame, *more: str, container: str | None = None) -> list[tuple[Any, ...]]:
    """Stage, start and end of one timeline, as times of the day to the second or below."""
    chosen = (
        pl.col("container").is_null() if container is None else pl.col("container") == container
    )
    return (
        stages.filter(chosen).sort("start_at").select("stage", "start_at", "end_at", *more).rows()
    )


def pod_state(seen: str, *, days: int = 0, **more: Any) -> dict[str, Any]:
    """A pod as it was seen at a time; it was made at 10:00."""
    return {
        "cluster": CLUSTER,
        "namespace": "ml",
        "pod_name": "train",
        "pod_uid": POD,
        "node": "node-a",
        "observed_at": at(seen, days=days),
        "observed_basis": "record",
        "created_at": at("10:00"),
        "scheduled_at": at("10:00:30"),
        "start_time_at": at("10:00:30"),
        "addresses": ["10.0.0.1"],
        "phase": "Running",
        "run_uuid": RUN,
        "run_match_kind": "label",
        "gpu_count": 2,
    } | more


def container(
    name: str, role: str, state: str, seen: str, *, days: int = 0, **more: Any
) -> dict[str, Any]:
    """A container as it was seen at a time."""
    return {
        "cluster": CLUSTER,
        "namespace": "ml",
        "pod_name": "train",
        "pod_uid": POD,
        "node": "node-a",
        "container": name,
        "container_role": role,
        "state": state,
        "ordinal": 0,
        "image": f"registry.example.com/{name}:1",
        "restart_count": 0,
        "observed_at": at(seen, days=days),
    } | more


def event(
    reason: str, message: str, first: str, last: str | None = None, count: int = 1, **more: Any
) -> dict[str, Any]:
    """An event of the pod, with its first and last time."""
    name = f"{reason}/{message}/{first}/{more.get('container')}"
    return {
        "cluster": CLUSTER,
        "namespace": "ml",
        "involved_kind": "Pod",
        "involved_name": "train",
        "involved_uid": POD,
        "node": "node-a",
        "event_uid": name,
        "event_name": name,
        "record_id": f"{name}/{last}/{count}",
        "reason": reason,
        "message": message,
        "first_at": at(first),
        "last_at": at(last or first),
        "event_at": at(last or first),
        "observed_at": at(last or first),
        "event_count": count,
    } | more


def pull(name: str, began: str, ended: str, took: str, waited: str) -> Rows:
    """The two events of one pull, with the durations that the kubelet states."""
    image = f'image "registry.example.com/{name}:1"'
    done = (
        f"Successfully pulled {image} in {took} ({waited} including waiting). Image size: 9 bytes."
    )
    return [
        event("Pulling", f"Pulling {image}", began, container=name),
        event("Pulled", done, ended, container=name),
    ]


def mark(name: str, phase: str, moment: str, **more: Any) -> dict[str, Any]:
    """A mark of the main container."""
    return {
        "cluster": CLUSTER,
        "namespace": "ml",
        "pod_name": "train",
        "pod_uid": POD,
        "container": "polyaxon-main",
        "event_name": f"{name}_{phase}",
        "activity": name,
        "phase": phase,
        "event_at": at(moment),
    } | more


def status(name: str, moment: str, ordinal: int, **more: Any) -> dict[str, Any]:
    """A condition of the run."""
    return {
        "cluster": CLUSTER,
        "run_uuid": RUN,
        "status": name,
        "event_at": at(moment),
        "ordinal": ordinal,
    } | more


def next_day(day: date = DAY) -> date:
    """The day behind."""
    return day + timedelta(days=1)
