"""Operations as S3's server access log names them, which other stores that speak S3 use as well."""

import re

from transforms.redaction import redact_name

_OPERATIONS = {
    "REST.GET.OBJECT": "read",
    "WEBSITE.GET.OBJECT": "read",
    "REST.HEAD.OBJECT": "head",
    "WEBSITE.HEAD.OBJECT": "head",
    "REST.HEAD.BUCKET": "head",
    "REST.PUT.OBJECT": "write",
    "REST.POST.OBJECT": "write",
    "REST.PUT.PART": "write",
    "REST.POST.UPLOAD": "write",
    "REST.COPY.OBJECT": "copy",
    "REST.COPY.OBJECT_GET": "copy",
    "REST.COPY.PART": "copy",
    "REST.COPY.PART_GET": "copy",
    "REST.GET.BUCKET": "list",
    "REST.GET.BUCKETVERSIONS": "list",
    "REST.GET.SERVICE": "list",
    "REST.DELETE.OBJECT": "delete",
    "BATCH.DELETE.OBJECT": "delete",
    "REST.POST.MULTI_OBJECT_DELETE": "delete",
    "S3.EXPIRE.OBJECT": "delete",
    "S3.CREATE.DELETEMARKER": "delete",
    "SOAP.GetObject": "read",
    "SOAP.GetObjectExtended": "read",
    "SOAP.PutObject": "write",
    "SOAP.PutObjectInline": "write",
    "SOAP.CopyObject": "copy",
    "SOAP.DeleteObject": "delete",
    "SOAP.ListBucket": "list",
    "SOAP.ListAllMyBuckets": "list",
}
"""Everything else is `other`: reading settings, and beginning or aborting an upload, which moves no
object. `REST.POST.UPLOAD` completes a multipart upload."""
COPY_SOURCE_SIDE = frozenset({"REST.COPY.OBJECT_GET", "REST.COPY.PART_GET"})
"""Records in the log of the bucket that was copied from."""

_NAME = re.compile(r"[A-Za-z0-9]+(?:\.[A-Za-z0-9_]+){1,3}")
_MAX_NAME = 100


def operation_of(name: str) -> str | None:
    """What was done to the object; null where the text names no operation."""
    known = _OPERATIONS.get(name)
    if known is not None:
        return known
    if len(name) > _MAX_NAME or _NAME.fullmatch(name) is None or redact_name(name) != name:
        return None
    return "other"
