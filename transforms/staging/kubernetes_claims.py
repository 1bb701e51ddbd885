"""Rows of resource claims and their templates: devices that pods get by dynamic allocation.

A pod names claims; how many devices a claim is stands in the claim: asked for in its spec, handed
out in its status. Read are `resource.k8s.io/v1`, `v1beta2`, `v1beta1` and `v1alpha3` (Kubernetes
1.31 on; the API reference and `api/testdata` of kubernetes/kubernetes): v1 and v1beta2 nest what
exactly is asked for under `exactly`, the others have it at the request itself. Before that, drivers
had forms of their own, which are not read.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec

from transforms.staging.gpu_requests import MAX_GPUS, is_gpu_device
from transforms.staging.json_records import Item
from transforms.staging.kubernetes_metadata import (
    LISTED,
    Metadata,
    Sight,
    StatedObject,
    uid_text,
)
from transforms.staging.parser import FileContext, Row
from transforms.staging.stored_text import name_text

CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"
CLAIM_GROUPS = frozenset(
    f"resource.k8s.io/{version}" for version in ("v1", "v1beta2", "v1beta1", "v1alpha3")
)
_ALL = "All"
"""Mode that asks for all devices that fit, however many there are."""
Devices = Annotated[int, msgspec.Meta(ge=0, le=MAX_GPUS)]


class _Asked(msgspec.Struct, rename="camel"):
    device_class_name: str | None = None
    allocation_mode: str | None = None
    count: Devices | None = None
    admin_access: bool | None = None


class _Request(_Asked, rename="camel"):
    exactly: _Asked | None = None
    first_available: list[_Asked] | None = None


class _Requests(msgspec.Struct):
    requests: list[_Request] | None = None


class _ClaimSpec(msgspec.Struct):
    devices: _Requests | None = None


class _TemplateSpec(msgspec.Struct):
    spec: _ClaimSpec | None = None
    devices: _Requests | None = None


class _Result(msgspec.Struct, rename="camel"):
    driver: str | None = None
    admin_access: bool | None = None


class _Results(msgspec.Struct):
    results: list[_Result] | None = None


class _Allocation(msgspec.Struct, rename="camel"):
    devices: _Results | None = None
    allocation_timestamp: str | None = None


class _Consumer(msgspec.Struct):
    resource: str | None = None
    uid: str | None = None


class _Status(msgspec.Struct, rename="camel"):
    allocation: _Allocation | None = None
    reserved_for: list[_Consumer] | None = None


class Claim(msgspec.Struct):
    """A claim or a template of claims, as far as it is read."""

    metadata: Metadata | None = None
    spec: _TemplateSpec | None = None
    status: _Status | None = None


RESOURCE_CLAIM = msgspec.json.Decoder(Claim)


def claim_rows(
    claim: Claim,
    item: Item,
    context: FileContext,
    sight: Sight = LISTED,
    *,
    kind: str,
) -> tuple[Row, ...]:
    """Row of one observed state of a claim, or of a template of claims.

    Raises:
        RecordError: A value that is used is missing or wrong.
    """
    metadata = claim.metadata or Metadata()
    spec, status = claim.spec or _TemplateSpec(), claim.status or _Status()
    stated = StatedObject(metadata, item)
    stated.deletion()
    allocation = status.allocation
    if allocation is not None:
        stated.times.read(allocation.allocation_timestamp, ".status.allocation.allocationTimestamp")
    observed = stated.observed(context, sight)
    asked = (spec.spec or _ClaimSpec()).devices if kind == TEMPLATE else spec.devices
    consumers = [c.uid for c in status.reserved_for or () if c.resource == "pods" and c.uid]
    values: dict[str, Any] = {
        "record_id": stated.record_id(kind, sight, observed),
        "observed_at": observed.at,
        "observed_basis": observed.basis,
        "watch_event": sight.watch_event,
        "namespace": name_text(stated.namespace),
        "claim": name_text(stated.name),
        "claim_uid": stated.uid,
        "is_template": kind == TEMPLATE,
        "requested_gpu_count": requested_gpus(asked.requests or ()) if asked else None,
        "allocated_gpu_count": _allocated(allocation),
        "reserved_pod_uids": sorted({uid_text(uid) for uid in consumers}) or None,
        "created_at": stated.created_at,
    }
    return (("resource_claims", values),)


def requested_gpus(requests: Sequence[_Request]) -> int | None:
    """GPUs that a claim asks for; null where that depends on what is there, or is not told.

    A class says whose devices it holds by its name only. What an administrator looks at is
    nobody's share.
    """
    counts = [_requested(request) for request in requests]
    return None if None in counts else sum(filter(None, counts))


def _requested(request: _Request) -> int | None:
    options: Iterable[_Asked] = request.first_available or (request.exactly or request,)
    counts = {_exactly(option) for option in options}
    return counts.pop() if len(counts) == 1 else None


def _exactly(asked: _Asked) -> int | None:
    if asked.admin_access:
        return 0
    if asked.allocation_mode == _ALL or not is_gpu_device(asked.device_class_name):
        return None
    return 1 if asked.count is None else asked.count


def _allocated(allocation: _Allocation | None) -> int | None:
    """GPUs that were handed out; null where nothing was, or a driver's own form says what."""
    if allocation is None or allocation.devices is None:
        return None
    return sum(
        is_gpu_device(result.driver) and not result.admin_access
        for result in allocation.devices.results or ()
    )
