"""Staging tables of Kubernetes objects."""

import polars as pl

from schemas import columns as c
from schemas.columns import Claims, Conditions, DeclaredAccesses, Instant, Pairs, Ports, TextList
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class PodStates(StagingTable):
    """One observed state of a pod."""

    observed_at: Instant = c.observed_at()
    observed_basis: str = c.observed_basis()
    watch_event: str = c.column("ADDED, MODIFIED or DELETED.", null="not from a watch")
    namespace: str = c.namespace(null=None)
    pod_name: str = c.pod_name(null=None)
    pod_uid: str = c.pod_uid(null=None)
    node: str = c.node(null="not bound to a node")
    addresses: TextList = c.column("status.podIPs, canonical.", null="no address yet")
    host_addresses: TextList = c.column("status.hostIPs, canonical.", null="not stated")
    host_network: pl.Boolean = c.column("Shares its node's network.")
    labels: Pairs = c.column("Labels.", null="none")
    owner_kind: str = c.column("Kind of the controlling owner.", null="no owner")
    owner_name: str = c.column("Name of the controlling owner.", null="no owner")
    service_account: str = c.column("Service account.", null="not stated")
    ports: Ports = c.column("Container ports.", null="none")
    phase: str = c.column("Pending, Running, Succeeded, Failed, Unknown.", null="not stated")
    reason: str = c.column("status.reason, such as Evicted.", null="none")
    conditions: Conditions = c.column("status.conditions.", null="none")
    created_at: Instant = c.column("metadata.creationTimestamp.")
    scheduled_at: Instant = c.column("PodScheduled became True.", null="not scheduled")
    start_time_at: Instant = c.column("status.startTime: the kubelet saw it.", null="not yet")
    sandbox_ready_at: Instant = c.column(
        "PodReadyToStartContainers became True.", null="not exported, or the sandbox is gone"
    )
    sandbox_ended_at: Instant = c.column(
        "PodReadyToStartContainers became False after containers ran.", null="not ended or unknown"
    )
    first_started_at: Instant = c.column("First container start known.", null="none started")
    last_finished_at: Instant = c.column(
        "Last container end.", null="a container is not known to have ended"
    )
    deletion_at: Instant = c.column("metadata.deletionTimestamp.", null="not being deleted")
    is_deleted: pl.Boolean = c.column("A watch reported its deletion at observed_at.")
    run_uuid: str = c.run_uuid(null="no evidence names a run")
    run_match_kind: str = c.column("How the run is known.", allowed=c.RUN_MATCH_KINDS)
    run_component: str = c.column(
        "app.kubernetes.io/component; cleaner pods carry a run's labels too.", null="none"
    )
    run_name: str = c.column("Run name in an annotation.", null="none")
    run_owner: str = c.run_owner(null="no annotation names it")
    project: str = c.project(null="no annotation names it")
    run_kind: str = c.column("Run kind in an annotation.", null="none")
    replica_type: str = c.column("Replica type, such as worker.", null="no replicas")
    replica_index: str = c.column("Replica index.", null="no index")
    gpu_count: pl.Int64 = c.count(
        "GPUs of the effective request: the larger of the largest init container and the sum of "
        "containers. Those of resource claims come on top.",
        null="the source does not state requests",
    )
    resource_claims: Claims = c.column(
        "Claims of dynamic resource allocation: its name in the pod, that of the claim (null while "
        "it is not made) and that of the template it is made from (null: it stands by itself).",
        null="none, or the source does not tell them",
    )
    declared_accesses: DeclaredAccesses = c.column(
        "What init arguments, images and derived environment say that it uses.", null="nothing"
    )


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class ResourceClaims(StagingTable):
    """One observed state of a claim to devices, or of a template that claims are made from."""

    observed_at: Instant = c.observed_at()
    observed_basis: str = c.observed_basis()
    watch_event: str = c.column("ADDED, MODIFIED or DELETED.", null="not from a watch")
    namespace: str = c.namespace(null=None)
    claim: str = c.column("Name of the claim or template.")
    claim_uid: str = c.column("Its UID.", null="not stated")
    is_template: pl.Boolean = c.column("It is a template.")
    requested_gpu_count: pl.Int64 = c.count(
        "GPUs that it asks for.",
        null="all that fit or one of several numbers, or the class does not say whether it is of "
        "GPUs, or an older API's form says it",
        adds_up=False,
    )
    allocated_gpu_count: pl.Int64 = c.count(
        "GPUs that were handed out for it, but for those that are only administered.",
        null="nothing is handed out yet, or an older API's form says it",
        adds_up=False,
    )
    reserved_pod_uids: TextList = c.column("UIDs of pods that may use it.", null="none")
    created_at: Instant = c.column("metadata.creationTimestamp.", null="not stated")


@table("staging", key=STAGING_KEY, covers=("observed_at",))
class ContainerStates(StagingTable):
    """One observed state of a container."""

    observed_at: Instant = c.observed_at()
    namespace: str = c.namespace(null=None)
    pod_name: str = c.pod_name(null=None)
    pod_uid: str = c.pod_uid(null=None)
    node: str = c.node(null="not bound to a node")
    container: str = c.container(null=None)
    container_role: str = c.container_role(null=None)
    ordinal: pl.Int64 = c.column(
        "Place among the containers of its list, from 0.",
        null="the source does not keep their order",
        minimum=0,
    )
    image: str = c.column("Image reference as asked.", null="not stated")
    image_digest: str = c.column("`sha256:…` of the image.", null="not pulled yet or not stated")
    container_id: str = c.column("Container id without its scheme.", null="not created")
    state: str = c.column("What it does.", allowed=("waiting", "running", "terminated", "unknown"))
    reason: str = c.column("Reason of the state.", null="none")
    message: str = c.column("Message of the state, redacted.", null="none")
    exit_code: pl.Int64 = c.column("Exit code.", null="not terminated, or not stated")
    started_at: Instant = c.column("Start of the current or only run.", null="not started")
    finished_at: Instant = c.column("End of it.", null="not terminated, or not stated")
    restart_count: pl.Int64 = c.count("Restarts in place.", null="not stated", adds_up=False)
    last_reason: str = c.column("Reason of the previous run's end.", null="no previous run")
    last_exit_code: pl.Int64 = c.column("Exit code of the previous run.", null="no previous run")
    last_started_at: Instant = c.column("Start of the previous run.", null="no previous run")
    last_finished_at: Instant = c.column("End of the previous run.", null="no previous run")
    requests: Pairs = c.column("Resource requests.", null="none")
    limits: Pairs = c.column("Resource limits.", null="none")


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class NodeStates(StagingTable):
    """One observed state of a node."""

    observed_at: Instant = c.observed_at()
    node: str = c.node(null=None)
    node_uid: str = c.column("UID of the node object.", null="not stated")
    zone: str = c.column("topology.kubernetes.io/zone.", null="no label")
    region: str = c.column("topology.kubernetes.io/region.", null="no label")
    instance_type: str = c.column("node.kubernetes.io/instance-type.", null="no label")
    provider_id: str = c.column("spec.providerID.", null="not stated")
    addresses: TextList = c.column("Internal and external addresses.", null="none")
    pod_ranges: TextList = c.column("spec.podCIDRs.", null="not stated")
    allocatable: Pairs = c.column("status.allocatable.", null="not stated")
    labels: Pairs = c.column("Labels.", null="none")
    created_at: Instant = c.column("metadata.creationTimestamp.", null="not stated")


@table("staging", key=STAGING_KEY, covers=("first_at", "event_at"))
class KubeEventStates(StagingTable):
    """One observed state of a Kubernetes event."""

    observed_at: Instant = c.observed_at()
    event_at: Instant = c.column("Newest time that the event states.")
    event_uid: str = c.column("UID of the event object.", null="an archive dropped it")
    event_name: str = c.column("Name of the event object.", null="an archive dropped it")
    namespace: str = c.namespace()
    involved_kind: str = c.column("Kind of the object it is about.", null="not stated")
    involved_name: str = c.column("Name of the object.", null="not stated")
    involved_uid: str = c.column("UID of the object.", null="an archive dropped it")
    field_path: str = c.column(
        "involvedObject.fieldPath.", null="about the whole object, or an archive dropped it"
    )
    container: str = c.container(null="about the whole object, or an archive dropped its name")
    reason: str = c.column("Reason word, such as Pulled.", null="not stated")
    message: str = c.column("Message, redacted.", null="none")
    first_at: Instant = c.column("First time.", null="not stated")
    last_at: Instant = c.column("Last time.", null="not stated")
    event_count: pl.Int64 = c.count("How often.", null="not stated", adds_up=False)
    event_type: str = c.column("Normal or Warning.", null="not stated")
    reporter: str = c.column("Component that reports.", null="not stated")
    node: str = c.node(null="the reporter names none")


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class Services(StagingTable):
    """One observed state of a Kubernetes service."""

    observed_at: Instant = c.observed_at()
    watch_event: str = c.column("ADDED, MODIFIED or DELETED.", null="not from a watch")
    namespace: str = c.namespace(null=None)
    service: str = c.column("Service name.")
    service_uid: str = c.column("UID of the service.", null="not stated")
    service_type: str = c.column("ClusterIP, NodePort, LoadBalancer, ExternalName.", null="none")
    addresses: TextList = c.column("Cluster and load-balancer addresses.", null="headless")
    external_name: str = c.column("externalName.", null="not of that type")
    selector: Pairs = c.column("Label selector.", null="none")
    ports: Ports = c.column("Ports.", null="none")
    created_at: Instant = c.column("metadata.creationTimestamp.", null="not stated")


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class Namespaces(StagingTable):
    """One observed state of a Kubernetes namespace."""

    observed_at: Instant = c.observed_at()
    watch_event: str = c.column("ADDED, MODIFIED or DELETED.", null="not from a watch")
    namespace: str = c.namespace(null=None)
    namespace_uid: str = c.column("UID of the namespace.", null="not stated")
    labels: Pairs = c.column("Labels, which policies select namespaces by.", null="none")
    phase: str = c.column("Active or Terminating.", null="not stated")
    created_at: Instant = c.column("metadata.creationTimestamp.", null="not stated")
    deletion_at: Instant = c.column("metadata.deletionTimestamp.", null="not being deleted")


@table("staging", key=STAGING_KEY, covers=("created_at", "observed_at"))
class NetworkPolicies(StagingTable):
    """One observed state of a network policy, of Kubernetes or of Cilium."""

    observed_at: Instant = c.observed_at()
    watch_event: str = c.column("ADDED, MODIFIED or DELETED.", null="not from a watch")
    namespace: str = c.namespace(null="the policy holds for the whole cluster")
    policy_name: str = c.column("Name of the policy.")
    policy_uid: str = c.column("UID of the policy.", null="not stated")
    policy_kind: str = c.column(
        "Kind of the policy.",
        allowed=("NetworkPolicy", "CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy"),
    )
    api_version: str = c.column("API group and version, such as `cilium.io/v2`.")
    labels: Pairs = c.column("Labels of the policy itself.", null="none")
    selector: str = c.column(
        "Selector of the pods or nodes that it holds for, as JSON (a list of them where a Cilium "
        "policy has several rules); `{}` selects all.",
        null="none is stated",
    )
    applies_to_ingress: pl.Boolean = c.column(
        "Whether it restricts what its pods receive: Ingress among policyTypes or, of Cilium, at "
        "least one ingress rule.",
        null="the content is not stated",
    )
    applies_to_egress: pl.Boolean = c.column(
        "Whether it restricts what its pods send: Egress among policyTypes or, of Cilium, at least "
        "one egress rule.",
        null="the content is not stated",
    )
    spec: str = c.column(
        "`spec` as JSON with sorted keys (a list where a Cilium policy has `specs`), redacted; "
        "values of HTTP headers are left out.",
        null="the content is not stated, as where only its deletion was seen",
    )
    generation: pl.Int64 = c.column("metadata.generation.", null="not stated", unit="ordinal")
    created_at: Instant = c.column("metadata.creationTimestamp.", null="not stated")
    deletion_at: Instant = c.column("metadata.deletionTimestamp.", null="not being deleted")
