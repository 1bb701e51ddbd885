"""Names, connections and object transfers."""

import polars as pl

from schemas import columns as c
from schemas.columns import ByteRanges, Instant, Instants, TextList
from schemas.table import Table, table

TRANSFER_MATCH = c.POD_MATCH_KINDS


@table("intermediate", key=("cluster", "scope", "scope_id", "address", "name", "start_at"))
class NameBindings(Table):
    """One name that stood for one address, for one pod, node or cluster, over one interval.

    An answer binds from 2 s before it to its time plus the larger of its time to live and 60 s;
    overlapping answers of one day are merged. A binding that lives at midnight has a row on both
    days, under one id.
    """

    name_binding_id: str = c.row_id("binding", "cluster, scope, scope_id, address, name, start_at")
    cluster: str = c.cluster()
    scope: str = c.column("Whose binding.", allowed=("pod", "node", "cluster"))
    scope_id: str = c.column("Pod UID, node name or cluster name.")
    address: str = c.column("Address answered.")
    name: str = c.column("Name asked, search suffix off.")
    start_at: Instant = c.start_at()
    canonical_name: str = c.column("Last name of the CNAME chain.", null="no CNAME")
    end_at: Instant = c.column("End, UTC, exclusive; no later than the day's.")
    ttl_seconds: pl.Int64 = c.column("Largest time to live merged.", null="none", unit="seconds")
    answer_count: pl.Int64 = c.count("Answers of this day that were merged.")
    first_answer_at: Instant = c.column("First answer merged.")
    client_match_kind: str = c.column("How the client is known.", allowed=c.POD_MATCH_KINDS)
    source_formats: TextList = c.column("Formats that told it.")


@table(
    "intermediate",
    key=("connection_id",),
    order=("start_at", "connection_id"),
)
class Connections(Table):
    """One connection: all events of one oriented tuple, from all nodes and trace points.

    Counts stand on the day the connection started; a connection that lives on has a row in each
    day that it touches, with zero attempts on the later ones.
    """

    connection_id: str = c.column(
        "Hash of cluster, transport, initiator address and port, responder address and port, start "
        "date and the ordinal of that tuple's connections starting that date."
    )
    cluster: str = c.cluster()
    start_at: Instant = c.start_at()
    end_at: Instant = c.end_at(null="still open at the end of the day")
    transport: str = c.column("TCP, UDP or SCTP.", allowed=("TCP", "UDP", "SCTP"))
    initiator_address: str = c.column("Address of the side that began.")
    initiator_port: pl.Int64 = c.column("Its port.", null="masked")
    initiator_node: str = c.node(null="not a pod of a known node")
    initiator_namespace: str = c.namespace(null="no pod")
    initiator_pod_name: str = c.pod_name(null="no pod")
    initiator_pod_uid: str = c.pod_uid()
    initiator_match_kind: str = c.column("Pod ladder.", allowed=c.POD_MATCH_KINDS)
    initiator_candidate_pod_uids: TextList = c.column("Pods that it may be.", null="none")
    responder_address: str = c.column("Address of the other side.")
    responder_port: pl.Int64 = c.column("Its port.", null="masked")
    responder_node: str = c.node(null="not a pod of a known node")
    responder_namespace: str = c.namespace(null="no pod")
    responder_pod_name: str = c.pod_name(null="no pod")
    responder_pod_uid: str = c.pod_uid(null="not a pod, or not exactly one")
    responder_match_kind: str = c.column("Pod ladder.", allowed=c.POD_MATCH_KINDS)
    responder_candidate_pod_uids: TextList = c.column("Pods that it may be.", null="none")
    orientation_kind: str = c.column(
        "What says who began.",
        allowed=("is_reply", "trace_reason", "syn", "lower_port", "unknown"),
    )
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    responder_run_uuid: str = c.run_uuid(null="the responder is no pod of a run")
    verdict: str = c.column(
        "DROPPED if a drop is seen and no reply, else the client side's.", null="unknown or masked"
    )
    drop_reason: str = c.column("First drop reason.", null="not dropped")
    denied_by: TextList = c.column("Policies that denied.", null="none named")
    has_reply: pl.Boolean = c.column("A packet of the reply direction was seen.")
    attempt_count: pl.Int64 = c.count("Opening attempts: first and repeated SYN or NEW.")
    event_count: pl.Int64 = c.count("Exported events of this day; no measure of traffic.")
    opened_before: pl.Boolean = c.column("Began before what the look-back reaches.")
    closed_after: pl.Boolean = c.column("Open at the end of the day.")
    close_reason: str = c.column(
        "What ended it.", null="open or silent", allowed=("fin", "rst", "silence", "reuse", "drop")
    )
    peer_kind: str = c.column(
        "What the responder is.",
        allowed=("pod", "service", "node", "outside", "api_server", "metadata", "unknown"),
    )
    peer_name: str = c.column("Name of the responder.", null="no name, or several")
    canonical_name: str = c.column("Last name of the CNAME chain.", null="no CNAME")
    name_kind: str = c.column("Name ladder.", allowed=c.NAME_KINDS)
    name_age_seconds: pl.Float64 = c.seconds("Answer to connection.", null="not from an answer")
    candidate_names: TextList = c.column("Names that it may be.", null="none or one")
    resource_id: str = c.column("Host contacted, as in definitions.md 19.")
    container: str = c.container()
    container_kind: str = c.column("Container ladder.", allowed=c.CONTAINER_KINDS)
    container_role: str = c.container_role()
    candidate_containers: TextList = c.column("Containers that it may be.", null="none or one")
    stage: str = c.stage()
    http_request_count: pl.Int64 = c.count("HTTP requests seen by the L7 proxy, this day.")
    http_error_count: pl.Int64 = c.count("HTTP responses of 400 and above, this day.")
    first_error: str = c.column("First drop reason or HTTP error.", null="none")


@table(
    "intermediate",
    key=("transfer_id",),
    order=("start_at", "transfer_id"),
    scope="fleet",
)
class ObjectTransfers(Table):
    """One client moving one object version in one burst (gaps of at most 300 s).

    A complete read (200, all bytes) is a transfer of its own.
    """

    transfer_id: str = c.column(
        "Hash of provider, bucket, key, version, client, operation and the first request's id."
    )
    start_at: Instant = c.start_at()
    end_at: Instant = c.column("End of the last request of this day, at most the end of the day.")
    provider: str = c.column("s3, gcs, azure, ….")
    bucket: str = c.column("Bucket or container.")
    key: str = c.column("Object key.", null="the request is about the bucket")
    version_id: str = c.column("Version.", null="unknown: part of the identity all the same")
    etag: str = c.column("Entity tag.", null="not logged")
    operation: str = c.column("What was done.", allowed=c.OBJECT_OPERATIONS)
    object_id: str = c.column("`s3://bucket/key`, `@version` behind it where known.")
    resource_id: str = c.column(
        "Path that the run declares, else that anyone does, else dataset or bucket "
        "(definitions.md 20)."
    )
    dataset_id: str = c.column(
        "Declared path, else dataset of the settings, else the longest stable prefix of the key.",
        null="only the bucket is known",
    )
    dataset_basis: str = c.column(
        "What names the dataset.", null="no dataset", allowed=c.DATASET_BASES
    )
    client_address: str = c.column("Address that asked, as the storage saw it.", null="internal")
    principal: str = c.column("Who asked.", null="anonymous")
    user_agent: str = c.column(
        "User agent, with botocore's list of features (`m/…`) sorted.", null="not logged"
    )
    request_count: pl.Int64 = c.count("Requests of this day.")
    success_count: pl.Int64 = c.count("Answered 2xx or 304.")
    not_modified_count: pl.Int64 = c.count("Answered 304.")
    denied_count: pl.Int64 = c.count("Answered 401 or 403, or 400 to refused credentials.")
    not_found_count: pl.Int64 = c.count("Answered 404.")
    throttled_count: pl.Int64 = c.count("Answered 429 or 503.")
    error_count: pl.Int64 = c.count("Answered any other 4xx or 5xx.")
    first_error: str = c.column("First error code, else status.", null="none")
    transferred_bytes: pl.Int64 = c.byte_count("Body bytes of successful requests, this day.")
    error_bytes: pl.Int64 = c.byte_count("Body bytes of all other requests, this day.")
    unlogged_bytes_count: pl.Int64 = c.count(
        "Successful requests whose bytes are not logged; a 304, which has no body, is one."
    )
    change_times: Instants = c.column(
        "Times, sorted, at which this day's requests gave the object another content: a write or "
        "copy onto it was done, or it was deleted.",
        null="they did not",
    )
    object_size_bytes: pl.Int64 = c.byte_count(
        "Object size.", null="not logged, or sizes differ within the burst", adds_up=False
    )
    is_complete: pl.Boolean = c.column("One request that read all of the object.")
    read_ranges: ByteRanges = c.column(
        "Parts of the object that this day's reads moved, in order, with how often each was moved.",
        null="an offset is not logged, several contents, too many parts, or one complete read",
    )
    opened_before: pl.Boolean = c.column(
        "The burst may have begun before what the look-back reaches."
    )
    cluster: str = c.cluster(null="no pod is named, or it is in none or several clusters")
    namespace: str = c.namespace(null="no pod is named")
    pod_name: str = c.pod_name(null="no pod is named")
    pod_uid: str = c.pod_uid()
    node: str = c.node(null="no pod is named")
    run_uuid: str = c.run_uuid()
    attempt: pl.Int64 = c.attempt()
    match_kind: str = c.column("Pod ladder.", allowed=c.POD_MATCH_KINDS)
    candidate_pod_uids: TextList = c.column("Pods that it may be.", null="none")
    container: str = c.container()
    container_kind: str = c.column("Container ladder.", allowed=c.CONTAINER_KINDS)
    container_role: str = c.container_role()
    stage: str = c.stage()
    reader_zone: str = c.column("Zone of the reader's node.", null="not known")
    reader_region: str = c.column("Region of the reader's node or cluster.", null="not known")
    bucket_region: str = c.column("Region of the bucket.", null="not known")
    endpoint: str = c.column("Host asked.", null="not logged")
    vpc_endpoint_id: str = c.column("VPC endpoint.", null="none or not logged")
    duration_seconds: pl.Float64 = c.seconds("Longest request.", null="not logged")
    first_record_id: str = c.record_id()
