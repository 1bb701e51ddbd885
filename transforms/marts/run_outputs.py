"""run_outputs: what a run was to leave, and whether it is there (definitions.md 46).

**Expected** are the run's folder in its artifact store (the bucket of the connection of that name,
or of what the platform's sidecar writes to; a store without a known bucket has a row without a
path), the artifacts of its lineage that are files (relative paths lie in that folder), checkpoints,
by their kind, name or path or by what the application's marks say it saved, and declared writes;
also where it wrote checkpoints, or tried to, outside of all these.

**Events** of an output are what requests under its path did between the run's start and an hour
behind its end, by the run's pods or sessions: a write or copy that was done (of a multipart upload
its completion), one that failed, an upload that was aborted, a deletion. Each object stands or not
by its last event. Deletions by others are told (`deleted_at`), they contradict nothing.

**Proof**: `contradicted` needs a run that succeeded, and that the last try to write any object of
the output failed or was aborted, or that the run itself deleted all objects that it wrote, or that
the pods' interfaces can have sent less than the application says it saved. `proven` is what stands
and is not contradicted. Else the run succeeded and the log of the bucket covers all of that time
(`unproven`) or does not (`not_observed`). A run that did not succeed has rows of what was seen.

How the platform's sidecar ended is told beside the proof of the store: an exit code is its own word
for what it did, no request that anyone saw.

It reads no `runs`: those state the weakest proof of it.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
STEPS = (
    "run_conditions",
    "run_versions_merged",
    "active_runs",
    "run_pods",
    "output_runs",
    "output_marks",
    "output_paths",
    "output_events",
    "output_objects",
    "output_coverage",
    "output_traffic",
    "output_sidecars",
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of all runs that were active on the day."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "is_final": day.is_final,
    }
    with session.dropped(*STEPS):
        for step in STEPS:
            session.create(step, PACKAGE, step, values)
        return session.create("run_outputs_built", PACKAGE, "run_outputs", values)


TRANSFORM = Transform(
    table="run_outputs",
    reads=(
        Reads("run_versions", "pods"),
        Reads("run_statuses", "pods"),
        Reads("run_artifacts", "pods"),
        Reads("stage_marks", "pods"),
        Reads("container_states", "pods"),
        Reads("declared_dependencies"),
        Reads("pod_intervals", "history"),
        Reads("object_transfers", "history"),
        Reads("object_requests", "transfers"),
        Reads("node_coverage", "history"),
        Reads("pod_traffic", "history"),
    ),
    rows_from=(
        "run_versions",
        "run_artifacts",
        "stage_marks",
        "declared_dependencies",
        "pod_intervals",
        "object_transfers",
        "object_requests",
    ),
    build=build,
    version=3,
)
