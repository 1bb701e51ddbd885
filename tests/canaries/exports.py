"""Records of all eight formats, written by hand, with a secret in every place that could hold one.

`plain` secrets stand where nothing may be kept of a text, shaped ones where the text is kept but
for them. Each record also holds a harmless neighbour that must survive.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.canaries.planter import Planter

Json = dict[str, Any]

DAY = "2026-03-10"
FORMATS = (
    "hubble", "coredns", "dns_collector", "s3_access_log", "polyaxon", "kubernetes", "otlp",
    "aws_vpc_flow_log",
)  # fmt: skip
RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
POD_UID = "0a1b2c3d-0000-4000-8000-00000000000{}"


def lines(*records: Json | str) -> str:
    """Records as lines."""
    return "".join(
        f"{r if isinstance(r, str) else json.dumps(r, separators=(',', ':'))}\n" for r in records
    )


# -- hubble --------------------------------------------------------------------------------------


def flow(number: int, **changes: Any) -> Json:
    """A flow of a pod to an address outside."""
    time = f"{DAY}T08:00:{number:02d}.000000001Z"
    found: Json = {
        "time": time,
        "uuid": f"00000000-0000-4000-8000-0000000000{number:02d}",
        "verdict": "FORWARDED",
        "IP": {"source": "10.20.1.5", "destination": "203.0.113.9", "ipVersion": "IPv4"},
        "l4": {"TCP": {"source_port": 40_000 + number, "destination_port": 443}},
        "source": {"namespace": "ml", "pod_name": "train-0", "labels": ["k8s:app=train"]},
        "destination": {"identity": 2, "labels": ["reserved:world"]},
        "traffic_direction": "EGRESS",
        "event_type": {"type": 4, "sub_type": 3},
        "node_name": "alder/node-1",
        **changes,
    }
    return {"flow": found, "node_name": "alder/node-1", "time": time}


def hubble(p: Planter) -> str:
    """Events of an exporter."""
    where = "hubble"
    http = {
        "code": 200,
        "method": "GET",
        "protocol": "HTTP/1.1",
        "url": (
            f"{p.url_password(f'{where} URL', f'{p.keep()}.example.com')}/{p.keep()}"
            f"/{p.github(f'{where} path of a URL')}?token={p.plain(f'{where} query')}"
            f"&page=2#{p.plain(f'{where} fragment')}"
        ),
        "headers": [
            {"key": "Authorization", "value": p.bearer(f"{where} authorization header")[15:]},
            {"key": "Cookie", "value": f"session={p.plain(f'{where} cookie')}"},
            {"key": "X-Anything", "value": p.plain(f"{where} other header")},
        ],
    }
    named = [
        flow(
            1,
            l7={"type": "REQUEST", "http": http},
            Summary=f"HTTP/1.1 GET https://example.com/?q={p.plain(f'{where} summary')}",
            source={
                "namespace": "ml",
                "pod_name": p.keep("pod"),
                "labels": [
                    f"k8s:note={p.hugging_face(f'{where} label')}",
                    f"k8s:api-key={p.plain(f'{where} label of a secret name')}",
                    f"k8s:app={p.keep()}",
                ],
                "workloads": [{"name": p.github(f"{where} workload"), "kind": "Job"}],
            },
            emitter={"name": p.plain(f"{where} emitter"), "version": "1.19.2"},
            node_labels={"pool": p.plain(f"{where} node label")},
            extensions={"@type": "x", "note": p.plain(f"{where} extension")},
        ),
        flow(
            2,
            destination_names=[
                f"{p.aws_key_id(f'{where} destination name').lower()}.{p.keep()}.example.com"
            ],
            destination_service={"name": p.keep("service"), "namespace": "ml"},
            egress_denied_by=[
                {"name": p.keep("policy"), "namespace": "ml", "labels": [p.plain(f"{where} rule")]}
            ],
        ),
        flow(
            3,
            l4={"UDP": {"source_port": 53, "destination_port": 40_003}},
            IP={"source": "10.20.0.10", "destination": "10.20.1.5"},
            is_reply=True,
            source={"namespace": "kube-system", "pod_name": p.keep("dns")},
            destination={"namespace": "ml", "pod_name": "train-0"},
            l7={
                "type": "RESPONSE",
                "dns": {
                    "query": f"{p.github(f'{where} DNS query').lower()}.{p.keep()}.example.com.",
                    "ips": ["203.0.113.9"],
                    "ttl": 60,
                    "cnames": [f"{p.openai(f'{where} CNAME').lower()}.example.net."],
                    "qtypes": ["A"],
                },
            },
        ),
        flow(4, l7={"type": "REQUEST", "kafka": {"topic": p.plain(f"{where} Kafka topic")}}),
    ]
    others: list[Json] = [
        {"debug_event": {"message": p.plain(f"{where} debug event")}, "node_name": "node-1"},
        {
            "agent_event": {"agent_start": {"note": p.plain(f"{where} agent event")}},
            "node_name": "node-1",
        },
        {"lost_events": {"num_events_lost": "3", "note": p.plain(f"{where} lost events")}},
    ]
    headers = [{"key": "X-Anything", "value": p.plain(f"{where} header of a rejected line")}]
    broken = json.dumps(
        {"flow": {"node_name": p.keep("node"), "l7": {"http": {"headers": headers}}}}
    )
    wrong = flow(
        9, l7={"http": {"headers": [{"key": "A", "value": p.plain(f"{where} wrong type")}]}}
    )
    wrong["flow"] = {
        "l4": {"TCP": {"source_port": True}},
        "Summary": p.plain(f"{where} summary of a rejected line"),
        **wrong["flow"],
    }
    wrong["flow"]["l4"] = {"TCP": {"source_port": True}}
    rejected = [
        broken[:-2] + ' "x":1}',
        wrong,
        json.dumps([{"flow": {"Summary": p.plain(f"{where} array")}}]),
        f'{{"flow":{{"Summary":"{p.plain(f"{where} cut line")}',
        *(
            f"{p.keep()} {text}".replace("\n", " ")
            for text in p.of_every_shape(f"{where} line of text")
        ),
    ]
    return lines(*named, *others, *rejected)


# -- coredns -------------------------------------------------------------------------------------


def asked(name: str) -> str:
    """A line of the log plugin."""
    return (
        f'[INFO] 10.20.1.5:40000 - 4711 "A IN {name}. udp 60 false 1232" NOERROR qr,rd,ra 94 '
        "0.000150566s"
    )


def coredns(p: Planter) -> str:
    """Lines of containers, wrapped by a runtime and by log shippers."""
    where = "coredns"
    r = p.refused()
    stamp = f"{DAY}T08:00:00.000000001Z"

    def shipped(p: Planter, text: str, place: str, **changes: Any) -> Json:
        return {
            "log": f"{text}\n",
            "stream": "stdout",
            "time": stamp,
            "kubernetes": {
                "host": p.keep("node"),
                "labels": {"note": p.plain(f"{where} label of {place}")},
                "annotations": {"note": p.plain(f"{where} annotation of {place}")},
            },
            **changes,
        }

    secret = p.github(f"{where} query name").lower()
    return lines(
        f"{stamp} stdout F {asked(f'{secret}.{p.keep()}.example.com')}",
        shipped(p, asked(f"{p.keep()}.example.com"), "a shipped line"),
        {
            "log": f"{asked(f'{p.keep()}.example.org')}\n",
            "stream": "stdout",
            "time": stamp,
            "attrs": {"TOKEN": p.plain(f"{where} attribute of Docker")},
        },
        f"{stamp} stdout F [ERROR] plugin/errors: 2 a. A: {p.password(f'{where} error')}",
        # Refused: no time, no text, no such line, broken JSON.
        shipped(r, asked(f"{p.keep()}.example.net"), "a line without a time", time=None),
        {"kubernetes": {"annotations": {"note": p.plain(f"{where} line without a text")}}},
        shipped(
            r,
            f"[INFO] 10.20.1.5:1 - x {p.keep()} {p.hugging_face(f'{where} unreadable line')}",
            "an unreadable line",
        ),
        json.dumps(shipped(r, "x", "a cut line"))[:-1],
        *(
            f"{stamp} stdout F [INFO] 10.20.1.5:1 - {text}".replace("\n", " ")
            for text in p.of_every_shape(f"{where} unreadable line")
        ),
    )


# -- dns_collector -------------------------------------------------------------------------------


def dns_collector(p: Planter) -> str:
    """Messages of DNS-collector, nested and flat."""
    where = "dns_collector"

    def message(name: str, **dns: Any) -> Json:
        return {
            "network": {
                "query-ip": "10.20.1.5", "query-port": "40000", "response-ip": "10.20.0.10",
                "protocol": "UDP",
            },
            "dns": {
                "id": 7, "opcode": 0, "rcode": "NOERROR", "qname": name, "qtype": "TXT",
                "qclass": "IN", **dns,
            },
            "edns": {"options": [{"name": "X", "data": p.plain(f"{where} EDNS option")}]},
            "dnstap": {
                "operation": "CLIENT_RESPONSE",
                "identity": p.plain(f"{where} identity"),
                "extra": p.plain(f"{where} extra"),
                "timestamp-rfc3339ns": f"{DAY}T08:00:00.000000001Z",
                "latency": 0.001,
            },
            "geoip": {"city": p.plain(f"{where} unknown key")},
        }  # fmt: skip

    answers = [
        {"name": "x.example.com", "rdatatype": "TXT", "ttl": 60, "rdata": f"{p.keep()} {text}"}
        for text in p.of_every_shape(f"{where} answer")
    ]
    name = f"{p.openai(f'{where} query name').lower()}.{p.keep()}.example.com"
    good = message(name, **{"resource-records": {"an": answers, "ns": [], "ar": []}})
    flat = {
        "dnstap.operation": "CLIENT_RESPONSE",
        "dnstap.timestamp-rfc3339ns": f"{DAY}T08:00:01Z",
        "dnstap.identity": p.plain(f"{where} flat identity"),
        "dnstap.extra": p.plain(f"{where} flat extra"),
        "dns.qname": f"{p.keep()}.example.org",
        "dns.qtype": "A",
        "dns.rcode": "NOERROR",
        "geoip.city": p.plain(f"{where} flat unknown key"),
    }
    no_time = message(f"{p.keep()}.example.net")
    no_time["dnstap"]["timestamp-rfc3339ns"] = p.jwt(f"{where} time")
    first = {"dns.qname": p.keep(), "dnstap.extra": p.plain(f"{where} extra of a rejected line")}
    return lines(
        good,
        flat,
        no_time,
        {**first, "dnstap.operation": p.hugging_face(f"{where} operation")},
        json.dumps(message("a.example.com"))[:-1],
        json.dumps({"dnstap": {"extra": p.plain(f"{where} line without dns")}}),
    )


# -- s3_access_log -------------------------------------------------------------------------------


def request(
    number: int, key: str, uri: str, *, referer: str = "-", agent: str = "-", principal: str = "-"
) -> str:
    """A line for one whole read."""
    return (
        f"ownerEXAMPLE example-datasets [10/Mar/2026:08:00:{number:02d} +0000] 10.20.1.5 "
        f'{principal} REQ{number:04d}EXAMPLE REST.GET.OBJECT {key} "GET {uri} HTTP/1.1" 200 - '
        f'100 100 20 10 "{referer}" "{agent}" - hostid{number}EXAMPLE SigV4 '
        "TLS_AES_128_GCM_SHA256 QueryString example-datasets.s3.us-east-1.amazonaws.com TLSv1.3 - -"
    )


def s3_access_log(p: Planter) -> str:
    """Lines of a bucket."""
    where = "s3_access_log"
    arn = "arn:aws:iam::111122223333:user/reader"
    key = p.keep("data")
    queries = [
        p.s3_query(f"{where} URI"),
        p.s3_old_query(f"{where} URI"),
        p.gcs_query(f"{where} URI"),
        p.azure_query(f"{where} URI"),
        f"note={p.plain(f'{where} URI')}&versionId=7",
        f"response-content-disposition=x;%20filename=%22{p.plain(f'{where} URI, file name')}%22",
    ]
    good = [
        request(n, f"{key}-{n}", f"/{key}-{n}?{query}", principal=arn)
        for n, query in enumerate(queries)
    ]
    agents = [
        text.replace('"', "'").replace("\n", " ")
        for text in p.of_every_shape(f"{where} user agent")
    ]
    good += [
        request(10 + n, f"{key}-a", f"/{key}-a", agent=f"{p.keep('agent')} {text}", principal=arn)
        for n, text in enumerate(agents)
    ]
    token = p.github(f"{where} key")
    good += [
        request(
            40,
            f"{p.keep()}/{token}/x",
            f"/{token}/x",
            referer=(
                f"https://u:{p.plain(f'{where} referer')}@example.com/"
                f"?q={p.plain(f'{where} query of the referer')}"
            ),
            principal=f"arn:aws:sts::111122223333:assumed-role/{p.keep('role')}/"
            f"{p.aws_key_id(f'{where} session name')}",
        ),
        request(41, quote(quote(f"{p.keep()}/{p.slack(f'{where} encoded key')}=", safe="/")), "/x"),
        request(42, "k", "/k").replace(" SigV4 ", f" {p.plain(f'{where} signature version')} "),
        request(43, "k", "/k").replace(
            "example-datasets.s3", f"{p.aws_key_id(f'{where} host').lower()}.s3"
        ),
        request(44, "k", "/k").replace("hostid44EXAMPLE", p.plain(f"{where} host id")),
        request(45, "k", f"/{p.plain(f'{where} path of the URI')}"),
    ]
    rejected = [
        request(50, "k", f"/k?note={p.plain(f'{where} rejected URI')}").replace(":08:00:50", ":x"),
        request(51, p.keep(), f"/k?{p.s3_query(f'{where} rejected URI')}").replace(" 200 ", " 20 "),
        request(52, "k", f'/k?x=" 200 - 9 9 1 1 "-" "-" ?note={p.plain(f"{where} forged line")}'),
        f"{p.keep()} {p.url_password(f'{where} line')} ?q={p.plain(f'{where} query in a line')}",
        *(text.replace("\n", " ") for text in p.of_every_shape(f"{where} line of text")),
    ]
    return lines(*good, *rejected)


# -- polyaxon ------------------------------------------------------------------------------------


def polyaxon_detail(p: Planter) -> str:
    """A run detail, with the content that its user wrote."""
    where = "polyaxon"
    content = {
        "version": 1.1,
        "kind": "compiled_operation",
        "queue": "agent/gpu",
        "run": {
            "kind": "job",
            "connections": [p.keep("connection")],
            "init": [
                {
                    "git": {
                        "url": (
                            f"https://ci:{p.plain(f'{where} git URL')}@git.example.com"
                            f"/{p.keep()}.git"
                        ),
                        "revision": "9f1c2ab",
                        "flags": [p.plain(f"{where} git flags")],
                    }
                },
                {"artifacts": {"files": [p.plain(f"{where} artifacts")]}, "connection": "data"},
                {"file": {"content": p.plain(f"{where} init file")}},
                {
                    "container": {
                        "name": "warm",
                        "image": f"registry.example.com/ml/{p.keep()}:1",
                        "env": {"KEY": p.plain(f"{where} init environment")},
                        "args": [p.plain(f"{where} init arguments")],
                    }
                },
            ],
            "sidecars": [
                {
                    "name": "s",
                    "image": "busybox",
                    "env": [{"name": "A", "value": p.plain(f"{where} sidecar environment")}],
                }
            ],
            "container": {
                "image": f"registry.example.com/ml/train:{p.hugging_face(f'{where} image tag')}",
                "command": ["sh", "-c", p.plain(f"{where} command")],
                "args": [f"--lr=0.1 --note {p.plain(f'{where} arguments')}"],
                "env": [
                    {"name": "HF_TOKEN", "value": p.plain(f"{where} environment")},
                    {"name": "HF_HOME", "value": p.plain(f"{where} environment, harmless name")},
                ],
                "workingDir": p.plain(f"{where} working directory"),
            },
            "environment": {
                "annotations": {"note": p.plain(f"{where} annotation")},
                "imagePullSecrets": [p.keep("pull")],
            },
        },
    }
    detail = {
        "uuid": RUN,
        "name": f"{p.keep('run')} {p.github(f'{where} name')}",
        "created_at": f"{DAY}T08:00:00Z",
        "updated_at": f"{DAY}T09:00:00Z",
        "started_at": f"{DAY}T08:00:10Z",
        "finished_at": f"{DAY}T09:00:00Z",
        "kind": "job",
        "runtime": "job",
        "status": "succeeded",
        "owner": "acme",
        "project": p.keep("project"),
        "user": {"username": p.keep("user"), "email": p.plain(f"{where} e-mail")},
        "description": p.plain(f"{where} description"),
        "readme": p.plain(f"{where} readme"),
        "meta_info": {"note": p.plain(f"{where} meta info")},
        "settings": {
            "namespace": "ml",
            "queue": {"name": "gpu"},
            "build": p.plain(f"{where} build"),
        },
        "tags": [p.keep("tag"), p.jwt(f"{where} tag")],
        "inputs": {
            "lr": 0.1,
            "api_key": p.plain(f"{where} input of a secret name"),
            "note": f"{p.keep()} {p.openai(f'{where} input')}",
            "nested": {"password": p.plain(f"{where} nested input")},
            "source": p.url_password(f"{where} input, URL"),
        },
        "outputs": {"token": p.plain(f"{where} output of a secret name"), "url": p.keep()},
        "raw_content": p.plain(f"{where} raw content"),
        "content": json.dumps(content),
    }
    return json.dumps(detail, indent=2)


def polyaxon_list(p: Planter) -> str:
    """A page of runs, of which two are refused."""
    where = "polyaxon list"
    runs = [
        {
            "uuid": OTHER_RUN,
            "name": p.keep("run"),
            "created_at": f"{DAY}T08:00:00Z",
            "updated_at": f"{DAY}T09:00:00Z",
            "status": "running",
            "kind": "job",
            "runtime": "job",
            "meta_info": {"note": p.plain(f"{where} meta info")},
            "tags": [f"{p.keep()} {text}" for text in p.of_every_shape(f"{where} tag")],
            "inputs": None,
        },
        {
            "uuid": p.github(f"{where} uuid"),
            "name": p.keep("rejected"),
            "status": "failed",
            "runtime": "job",
            "inputs": {"note": p.plain(f"{where} input of a rejected run")},
        },
        {
            "uuid": RUN,
            "status": "failed",
            "runtime": "job",
            "created_at": 7,
            "content": p.plain(f"{where} content of a rejected run"),
        },
    ]
    return json.dumps({"count": 3, "next": None, "previous": None, "results": runs})


def polyaxon_statuses(p: Planter) -> str:
    """Conditions of a run."""
    where = "polyaxon statuses"
    conditions = [
        {
            "type": "failed",
            "status": "True",
            "reason": p.keep("reason"),
            "message": f"{p.keep()} {text}",
            "last_update_time": f"{DAY}T08:00:{n:02d}Z",
            "last_transition_time": f"{DAY}T08:00:00Z",
        }
        for n, text in enumerate(p.of_every_shape(f"{where} message"))
    ]
    conditions.append(
        {
            "type": "failed",
            "message": p.plain(f"{where} message of a rejected condition"),
            "last_update_time": "noon",
        }
    )
    return json.dumps(
        {
            "uuid": RUN,
            "status": "failed",
            "status_conditions": conditions,
            "meta_info": {"note": p.plain(f"{where} meta info")},
        }
    )


def polyaxon_archive(p: Planter) -> str:
    """Pods and events of a run as its sidecar saw them."""
    where = "polyaxon archive"
    good, broken = pod(p, where, 1), pod(p.refused(), f"{where}, rejected", 2)
    del broken["metadata"]["uid"]
    good["events"] = [
        {
            "reason": "Failed",
            "message": f"{p.keep()} {text}",
            "type": "Warning",
            "count": 1,
            "first_timestamp": f"{DAY}T08:00:00Z",
            "last_timestamp": f"{DAY}T08:00:{n:02d}Z",
        }
        for n, text in enumerate(p.of_every_shape(f"{where} event"))
    ]
    service = {"spec": {"note": p.plain(f"{where} service")}}
    return json.dumps({"pods": {"a": good, "b": broken}, "services": {"c": service}})


# -- kubernetes ----------------------------------------------------------------------------------


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
    r = p.refused()
    no_uid, wrong_time = pod(r, f"{where} rejected pod", 3), pod(r, f"{where} rejected pod", 4)
    del no_uid["metadata"]["uid"]
    wrong_time["status"]["startTime"] = p.plain(f"{where} time")
    wrong_type = pod(r, f"{where} rejected pod", 5)
    variables = wrong_type["spec"]["containers"][0]["env"]
    variables.append({"name": "A", "value": [p.plain(f"{where} wrong type")]})
    good = [pod(p, where, 1), node, service, namespace, policy]
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


# -- otlp ----------------------------------------------------------------------------------------


def attributes(**values: str) -> list[Json]:
    """Attributes with text values."""
    return [
        {"key": key.replace("__", "."), "value": {"stringValue": value}}
        for key, value in values.items()
    ]


def otlp(p: Planter) -> str:
    """Metrics of the pod network, of other things, and broken ones."""
    where = "otlp"

    r = p.refused()

    def instance(p: Planter) -> str:
        return f"{p.keep()} {p.url_password(f'{where} instance')}"

    def document(p: Planter, *points: Json, name: str = "k8s.pod.network.io") -> Json:
        return {
            "resourceMetrics": [
                {
                    "resource": {
                        "attributes": attributes(
                            k8s__pod__uid=POD_UID.format(1),
                            k8s__pod__name="train-0",
                            k8s__namespace__name="ml",
                            k8s__node__name="node-1",
                            service__instance__id=instance(p),
                            note=p.plain(f"{where} resource attribute"),
                        )
                    },
                    "scopeMetrics": [
                        {
                            "scope": {"name": p.plain(f"{where} scope")},
                            "metrics": [
                                {
                                    "name": name,
                                    "unit": "By",
                                    "description": p.plain(f"{where} description"),
                                    "sum": {
                                        "aggregationTemporality": 2,
                                        "isMonotonic": True,
                                        "dataPoints": list(points),
                                    },
                                }
                            ],
                        }
                    ],
                }
            ]
        }

    def point(p: Planter, number: int, **changes: Any) -> Json:
        return {
            "attributes": attributes(
                interface=f"{p.keep('eth')} {p.github(f'{where} interface')}"[:64],
                direction="receive",
                note=p.plain(f"{where} point attribute"),
            ),
            "startTimeUnixNano": "1773100800000000000",
            "timeUnixNano": str(1_773_129_600_000_000_000 + number * 10**9),
            "asInt": str(1000 + number),
            "exemplars": [{"filteredAttributes": attributes(a=p.plain(f"{where} exemplar"))}],
            **changes,
        }

    return lines(
        document(
            p, point(p, 1), point(r, 2, asInt="x"), point(r, 3, asInt=p.plain(f"{where} value"))
        ),
        document(r, point(r, 4), name=p.plain(f"{where} name of another metric")),
        {"resourceMetrics": [{"resource": {"attributes": p.plain(f"{where} attributes")}}]},
        json.dumps(document(r, point(r, 5)))[:-1],
        {"resourceLogs": [{"body": p.plain(f"{where} logs")}]},
        {"note": p.plain(f"{where} other document")},
    )


# -- aws_vpc_flow_log ----------------------------------------------------------------------------

VPC_FIELDS = (
    "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start "
    "end action log-status instance-tag"
)


def aws_vpc_flow_log(p: Planter) -> str:
    """Records with a tag, which is the one field that a user writes."""
    where = "aws_vpc_flow_log"

    values = (
        "2 111122223333 eni-0a1b 10.20.1.5 203.0.113.9 40000 443 6 10 5000 1773129600 1773129660 "
        "ACCEPT OK"
    )

    def record(tag: str, **changes: str) -> str:
        fields = dict(zip(VPC_FIELDS.split(), f"{values} {tag}".split(), strict=True))
        fields |= {name.replace("_", "-"): text for name, text in changes.items()}
        return " ".join(fields.values())

    return lines(
        VPC_FIELDS,
        record(p.plain(f"{where} tag"), interface_id=p.keep("eni")),
        *(
            record(text.replace("\n", "_").replace(" ", "_"), bytes="many", interface_id=p.keep())
            for text in p.of_every_shape(f"{where} tag of a rejected record")
        ),
        f"{p.keep()} too few {p.github(f'{where} short line')}",
        record("x", region=p.slack(f"{where} unknown field")) + " more",
        record("x", srcaddr=p.jwt(f"{where} address")),
    )


SETTINGS = """
lake: lake
catalog: podledger.duckdb
redaction_key_file: redaction.key
clusters:
  alder: {cloud: aws, region: us-east-1, account_id: "111122223333"}
exports:
  - {name: hubble, format: hubble, path: "in/hubble/%Y-%m-%d/{node}.log", clusters: [alder]}
  - {name: coredns, format: coredns, path: "in/coredns/%Y-%m-%d/{node}.log", clusters: [alder]}
  - {name: dns_collector, path: "in/dns_collector/%Y-%m-%d/*", clusters: [alder]}
  - {name: s3, path: "in/s3_access_log/%Y-%m-%d/*"}
  - {name: polyaxon, path: "in/polyaxon/%Y-%m-%d/**/*.json", clusters: [alder]}
  - {name: kubernetes, path: "in/kubernetes/%Y-%m-%d/*", clusters: [alder]}
  - {name: otlp, path: "in/otlp/%Y-%m-%d/*", clusters: [alder]}
  - {name: vpc, path: "in/aws_vpc_flow_log/%Y-%m-%d/*", clusters: [alder]}
"""


# -- all of them ---------------------------------------------------------------------------------


def exports(p: Planter) -> Iterator[tuple[str, str]]:
    """(path below the landing zone, text) of a file of every kind."""
    yield f"hubble/{DAY}/node-1.log", hubble(p)
    yield f"coredns/{DAY}/node-1.log", coredns(p)
    yield f"dns_collector/{DAY}/node-1.jsonl", dns_collector(p)
    yield f"s3_access_log/{DAY}/{DAY}-08-15-00-0123456789ABCDEF", s3_access_log(p)
    yield f"polyaxon/{DAY}/runs.json", polyaxon_list(p)
    yield f"polyaxon/{DAY}/{RUN}/run.json", polyaxon_detail(p)
    yield f"polyaxon/{DAY}/{RUN}/statuses.json", polyaxon_statuses(p)
    yield f"polyaxon/{DAY}/{RUN}/outputs/spec.json", polyaxon_archive(p)
    yield f"kubernetes/{DAY}/all.json", kubernetes_list(p)
    yield f"kubernetes/{DAY}/watch.jsonl", kubernetes_watch(p)
    yield f"otlp/{DAY}/metrics.jsonl", otlp(p)
    yield f"aws_vpc_flow_log/{DAY}/flows.log", aws_vpc_flow_log(p)


def write_zone(folder: Path, p: Planter) -> Path:
    """Write all exports below `in/`, and the settings; returns the settings file."""
    for name, text in exports(p):
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "redaction.key").write_text("a key for tests only\n", encoding="utf-8")
    settings = folder / "podledger.yaml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return settings
