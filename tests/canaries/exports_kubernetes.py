"""Objects of Kubernetes with a secret in every place."""

import json
from typing import Any

from tests.canaries.planter import Planter
from tests.canaries.records import DAY, POD_UID, Json, lines


def container(p: Planter, where: str, name: str) -> Json:
    """A container of a pod; of its environment and arguments nothing is kept."""
    host = f"u:{p.plain(f'{where} catalogue')}@{p.keep()}.example.com"
    connections = [
        {
            "name": p.keep("store"),
            "kind": "host_path",
            "schema": {"url": f"https://{host}/?q={p.plain(f'{where} query of the catalogue')}"},
            "env": [{"name": "A", "value": p.plain(f"{where} catalogue, env")}],
        },
        {
            "name": p.keep("bucket"),
            "kind": "s3",
            "schema": {"bucket": f"s3://{p.keep('bucket')}?k={p.plain(f'{where} bucket')}"},
        },
    ]
    return {
        "name": name,
        "image": f"registry.example.com/ml/{p.keep()}:1",
        "command": ["sh", "-c", f"echo {p.plain(f'{where} command')}"],
        "args": [f"--note={p.plain(f'{where} arguments')}", p.github(f"{where} arguments")],
        "workingDir": p.plain(f"{where} working directory"),
        "env": [
            {"name": "DB_PASSWORD", "value": p.plain(f"{where} environment")},
            {"name": "HF_HOME", "value": p.plain(f"{where} environment, harmless name")},
            {
                "name": "POLYAXON_CONNECTIONS_CATALOG",
                "value": json.dumps({"connections": connections}),
            },
        ],
        "livenessProbe": {
            "httpGet": {"httpHeaders": [{"name": "A", "value": p.plain(f"{where} probe")}]},
            "exec": {"command": [p.plain(f"{where} probe command")]},
        },
        "lifecycle": {"preStop": {"exec": {"command": [p.plain(f"{where} hook")]}}},
        "resources": {"limits": {"nvidia.com/gpu": "1"}},
    }


def pod(p: Planter, where: str, number: int) -> Json:
    """A pod with a secret in each field that a user or a controller writes."""
    clone = container(p, f"{where} init container", "polyaxon-init-git")
    clone["args"] = [
        "initializer",
        "git",
        f"--url=https://ci:{p.plain(f'{where} git URL')}@git.example.com/{p.keep()}.git",
        f"--token={p.plain(f'{where} git token')}",
        *clone["args"],
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": p.keep("pod"),
            "namespace": "ml",
            "uid": POD_UID.format(number),
            "creationTimestamp": f"{DAY}T08:00:00Z",
            "labels": {
                "app": p.keep(),
                "note": p.slack(f"{where} label"),
                "api-key": p.plain(f"{where} label of a secret name"),
            },
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": p.plain(f"{where} annotation"),
                "operation.polyaxon.com/name": f"{p.keep('run')} {p.jwt(f'{where} run name')}",
                "operation.polyaxon.com/project": p.keep("project"),
            },
            "managedFields": [
                {"time": f"{DAY}T08:00:00Z", "fieldsV1": {p.plain(f"{where} managed field"): {}}}
            ],
        },
        "spec": {
            "nodeName": "node-1",
            "initContainers": [clone],
            "containers": [container(p, where, "polyaxon-main")],
            "ephemeralContainers": [container(p, f"{where} ephemeral container", "debug")],
            "imagePullSecrets": [{"name": p.keep("pull")}],
            "volumes": [
                {"name": "v", "persistentVolumeClaim": {"claimName": p.keep("claim")}},
                {
                    "name": "w",
                    "csi": {"volumeAttributes": {"key": p.plain(f"{where} volume attribute")}},
                    "flexVolume": {"options": {"key": p.plain(f"{where} volume option")}},
                },
            ],
        },
        "status": {
            "phase": "Failed",
            "podIP": "10.20.1.5",
            "startTime": f"{DAY}T08:00:01Z",
            "message": p.plain(f"{where} status message"),
            "conditions": [
                {
                    "type": "Ready",
                    "status": "False",
                    "reason": p.keep("reason"),
                    "message": f"{p.keep()} {text}",
                    "lastTransitionTime": f"{DAY}T08:00:02Z",
                }
                for text in p.of_every_shape(f"{where} condition")
            ],
            "containerStatuses": [
                {
                    "name": "polyaxon-main",
                    "image": "x",
                    "imageID": "",
                    "restartCount": 1,
                    "state": {
                        "terminated": {
                            "exitCode": 1,
                            "reason": "Error",
                            "message": f"{p.keep()} {p.password(f'{where} termination message')}",
                            "startedAt": f"{DAY}T08:00:03Z",
                            "finishedAt": f"{DAY}T08:10:00Z",
                        }
                    },
                    "lastState": {
                        "terminated": {
                            "exitCode": 2,
                            "message": p.plain(f"{where} last termination message"),
                        }
                    },
                },
                {
                    "name": "other",
                    "image": "x",
                    "imageID": "",
                    "restartCount": 0,
                    "state": {
                        "waiting": {
                            "reason": "ImagePullBackOff",
                            "message": f"{p.keep()} {p.url_password(f'{where} waiting message')}",
                        }
                    },
                },
            ],
        },
    }


def kubernetes_list(p: Planter) -> str:
    """A mixed list: kinds that are read, kinds that are not, and items that are refused."""
    where = "kubernetes"
    meta = {"creationTimestamp": f"{DAY}T07:00:00Z", "namespace": "ml"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            **meta,
            "name": "node-1",
            "uid": POD_UID.format(8),
            "labels": {"pool": p.keep(), "note": p.github(f"{where} node label")},
            "annotations": {"note": p.plain(f"{where} node annotation")},
        },
        "spec": {"providerID": f"aws:///{p.keep()}/{p.aws_key_id(f'{where} provider id')}"},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "10.20.1.1"}],
            "conditions": [{"type": "Ready", "message": p.plain(f"{where} node condition")}],
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            **meta,
            "name": p.keep("service"),
            "uid": POD_UID.format(9),
            "annotations": {"note": p.plain(f"{where} service annotation")},
        },
        "spec": {
            "type": "ExternalName",
            "externalName": f"{p.openai(f'{where} external name').lower()}.{p.keep()}.example.com",
            "selector": {"app": p.keep(), "note": p.hugging_face(f"{where} selector")},
            "ports": [{"name": "http", "port": 80, "targetPort": p.slack(f"{where} target port")}],
        },
    }
    others = [
        {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {**meta, "name": "x", "uid": POD_UID.format(7)},
            "data": {"key": p.plain(f"{where} {kind}")},
            "stringData": {"key": p.plain(f"{where} {kind}")},
        }
        for kind in ("Secret", "ConfigMap")
    ]
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "creationTimestamp": f"{DAY}T07:00:00Z",
            "name": p.keep("namespace"),
            "labels": {"team": p.keep(), "note": p.github(f"{where} namespace label")},
            "annotations": {"note": p.plain(f"{where} namespace annotation")},
        },
    }
    http = {
        "path": f"/{p.keep()}",
        "headers": [f"X-Any: {p.plain(f'{where} header of a policy')}"],
        "headerMatches": [{"name": p.keep(), "value": p.plain(f"{where} header match")}],
    }
    policy = {
        "apiVersion": "cilium.io/v2",
        "kind": "CiliumNetworkPolicy",
        "metadata": {
            **meta,
            "name": p.keep("policy"),
            "annotations": {"note": p.plain(f"{where} policy annotation")},
        },
        "spec": {
            "description": f"{p.keep()} {p.password(f'{where} policy description')}",
            "endpointSelector": {"matchLabels": {"app": p.keep()}},
            "egress": [{"toPorts": [{"rules": {"http": [http]}}]}],
        },
    }
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            **meta,
            "name": p.keep("claim"),
            "annotations": {"note": p.plain(f"{where} claim annotation")},
        },
        "spec": {
            "devices": {
                "requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.example.com"}}],
                "config": [
                    {"opaque": {"parameters": {"token": p.plain(f"{where} parameter of a claim")}}}
                ],
            },
        },
    }
    r = p.refused()
    no_uid, wrong_time = pod(r, f"{where} rejected pod", 3), pod(r, f"{where} rejected pod", 4)
    del no_uid["metadata"]["uid"]
    wrong_time["status"]["startTime"] = p.plain(f"{where} time")
    wrong_type = pod(r, f"{where} rejected pod", 5)
    variables = wrong_type["spec"]["containers"][0]["env"]
    variables.append({"name": "A", "value": [p.plain(f"{where} wrong type")]})
    good = [pod(p, where, 1), node, service, namespace, policy, claim]
    items = [*good, *others, no_uid, wrong_time, wrong_type]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)


def kubernetes_watch(p: Planter) -> str:
    """Watch lines of events and pods."""
    where = "kubernetes watch"
    r = p.refused()

    def event(p: Planter, number: int, text: str, **changes: Any) -> Json:
        return {
            "type": "ADDED",
            "object": {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {
                    "name": f"event-{number}",
                    "namespace": "ml",
                    "uid": f"0a1b2c3d-0000-4000-8000-0000000001{number:02d}",
                    "creationTimestamp": f"{DAY}T08:00:00Z",
                    "annotations": {"note": p.plain(f"{where} event annotation")},
                },
                "involvedObject": {
                    "kind": "Pod",
                    "name": p.keep("pod"),
                    "uid": POD_UID.format(1),
                    "fieldPath": "spec.containers{polyaxon-main}",
                },
                "reason": "Failed",
                "message": text,
                "lastTimestamp": f"{DAY}T08:00:{number:02d}Z",
                "count": 1,
                "type": "Warning",
                "source": {"component": "kubelet", "host": "node-1"},
                **changes,
            },
        }

    events = [
        event(p, n, f"{p.keep()} {text}")
        for n, text in enumerate(p.of_every_shape(f"{where} event message"))
    ]
    return lines(
        *events,
        event(p, 40, "", message=None, note=f"{p.keep()} {p.password(f'{where} note')}"),
        {"type": "MODIFIED", "object": pod(p, where, 6)},
        {"type": "ERROR", "object": {"kind": "Status", "message": p.plain(f"{where} error")}},
        {"type": p.jwt(f"{where} type"), "object": pod(r, f"{where} wrong type", 1)},
        event(r, 41, p.plain(f"{where} message of a rejected event"), lastTimestamp="noon"),
        json.dumps({"type": "ADDED", "object": pod(r, f"{where} cut line", 1)})[:-1],
        {"apiVersion": "v1", "kind": "Status", "message": p.plain(f"{where} Status")},
        f'{{"type":"ADDED","object":{{"metadata":{{"name":"{p.plain(f"{where} half a name")}',
    )
