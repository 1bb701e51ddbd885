"""declared_dependencies: what the runs of a day declare that their components use.

A run is the day's if a version shows it created by the day's end and not finished before the day,
or if a state of one of its pods (cleaner pods excepted) was observed since the day began. Its
declarations are all that its versions, pods and lineage say within the look-back `pods`, and what
earlier days published of it: a run's content is often exported only once, near its creation. Of the
lineage counts data in buckets; its code and images the content names better.

Several declarations of one key (run, component, resource, operation) are one row. Per column the
first value that is stated counts: content before pod spec before environment before lineage, then
the newest.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the declarations of all clusters' runs of one day."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "span_start": day.start_at - day.look_back.pods,
    }
    return session.create("declared_dependencies_built", PACKAGE, "declared_dependencies", values)


TRANSFORM = Transform(
    table="declared_dependencies",
    reads=(
        Reads("run_versions", "pods"),
        Reads("pod_states", "pods"),
        Reads("run_artifacts", "pods"),
        Reads("declared_dependencies", "history"),
    ),
    rows_from=("run_versions", "pod_states", "run_artifacts", "declared_dependencies"),
    build=build,
    version=2,
)
