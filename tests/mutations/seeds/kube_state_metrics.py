"""Metrics of kube-state-metrics: a scrape, a dump with times, query results, OTLP."""

import json

from tests.transforms.staging.kube_state_series import (
    Value,
    matrix,
    otlp,
    running,
    text,
    vector,
)
from tests.transforms.staging.kubernetes_objects import instant

_AT, _LATER = instant("06:30:00"), instant("06:31:00")
_OTHER_UID = "99999999-2222-4333-8444-555555555555"
_OTHER = [Value(v.name, v.labels | {"uid": _OTHER_UID, "pod": "b"}, v.value) for v in running()]
_HEADERS = (
    "# HELP kube_pod_info Information about pod.\n"
    "# TYPE kube_pod_info gauge\n"
    "# TYPE kube_pod_container_resource_requests gauge\n"
    "# TYPE kube_pod_init_container_resource_requests gauge\n"
)

FILES: tuple[bytes, ...] = (
    (_HEADERS + text([*running(), *_OTHER]) + 'kube_node_info{node="a"} 1\n').encode(),
    text(running(), str(round(_AT.timestamp() * 1_000))).encode(),
    (text(running(), f"{_AT.timestamp():.3f}") + "# EOF\n").encode(),
    json.dumps(vector([*running(), *_OTHER], _AT)).encode(),
    json.dumps(matrix((_AT, running()), (_LATER, running())), indent=1).encode(),
    json.dumps(otlp(running(), _AT)).encode(),
)
