"""Pods over time, what they declare, and the images they pulled."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant, Pairs
from schemas.table import Table, table


@table("intermediate", key=("cluster", "pod_uid", "address", "start_at"))
class PodIntervals(Table):
    """One pod holding one address over one interval, as far as this day knows it.

    Rows of one pod and address never overlap. A pod without an address yet has one row with a null
    address, from its creation. What crosses midnight has a row in each day, under one id, that says
    nothing later than its day.
    """

    pod_interval_id: str = c.row_id("interval", "cluster, pod_uid, address, start_at")
    cluster: str = c.cluster()
    namespace: str = c.namespace(null=None)
    pod_name: str = c.pod_name(null=None)
    pod_uid: str = c.pod_uid(null=None)
    address: str = c.column("Address held.", null="the pod never showed one")
    start_at: Instant = c.start_at()
    end_at: Instant = c.end_at(null="still open at the end of the day")
    node: str = c.node(null="never bound")
    zone: str = c.column("Zone label of the node.", null="no label or node unknown")
    region: str = c.column("Region label of the node.", null="no label or node unknown")
    host_network: pl.Boolean = c.column("Shares its node's network: its address names no pod.")
    labels: Pairs = c.column("Labels of the newest state.", null="none")
    service_account: str = c.column("Service account.", null="not stated")
    start_basis: str = c.column(
        "What proves the start.",
        allowed=("sandbox_ready", "start_time", "agent_event", "first_state", "created"),
    )
    end_basis: str = c.column(
        "What proves the end, or that none is known.",
        allowed=(
            "sandbox_teardown",
            "finished",
            "deleted",
            "agent_event",
            "address_reused",
            "last_seen",
            "open",
        ),
    )
    created_at: Instant = c.column("Creation of the pod.")
    last_seen_at: Instant = c.column("Last time that a state showed it, not later than the day.")
    phase: str = c.column("Newest phase.", null="not stated")
    run_uuid: str = c.run_uuid(null="no run, or a cleaner that carries a run's labels")
    attempt: pl.Int64 = c.attempt()
    attempt_basis: str = c.column(
        "`complete`, or the days not built that earlier attempts may hide in.", null="no run"
    )
    replica_type: str = c.column("Replica type.", null="no replicas")
    replica_index: str = c.column("Replica index.", null="no index")
    run_match_kind: str = c.column("How the run is known.", allowed=c.RUN_MATCH_KINDS)
    run_component: str = c.column("app.kubernetes.io/component.", null="none")
    run_owner: str = c.run_owner()
    project: str = c.project()
    gpu_count: pl.Int64 = c.count(
        "GPUs of the pod's effective request and of its resource claims.",
        null="no source states its requests, or how many one of its claims is",
    )


@table(
    "intermediate",
    key=("run_uuid", "component", "resource_id", "operation"),
    scope="fleet",
)
class DeclaredDependencies(Table):
    """One resource that a run declares that one of its components uses."""

    declared_dependency_id: str = c.row_id(
        "declaration", "run_uuid, component, resource_id, operation"
    )
    run_uuid: str = c.run_uuid(null=None)
    component: str = c.column("Container or step that declares it.", null="the run as a whole")
    container_role: str = c.container_role(null="the run as a whole")
    resource_id: str = c.column("Resource, as in design.md section 4.")
    operation: str = c.column("What is to be done to it.", allowed=c.OPERATIONS)
    resource_kind: str = c.column(
        "bucket, image, git, host, volume, secret, …: the kind of the resource."
    )
    version: str = c.column("Version or revision declared.", null="none declared")
    credential: str = c.column("Name of the secret used, never its value.", null="none declared")
    connection: str = c.column("Polyaxon connection.", null="none")
    needed_in_stage: str = c.column("Stage that needs it.", null="not known", allowed=c.STAGES)
    declared_in: str = c.column("Where: content, pod_spec, environment, lineage.")


PULL_KEY = ("cluster", "namespace", "pod_name", "pod_uid", "container", "image", "start_at")
"""Archives lose UIDs and container names, so pod name and image tell pulls of one second apart."""


@table("intermediate", key=PULL_KEY, order=(
    "cluster", "node", "pod_uid", "container", "start_at", "namespace", "pod_name", "image",
))  # fmt: skip
class ImagePulls(Table):
    """One pull of a container's image, or the finding that it was present.

    The node does the pulling, so its traffic has the node's address.
    """

    image_pull_id: str = c.row_id(
        "pull", "cluster, namespace, pod_name, pod_uid, container, image, start_at"
    )
    cluster: str = c.cluster()
    namespace: str = c.namespace()
    pod_name: str = c.pod_name()
    node: str = c.node(null="not known")
    pod_uid: str = c.pod_uid(null="an archive dropped it and the name is not unique")
    container: str = c.container(null="the event names none")
    start_at: Instant = c.column(
        "First pulling event, else first failure, else the end less the stated time, else presence."
    )
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    image: str = c.column("Image reference.")
    image_digest: str = c.column("`sha256:…`.", null="not known")
    registry: str = c.column("Host part of the reference; docker.io where it has none.")
    end_at: Instant = c.end_at(null="not pulled by the end of the day")
    pulling_seconds: pl.Float64 = c.seconds(
        "Time that the kubelet states for the pull.", null="not stated"
    )
    waiting_seconds: pl.Float64 = c.seconds(
        "Time in the node's queue: including waiting minus pulling.", null="not stated"
    )
    image_bytes: pl.Int64 = c.byte_count(
        "Size of the image, which is not what was transferred, as kubelet or runtime state it.",
        null="not stated",
        adds_up=False,
    )
    min_transferred_bytes: pl.Int64 = c.byte_count("Least that was transferred.")
    max_transferred_bytes: pl.Int64 = c.byte_count("Most that was transferred.", null="unbounded")
    shared_bytes: pl.Int64 = c.byte_count(
        "Bytes of the image that were there before, in layers that other images have too.",
        null="what was transferred is not known exactly, or was more than the stated size",
        adds_up=False,
    )
    fetched_blob_count: pl.Int64 = c.count(
        "Layers and configurations that the registry's log shows as read.",
        null="no such log, or it cannot tell this pull from another",
        adds_up=False,
    )
    measured_by: str = c.column("What measured the bytes.", allowed=c.MEASURED_BY)
    was_present: pl.Boolean = c.column("The image was already there.")
    attempt_count: pl.Int64 = c.count("Pulls begun on this day, at least.")
    error: str = c.column("First error, redacted.", null="none")
    error_count: pl.Int64 = c.count("Pulls that failed on this day, at least.")
    reader_zone: str = c.column("Zone of the node.", null="not known")
    reader_region: str = c.column("Region of the node or cluster.", null="not known")
