"""Staging tables of object storage."""

import polars as pl

from schemas import columns as c
from schemas.columns import Instant
from schemas.staging.provenance import STAGING_KEY, StagingTable
from schemas.table import table


@table("staging", key=STAGING_KEY, covers=("event_at",))
class ObjectRequests(StagingTable):
    """One request to object storage."""

    event_at: Instant = c.event_at()
    provider: str = c.column("s3, gcs, azure, minio, ceph, seaweedfs, ….")
    bucket_owner: str = c.column("Account or canonical id that owns the bucket.", null="not stated")
    bucket: str = c.column("Bucket or container.", null="the request named none")
    key: str = c.column("Object key, percent-decoded once as the log encodes it.", null="no object")
    version_id: str = c.column("Version of the object.", null="unversioned or not logged")
    etag: str = c.column("Entity tag.", null="not logged")
    operation: str = c.column("What was done to the object.", allowed=c.OBJECT_OPERATIONS)
    operation_name: str = c.column("Operation as the log names it.")
    http_method: str = c.column("HTTP method.", null="not logged")
    status: pl.Int64 = c.column("HTTP status.", null="not logged")
    error: str = c.column("Error code.", null="none")
    response_bytes: pl.Int64 = c.byte_count("Body bytes sent to the client.", null="not logged")
    request_bytes: pl.Int64 = c.byte_count("Body bytes received.", null="not logged")
    object_size_bytes: pl.Int64 = c.byte_count(
        "Size of the object.", null="not logged", adds_up=False
    )
    is_range: pl.Boolean = c.column("Only a part of the object was asked for.", null="unknown")
    response_offset_bytes: pl.Int64 = c.byte_count(
        "Where in the object the body sent begins.", null="not logged, or no part", adds_up=False
    )
    duration_seconds: pl.Float64 = c.seconds("First byte in to last byte out.", null="not logged")
    turn_around_seconds: pl.Float64 = c.seconds("Time the storage spent.", null="not logged")
    client_address: str = c.column("Address that asked, as the storage saw it.", null="internal")
    principal: str = c.column("Who asked: ARN, canonical id or e-mail.", null="anonymous")
    session_arn: str = c.column("Session ARN of temporary credentials.", null="no session")
    access_key_id_hash: str = c.column("Keyed hash of the access key id.", null="none or no key")
    user_agent: str = c.column("User agent, redacted.", null="not logged")
    app_id: str = c.column("`app/…` part of the user agent.", null="none")
    request_id: str = c.column("Request id.", null="not logged")
    upload_id: str = c.column("Multipart upload.", null="not a multipart request")
    part_number: pl.Int64 = c.column("Part of the upload.", null="not a part")
    authentication: str = c.column("AuthHeader, QueryString, ….", null="anonymous")
    bucket_region: str = c.column("Region of the bucket as the log states it.", null="not stated")
    source_region: str = c.column("Region that the request came from.", null="not logged")
    endpoint: str = c.column("Host that was asked, lower case.", null="not logged")
    access_point: str = c.column("Access point ARN.", null="none")
    vpc_endpoint_id: str = c.column("VPC endpoint.", null="none or not logged")
    copy_source: str = c.column("Source object of a copy.", null="not a copy or not logged")
