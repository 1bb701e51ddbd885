"""volume_findings: what records of bytes between two ends contradict or leave unknown.

Rules of what is held back: `transforms.intermediate.volume_intervals`. Beside that, kinds tell what
peer_traffic cannot count: first readings of counters that began before the look-back
(`unknown_start`), values that were not read at their time (`no_reading`), records with an end that
has no address (`no_address`: Kubecost's, OBI's where addresses are not asked for, hits of a cache),
sampled ones whose rate is not known (`unknown_scale`), and remote memory access (`remote_memory`).
Of counters without an address or a rate it tells what they grew by, and of an end without an
address the pod, service, workload or node that it states, and how far the source says that the
bytes went.
"""

from transforms.day import BuildDay
from transforms.intermediate.volume_intervals import HELPERS, find_intervals
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.intermediate"


def build(session: SqlSession, day: BuildDay) -> str:
    """Make `volume_findings` of one day."""
    values = {
        "start_us": day.start_us,
        "end_us": day.end_us,
    }
    with session.dropped(*HELPERS):
        find_intervals(session, day)
        return session.create("volume_findings", PACKAGE, "volume_findings", values)


TRANSFORM = Transform(
    table="volume_findings",
    reads=(Reads("volume_records", "counters", ahead=True),),
    rows_from=("volume_records",),
    build=build,
    version=6,
)
