"""findings: what someone should do, who, and what it costs, as known at the end of the day.

Findings of runs active on the day cover their life; what is of no run is of the day alone.

* **pull_failure**: a pull failed; **slow_pull**, **placement_wait**, **volume_wait**: at least
  `LEAST_WAIT` went to it.
* **denied_storage**, **denied_network**: requests 401 or 403, connections that a policy dropped.
  What they cost stands with their **retry_storm** (definitions.md 45) where there is one.
* **failed_import**: a container of the run ended with an exit code, and its message or mark names
  an import; **failed_container**: any other exit code.
* **cross_project_read**: a run read what runs of other projects declare, and none of its own.
* **undeclared_principal**: who asked never asked for anything declared in the run's project,
  whose declared reads and writes show other principals.
* **output_contradicted**, **output_unproven**: of `run_outputs`.
* **byte_balance_violation**, **contradicted_counter**, **contradicted_volume**,
  **missing_coverage**: the telemetry itself; a run without full coverage has one finding.
* **repeat_transfer**: repeats within the fleet, the widest scope, that have a remedy.

**Responsible** is told by one list, `owner_rules`, by activity and class of the error; storms say
theirs by the same rules. Ranks go by GPU time, money, severity.
"""

from datetime import timedelta

from transforms.day import BuildDay
from transforms.marts.row_coverage import cover_rows_of_lives
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
LEAST_WAIT = timedelta(seconds=60)
"""Waiting less than this is nothing to act on."""
STEPS = (
    ("active_runs", "runs_of_day"),
    ("owner_rules", "owner_rules"),
    ("finding_rules", "finding_rules"),
    ("finding_lost", "finding_lost"),
    ("finding_storms", "finding_storms"),
    ("finding_pulls", "finding_pulls"),
    ("finding_waits", "finding_waits"),
    ("finding_denials", "finding_denials"),
    ("finding_exits", "finding_exits"),
    ("finding_access", "finding_access"),
    ("finding_outputs", "finding_outputs"),
    ("finding_telemetry", "finding_telemetry"),
    ("finding_repeats", "finding_repeats"),
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the findings of one day."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "is_final": day.is_final,
        "least_wait_us": LEAST_WAIT // timedelta(microseconds=1),
    }
    with session.dropped(*(name for name, _ in STEPS)):
        for name, file in STEPS:
            session.create(name, PACKAGE, file, values)
        session.create("mart_rows", PACKAGE, "findings", values)
    return cover_rows_of_lives(session, day)


TRANSFORM = Transform(
    table="findings",
    reads=(
        Reads("runs"),
        Reads("run_outputs"),
        Reads("run_coverage"),
        Reads("run_dependencies", "history"),
        Reads("waits", "history"),
        Reads("storms", "history"),
        Reads("image_pulls", "history"),
        Reads("byte_balance", "history"),
        Reads("repeat_transfers", "history"),
        Reads("object_transfers", "history"),
        Reads("counter_findings"),
        Reads("volume_findings"),
        Reads("container_states", "pods"),
        Reads("stage_marks", "pods"),
        Reads("pod_intervals", "history"),
    ),
    rows_from=(
        "runs",
        "run_outputs",
        "run_coverage",
        "run_dependencies",
        "waits",
        "storms",
        "image_pulls",
        "byte_balance",
        "repeat_transfers",
        "object_transfers",
        "counter_findings",
        "volume_findings",
        "container_states",
        "stage_marks",
    ),
    build=build,
    version=4,
)
