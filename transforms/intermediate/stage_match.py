"""The stage of its pod, or of its container where one is named, in which something happened.

The caller makes a table or view `stage_input` (`item_id`, any type, unique; `cluster`; `pod_uid`;
`container`, null where none is named; `event_at`) and calls `match_stages`; it gets `stage_output`
(`item_id`, `stage`) with a row for each item that lies in a stage in which something of the pod
runs; `stage` is null where it lies in several. All else is `unknown`.

Reads of the caller: `stages`, with the look-back that its events need.
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD
from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"


def match_stages(session: SqlSession) -> str:
    """Match `stage_input` to stages.

    Args:
        session: Session that shows `stage_input` and `stages`.

    Returns:
        `stage_output`, a temporary table.
    """
    values = {"guard_us": SKEW_GUARD // timedelta(microseconds=1)}
    with session.dropped("stage_hours"):
        session.create("stage_hours", PACKAGE, "stage_hours", values)
        return session.create("stage_output", PACKAGE, "stage_match", values)
