"""The truth: what exists and what happens in the simulated fleet.

Nothing here knows a log format. Renderers turn these facts into exports, answers turn them into the
rows that the product must find.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Cluster:
    """One Kubernetes cluster and the versions that decide what its exports can carry."""

    name: str
    region: str
    cilium: str
    kubernetes: str
    resolver: str
    has_sandbox_condition: bool


@dataclass(frozen=True)
class Node:
    """One machine of a cluster."""

    cluster: str
    name: str
    address: str
    zone: str
    region: str
    instance_type: str
    instance_id: str
    interface_id: str


@dataclass
class Pull:
    """One image pull by the kubelet, or the finding that none was needed."""

    start: datetime
    end: datetime | None
    image_bytes: int | None = None
    was_present: bool = False
    error: str | None = None
    back_offs: int = 0


@dataclass
class Container:
    """One container of a pod; no start means that it never ran."""

    name: str
    role: str
    image: str
    digest: str
    start: datetime | None
    end: datetime | None
    pull: Pull | None = None
    exit_code: int = 0
    environment: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    waiting: tuple[str, str] | None = None
    gpus: int = 0


@dataclass
class Pod:
    """One pod, known by its UID; its name and its addresses may return."""

    cluster: Cluster
    node: Node
    namespace: str
    name: str
    uid: str
    addresses: tuple[str, ...]
    created: datetime
    start_time: datetime
    sandbox_ready: datetime
    torn_down: datetime | None
    deleted: datetime | None
    owner_kind: str
    owner_name: str
    service_account: str
    labels: dict[str, str]
    containers: list[Container]
    annotations: dict[str, str] = field(default_factory=dict)
    run: "Run | None" = None
    replica: tuple[str, int] | None = None
    attempt: int | None = None
    host_network: bool = False
    watched: bool = True
    dns_proxy: bool = False

    @property
    def address(self) -> str:
        """Return the first address."""
        return self.addresses[0]

    @property
    def last_finish(self) -> datetime | None:
        """Return when the last container ended, or None while one runs or none ever ran."""
        ends = [container.end for container in self.containers]
        known = [end for end in ends if end is not None]
        return max(known) if known and len(known) == len(ends) else None


@dataclass
class Condition:
    """One status condition of a run."""

    type: str
    reason: str
    message: str
    time: datetime


@dataclass
class Run:
    """One Polyaxon run."""

    uuid: str
    name: str
    project: str
    owner: str
    user: str
    kind: str
    runtime: str
    status: str
    created: datetime
    started: datetime | None
    finished: datetime | None
    cluster: Cluster | None
    conditions: list[Condition] = field(default_factory=list)
    parent: "Run | None" = None
    tags: list[str] = field(default_factory=list)
    inputs: dict[str, object] = field(default_factory=dict)
    outputs: dict[str, object] | None = None
    meta_info: dict[str, object] = field(default_factory=dict)
    content: dict[str, object] = field(default_factory=dict)
    queue: str | None = None
    declares: list["Declaration"] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)


@dataclass(frozen=True)
class Declaration:
    """Something a run says that it will use."""

    resource_id: str
    operation: str


@dataclass(frozen=True)
class Answer:
    """One record of a DNS answer."""

    name: str
    type: str
    data: str
    ttl: int


@dataclass
class Lookup:
    """One question that a pod asked the resolver, and the answer."""

    pod: Pod
    time: datetime
    port: int
    query: str
    type: str
    rcode: str
    answers: list[Answer]
    latency_micros: int
    by_proxy: bool
    asked_as: str

    @property
    def answered(self) -> datetime:
        """Return when the answer came."""
        return self.time + timedelta(microseconds=self.latency_micros)


@dataclass
class FlowEvent:
    """One packet that a trace point of one node reported."""

    time: datetime
    node: Node
    is_reply: bool
    flags: tuple[str, ...]
    point: str
    reason: str | None
    kind: str = "trace"
    http: dict[str, object] | None = None


@dataclass
class Connection:
    """One connection between two endpoints, with everything that was reported about it."""

    cluster: Cluster
    transport: str
    client: Pod | None
    client_node: Node
    client_address: str
    client_port: int
    server: Pod | None
    server_address: str
    server_port: int
    start: datetime
    end: datetime | None
    events: list[FlowEvent]
    verdict: str = "FORWARDED"
    drop_reason: str | None = None
    policy: str | None = None
    name: str | None = None
    name_kind: str = "none"
    candidate_names: tuple[str, ...] = ()
    service: tuple[str, str] | None = None
    flow_names: tuple[str, ...] = ()
    is_counted: bool = True
    attempts: int = 1
    received_bytes: int = 0
    sent_bytes: int = 0


@dataclass
class ObjectRequest:
    """One request to object storage, as the server saw it."""

    bucket: str
    key: str
    version: str | None
    operation: str
    method: str
    time: datetime
    status: int
    error: str | None
    sent_bytes: int | None
    object_bytes: int | None
    milliseconds: int
    client_address: str
    principal: str
    user_agent: str
    pod: Pod | None
    run: Run | None
    match_kind: str
    query: str = ""
    referer: str = "-"
    signed_in_query: bool = False
    late: bool = False
    candidates: tuple[Pod, ...] = ()


@dataclass
class Reading:
    """One reading of a pod's interface counters by the collector."""

    pod: Pod
    time: datetime
    start: datetime
    receive: int
    transmit: int


@dataclass
class FlowRecord:
    """Bytes between two endpoints over an interval, as the cloud's network reported them."""

    node: Node
    pod: Pod | None
    local_address: str
    peer_address: str
    local_port: int
    peer_port: int
    transport: str
    direction: str
    start: datetime
    end: datetime
    packets: int
    bytes: int
    action: str = "ACCEPT"
    status: str = "OK"


@dataclass
class Loss:
    """Telemetry's own statement that events of a node were lost."""

    node: Node
    time: datetime
    source: str
    count: int
    start: datetime | None
    end: datetime | None


@dataclass
class Fleet:
    """Everything that exists and happened."""

    clusters: dict[str, Cluster] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    requests: list[ObjectRequest] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    flow_records: list[FlowRecord] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
