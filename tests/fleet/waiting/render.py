"""The traces of the fleet, as its sources write them: rounded, and without what is lost."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.fleet.clock import DAYS, day_start, to_access_log, to_micro, to_nano, to_second
from tests.fleet.labelled.files import write_lines
from tests.fleet.waiting.life import INIT, Artifact, KubeEvent, Lookup, Packet, Pod, Request, Turn
from tests.fleet.waiting.world import UNLOGGED

Json = dict[str, Any]
MIDNIGHT = day_start(DAYS[0])
DAY = DAYS[0].isoformat()
SETTINGS = """\
lake: lake
catalog: podledger.duckdb
memory_limit: 2GB
workers: 1
redaction_key_file: redaction.key
final_after: 0d
clusters:
  oak: {cloud: aws, region: us-east-1, account_id: "111122223333"}
  elm: {cloud: aws, region: eu-west-1, account_id: "111122223333"}
  fir: {cloud: aws, region: us-east-1, account_id: "111122223333"}
buckets: {example-datasets: us-east-1, example-outputs: us-east-1}
exports:
  - {name: hubble, format: hubble, path: "exports/{cluster}/hubble/%Y-%m-%d/{node}/events.log"}
  - {name: coredns, format: coredns, path: "exports/{cluster}/coredns/%Y-%m-%d/{node}.log"}
  - name: collector
    format: dns_collector
    path: exports/{cluster}/dns_collector/%Y-%m-%d/{node}.log
  - {name: watch, format: kubernetes, path: "exports/{cluster}/kubernetes/%Y-%m-%d/*.jsonl"}
  - {name: nodes, format: kubernetes, path: "exports/{cluster}/kubernetes/%Y-%m-%d/nodes-%H.json"}
  - {name: bucket-log, format: s3_access_log, path: "exports/s3/%Y-%m-%d-*"}
  - {name: marks, format: stage_marks, path: "exports/{cluster}/marks/%Y-%m-%d/*.log"}
  - name: runs
    format: polyaxon
    path: exports/{cluster}/polyaxon/{project}/%Y-%m-%d/*.json
  - name: run-parts
    format: polyaxon
    path: exports/{cluster}/polyaxon/{project}/%Y-%m-%d/*/*.json
"""
STORAGE_LOG = "exports/s3/DAY-23-59-00-A"
FLAGS = {
    "SYN": '"SYN":true',
    "SYN_ACK": '"SYN":true,"ACK":true',
    "ACK": '"PSH":true,"ACK":true',
    "FIN": '"FIN":true,"ACK":true',
    "RST": '"RST":true',
}


def write(folder: Path, pods: Sequence[Pod]) -> Path:
    """Write all exports and the settings below a folder; returns the settings."""
    files: dict[str, list[tuple[float, str]]] = defaultdict(list)

    def tell(name: str, lines: Iterable[tuple[float, str]]) -> None:
        for at, line in lines:
            files[name.replace("DAY", _day(at))].append((at, line))

    for pod in pods:
        place = f"exports/{pod.cluster}"
        tell(f"{place}/kubernetes/DAY/watch.jsonl", _watch(pod))
        if pod.tells("flows"):
            name = f"{place}/hubble/DAY/{pod.node}/events.log"
            tell(name, ((p.at, _flow(pod, p)) for p in pod.packets))
        if pod.tells("dns"):
            kind = "coredns" if pod.cluster == "oak" else "dns_collector"
            line_of = _coredns if pod.cluster == "oak" else _collector
            name = f"{place}/{kind}/DAY/{pod.node}.log"
            tell(name, ((item.at, line_of(pod, item)) for item in pod.lookups))
        if pod.tells("storage_log"):
            told = (r for r in pod.requests if r.bucket != UNLOGGED)
            tell(STORAGE_LOG, ((r.at, _request(pod, r)) for r in told))
        tell(f"{place}/marks/DAY/app.log", ((m.at, _mark(pod, m)) for m in pod.marks))
    days = sorted({_day(pod.made) for pod in pods})
    # Somebody else reads at the end of each day, so that its log is known to reach there.
    for number in range(len(days)):
        at = 86_400 * number + 86_390
        last = Request(at, 0.1, "REST.GET.OBJECT", "example-outputs", "end", 200, None, 1, 1)
        tell(STORAGE_LOG, [(last.at, _request(None, last))])
    for name, lines in files.items():
        write_lines(folder / name, [line for _, line in sorted(lines)])
    for cluster in ("oak", "elm", "fir"):
        for day in days:
            for project in sorted({pod.project for pod in pods}):
                _polyaxon(folder, cluster, project, day, pods)
            _nodes(folder, cluster, day)
    (folder / "redaction.key").write_text("public-test-key-of-the-waiting-fleet\n")
    settings = folder / "podledger.yaml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return settings


def _at(second: float) -> datetime:
    return MIDNIGHT + timedelta(microseconds=round(second * 1e6))


def _day(second: float) -> str:
    return _at(second).strftime("%Y-%m-%d")


def _seconds(second: float) -> str:
    """What the API server keeps of an instant."""
    return to_second(_at(second))


def _nanos(second: float) -> str:
    return to_nano(_at(second), 1)


def _micro(second: float) -> str:
    return to_micro(_at(second))


def _dump(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


# -- Kubernetes ----------------------------------------------------------------------------------


def _watch(pod: Pod) -> Iterator[tuple[float, str]]:
    """Each change of the pod, and each event with its repetitions."""
    moments = {pod.made, pod.bound, pod.ready, pod.gone if pod.is_torn_down else None}
    for turn in pod.turns:
        moments |= {turn.began, turn.ended, *(turn.earlier or ())}
    for moment in sorted(m for m in moments if m is not None):
        kind = "ADDED" if moment == pod.made else "MODIFIED"
        seen = moment + 0.3
        yield seen, _dump({"type": kind, "object": _pod(pod, seen)})
    if pod.is_claimed:
        yield pod.made + 0.1, _dump({"type": "ADDED", "object": _claim(pod, is_bound=False)})
        if pod.bound is not None:
            yield pod.bound, _dump({"type": "MODIFIED", "object": _claim(pod, is_bound=True)})
    if pod.is_torn_down:
        last = pod.gone + 0.8
        yield last, _dump({"type": "DELETED", "object": _pod(pod, last)})
    else:
        # Somebody writes to it while it is left over.
        late = pod.gone + 7_200
        left = _pod(pod, late)
        left["metadata"]["managedFields"] = [{"manager": "kubectl", "time": _seconds(late)}]
        yield late, _dump({"type": "MODIFIED", "object": left})
    if pod.tells("events"):
        for event in pod.events:
            kind = "ADDED" if event.count == 1 else "MODIFIED"
            yield event.at + 0.01, _dump({"type": kind, "object": _event(pod, event)})


def _pod(pod: Pod, now: float) -> Json:
    metadata: Json = {
        "name": pod.name, "namespace": "ml", "uid": pod.uid,
        "resourceVersion": str(round(now * 1_000)), "creationTimestamp": _seconds(pod.made),
        "labels": {
            "operation.polyaxon.com/uuid": pod.run, "app.kubernetes.io/instance": pod.run,
            "app.kubernetes.io/managed-by": "polyaxon", **pod.labels,
        },
    }  # fmt: skip
    if now > pod.gone and pod.is_torn_down:
        metadata["deletionTimestamp"] = _seconds(pod.gone)
        metadata["deletionGracePeriodSeconds"] = 0
    is_bound = pod.bound is not None and now >= pod.bound
    is_ready = pod.ready is not None and now >= pod.ready
    known = {turn.name: turn for turn in pod.turns}
    names = ("polyaxon-init", "polyaxon-main", "polyaxon-sidecar")
    specs = [_spec(pod, known.get(name, Turn(name, f"registry.example.com/ml/{name}:1")))
             for name in names]  # fmt: skip
    statuses = [_status(known.get(name), name, now) for name in names]
    status: Json = {"phase": _phase(pod, now), "conditions": _conditions(pod, now)}
    if pod.is_claimed:
        status["resourceClaimStatuses"] = [
            {"name": "gpus", "resourceClaimName": f"{pod.name}-gpus"}
        ]
    if is_bound:
        status["startTime"] = _seconds(pod.bound or 0)
        status["hostIP"] = "10.9.0.1"
        status["initContainerStatuses"] = statuses[:1]
        status["containerStatuses"] = statuses[1:]
    if is_ready:
        status["podIP"] = pod.address
        status["podIPs"] = [{"ip": pod.address}]
    return {
        "kind": "Pod", "apiVersion": "v1", "metadata": metadata,
        "spec": {
            **({"nodeName": pod.node} if is_bound else {}),
            **({"resourceClaims": [_CLAIM_OF_POD]} if pod.is_claimed else {}),
            "initContainers": specs[:1], "containers": specs[1:],
        },
        "status": status,
    }  # fmt: skip


def _spec(pod: Pod, turn: Turn) -> Json:
    found: Json = {"name": turn.name, "image": turn.image, "resources": {}}
    if turn.name == "polyaxon-main":
        limits = {"limits": {"nvidia.com/gpu": str(pod.gpus)}}
        found["resources"] = {"claims": [{"name": "gpus"}]} if pod.is_claimed else limits
    return found


_CLAIM_OF_POD = {"name": "gpus", "resourceClaimTemplateName": "gpus"}


def _claim(pod: Pod, *, is_bound: bool) -> Json:
    """The claim that was made for a pod from its template, and what it got."""
    asked = {"deviceClassName": "gpu.nvidia.com", "count": pod.gpus}
    found: Json = {
        "kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1",
        "metadata": {
            "name": f"{pod.name}-gpus", "namespace": "ml",
            "uid": f"eeeeeeee-0000-4000-8000-{pod.number:012x}",
            "resourceVersion": str(round(pod.made * 1_000) + is_bound),
            "creationTimestamp": _seconds(pod.made),
        },
        "spec": {"devices": {"requests": [{"name": "gpus", "exactly": asked}]}},
    }  # fmt: skip
    if is_bound:
        results = [
            {"request": "gpus", "driver": "gpu.nvidia.com", "pool": pod.node, "device": f"gpu-{n}"}
            for n in range(pod.gpus)
        ]
        found["status"] = {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": pod.name, "uid": pod.uid}],
        }
    return found


def _phase(pod: Pod, now: float) -> str:
    if now > pod.gone and pod.is_torn_down:
        return "Succeeded" if pod.outcome == "succeeded" else "Failed"
    main = next((t for t in pod.turns if t.name == "polyaxon-main"), None)
    is_running = main is not None and main.began is not None and now >= main.began
    return "Running" if is_running else "Pending"


def _conditions(pod: Pod, now: float) -> list[Json]:
    def condition(kind: str, value: bool, at: float, **more: str) -> Json:
        return {"type": kind, "status": str(value), "lastTransitionTime": _seconds(at)} | more

    if pod.bound is None or now < pod.bound:
        return [
            condition("PodScheduled", False, pod.made, reason="Unschedulable", message="no place")
        ]
    found = [condition("PodScheduled", True, pod.bound)]
    if pod.ready is not None and now >= pod.ready:
        is_up = now <= pod.gone or not pod.is_torn_down
        at = pod.ready if is_up else pod.gone
        found.append(condition("PodReadyToStartContainers", is_up, at))
    return found


def _status(turn: Turn | None, name: str, now: float) -> Json:
    found: Json = {
        "name": name, "restartCount": 0, "ready": False, "lastState": {}, "imageID": "",
        "image": f"registry.example.com/ml/{name}:1",
        "state": {"waiting": {"reason": "PodInitializing"}},
    }  # fmt: skip
    if turn is None:
        return found
    if turn.earlier is not None and now >= turn.earlier[0]:
        began, crashed = turn.earlier
        if now < crashed:
            found["state"] = {"running": {"startedAt": _seconds(began)}}
            return found
        ended = _ended(began, crashed, 1, None)
        found["lastState"] = {"terminated": ended}
        found["restartCount"] = turn.restarts
        if turn.began is not None and now < turn.began:
            found["restartCount"] = 0
            found["lastState"] = {}
            found["state"] = {"terminated": ended}
            return found
    if turn.waiting is not None:
        found["state"] = {"waiting": dict(zip(("reason", "message"), turn.waiting, strict=True))}
    if turn.began is not None and now >= turn.began:
        found["state"] = {"running": {"startedAt": _seconds(turn.began)}}
        if turn.digest is not None:
            found["imageID"] = f"{turn.image.rpartition(':')[0]}@{turn.digest}"
        if turn.ended is not None and now >= turn.ended:
            found["state"] = {
                "terminated": _ended(turn.began, turn.ended, turn.exit_code, turn.message)
            }
            if not turn.has_reason:
                del found["state"]["terminated"]["reason"]
    return found


def _ended(began: float, ended: float, exit_code: int, message: str | None) -> Json:
    found: Json = {
        "exitCode": exit_code, "reason": "Error" if exit_code else "Completed",
        "startedAt": _seconds(began), "finishedAt": _seconds(ended),
    }  # fmt: skip
    return found | ({"message": message} if message else {})


def _event(pod: Pod, event: KubeEvent) -> Json:
    involved: Json = {
        "kind": "Pod", "namespace": "ml", "name": pod.name, "uid": pod.uid, "apiVersion": "v1",
    }  # fmt: skip
    if event.container is not None:
        group = "initContainers" if event.container == INIT else "containers"
        involved["fieldPath"] = f"spec.{group}{{{event.container}}}"
    what = f"{event.reason}-{event.container}-{event.first}-{len(event.message)}"
    name = f"{pod.name}.{abs(hash_of(what)):016x}"
    found: Json = {
        "kind": "Event", "apiVersion": "v1",
        "metadata": {
            "name": name, "namespace": "ml", "uid": f"{name[-12:]}-{pod.number}",
            "resourceVersion": str(round(event.at * 1_000)),
            "creationTimestamp": _seconds(event.first),
        },
        "involvedObject": involved, "reason": event.reason, "message": event.message,
        "type": "Normal", "source": {"component": "kubelet", "host": pod.node},
        "firstTimestamp": _seconds(event.first), "lastTimestamp": _seconds(event.at),
        "count": event.count, "eventTime": None, "reportingComponent": "kubelet",
    }  # fmt: skip
    if event.reason in {"Scheduled", "FailedScheduling"}:
        found |= {
            "firstTimestamp": None, "lastTimestamp": None, "source": {}, "count": None,
            "eventTime": _micro(event.at),
            "reportingComponent": "default-scheduler",
        }  # fmt: skip
    return found


def hash_of(text: str) -> int:
    """A number of a text that is the same in every process."""
    found = 5381
    for character in text:
        found = (found * 33 + ord(character)) % (1 << 60)
    return found


def _nodes(folder: Path, cluster: str, day: str) -> None:
    region = "eu-west-1" if cluster == "elm" else "us-east-1"
    items = [
        {
            "metadata": {
                "name": f"{cluster}-node-{number}", "uid": f"{cluster}-{number}",
                "creationTimestamp": "2026-03-01T00:00:00Z",
                "labels": {
                    "topology.kubernetes.io/region": region,
                    "topology.kubernetes.io/zone": f"{region}a",
                    "node.kubernetes.io/instance-type": "g6.4xlarge",
                },
            },
            "spec": {},
            "status": {"addresses": [{"type": "InternalIP", "address": f"10.9.0.{number}"}]},
        }
        for number in range(4)
    ]  # fmt: skip
    document = {"kind": "NodeList", "apiVersion": "v1", "items": items}
    write_lines(
        folder / f"exports/{cluster}/kubernetes/{day}/nodes-00.json", [json.dumps(document)]
    )


# -- network -------------------------------------------------------------------------------------


def _flow(pod: Pod, packet: Packet) -> str:
    mine = (
        f'{{"ID":12,"identity":5000,"cluster_name":"{pod.cluster}","namespace":"ml",'
        f'"labels":["k8s:io.kubernetes.pod.namespace=ml"],"pod_name":"{pod.name}"}}'
    )
    ends = [(pod.address, packet.port, mine), (packet.peer, packet.peer_port, '{"identity":2}')]
    if packet.is_reply:
        ends.reverse()
    (source, source_port, source_end), (target, target_port, target_end) = ends
    time = _nanos(packet.at)
    verdict, kind = "FORWARDED", '"event_type":{"type":4,"sub_type":3}'
    point = f',"trace_observation_point":"TO_{"ENDPOINT" if packet.is_reply else "STACK"}"'
    if packet.is_dropped:
        verdict = "DROPPED"
        kind = (
            '"drop_reason":133,"drop_reason_desc":"POLICY_DENIED",'
            '"event_type":{"type":1,"sub_type":133}'
        )
        point = ""
    return (
        f'{{"flow":{{"time":"{time}","verdict":"{verdict}",'
        f'"IP":{{"source":"{source}","destination":"{target}","ipVersion":"IPv4"}},'
        f'"l4":{{"TCP":{{"source_port":{source_port},"destination_port":{target_port},'
        f'"flags":{{{FLAGS[packet.flags]}}}}}}},"source":{source_end},"destination":{target_end},'
        f'"Type":"L3_L4","node_name":"{pod.cluster}/{pod.node}",{kind},'
        f'"traffic_direction":"{"INGRESS" if packet.is_reply else "EGRESS"}"{point},'
        f'"is_reply":{str(packet.is_reply).lower()}}},"node_name":"{pod.cluster}/{pod.node}",'
        f'"time":"{time}"}}'
    )


def _coredns(pod: Pod, lookup: Lookup) -> str:
    return (
        f"{_nanos(lookup.at)} stdout F [INFO] {pod.address}:{_port(lookup)} - 7 "
        f'"A IN {lookup.name}. udp 60 false 1232" {lookup.rcode} qr,rd,ra 94 '
        f"{lookup.latency:.9f}s"
    )


def _port(lookup: Lookup) -> int:
    return 30_000 + round(lookup.at * 1_000) % 20_000


def _collector(pod: Pod, lookup: Lookup) -> str:
    answers = []
    if lookup.address is not None:
        answers = [{"name": lookup.name, "rdatatype": "A", "ttl": 60, "rdata": lookup.address}]
    return _dump({
        "network": {
            "family": "IPv4", "protocol": "UDP", "query-ip": pod.address,
            "query-port": str(_port(lookup)), "response-ip": "10.96.0.10", "response-port": "53",
        },
        "dns": {
            "id": 7, "opcode": 0, "rcode": lookup.rcode, "qname": lookup.name, "qtype": "A",
            "qclass": "IN", "resource-records": {"an": answers, "ns": [], "ar": []},
        },
        "dnstap": {
            "operation": "CLIENT_RESPONSE", "identity": pod.node,
            "timestamp-rfc3339ns": _nanos(lookup.at), "latency": round(lookup.latency, 6),
        },
    })  # fmt: skip


# -- storage, application, platform --------------------------------------------------------------


def _request(pod: Pod | None, request: Request) -> str:
    address = pod.address if pod is not None else "192.0.2.77"
    at = to_access_log(_at(request.at))
    verb = request.operation.split(".")[1]
    role = pod.reads_as if pod and verb == "GET" else "trainer"
    who = f"arn:aws:sts::111122223333:assumed-role/{role}/" + (pod.uid if pod else "reader")
    took = round(request.seconds * 1_000)
    return (
        f"0123456789abcdef {request.bucket} [{at}] {address} {who} "
        f"{hash_of(f'{address}{request.at}'):016X} {request.operation} {request.key} "
        f'"{verb} /{request.key} HTTP/1.1" {request.status} {request.error or "-"} '
        f"{request.sent or '-'} {request.size if request.size is not None else '-'} {took} 10 "
        f'"-" "Boto3/1.35" - hostid SigV4 TLS_AES_128_GCM_SHA256 AuthHeader '
        f"{request.bucket}.s3.us-east-1.amazonaws.com TLSv1.3 - -"
    )


def _mark(pod: Pod, mark: Any) -> str:
    return _dump({
        "timestamp": _at(mark.at).isoformat(), "level": "INFO", "event.name": mark.event,
        "resource.id": mark.resource, "k8s.pod.uid": pod.uid, "k8s.pod.name": pod.name,
        "k8s.namespace.name": "ml", "k8s.container.name": "polyaxon-main",
        "polyaxon.run.uuid": pod.run,
    })  # fmt: skip


def _polyaxon(folder: Path, cluster: str, project: str, day: str, everyone: Sequence[Pod]) -> None:
    """A project's runs of a day, by the pod that tells of each: the last one of several."""
    pods = [
        pod
        for pod in everyone
        if (pod.cluster, pod.project, _day(pod.made)) == (cluster, project, day) and pod.statuses
    ]
    place = folder / f"exports/{cluster}/polyaxon/{project}/{day}"
    place.mkdir(parents=True, exist_ok=True)
    runs = [_run(pod) for pod in pods]
    answer = {"count": len(runs), "next": None, "previous": None, "results": runs}
    (place / "runs.json").write_text(json.dumps(answer))
    for pod in pods:
        folder_of_run = place / pod.run
        folder_of_run.mkdir(exist_ok=True)
        conditions = [
            {
                "type": status, "status": "True", "reason": pod.reason,
                "message": pod.reason and status,
                "last_update_time": _micro(at), "last_transition_time": _micro(at),
            }
            for at, status in pod.statuses
        ]  # fmt: skip
        told = {"uuid": pod.run, "status": pod.outcome, "status_conditions": conditions}
        (folder_of_run / "statuses.json").write_text(json.dumps(told))
        known = pod.artifacts or [Artifact("model", "model", pod.output)]
        artifacts = [
            {
                "name": artifact.name, "kind": artifact.kind, "is_input": artifact.is_input,
                "path": artifact.path, "summary": {"path": artifact.path}, "state": pod.run,
                "run": pod.run, "meta_info": {"run": {"name": pod.run_name, "uuid": pod.run}},
            }
            for artifact in known
        ]  # fmt: skip
        if pod.content is not None:
            detail = _run(pod) | {
                "owner": "acme", "project": pod.project, "content": json.dumps(pod.content),
                "raw_content": None, "readme": None, "description": None, "live_state": 1,
                "settings": {"namespace": "ml", "queue": None, "artifacts_store": None},
            }  # fmt: skip
            (folder_of_run / "run.json").write_text(json.dumps(detail))
        lineage = {"count": len(known), "next": None, "previous": None, "results": artifacts}
        (folder_of_run / "lineage.json").write_text(json.dumps(lineage))


def _run(pod: Pod) -> Json:
    times = {status: at for at, status in pod.statuses}
    return {
        "uuid": pod.run, "name": pod.run_name, "created_at": _micro(times["created"]),
        "updated_at": _micro(pod.gone), "finished_at": _micro(pod.gone),
        "started_at": _micro(times["running"]) if "running" in times else None,
        "schedule_at": None, "wait_time": None, "duration": None, "kind": "job", "runtime": "job",
        "meta_info": {}, "status": pod.outcome, "pipeline": None, "original": None,
        "is_managed": True, "managed_by": "agent", "pending": None, "inputs": None,
        "outputs": None, "tags": None,
        "settings": {"namespace": "ml", "component": None}, "user": "ana", "bookmarked": False,
        "resources": {"gpu": float(pod.gpus)},
    }  # fmt: skip
