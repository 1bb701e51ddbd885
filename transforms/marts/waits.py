"""waits: where the time of each stage went, and on what (definitions.md 43 and 44).

**Stages with a cause of their own**: admission, queued, scheduling → placement; volume_mount →
volume; sandbox, image_pull → themselves; teardown → working; compute and interactive → working,
because traffic beside computing is no wait (what marks say otherwise is a stage of its own);
waiting to be started again, and between attempts, → retry; unknown → unexplained.

**init, startup, download, upload** are cut by what the pod tried. Each instant gets the first of

1. denied: from a denied attempt (403, a drop by policy) to the next success, else to the last such
   attempt; 2. throttled: from a 429 or 503 to the next attempt; 3. retry: from another failure to
   the next attempt;
4. authenticate: a connection to a token or metadata endpoint, or from a refused credential (401,
   expired) to the next success; 5. resolve: from query to answer, after failures to the next
   success's answer; 6. connect: from the first packet to the first reply, to midnight where there
   is none yet and the last packet was less than 300 s before;
7. transfer: the duration of a logged request; without a log the events of a connection, 5 s apart
   at most. A download that marks bound is transfer where nothing else is known, an upload `upload`;

the rest is `unexplained`. Attempts of one (pod, container, resource) belong together while gaps are
at most 300 s; what comes of a failure less than that before midnight the day does not know, and it
lasts to midnight. An object that is not there (404) is an answer, no failure.

A request whose log cuts its time to whole seconds (S3's) began within its second, behind the
answers to look-ups and connections and behind the request ahead of it where that is possible: so
each takes its duration, and hides none of what came before. States and events of Kubernetes are cut
to whole seconds, too, so that up to one at either end of a stage is `unexplained`, or taken from
it, which nothing tells. When a client gives up what is never answered leaves no trace: from the
last packet on all is `retry`.

Evidence of a named container is that container's; of no certain container, the init or main
container's that ran then; while the pod uploads, the sidecar's is the main container's too, and
evidence of no certain container is both containers'.

**GPU time** stands once per pod: from binding on to the pod as a whole, then to its init containers
in turn, then to the main one, which has the pod's upload and teardown too. All else has none.

Parts tile each stage exactly; what crosses midnight is cut there. Sums are of whole microseconds.
"""

from datetime import timedelta

from transforms.day import BuildDay
from transforms.marts.attempts import MADE, make_attempts
from transforms.marts.row_coverage import cover_rows_of_day
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
NAMES_BEFORE = timedelta(seconds=600)
"""Failed look-ups are followed by the next one within 300 s."""
STEPS = (
    "wait_attempts",
    "wait_marks",
    "wait_spans",
    "wait_islands",
    "wait_tiles",
    "wait_evidence",
    "wait_accounts",
    "wait_bytes",
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the waits of one day, of all clusters."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
    }
    helpers = ("runs_of_day", "wait_stages", "attempt_pods")
    with session.dropped(*helpers, *MADE, *STEPS):
        session.create("runs_of_day", PACKAGE, "runs_of_day", values)
        session.create("wait_stages", PACKAGE, "wait_stages", values)
        session.create("attempt_pods", PACKAGE, "wait_pods", values)
        make_attempts(session, day, NAMES_BEFORE)
        for step in STEPS:
            session.create(step, PACKAGE, step, values)
        session.create("mart_rows", PACKAGE, "waits", values)
    return cover_rows_of_day(session)


TRANSFORM = Transform(
    table="waits",
    reads=(
        Reads("stages"),
        Reads("pod_intervals", "pods"),
        Reads("node_states", "pods"),
        Reads("container_states", "pods"),
        Reads("object_requests", "transfers"),
        Reads("object_transfers", "transfers"),
        Reads("connections", "connections"),
        Reads("flows", "connections"),
        Reads("dns_lookups", "names"),
        Reads("stage_marks"),
        Reads("run_dependency_days"),
        Reads("runs"),
        Reads("run_coverage_days"),
    ),
    rows_from=("stages",),
    build=build,
    version=7,
)
