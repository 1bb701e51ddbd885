"""Audit events of documentation values, to change in tests."""

from typing import Any

from tests.transforms.staging.kubernetes_objects import POD_UID, pod

Json = dict[str, Any]


def audit(
    verb: str = "patch",
    resource: str = "pods",
    *,
    response: Json | None = None,
    request: Json | None = None,
    level: str = "RequestResponse",
    code: int = 200,
    reference: Json | None = None,
    **changes: Any,
) -> Json:
    """A complete event of a request on a pod's status, as the kubelet makes them."""
    found: Json = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": level,
        "auditID": "66666666-2222-4333-8444-555555555555",
        "stage": "ResponseComplete",
        "requestURI": f"/api/v1/namespaces/ml/{resource}/train-x7k2p/status",
        "verb": verb,
        "user": {
            "username": "system:node:ip-10-20-1-11.ec2.internal",
            "groups": ["system:nodes"],
            "extra": {"authentication.kubernetes.io/credential-id": ["X509SHA256=abc"]},
        },
        "sourceIPs": ["198.51.100.7"],
        "userAgent": "kubelet/v1.33.4",
        "objectRef": {
            "resource": resource,
            "namespace": "ml",
            "name": "train-x7k2p",
            "apiVersion": "v1",
            "subresource": "status",
        }
        | (reference or {}),
        "responseStatus": {"metadata": {}, "code": code},
        "requestReceivedTimestamp": "2026-03-10T06:30:00.250000Z",
        "stageTimestamp": "2026-03-10T06:30:00.260001Z",
        "annotations": {"authorization.k8s.io/decision": "allow"},
    }
    if request is not None:
        found["requestObject"] = request
    if response is not None:
        found["responseObject"] = response
    return found | changes


def deleted_pod(**metadata: Any) -> Json:
    """The answer to a pod's deletion."""
    found = pod()
    found["metadata"] |= {"deletionTimestamp": "2026-03-10T06:30:30Z"} | metadata
    return found


def status_of(uid: str = POD_UID, kind: str = "pods") -> Json:
    """The answer to a deletion that does not give the object back."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "train-x7k2p", "kind": kind, "uid": uid},
    }
