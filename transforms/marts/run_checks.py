"""run_checks: six steps that accept a deployment, judged on each run active on the day.

What nothing shows, and what there is nothing of to judge, is `not_observable`; only evidence fails.

1. **submitted**: versions state queue, namespace and GPUs of a replica; its pods are in that
   namespace, request those GPUs, are as many as the replicas stated (fewer when tried again),
   and no other version and no queue label of a pod names another queue. A namespace that lists
   state too is the agent's: pods elsewhere contradict only what content or the custom resource
   states.
2. **data_and_accelerator**: every declared object that it reads was read (denied or certainly not
   asked for fails; without a declaration any read counts), its own artifact store aside. Of GPUs
   requested, the application's own marks of computing or logged metrics of a GPU tell; metrics of
   the machine without one of a GPU fail.
3. **outputs_retrievable**: its lineage holds a metric other than the machine's, and all its outputs
   are proven; contradicted and unproven ones fail.
4. **interruption_handled**: there was a further attempt, a restart in place, or it failed although
   retries are declared. Tries again are those declared, or follow a resume; a checkpoint of an
   earlier attempt was read by the last one.
5. **failure_visible**: an attempt that failed shows an exit code with a reason, a reason of its
   condition, or a warning of Kubernetes.
6. **cleaned_up**: the run has ended, every pod's end is proven (its GPUs, node and address are
   free), and what it wrote still stands. A pod that was seen an hour after the run's end, and
   whose end no source shows, fails; one that was not seen again may be gone.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
STEPS = (
    ("active_runs", "runs_of_day"),
    ("run_pods", "run_pods"),
    ("check_submitted", "check_submitted"),
    ("check_seen", "check_seen"),
    ("check_outputs", "check_outputs"),
    ("check_interruption", "check_interruption"),
    ("check_failure", "check_failure"),
    ("check_cleanup", "check_cleanup"),
    ("check_coverage", "check_coverage"),
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of all runs that were active on the day."""
    values = {"date": day.date, "day_end": day.end_at}
    with session.dropped(*(name for name, _ in STEPS)):
        for name, file in STEPS:
            session.create(name, PACKAGE, file, values)
        return session.create("run_checks_built", PACKAGE, "run_checks", values)


TRANSFORM = Transform(
    table="run_checks",
    reads=(
        Reads("runs"),
        Reads("run_outputs"),
        Reads("run_dependencies"),
        Reads("run_coverage"),
        Reads("run_versions", "pods"),
        Reads("run_statuses", "pods"),
        Reads("run_artifacts", "pods"),
        Reads("container_states", "pods"),
        Reads("kube_event_states", "pods"),
        Reads("stages", "history"),
        Reads("object_transfers", "history"),
        Reads("pod_intervals", "history"),
    ),
    rows_from=("runs",),
    build=build,
    version=4,
)
