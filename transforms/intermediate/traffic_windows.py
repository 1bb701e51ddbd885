"""Bytes of pods' interfaces in windows of the length asked for, with bounds of that length.

Method: reference/counters.md 3.2, steps 7 and 8. An increment of `b` bytes over `[start, end)`
gives a window `F(window end) - F(window start)` with `F(e) = floor(b * (e - start) / (end -
start))`, `e` clamped to the increment: windows add up to the increment, whatever edges are cut
later. `min_bytes` sums the increments wholly inside the window, `max_bytes` those that overlap it:
of a longer window both are closer than sums over shorter ones, so that they are found at the length
that is asked for.

An increment across midnight whose end lies `look_ahead` or more behind it is seen by the later day
only. All its bytes stand there, from midnight on, so that days still add up to the counter.

One observer counts per pod, interface, direction and UTC hour (definitions.md 38): the one with
most readings in the hour, then the smallest name. Bridges, tunnels and ends of pairs inside a pod
count what its other interfaces count, and are left out.
"""

from datetime import timedelta

from transforms.day import BuildDay
from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"
MICROSECOND = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


def sum_windows(session: SqlSession, day: BuildDay, grain: timedelta) -> str:
    """Make `traffic_windows` of the day from the session's `counter_increments`.

    Args:
        session: The session.
        day: The day.
        grain: Length of a window: divides an hour, or whole hours that divide the day.

    Returns:
        The table's name. Columns: pod_uid, interface, direction, window_number (times `grain` it is
        the start since 1970), observer, byte_layer, namespace, pod_name, bytes, min_bytes,
        max_bytes (null where a restart hid bytes), reset_count, gap_us, covered_us.

    Raises:
        ValueError: The grain fits neither an hour nor a day.
    """
    if not grain or (HOUR % grain and (timedelta(days=1) % grain or grain % HOUR)):
        message = f"windows of {grain} fit neither an hour nor a day"
        raise ValueError(message)
    values = {
        "start_us": day.start_us,
        "end_us": day.end_us,
        "look_ahead_us": day.look_ahead // MICROSECOND,
        "grain_us": grain // MICROSECOND,
    }
    with session.dropped("traffic_parts"):
        session.create("traffic_parts", PACKAGE, "traffic_parts", values)
        shares = "traffic_few_shares" if grain <= HOUR else "traffic_shares"
        with session.dropped("traffic_shares"):
            session.create_view("traffic_shares", PACKAGE, shares)
            return session.create("traffic_windows", PACKAGE, "traffic_windows", values)
