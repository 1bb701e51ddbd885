"""Answers: byte_balance, what each source saw of a pod in an hour and which of them counts.

Sources are known by what was exported: counters of some pods of cluster alder, records of the
cloud for some of birch, requests in the logs of buckets. Hours are cut by the cumulative floor, as
windows are (answers_traffic).
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.answers_traffic import Growth, growths, split
from tests.fleet.clock import EPOCH
from tests.fleet.transfers import transfers
from tests.fleet.world import Fleet, Pod

HOUR = 3_600_000_000
MICROSECOND = timedelta(microseconds=1)
GUARD = timedelta(seconds=2)
ABOVE = "storage_log_exceeds_interface"


@dataclass
class Seen:
    """What the sources saw of one pod in one direction and hour."""

    pod: Pod
    interface: int | None = None
    min_interface: int = 0
    max_interface: int | None = 0
    has_gap: bool = False
    flow: int | None = None
    log: int | None = None

    @property
    def chosen(self) -> tuple[str, int]:
        """Return the source that counts and its bytes (definitions.md 39)."""
        if self.interface is not None and not self.has_gap and self.max_interface is not None:
            return "interface_counter", self.interface
        if self.flow is not None:
            return "flow_record", self.flow
        if self.interface is not None and self.interface >= (self.log or 0):
            return "interface_counter", self.interface
        assert self.log is not None
        return "storage_log", self.log


Key = tuple[str, str, int]


def _seen(found: dict[Key, Seen], pod: Pod, direction: str, hour: int) -> Seen:
    return found.setdefault((pod.uid, direction, hour), Seen(pod))


def _add_counters(fleet: Fleet, found: dict[Key, Seen]) -> None:
    pods = {reading.pod.uid: reading.pod for reading in fleet.readings}
    for uid, pod in pods.items():
        readings = [item for item in fleet.readings if item.pod.uid == uid]
        for direction in ("receive", "transmit"):
            for growth in growths(readings, direction):
                for hour, part, is_inside in split(growth.start, growth.end, growth.bytes, HOUR):
                    seen = _seen(found, pod, direction, hour)
                    seen.interface = (seen.interface or 0) + part
                    seen.min_interface += growth.bytes if is_inside else 0
                    seen.has_gap |= growth.is_gap
                    if growth.hides is not None:
                        seen.max_interface = None
                    elif seen.max_interface is not None:
                        seen.max_interface += growth.bytes


def _add_flows(fleet: Fleet, found: dict[Key, Seen]) -> None:
    for record in fleet.flow_records:
        if record.pod is not None:
            for hour, part, _ in split(record.start, record.end, record.bytes, HOUR):
                seen = _seen(found, record.pod, record.direction, hour)
                seen.flow = (seen.flow or 0) + part


def _add_logs(fleet: Fleet, found: dict[Key, Seen]) -> None:
    for item in transfers(fleet):
        if item.pod is None or item.operation not in {"read", "write", "list"} or not item.bytes:
            continue
        direction = "transmit" if item.operation == "write" else "receive"
        end = max(item.end, item.start + MICROSECOND)
        if item.start.date() != (end - MICROSECOND).date():
            message = "no transfer of the scenario crosses midnight"
            raise ValueError(message)
        for hour, part, _ in split(item.start, end, item.bytes, HOUR):
            seen = _seen(found, item.pod, direction, hour)
            seen.log = (seen.log or 0) + part


def _unbroken(grown: list[Growth]) -> list[tuple[datetime, datetime]]:
    """Return the times in which a counter was read without a break, from its pod's beginning."""
    found: list[tuple[datetime, datetime]] = []
    for growth in grown:
        if found and growth.hides is None and growth.start == found[-1][1]:
            found[-1] = (found[-1][0], growth.end)
        else:
            found.append((growth.start, growth.end))
    return found


def _above_counters(fleet: Fleet) -> set[tuple[str, str, date]]:
    """Return (pod, direction, hour or day) where the log exceeds what a counter may.

    Certain of the log are transfers wholly inside the hour or day, 2 s of clocks apart, and inside
    the counter's unbroken time; possible of the counter is all that it grew by in readings that
    touch the hour or day. No counter of the scenario is read on two days with transfers on both.
    """
    found: set[tuple[str, str, date]] = set()
    moved = [item for item in transfers(fleet) if item.pod is not None and item.bytes]
    for uid in {reading.pod.uid for reading in fleet.readings}:
        readings = [item for item in fleet.readings if item.pod.uid == uid]
        for direction in ("receive", "transmit"):
            grown = growths(readings, direction)
            seen = [
                item
                for item in moved
                if item.pod is not None
                and item.pod.uid == uid
                and (item.operation == "write") == (direction == "transmit")
                and any(low <= item.start and item.end <= high for low, high in _unbroken(grown))
            ]
            begun = [item.start.replace(minute=0, second=0, microsecond=0) for item in seen]
            spans = {(start, 1) for start in begun}
            spans |= {(start.replace(hour=0), 24) for start in begun}
            for start, hours in sorted(spans):
                end = start + timedelta(hours=hours)
                certain = sum(
                    item.bytes
                    for item in seen
                    if start <= item.start - GUARD and item.end + GUARD <= end
                )
                touching = [g for g in grown if g.start - GUARD < end and g.end + GUARD > start]
                is_bounded = all(growth.hides is None for growth in touching)
                if is_bounded and certain > sum(growth.bytes for growth in touching):
                    found.add((uid, direction, start if hours == 1 else start.date()))
    return found


def _pulls_in(pod: Pod, hour: int) -> bool:
    """Whether the node may have moved bytes of an image for the pod in the hour."""
    start = EPOCH + timedelta(microseconds=hour * HOUR)
    end = start + timedelta(microseconds=HOUR)
    spans: list[tuple[datetime, datetime | None]] = [
        (item.pull.start, item.pull.end)
        for item in pod.containers
        if item.pull is not None and not item.pull.was_present
    ]
    return any(begun < end and (ended is None or ended >= start) for begun, ended in spans)


def byte_balance(fleet: Fleet) -> Table:
    """Return the account of each pod whose bytes a source saw, by direction and hour."""
    table = Table(
        "byte_balance",
        (
            "date", "cluster", "pod_uid", "direction", "hour_start_at", "run_uuid", "project",
            "interface_bytes", "min_interface_bytes", "max_interface_bytes", "flow_bytes",
            "storage_log_bytes", "chosen_by", "chosen_bytes", "unattributed_bytes", "rdma",
            "violations", "day_violations",
        ),
        ("pod_uid", "direction", "hour_start_at"),
        rows_where="pod_uid IS NOT NULL AND chosen_by <> 'none'",
    )  # fmt: skip
    found: dict[Key, Seen] = {}
    _add_counters(fleet, found)
    _add_flows(fleet, found)
    _add_logs(fleet, found)
    above = _above_counters(fleet)
    for (uid, direction, hour), seen in found.items():
        chosen_by, chosen = seen.chosen
        if seen.flow is not None and seen.flow < (seen.log or 0):
            message = "the scenario's records of the cloud see all that a log sees"
            raise ValueError(message)
        start = EPOCH + timedelta(microseconds=hour * HOUR)
        has_counter = seen.interface is not None
        may_pull = direction == "receive" and _pulls_in(seen.pod, hour)
        # What rows show of records depends on whom they are matched to; of logs it is all.
        is_plain = seen.flow is None
        table.add(
            date=start.date(),
            cluster=seen.pod.cluster.name,
            pod_uid=uid,
            direction=direction,
            hour_start_at=start,
            run_uuid=seen.pod.run.uuid if seen.pod.run else None,
            project=seen.pod.run.project if seen.pod.run else None,
            interface_bytes=seen.interface,
            min_interface_bytes=seen.min_interface if has_counter else None,
            max_interface_bytes=seen.max_interface if has_counter else None,
            flow_bytes=seen.flow,
            storage_log_bytes=seen.log,
            chosen_by=chosen_by,
            chosen_bytes=NOT_STATED if may_pull else chosen,
            unattributed_bytes=chosen - (seen.log or 0) if is_plain else NOT_STATED,
            rdma=None,
            violations=ABOVE if (uid, direction, start) in above else None,
            day_violations=ABOVE if (uid, direction, start.date()) in above else None,
        )
    return table
