"""Logs of the collector's receivers of Kubernetes objects: lines, and one document."""

import json

from tests.transforms.staging.kubernetes_objects import event, pod
from tests.transforms.staging.otlp_logs import any_value, event_log, logs, object_log

_OBJECT = {"k8s__object__kind": "Pod", "k8s__object__name": "train", "k8s__node__name": "node-1"}
_PULLED = logs(object_log(pod()), object_log(pod(metadata__resourceVersion="9")))
_WATCHED = logs(
    object_log({"type": "ADDED", "object": event()}, "events"),
    object_log({"type": "DELETED", "object": pod()}),
)
_EVENTS = logs(event_log(), event_log(severityText="Warn"), **_OBJECT)
_OTHERS = logs({"body": any_value("started")}, object_log(json.dumps(pod())))

FILES: tuple[bytes, ...] = (
    "".join(f"{json.dumps(d)}\n" for d in (_PULLED, _WATCHED, _EVENTS, _OTHERS)).encode(),
    json.dumps(_WATCHED, indent=2).encode(),
)
