"""Staging tables of identities: which credentials were given to whom."""

from schemas import columns as c
from schemas.columns import Instant
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table


@table("staging", key=STAGING_KEY, covers=("start_at", "end_at"))
class CredentialSessions(StagingTable):
    """Temporary credentials given to a pod, a service account, a node, or to a further role."""

    start_at: Instant = c.column("When they were given, UTC, inclusive.")
    end_at: Instant = c.column("When they expire, UTC, exclusive.", null="not stated")
    issued_by: str = c.column(
        "How they were given: to a pod by EKS Pod Identity, to a service account by its web "
        "identity (IRSA), to a node by its role, or to holders of other temporary credentials (a "
        "chain of roles).",
        allowed=("pod_identity", "web_identity", "instance_role", "role_chain"),
    )
    access_key_id_hash: str = c.column(
        "Keyed hash of the access key id.", null="not stated, or no key to hash with"
    )
    session_arn: str = c.column("ARN of the session.", null="not stated")
    role_arn: str = c.column("Role that the session has.", null="not stated")
    source_access_key_id_hash: str = c.column(
        "Keyed hash of the access key id that asked for them.",
        null="no credentials asked, or no key to hash with",
    )
    source_session_arn: str = c.column(
        "Session that asked for them.", null="no session asked, as where a token did"
    )
    pod_uid: str = c.pod_uid(null="the session has no tag of a pod")
    namespace: str = c.namespace(null="the session names no service account")
    pod_name: str = c.pod_name(null="the session has no tag of a pod")
    service_account: str = c.column(
        "Service account of the pod.", null="the session names no service account"
    )
    eks_cluster_name: str = c.column(
        "Cluster as EKS names it; the settings may name it otherwise.", null="not stated"
    )
    eks_cluster_arn: str = c.column("ARN of the EKS cluster.", null="not stated")
    identity_provider: str = c.column(
        "Issuer of the web identity, which belongs to one cluster.", null="no web identity"
    )
    instance_id: str = c.column("Instance of the node.", null="not given to a node")
    client_address: str = c.column(
        "Address that asked for them.", null="a service of the cloud asked"
    )
    account_id: str = c.column("Account that recorded it.", null="not stated")
    region: str = c.column("Region whose token service gave them.", null="not stated")
    request_id: str = c.column("Request id.", null="not stated")
