"""image_pulls: which images a node pulled for which containers, from the kubelet's events.

**Events.** Read are `Pulling`, `Pulled` (pulled, or already present), `Failed` (`Failed to pull
image`, `Error: ErrImagePull`, `Error: ImagePullBackOff`) and `BackOff` (`Back-off pulling image`)
within the look-back `pods`, in all forms of polyaxon_kubernetes.md 5.2; other failures of a
container are none of a pull. An event is one over its repetitions (same object, container, reason,
message and first time), whichever sources and states tell it; what an archive repeats of an event
that is also there in full counts once. An event without the pod's UID is matched by name.

**Pulls.** Of a repeated event only the times are known that its states show (first and last of
each). In time order per container (without a container's name: per pod and image) a pull ends with
`Pulled`. It also ends, with its end unknown, where the next `Pulling` follows without any failure
in between: the spam filter drops events. It starts with the first `Pulling`, else the first
failure, else the end less the duration that the kubelet states, else the presence event.

**Counts** are the day's: `attempt_count` the `Pulling` events (and the pulls whose start had to be
derived), `error_count` the larger of `Failed to pull image` and `Error: ErrImagePull`. Repetitions
that no state dates are put to the newest pull of the day; those of a count that began before the
day and was not seen before it are left out. So both are least numbers.

**Bytes** (`measured_by`), by the best that is there:

* an image that was present moved none;
* `application_log`: what the runtime's own log says that it read for the pull (containerd's
  `stop pulling image`), exact where there is a line for each attempt;
* `registry_log`: what the registry's log says that it sent to the node's address for that
  repository while the pull was under way; all of it, if the manifest is among it and no blob was
  sent from elsewhere. A node behind a shared address is in no such row. ECR's events tell the
  layers that the node had not (`fetched_blob_count`), and no bytes;
* `image_size`: a finished pull without failures moved between nothing (all layers were there) and
  the image's size, stated compressed by containerd and unpacked by others, so always a most;
* all else is unbounded (`none`).

A line or request counts only if one pull alone can have caused it. `shared_bytes` is what of the
image was there before, in layers that other images have too: its size less what was moved.

**Digest**: of the container's state that started nearest behind the end of the pull.

A pull that crosses midnight has a row on each day on which something of it happened, under one id.
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.intermediate.cluster_regions import cluster_regions
from transforms.intermediate.pod_match import match_pods
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"
PULLS = (
    "image_pull_merged",
    "image_pull_logged",
    "image_pull_requests",
    "node_places",
    "agreed_regions",
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the image pulls of one cluster and day."""
    values = {
        "cluster": day.cluster,
        "span_start": day.start_at - day.look_back.pods,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "guard_us": SKEW_GUARD // timedelta(microseconds=1),
    }
    session.register("cluster_regions", cluster_regions(day))
    helpers = (
        "image_pull_states",
        "match_input",
        "match_output",
        "image_pull_series",
        "image_pull_occurrences",
        "image_pull_containers",
        *PULLS,
    )
    with session.dropped(*helpers):
        session.create("image_pull_states", PACKAGE, "image_pull_states", values)
        session.create("match_input", PACKAGE, "image_pull_match_input", values)
        match_pods(session, day)
        for step in ("image_pull_series", "image_pull_occurrences", "image_pull_containers"):
            session.create(step, PACKAGE, step, values)
        for step in PULLS:
            session.create(step, PACKAGE, step, values)
        return session.create("image_pulls_built", PACKAGE, "image_pulls", values)


TRANSFORM = Transform(
    table="image_pulls",
    reads=(
        Reads("kube_event_states", "pods"),
        Reads("container_states", "pods"),
        Reads("pod_intervals", "pods"),
        Reads("node_states", "pods"),
        Reads("image_pull_logs", "pods"),
        Reads("registry_requests", "pods"),
    ),
    rows_from=("kube_event_states", "container_states", "image_pull_logs", "registry_requests"),
    build=build,
    version=4,
)
