"""stages: what each run, pod and container did when, as far as it is proven (definitions.md 42).

**Before a pod** (pod_uid null) a run's stages are those of Polyaxon's conditions, each of which
holds until the next: admission (created, compiled, resuming; again between `scheduled` and the
pod), queued. A resumed run is handed in again and has them again. Between two attempts that
Kubernetes makes by itself the stage is `unknown`, with reason Retry. A run of which no pod is known
has `compute` (a service: `interactive`) from `running` to its end.

**Of a pod** before its containers (container null): admission while its scheduling is gated;
scheduling from creation to binding; volume_mount from binding to the last event of mounting, where
there is any; sandbox to PodReadyToStartContainers, or to the first pull or creation, whichever
comes first, because the kubelet writes the condition late.

**Of a container**, from its own pull: image_pull, whose steps are the node's queue, pulling and
back-off, by the durations that the kubelet states; startup (init, of an init container) to the
start; then init, or of a main container what marks of the application say (download, startup,
upload; interactive while an audit log shows somebody's session in it, unless its marks tell what
the job did; compute otherwise, interactive of a service; startup before the first sign that it got
to work). After it: upload while a sidecar runs on, teardown until the pod's end. A sidecar computes
until the main container ends, then uploads. A container that is started again in place is in
startup (init) from the end of the run before.

**Proof.** Best proof wins: terminated or condition time, event, deletion, Polyaxon's last update,
last sign of life. Lesser proofs are held within better ones. The time between a stage's last proof
and the next one's first is `unknown`, but up to a second, which the kubelet cuts off, goes to the
earlier stage. An end that is only the last sign of life is a range up to the assumed end of the pod
(`end_latest_at` null: nothing bounds it).

The whole life is worked out from all states, and then cut at the day. What began before the
look-back `pods` reads is as the day before said.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
FLEET = "fleet"
STEPS = (
    "stage_pods",
    "stage_events",
    "stage_mark_points",
    "stage_lives",
    "stage_containers",
    "stage_runs",
    "stage_pulls",
    "stage_chain",
    "stage_mark_spans",
    "stage_work",
    "stage_pod_segments",
    "stage_container_segments",
    "stage_run_segments",
    "stage_carried",
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the stages of one cluster and day, or of the runs that have no cluster yet."""
    values = {
        "cluster": day.cluster,
        "fleet": FLEET,
        "date": day.date,
        "span_start": day.start_at - day.look_back.pods,
        "day_start": day.start_at,
        "day_end": day.end_at,
    }
    with session.dropped(*STEPS):
        for step in STEPS:
            session.create(step, PACKAGE, step, values)
        return session.create("stages_built", PACKAGE, "stages", values)


TRANSFORM = Transform(
    table="stages",
    reads=(
        Reads("pod_states", "pods"),
        Reads("container_states", "pods"),
        Reads("kube_event_states", "pods"),
        Reads("run_versions", "pods"),
        Reads("run_statuses", "pods"),
        Reads("stage_marks", "pods"),
        Reads("pod_intervals", "pods"),
        Reads("image_pulls", "pods"),
        Reads("stages", "pods"),
    ),
    rows_from=(
        "pod_states",
        "container_states",
        "kube_event_states",
        "run_versions",
        "run_statuses",
        "stage_marks",
        "pod_intervals",
        "image_pulls",
        "stages",
    ),
    build=build,
    version=5,
)
