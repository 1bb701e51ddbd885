"""Answers: connections and name_bindings (definitions.md 16 to 19, 36)."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from tests.fleet.answer import NOT_STATED, Table
from tests.fleet.clock import DAYS, day_end, day_start, seconds
from tests.fleet.places import MISSING_HUBBLE
from tests.fleet.world import Connection, Fleet, FlowEvent, Pod

GRACE = seconds(2)


def seen(connection: Connection) -> list[FlowEvent]:
    """Return the events of a connection that some export holds."""
    return [
        event
        for event in connection.events
        if (event.node.name, event.time.date()) not in MISSING_HUBBLE
    ]


def counted(fleet: Fleet) -> list[Connection]:
    """Return the connections that the product must find."""
    return [item for item in fleet.connections if item.is_counted and seen(item)]


def resource_of(connection: Connection) -> str:
    """Return what the connection went to, as definitions.md 19 writes it."""
    port = connection.server_port
    tail = "/udp" if connection.transport == "UDP" else ""
    if connection.service is not None:
        namespace, name = connection.service
        return f"kube://{connection.cluster.name}/{namespace}/{name}:{port}{tail}"
    if connection.server is not None:
        server = connection.server
        return (
            f"kube://{connection.cluster.name}/{server.namespace}/{server.owner_name}:{port}{tail}"
        )
    if connection.name is not None:
        return f"dns://{connection.name}:{port}{tail}"
    address = connection.server_address
    shown = f"[{address}]" if ":" in address else address
    return f"ip://{shown}:{port}{tail}"


def days_of(connection: Connection) -> list[date]:
    """Return the days that have a row of the connection."""
    events = seen(connection)
    start, last = events[0].time, events[-1].time
    return [day for day in DAYS if start < day_end(day) and last >= day_start(day)]


def connections(fleet: Fleet) -> Table:
    """Return every connection of a pod, once for each day it touches."""
    table = Table(
        "connections",
        (
            "date", "cluster", "transport", "initiator_address", "initiator_port",
            "responder_address", "responder_port", "start_at", "end_at", "closed_after",
            "opened_before", "initiator_node", "initiator_namespace", "initiator_pod_name",
            "initiator_pod_uid", "responder_pod_uid", "run_uuid", "attempt",
            "responder_run_uuid", "verdict", "drop_reason", "attempt_count", "event_count",
            "peer_name", "name_kind", "candidate_names", "resource_id",
        ),
        ("date", "cluster", "transport", "initiator_address", "initiator_port",
         "responder_address", "responder_port", "start_at"),
    )  # fmt: skip
    for item in counted(fleet):
        events = seen(item)
        start, last = events[0].time, events[-1].time
        client = item.client
        assert client is not None
        days = days_of(item)
        for day in days:
            is_first = day == days[0]
            open_after = last >= day_end(day)
            today = [event for event in events if event.time.date() == day]
            table.add(
                date=day,
                cluster=item.cluster.name,
                transport=item.transport,
                initiator_address=item.client_address,
                initiator_port=item.client_port,
                responder_address=item.server_address,
                responder_port=item.server_port,
                start_at=start,
                end_at=None if open_after else last,
                closed_after=open_after,
                opened_before=False,
                initiator_node=client.node.name,
                initiator_namespace=client.namespace,
                initiator_pod_name=client.name,
                initiator_pod_uid=client.uid,
                responder_pod_uid=item.server.uid if item.server else None,
                run_uuid=client.run.uuid if client.run else None,
                attempt=client.attempt,
                responder_run_uuid=_run_of(item.server),
                verdict=NOT_STATED
                if any(event.kind == "verdict" for event in events)
                else item.verdict,
                drop_reason=item.drop_reason,
                attempt_count=item.attempts if is_first else 0,
                event_count=len(today),
                peer_name=NOT_STATED if item.server or item.service else item.name,
                name_kind=NOT_STATED if item.server else item.name_kind,
                candidate_names=list(item.candidate_names),
                resource_id=resource_of(item),
            )
    return table


def _run_of(pod: Pod | None) -> str | None:
    return pod.run.uuid if pod is not None and pod.run is not None else None


@dataclass
class _Binding:
    pod: Pod
    address: str
    name: str
    start: datetime
    end: datetime
    ttl: int
    canonical: str | None
    answers: int


def name_bindings(fleet: Fleet) -> Table:
    """Return which names stood for which addresses, for each pod that was seen to ask.

    Only logs that hold answers bind: Hubble's DNS proxy on alder, DNS-collector on birch.
    """
    table = Table(
        "name_bindings",
        (
            "date", "cluster", "scope", "scope_id", "address", "name", "start_at", "end_at",
            "canonical_name", "ttl_seconds", "answer_count",
        ),
        ("date", "cluster", "scope", "scope_id", "address", "name", "start_at"),
        rows_where="scope = 'pod'",
    )  # fmt: skip
    bindings: list[_Binding] = []
    for lookup in fleet.lookups:
        hears = lookup.by_proxy or lookup.pod.cluster.name == "birch"
        hidden = (lookup.pod.node.name, lookup.time.date()) in MISSING_HUBBLE
        if not hears or (hidden and lookup.by_proxy):
            continue
        answered = lookup.answered
        addresses = [item for item in lookup.answers if item.type in {"A", "AAAA"}]
        chain = [item.data for item in lookup.answers if item.type == "CNAME"]
        ttl = min((item.ttl for item in lookup.answers), default=0)
        for record in addresses:
            end = answered + timedelta(seconds=max(ttl, 60))
            bindings.append(
                _Binding(
                    lookup.pod,
                    record.data,
                    lookup.query,
                    answered - GRACE,
                    end,
                    ttl,
                    chain[-1] if chain else None,
                    1,
                )
            )
    for binding in _merged(bindings):
        for day in DAYS:
            if binding.start < day_end(day) and binding.end > day_start(day):
                if binding.end > day_end(day) or binding.start < day_start(day):
                    message = "no binding of the scenario crosses midnight"
                    raise ValueError(message)
                table.add(
                    date=day,
                    cluster=binding.pod.cluster.name,
                    scope="pod",
                    scope_id=binding.pod.uid,
                    address=binding.address,
                    name=binding.name,
                    start_at=binding.start,
                    end_at=binding.end,
                    canonical_name=binding.canonical,
                    ttl_seconds=binding.ttl,
                    answer_count=binding.answers,
                )
    return table


def _merged(bindings: list[_Binding]) -> list[_Binding]:
    merged: list[_Binding] = []
    for item in sorted(bindings, key=lambda b: (b.pod.uid, b.address, b.name, b.start)):
        last = merged[-1] if merged else None
        same = last is not None and (last.pod.uid, last.address, last.name) == (
            item.pod.uid, item.address, item.name,
        )  # fmt: skip
        if last is not None and same and item.start <= last.end:
            last.end = max(last.end, item.end)
            last.ttl = max(last.ttl, item.ttl)
            last.answers += item.answers
        else:
            merged.append(item)
    return merged
