"""run_dependencies: what each attempt of a run connected to in its life up to the end of the day.

Rows are the rows of run_dependency_days of all days up to this one, summed per key, and what the
run declares. Nothing is counted here that is not counted there. `max` bytes are open where contact
of the life was measured by nothing.

**Declared** is a resource by its declared id, or anything below a declared bucket path; listing and
asking for facts belong to reading and writing; images are compared by registry and repository,
because a pull names the digest and a declaration the tag. A connection to the host of a declared
repository, bucket or host is `declared_seen` too, but proves nothing of the declared operation:
that stays `declared_not_observable`. `declared_denied` means that every attempt was denied.

A declaration that an attempt did not keep has a row of that attempt, without counts. It is
`declared_not_seen` only where sources able to show it observed all of the run's pod time without
doubt (definitions.md 33): a bucket its request log, an image the kubelet's events, a host flows and
a source of names. Else, and for volumes and variables, it is `declared_not_observable`.

Coverage is that of run_coverage, over the run's whole life.
"""

from transforms.day import BuildDay
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
STEPS = (
    ("active_runs", "runs_of_day"),
    ("dependency_life", "dependency_life"),
    ("dependency_life_kinds", "dependency_life_kinds"),
    ("declared_resources", "declared_resources"),
    ("dependency_matches", "dependency_matches"),
    ("dependency_coverage", "dependency_coverage"),
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of all runs that were active on the day."""
    values = {"date": day.date}
    with session.dropped(*(name for name, _ in STEPS)):
        for name, file in STEPS:
            session.create(name, PACKAGE, file, values)
        return session.create("run_dependencies_built", PACKAGE, "run_dependencies", values)


TRANSFORM = Transform(
    table="run_dependencies",
    reads=(
        Reads("run_dependency_days", "history"),
        Reads("declared_dependencies"),
        Reads("runs"),
        Reads("run_coverage"),
    ),
    rows_from=("run_dependency_days", "declared_dependencies"),
    build=build,
    version=2,
)
