"""The truth of a labelled fleet as tables, which no code of the product reads."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tests.fleet.labelled.counters import Reading
from tests.fleet.labelled.evidence import GUARD, Judge, first_seen
from tests.fleet.labelled.storage import Request
from tests.fleet.labelled.traffic import Connection, Traffic
from tests.fleet.labelled.volumes import Record
from tests.fleet.labelled.world import World

CONNECTIONS = {
    "cluster": pl.String,
    "kind": pl.String,
    "client_address": pl.String,
    "client_port": pl.Int64,
    "server_address": pl.String,
    "server_port": pl.Int64,
    "first_seen": pl.Int64,
    "client_uid": pl.String,
    "client_determined": pl.Boolean,
    "server_uid": pl.String,
    "server_determined": pl.Boolean,
    "run_uuid": pl.String,
    "attempt": pl.Int64,
    "asked": pl.String,
    "own_names": pl.Int64,
    "name_determined": pl.Boolean,
    "event_count": pl.Int64,
    "container": pl.String,
    "containers": pl.Int64,
    "container_told": pl.Boolean,
}
REQUESTS = {
    "cluster": pl.String,
    "key": pl.String,
    "at": pl.Int64,
    "pod_uid": pl.String,
    "determined": pl.Boolean,
    "run_uuid": pl.String,
    "says_run": pl.Boolean,
    "size": pl.Int64,
    "container": pl.String,
    "containers": pl.Int64,
    "container_told": pl.Boolean,
}
READINGS = {
    "cluster": pl.String,
    "pod_name": pl.String,
    "at": pl.Int64,
    "pod_uid": pl.String,
    "determined": pl.Boolean,
}
RECORDS = {
    "peer_address": pl.String,
    "peer_port": pl.Int64,
    "pod_uid": pl.String,
    "determined": pl.Boolean,
}
PODS = {
    "cluster": pl.String,
    "node": pl.String,
    "started": pl.Int64,
    "end": pl.Int64,
    "pod_uid": pl.String,
    "run_uuid": pl.String,
    "attempt": pl.Int64,
    "named_by": pl.String,
    "is_cleaner": pl.Boolean,
    "is_exported": pl.Boolean,
}
GAPS = {
    "cluster": pl.String,
    "node": pl.String,
    "kind": pl.String,
    "start": pl.Int64,
    "end": pl.Int64,
    "lost": pl.Int64,
}


@dataclass(frozen=True)
class Truth:
    """What is true, and what of it is determined."""

    connections: pl.DataFrame
    requests: pl.DataFrame
    readings: pl.DataFrame
    records: pl.DataFrame
    pods: pl.DataFrame
    gaps: pl.DataFrame

    def write(self, folder: Path) -> None:
        """Write the tables as Parquet."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("connections", "requests", "readings", "records", "pods", "gaps"):
            getattr(self, name).write_parquet(folder / f"{name}.parquet")


def make_truth(
    world: World,
    traffic: Traffic,
    requests: list[Request],
    readings: list[Reading],
    records: list[Record],
    judge: Judge,
    told: set[str],
) -> Truth:
    """Tell what is true of every request, reading and connection of which an event was told."""
    rows = [_row(connection, judge) for connection in traffic.connections if connection.events]
    pods = [
        (
            pod.cluster.name, pod.node.name, pod.started, pod.end, pod.uid,
            pod.run.uuid if pod.run else None, pod.attempt,
            pod.named_by, pod.run is None and pod.labelled_run is not None, pod.uid in told,
        )
        for pod in world.pods
    ]  # fmt: skip
    reads = [
        (
            request.pod.cluster.name, request.key, request.at, request.pod.uid,
            judge.knowledge.determines_reader(request),
            request.pod.run.uuid if request.pod.run else None, request.app is not None,
            request.size, request.container,
            len(judge.knowledge.running(request.pod, request.at)),
            judge.knowledge.is_told(request.pod, request.container),
        )
        for request in requests
    ]  # fmt: skip
    counted = [
        (
            reading.pod.cluster.name, reading.pod.name, reading.at, reading.pod.uid,
            judge.knowledge.named(reading.pod, reading.at, GUARD) == {reading.pod.uid},
        )
        for reading in readings
    ]  # fmt: skip
    sent = [
        (
            record.peer_address, record.peer_port, record.pod.uid,
            judge.knowledge.determines_record(record.pod, record.start, record.end),
        )
        for record in records
    ]  # fmt: skip
    gaps = [
        (gap.node.cluster.name, gap.node.name, gap.kind, gap.start, gap.end, gap.lost)
        for gap in traffic.gaps
    ]
    return Truth(
        pl.DataFrame(rows, schema=CONNECTIONS, orient="row"),
        pl.DataFrame(reads, schema=REQUESTS, orient="row"),
        pl.DataFrame(counted, schema=READINGS, orient="row"),
        pl.DataFrame(sent, schema=RECORDS, orient="row"),
        pl.DataFrame(pods, schema=PODS, orient="row"),
        pl.DataFrame(gaps, schema=GAPS, orient="row"),
    )


def _row(connection: Connection, judge: Judge) -> tuple[object, ...]:
    events = connection.events
    client, server = connection.client, connection.server
    moment = first_seen(events)
    is_pod = client is not None and not client.host_network and connection.kind != "proxied"
    client_determined = judge.is_determined(connection, client, connection.client_address, events)
    names: set[str] = set()
    asked = None
    if connection.lookup is not None and client is not None:
        asked = connection.lookup.host.name
        names = judge.names_at(client, connection.server_address, moment)
    run = client.run if client is not None and is_pod else None
    return (
        connection.node.cluster.name,
        connection.kind,
        connection.client_address,
        connection.client_port,
        connection.server_address,
        connection.server_port,
        moment,
        client.uid if client is not None and is_pod else None,
        client_determined,
        server.uid if server is not None else None,
        judge.is_determined(connection, server, connection.server_address, events),
        run.uuid if run else None,
        client.attempt if run and client else None,
        asked,
        len(names),
        client_determined and names == {asked},
        len(events),
        connection.container,
        len(judge.containers(connection, events)) if is_pod else 0,
        client is not None and judge.knowledge.is_told(client, connection.container),
    )
