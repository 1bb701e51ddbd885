"""Kubernetes audit log: lines of the log back end, and a list of the webhook back end."""

import json

from tests.transforms.staging.audit_events import audit, deleted_pod, status_of
from tests.transforms.staging.kubernetes_objects import event, pod

_POLICY = {
    "kind": "NetworkPolicy",
    "apiVersion": "networking.k8s.io/v1",
    "metadata": {"name": "only-storage", "namespace": "ml"},
    "spec": {"podSelector": {}, "policyTypes": ["Egress"]},
}
_OF_POLICIES = {"apiGroup": "networking.k8s.io", "subresource": None, "name": "only-storage"}
_EVENTS = [
    audit("create", response=pod(status={}), code=201, auditID="1"),
    audit("patch", response=pod(), auditID="2"),
    audit("delete", response=deleted_pod(deletionGracePeriodSeconds=0), auditID="3"),
    audit("create", "events", response=event(), code=201, auditID="4"),
    audit("create", "networkpolicies", response=_POLICY, reference=_OF_POLICIES, auditID="5"),
    audit("delete", "networkpolicies", response=status_of(), reference=_OF_POLICIES, auditID="6"),
    audit("get", auditID="7"),
    audit("create", "secrets", auditID="8"),
    audit("patch", response=pod(), code=409, auditID="9"),
]

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(line)}\n" for line in _EVENTS).encode(),
    json.dumps(
        {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": _EVENTS},
        indent=1,
    ).encode(),
)
