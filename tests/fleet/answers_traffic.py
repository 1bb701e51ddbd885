"""Answers: pod_traffic and peer_traffic, from readings and records by plain arithmetic.

A counter's growth between two readings is spread evenly over the time between them, and cut at
window edges by the cumulative floor, so that windows add up to the growth exactly.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.clock import EPOCH, epoch_micros, seconds
from tests.fleet.world import Connection, Fleet, FlowRecord, Reading

WINDOW = 300_000_000
MINUTE = seconds(60)


@dataclass
class Growth:
    """Bytes that a counter grew by over an interval."""

    start: datetime
    end: datetime
    bytes: int
    hides: tuple[datetime, datetime] | None
    is_gap: bool


@dataclass
class Share:
    """What falls into one window."""

    bytes: int = 0
    min_bytes: int = 0
    max_bytes: int = 0
    resets: int = 0
    gap_micros: int = 0
    hidden: bool = False
    packets: int = 0


def growths(readings: list[Reading], direction: str) -> list[Growth]:
    """Return what one counter grew by between its readings, in order of time.

    A restart shows in the stated start; a reading slightly below the one before it is a stale one,
    and what follows is measured from the highest reading.
    """
    found: list[Growth] = []
    highest = 0
    previous: Reading | None = None
    for reading in readings:
        value = reading.receive if direction == "receive" else reading.transmit
        if previous is None:
            found.append(Growth(reading.start, reading.time, value, None, False))
            highest = value
        elif reading.start > previous.time:
            hides = (previous.time, reading.start)
            found.append(Growth(reading.start, reading.time, value, hides, False))
            highest = value
        else:
            is_gap = reading.time - previous.time > 3 * MINUTE
            growth = max(0, value - highest)
            found.append(Growth(previous.time, reading.time, growth, None, is_gap))
            highest = max(highest, value)
        previous = reading
    return found


def split(
    start: datetime, end: datetime, count: int, size: int = WINDOW
) -> Iterable[tuple[int, int, bool]]:
    """Yield (window index, bytes, whether the interval lies wholly inside) by cumulative floor."""
    first, last = epoch_micros(start), epoch_micros(end)
    length = last - first
    for window in range(first // size, (last - 1) // size + 1):
        low, high = max(first, window * size), min(last, (window + 1) * size)
        part = count * (high - first) // length - count * (low - first) // length
        yield window, part, low == first and high == last


def pod_traffic(fleet: Fleet) -> Table:
    """Return the bytes of each pod that the collector read, by windows of five minutes."""
    table = Table(
        "pod_traffic",
        (
            "date", "cluster", "pod_uid", "interface", "direction", "window_start_at",
            "run_uuid", "bytes", "min_bytes", "max_bytes", "reset_count", "gap_seconds",
            "measured_by", "byte_layer",
        ),
        ("date", "cluster", "pod_uid", "direction", "window_start_at"),
    )  # fmt: skip
    pods = {reading.pod.uid: reading.pod for reading in fleet.readings}
    for uid, pod in pods.items():
        readings = [item for item in fleet.readings if item.pod.uid == uid]
        for direction in ("receive", "transmit"):
            shares: dict[int, Share] = {}
            for growth in growths(readings, direction):
                _spread(shares, growth)
            for window, share in sorted(shares.items()):
                start = EPOCH + timedelta(microseconds=window * WINDOW)
                table.add(
                    date=start.date(),
                    cluster=pod.cluster.name,
                    pod_uid=uid,
                    interface="eth0",
                    direction=direction,
                    window_start_at=start,
                    run_uuid=pod.run.uuid if pod.run else None,
                    bytes=share.bytes,
                    min_bytes=share.min_bytes,
                    max_bytes=None if share.hidden else share.max_bytes,
                    reset_count=share.resets,
                    gap_seconds=share.gap_micros / 1_000_000,
                    measured_by="interface_counter",
                    byte_layer="frame",
                )
    return table


def _spread(shares: dict[int, Share], growth: Growth) -> None:
    for window, part, is_inside in split(growth.start, growth.end, growth.bytes):
        share = shares.setdefault(window, Share())
        share.bytes += part
        share.min_bytes += growth.bytes if is_inside else 0
        share.max_bytes += growth.bytes
        if growth.is_gap:
            low = max(epoch_micros(growth.start), window * WINDOW)
            high = min(epoch_micros(growth.end), (window + 1) * WINDOW)
            share.gap_micros += high - low
        if growth.hides is not None:
            hidden = {epoch_micros(moment) // WINDOW for moment in growth.hides}
            if hidden != {window}:
                message = "the scenario keeps each restart inside one window"
                raise ValueError(message)
            share.resets += 1
            share.hidden = True


def peer_name_of(fleet: Fleet, record: FlowRecord) -> Connection | None:
    """Return the connection that a record's bytes belong to."""
    if record.pod is None:
        return None
    return next(
        item
        for item in fleet.connections
        if item.client is record.pod
        and item.client_port == record.local_port
        and item.server_address == record.peer_address
        and item.server_port == record.peer_port
    )


def peer_traffic(fleet: Fleet) -> Table:
    """Return the bytes between each local address and peer, by windows of five minutes."""
    table = Table(
        "peer_traffic",
        (
            "date", "cluster", "local_address", "pod_uid", "peer_address", "peer_port",
            "transport", "direction", "window_start_at", "run_uuid", "bytes", "min_bytes",
            "max_bytes", "packets", "measured_by", "byte_layer", "is_chosen", "rejected_bytes",
        ),
        ("date", "local_address", "pod_uid", "peer_address", "peer_port", "transport",
         "direction", "window_start_at"),
    )  # fmt: skip
    groups: dict[tuple[str, str, str, int, str], list[FlowRecord]] = {}
    for record in fleet.flow_records:
        owner = record.pod.uid if record.pod is not None else ""
        peer = (record.peer_address, record.peer_port, record.direction)
        groups.setdefault((owner, record.local_address, *peer), []).append(record)
    for records in groups.values():
        shares: dict[int, Share] = {}
        for record in records:
            _spread(shares, Growth(record.start, record.end, record.bytes, None, False))
            shares[epoch_micros(record.start) // WINDOW].packets += record.packets
        first = records[0]
        pod = first.pod
        for window, share in sorted(shares.items()):
            start = EPOCH + timedelta(microseconds=window * WINDOW)
            table.add(
                date=start.date(),
                cluster=pod.cluster.name if pod else NOT_STATED,
                local_address=first.local_address,
                pod_uid=pod.uid if pod else None,
                peer_address=first.peer_address,
                peer_port=first.peer_port,
                transport=first.transport,
                direction=first.direction,
                window_start_at=start,
                run_uuid=pod.run.uuid if pod is not None and pod.run else None,
                bytes=share.bytes,
                min_bytes=share.min_bytes,
                max_bytes=share.max_bytes,
                packets=share.packets,
                measured_by="flow_record",
                byte_layer=NOT_STATED,
                is_chosen=True,
                rejected_bytes=0,
            )
    return table
