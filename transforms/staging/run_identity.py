"""Which Polyaxon run a pod belongs to, and how that is known.

Evidence, best first (precedence of Polyaxon's own selectors): the label that names the run; the
instance label, which means a run only beside `managed-by=polyaxon`; the run instance in the
environment of a container; the name of the pod or of its controller. All rungs are read, because
evidence that contradicts itself names no run.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from transforms.staging.values import hex_uuid

RUN_LABEL = "operation.polyaxon.com/uuid"
INSTANCE_LABEL = "app.kubernetes.io/instance"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
COMPONENT_LABEL = "app.kubernetes.io/component"
RUN_VARIABLE = "POLYAXON_RUN_INSTANCE"
CLEANER_COMPONENT = "polyaxon-cleaners"

_UUID = r"([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_INSTANCE = re.compile(rf".*\.runs\.{_UUID}\Z", re.DOTALL)
_NAME = re.compile(rf"plx-(operation|cleaner|notifier|tuner|watchdog)-{_UUID}(?:-|\Z)")
_NAME_BEFORE_1 = re.compile(rf"plx-(){_UUID}-[a-z]+-[0-9]+\Z")
_REPLICA_NAME = re.compile(rf"plx-operation-{_UUID}-(master|worker|chief|ps|evaluator|launcher)"
                           r"(?:-([0-9]{1,6}))?\Z")  # fmt: skip
_ARCHIVE = re.compile(rf"(?:\A|/)(?P<agents>\.agents/)?{_UUID}/(?:[^/]+/)?[^/]+\Z")
_EVENT_FILE = re.compile(
    rf"(?:\A|/)(?P<agents>\.agents/)?{_UUID}/(?:events|resources)"
    r"/(?P<kind>[a-z_]{1,32})/(?P<name>.+)\.plx(?:\.gz|\.zst)?\Z",
    re.DOTALL,
)

_REPLICA_TYPE_LABELS = (
    "training.kubeflow.org/replica-type", "pytorch-replica-type", "tf-replica-type",
    "mpi-job-role", "replica-type", "ray.io/node-type", "dask.org/component",
)  # fmt: skip
_REPLICA_INDEX_LABELS = (
    "training.kubeflow.org/replica-index", "pytorch-replica-index", "tf-replica-index",
    "replica-index", "batch.kubernetes.io/job-completion-index",
)  # fmt: skip


class RunMatch(NamedTuple):
    """The run of a pod.

    Attributes:
        run_uuid: 32 hex digits; null where no evidence or contradicting evidence names a run.
        kind: Best rung that names it, `conflict` or `none`.
        is_cleaner: The pod's name says that it cleans up after the run.
    """

    run_uuid: str | None
    kind: str
    is_cleaner: bool


class EventFile(NamedTuple):
    """Whose events a file holds, by its place in the artifact store; null where none is said."""

    run_uuid: str | None
    kind: str | None
    name: str | None


class Replica(NamedTuple):
    """Which replica of a distributed run a pod is; null where it is none or not said."""

    replica_type: str | None
    replica_index: str | None


def run_of_pod(
    *,
    labels: Mapping[str, str],
    instances: Iterable[str],
    names: Iterable[str],
    folder_run: str | None = None,
) -> RunMatch:
    """Find the run of a pod.

    Args:
        labels: Labels of the pod.
        instances: Values of POLYAXON_RUN_INSTANCE in its containers.
        names: Names of the pod and of its owners.
        folder_run: Run whose archive folder holds the pod; counts like a name.
    """
    named = [found for name in names if (found := _run_in_name(name)) is not None]
    is_cleaner = any(role == "cleaner" for role, _ in named)
    rungs: list[tuple[str, str]] = []
    if (run := hex_uuid(labels.get(RUN_LABEL, ""))) is not None:
        rungs.append(("label", run))
    if labels.get(MANAGED_BY_LABEL) == "polyaxon":
        run = hex_uuid(labels.get(INSTANCE_LABEL, ""))
        rungs += [("instance_label", run)] if run is not None else []
    rungs += [("environment", run) for text in instances if (run := instance_run(text)) is not None]
    rungs += [("name", run) for _, run in named]
    rungs += [("name", folder_run)] if folder_run is not None else []
    if not rungs:
        return RunMatch(None, "none", is_cleaner)
    if len({run for _, run in rungs}) > 1:
        return RunMatch(None, "conflict", is_cleaner)
    kind, run = rungs[0]
    return RunMatch(run, kind, is_cleaner)


def instance_run(text: str) -> str | None:
    """The run in `owner.project.runs.<uuid>`; null where the text is none."""
    match = _INSTANCE.match(text) if len(text) <= 1_024 else None
    return hex_uuid(match[1]) if match else None


@lru_cache(maxsize=256)
def run_of_folder(path: str) -> str | None:
    """The run whose folder holds a file, as in `<store>/<run uuid>/outputs/spec.json`.

    An agent's archive has the same shape under `.agents`, where the uuid is the agent's.
    """
    match = _EVENT_FILE.search(path) or _ARCHIVE.search(path)
    if match is None or match["agents"]:
        return None
    return hex_uuid(match[2])


@lru_cache(maxsize=256)
def event_file(path: str) -> EventFile:
    """What `<store>/<run uuid>/events/<kind>/<name>.plx` says; `resources` is laid out alike."""
    match = _EVENT_FILE.search(path)
    if match is None or match["agents"]:
        return EventFile(run_of_folder(path), None, None)
    return EventFile(hex_uuid(match[2]), match["kind"], match["name"])


def role_in_name(name: str) -> str | None:
    """What a run's object is for, by its name: `operation`, `cleaner`, `notifier`, …."""
    found = _run_in_name(name)
    return found[0] or None if found else None


def replica_of_pod(labels: Mapping[str, str], names: Iterable[str]) -> Replica:
    """Type and index of the replica that a pod is, by its labels, else by its name."""
    type_ = _first(labels, _REPLICA_TYPE_LABELS)
    index = _first(labels, _REPLICA_INDEX_LABELS)
    if type_ is None and index is None:
        for name in names:
            match = _REPLICA_NAME.match(name)
            if match is not None:
                return Replica(match[2], match[3])
    return Replica(type_.lower() if type_ else None, index)


def _run_in_name(name: str) -> tuple[str, str] | None:
    match = _NAME.match(name) or _NAME_BEFORE_1.match(name)
    run = hex_uuid(match[2]) if match else None
    return (match[1], run) if match and run else None


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((labels[name] for name in names if labels.get(name)), None)
