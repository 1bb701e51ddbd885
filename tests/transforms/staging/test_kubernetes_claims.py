"""Resource claims and templates, in each form of the API."""

import json
from typing import Any

import pytest

from tests.transforms.staging.audit_events import audit
from tests.transforms.staging.export_text import check_each, check_rows, parse, rows, stated, word
from tests.transforms.staging.kubernetes_objects import POD_UID, instant, stamp
from transforms.staging.kubernetes import PARSER
from transforms.staging.kubernetes_audit import PARSER as AUDIT

UID = "66666666-2222-4333-8444-555555555555"


def claim(
    requests: list[Any] | None = None,
    results: list[Any] | None = None,
    *,
    version: str = "v1",
    kind: str = "ResourceClaim",
    reserved: list[Any] | None = None,
    allocation: dict[str, Any] | None = None,
) -> dict[str, Any]:
    spec = {"devices": {"requests": requests or []}}
    found: dict[str, Any] = {
        "kind": kind,
        "apiVersion": f"resource.k8s.io/{version}",
        "metadata": {
            "name": "train-gpus-x7k2f", "namespace": "ml", "uid": UID, "resourceVersion": "9",
            "creationTimestamp": stamp("06:00:00"),
        },
        "spec": {"spec": spec} if kind == "ResourceClaimTemplate" else spec,
    }  # fmt: skip
    if results is not None:
        allocation = {"devices": {"results": results}}
    if allocation is not None:
        found["status"] = {"allocation": allocation, "reservedFor": reserved}
    return found


def row(value: dict[str, Any]) -> dict[str, Any]:
    """The one row of a claim."""
    found = parse(PARSER, json.dumps(value), path_at=instant("08:00:00"))
    check_each(found)
    check_rows(found)
    (only,) = rows(found, "resource_claims")
    return only


def device(driver: str, **more: Any) -> dict[str, Any]:
    return {"request": "r", "driver": driver, "pool": "node-1", "device": "gpu-0", **more}


def asked(**more: Any) -> dict[str, Any]:
    return {"deviceClassName": "gpu.nvidia.com", **more}


def test_a_claim_gives_every_column() -> None:
    value = claim(
        [{"name": "r", "exactly": asked(count=2)}],
        [device("gpu.nvidia.com"), device("gpu.nvidia.com"), device("compute-domain.nvidia.com")],
        reserved=[
            {"resource": "pods", "name": "train", "uid": POD_UID.upper()},
            {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "9"},
        ],
    )
    assert stated(row(value), "record_id") == {
        "observed_at": instant("08:00:00"), "observed_basis": "path", "namespace": "ml",
        "claim": "train-gpus-x7k2f", "claim_uid": UID, "is_template": False,
        "requested_gpu_count": 2, "allocated_gpu_count": 2, "reserved_pod_uids": [POD_UID],
        "created_at": instant("06:00:00"),
    }  # fmt: skip


def test_a_claim_was_there_when_it_was_allocated() -> None:
    value = claim(allocation={"allocationTimestamp": stamp("09:30:00"), "devices": {}})
    assert row(value)["observed_at"] == instant("09:30:00")


NESTED, FLAT = ("v1", "v1beta2"), ("v1beta1", "v1alpha3")


@pytest.mark.parametrize("version", [*NESTED, *FLAT])
@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
@pytest.mark.parametrize(
    ("requests", "count"),
    [
        ([], 0),
        # One device where no number is said.
        ([asked()], 1),
        ([asked(count=4), asked(deviceClassName="mig.nvidia.com", count=2)], 6),
        ([asked(allocationMode="ExactCount", count=3)], 3),
        # What is there decides, or the class does not say what it holds.
        ([asked(allocationMode="All")], None),
        ([asked(count=2), asked(deviceClassName="fast.example.com")], None),
        # An administrator looks at devices that others use.
        ([asked(allocationMode="All", adminAccess=True), asked()], 1),
        # The first of several that is there: known where all are of the same number.
        ([[asked(count=2), asked(deviceClassName="mig.nvidia.com", count=2)]], 2),
        ([[asked(count=1), asked(deviceClassName="mig.nvidia.com", count=2)]], None),
    ],
)
def test_requests_are_counted_in_each_form(
    requests: list[Any], count: int | None, version: str, kind: str
) -> None:
    def written(request: Any) -> dict[str, Any]:
        if isinstance(request, list):
            return {"name": "r", "firstAvailable": request}
        return {"name": "r", "exactly": request} if version in NESTED else {"name": "r", **request}

    found = row(claim([written(r) for r in requests], version=version, kind=kind))
    assert (found["requested_gpu_count"], found["allocated_gpu_count"]) == (count, None)
    assert found["is_template"] is (kind == "ResourceClaimTemplate")


def test_only_what_was_handed_out_for_use_is_allocated() -> None:
    found = row(claim(results=[device("gpu.amd.com"), device("gpu.amd.com", adminAccess=True)]))
    assert found["allocated_gpu_count"] == 1
    assert row(claim(results=[device("net.example.com")]))["allocated_gpu_count"] == 0
    # A driver's own form of an older API.
    handles = {"resourceHandles": [{"driverName": "gpu.nvidia.com", "data": "{}"}]}
    assert row(claim(allocation=handles))["allocated_gpu_count"] is None


@pytest.mark.parametrize("count", [-1, 1_000_001, "2", 1.5])
def test_a_number_that_is_none_is_a_reject(count: Any) -> None:
    value = claim([{"name": "r", "exactly": asked(count=count)}])
    (found,) = parse(PARSER, json.dumps(value))
    assert (word(found), "count" in (found.reject or "")) == ("wrong_type", True)


def test_older_apis_and_other_groups_are_not_read() -> None:
    (found,) = parse(PARSER, json.dumps(claim(version="v1alpha2")))
    assert word(found) == "other_kind"


def test_an_audited_claim_is_read() -> None:
    reference = {"apiGroup": "resource.k8s.io", "apiVersion": "v1", "subresource": "status"}
    value = audit(
        "update", "resourceclaims", response=claim(results=[device("gpu.nvidia.com")]),
        reference=reference,
    )  # fmt: skip
    (found,) = rows(parse(AUDIT, json.dumps(value)), "resource_claims")
    assert (found["allocated_gpu_count"], found["watch_event"]) == (1, "MODIFIED")
