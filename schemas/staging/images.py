"""Staging tables of container images: requests to registries, and pulls as runtimes log them."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table

REGISTRY_LOGS = ("access", "application", "proxy", "audit")
REGISTRY_TARGETS = (
    "manifest", "blob", "upload", "tags", "referrers", "catalog", "token", "version", "other",
)  # fmt: skip
PULL_EVENTS = ("requested", "fetched", "pulled", "returned", "failed", "cancelled", "retried")


@table("staging", key=STAGING_KEY, covers=("event_at",))
class RegistryRequests(StagingTable):
    """One request to an image registry, as one of the registry's logs states it.

    A registry may write one request to several logs (`log_kind`); their bytes are never added.
    """

    event_at: Instant = c.event_at()
    provider: str = c.column("Whose registry logged it.", allowed=("distribution", "harbor", "ecr"))
    log_kind: str = c.column(
        "Which log states it: the registry's access log, its application log, the access log of "
        "the proxy in front of it, or an audit log, which has no bytes.",
        allowed=REGISTRY_LOGS,
    )
    registry: str = c.column("Host of the registry, lower case.", null="not logged")
    account_id: str = c.column("Account that owns the registry.", null="not logged")
    region: str = c.column("Region of the registry.", null="not logged")
    repository: str = c.column("Repository, without the registry.", null="the request named none")
    reference: str = c.column(
        "Tag or digest as it was asked for.", null="none, or the request is not of a manifest"
    )
    digest: str = c.column(
        "Digest (`sha256:…`) of the manifest or blob.", null="asked by tag, or none"
    )
    target: str = c.column("What was asked for.", allowed=REGISTRY_TARGETS)
    operation: str = c.column("What was done to it.", allowed=c.OBJECT_OPERATIONS)
    operation_name: str = c.column("Operation as the log names it, else its HTTP method.")
    http_method: str = c.column("HTTP method.", null="not logged")
    status: pl.Int64 = c.column("HTTP status.", null="not logged")
    error: str = c.column("Error code.", null="none, or not logged")
    is_redirected: pl.Boolean = c.column(
        "The client was sent to other storage for the bytes, by a redirect or a signed URL: they "
        "never pass the registry, and response_bytes does not hold them.",
        null="unknown",
    )
    response_bytes: pl.Int64 = c.byte_count("Body bytes sent to the client.", null="not logged")
    request_bytes: pl.Int64 = c.byte_count("Body bytes received.", null="not logged")
    duration_seconds: pl.Float64 = c.seconds("Time that the request took.", null="not logged")
    upstream_seconds: pl.Float64 = c.seconds(
        "Time that the proxy waited for the registry.", null="not logged"
    )
    client_address: str = c.column("Address that asked, as logged.", null="not logged")
    principal: str = c.column("Who asked: user, robot account or ARN.", null="not logged")
    session_arn: str = c.column("Session ARN of temporary credentials.", null="no session")
    access_key_id_hash: str = c.column("Keyed hash of the access key id.", null="none or no key")
    user_agent: str = c.column("User agent, redacted.", null="not logged")
    app_id: str = c.column("`app/…` part of the user agent.", null="none")
    request_id: str = c.column("Request id.", null="not logged")
    vpc_endpoint_id: str = c.column("VPC endpoint.", null="none or not logged")


@table("staging", key=STAGING_KEY, covers=("event_at",))
class ImagePullLogs(StagingTable):
    """One line that a container runtime logged about pulling an image.

    The lines name no pod. `fetched` alone states bytes that moved; it tells one image's pull until
    it ended, so that pulls of one image and node are never added line by line.
    """

    event_at: Instant = c.event_at()
    node: str = c.node(null="neither the line nor the path states it")
    runtime: str = c.column("Runtime that wrote it.", allowed=("containerd",))
    event: str = c.column(
        "What happened: the kubelet asked for the image; its content was fetched; it was pulled; "
        "the reference was returned; the pull failed, was cancelled for lack of progress, or a "
        "host is tried again.",
        allowed=PULL_EVENTS,
    )
    image: str = c.column("Image as it was asked for.", null="the line names none")
    image_id: str = c.column("Id of the image: digest of its configuration.", null="not stated")
    image_tag: str = c.column("`repository:tag` that was pulled.", null="not stated, or no tag")
    image_digest: str = c.column("Digest of the manifest.", null="not stated")
    registry: str = c.column("Registry host that the image names.", null="no image")
    image_bytes: pl.Int64 = c.byte_count(
        "Size of the image in the registry: compressed layers and manifests.",
        null="not stated",
        adds_up=False,
    )
    transferred_bytes: pl.Int64 = c.byte_count(
        "Bytes read from registries for this pull.", null="the line is not `fetched`"
    )
    active_request_count: pl.Int64 = c.count(
        "Requests that were still open.", null="the line is not `fetched`", adds_up=False
    )
    pull_seconds: pl.Float64 = c.seconds("How long the pull took.", null="not stated")
    error: str = c.column("Why it failed, redacted.", null="it did not, or not stated")
    status: pl.Int64 = c.column("HTTP status that the error names.", null="no error names one")
    process_id: pl.Int64 = c.column("Process id of the runtime.", null="not stated")
