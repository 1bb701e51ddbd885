"""The exports: S3 and MinIO logs, a trail of credentials, Kubernetes, containerd, and a bill.

All is a day earlier than the world tells it, so that the two days lie in two months. The sweep asks
through the NAT gateway, with credentials that were given to its pods; other pods are known by their
addresses. What moved is in no export but where a log tells it.
"""

import csv
import json
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.fleet.again.world import (
    FIRST,
    LAST,
    NAT,
    ROBOT,
    SIZE,
    Place,
    World,
)

Json = dict[str, Any]

ACCOUNT = "111122223333"
BLOCK = 2**20
"""Bytes of a block of the world."""
GIB = 2**30
EARLIER = timedelta(days=1)
DIGEST = f"sha256:{1:064x}"
NAMESPACE = "ml"
REFERENCE = "registry.example.com/ml/train:1"
FROM_WEST, FROM_EAST, THROUGH_NAT = "0.03", "0.025", "0.041"
"""USD of 2^30 bytes, made by hand; the last takes the place of the shipped price of that name."""
SETTINGS = f"""\
lake: lake
catalog: podledger.duckdb
workers: 1
redaction_key_file: redaction.key
clusters:
  alder: {{cloud: aws, region: us-east-1, account_id: "{ACCOUNT}"}}
exports:
  - {{name: s3, format: s3_access_log, path: "exports/s3/*/%Y-%m-%d-*"}}
  - {{name: minio, format: minio_audit, path: "exports/minio/%Y-%m-%d/*.jsonl"}}
  - {{name: trail, format: cloudtrail, path: "exports/cloudtrail/%Y-%m-%d/*.json"}}
  - {{name: kubernetes, format: kubernetes, path: "exports/{{cluster}}/k8s/%Y-%m-%d/*.jsonl"}}
  - {{name: nodes, format: kubernetes, path: "exports/{{cluster}}/k8s/%Y-%m-%d/nodes.json"}}
  - {{name: runtime, format: containerd, path: "exports/{{cluster}}/cri/%Y-%m-%d/{{node}}.log"}}
  - {{name: bill, format: aws_cur, path: "exports/bill/%Y-%m-%d/*.csv"}}
buckets:
  lake: {{region: eu-west-1, account_id: "{ACCOUNT}"}}
  commons: {{region: eu-west-1, account_id: "{ACCOUNT}"}}
reference: {{prices: prices.csv, nat_addresses: nat.csv}}
"""
PRICES = f"""\
price_id,provider,charge_kind,distance,gateway,from_region,to_region,usd_per_unit,unit_bytes,\
unit_requests,usage_type,tier_from_bytes,valid_from,valid_to,source,is_verified
west,aws,transfer,cross_region,,eu-west-1,,{FROM_WEST},{GIB},,,0,2026-01-01,,by hand,true
east,aws,transfer,cross_region,,us-east-1,,{FROM_EAST},{GIB},,,0,2026-01-01,,by hand,true
aws-nat,aws,nat_processing,,nat,us-east-1,,{THROUGH_NAT},{GIB},,,0,2026-01-01,,by hand,true
"""


def write(folder: Path, world: World, bill: list[Json]) -> Path:
    """Write exports and settings below a folder.

    Args:
        folder: Where.
        world: What happened.
        bill: Lines of the bill, as `line` makes them.

    Returns:
        The settings file.
    """
    exports = folder / "exports"
    logs: dict[Path, list[str]] = defaultdict(list)
    for number, request in enumerate(sorted(world.requests, key=lambda r: r["event_at"])):
        day = (request["event_at"] - EARLIER).date()
        if request["provider"] == "minio":
            logs[exports / "minio" / str(day) / "audit.jsonl"].append(_minio(number, request))
        else:
            path = exports / "s3" / request["bucket"] / f"{day}-23-59-00-0A1B2C3D"
            logs[path].append(_s3(number, request, world))
    for pull in world.pulls:
        if pull["measured_by"] == "application_log":
            day = (pull["end_at"] - EARLIER).date()
            path = exports / "alder" / "cri" / str(day) / f"{pull['node']}.log"
            logs[path] += _runtime(pull)
    for day in (FIRST, LAST):
        place = exports / "alder" / "k8s" / str((day - EARLIER).date())
        logs[place / "nodes.json"].append(json.dumps(_nodes(world)))
        logs[place / "watch.jsonl"] += _watch(world, day)
        trail = exports / "cloudtrail" / str((day - EARLIER).date()) / "trail.json"
        given = [_given(place, day) for place in world.places.values() if is_sweep(place)]
        logs[trail].append(json.dumps({"Records": given}))
    for path, lines in logs.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    _write_bill(exports / "bill" / "2026-03-05" / "cur.csv", bill)
    (folder / "redaction.key").write_text("FAKE key of the tests\n", encoding="utf-8")
    (folder / "nat.csv").write_text(f"address,cluster\n{NAT},alder\n", encoding="utf-8")
    (folder / "prices.csv").write_text(PRICES, encoding="utf-8")
    settings = folder / "podledger.yaml"
    settings.write_text(SETTINGS, encoding="utf-8")
    return settings


def is_sweep(place: Place) -> bool:
    """Whether the pod is one of the sweep's, which ask through the NAT gateway."""
    return int(place.run[:8], 16) < 40


def sent_bytes(request: Json) -> int:
    """Body bytes that the storage sent for a request, errors' too."""
    if request["operation"] != "read" or request["status"] == 304:
        return 0
    count = int(request["response_bytes"])
    return count * BLOCK if request["status"] in {200, 206} else count


# -- object storage ------------------------------------------------------------------------------


def _uid(place: Place) -> str:
    return f"00000000-0000-4000-8000-{int(place.address.rpartition('.')[2]):012x}"


def _name(place: Place) -> str:
    return f"train-{place.run[:8]}"


def _session(place: Place) -> str:
    return f"eks-alder-{_name(place)[:10]}-{_uid(place)}"


def _s3(number: int, request: Json, world: World) -> str:
    place = world.places.get(request["client_address"])
    address, who = request["client_address"], f"arn:aws:iam::{ACCOUNT}:user/reader"
    if place is not None and is_sweep(place):
        address, who = NAT, f"arn:aws:sts::{ACCOUNT}:assumed-role/ml/{_session(place)}"
    if request["principal"] == ROBOT:
        address, who = "-", ROBOT
    verb = request["operation_name"].split(".")[1]
    if request["operation"] == "head":
        verb = "HEAD"
    moment = (request["event_at"] - EARLIER).strftime("%d/%b/%Y:%H:%M:%S +0000")
    error = {403: "AccessDenied", 503: "SlowDown"}.get(request["status"], "-")
    size = request["object_size_bytes"]
    sent = sent_bytes(request) or "-"
    return (
        f"0123456789abcdef {request['bucket']} [{moment}] {address} {who} {number:016X} "
        f"REST.{verb}.OBJECT {request['key']} "
        f'"{verb} /{request["key"]} HTTP/1.1" {request["status"]} {error} {sent} '
        f"{'-' if size is None else size * BLOCK} 500 10 "
        f'"-" "agent" - {number:040x}EXAMPLE= SigV4 TLS_AES_128_GCM_SHA256 AuthHeader '
        f"{request['bucket']}.s3.eu-west-1.amazonaws.com TLSv1.3 - -"
    )


def _minio(number: int, request: Json) -> str:
    asked: dict[str, str] = {}
    answered = {"Content-Length": str(sent_bytes(request))}
    if request["status"] == 206:
        start = request["response_offset_bytes"] * BLOCK
        stop = start + sent_bytes(request) - 1
        asked["Range"] = f"bytes={start}-{stop}"
        answered["Content-Range"] = f"bytes {start}-{stop}/{SIZE * BLOCK}"
    if request["status"] == 200:
        # Headers are those of the answer, bytes those that were sent until it broke off.
        answered["Content-Length"] = str(SIZE * BLOCK)
    return json.dumps(
        {
            "version": "1",
            "deploymentid": "0a1b2c3d-0000-4000-8000-000000000001",
            "time": (request["event_at"] - EARLIER).strftime("%Y-%m-%dT%H:%M:%S.000000000Z"),
            "trigger": "incoming",
            "api": {
                "name": "GetObject",
                "bucket": request["bucket"],
                "object": request["key"],
                "status": "OK" if request["status"] < 300 else "Slow Down",
                "statusCode": request["status"],
                "rx": 0,
                "tx": sent_bytes(request),
                "timeToResponseInNS": "500000000",
            },
            "remotehost": request["client_address"],
            "requestID": f"{number:016X}",
            "userAgent": "agent",
            "requestHost": "minio.example.com:9000",
            "requestHeader": asked,
            "responseHeader": answered,
            "accessKey": "FAKEACCESSKEY",
            "parentUser": "reader",
        }
    )


def _given(place: Place, day: datetime) -> Json:
    """Credentials that EKS gave to a pod on a day."""
    arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/ml/{_session(place)}"
    tags = {
        "eks-cluster-arn": f"arn:aws:eks:us-east-1:{ACCOUNT}:cluster/alder",
        "eks-cluster-name": "alder",
        "kubernetes-namespace": NAMESPACE,
        "kubernetes-service-account": "default",
        "kubernetes-pod-name": _name(place),
        "kubernetes-pod-uid": _uid(place),
    }
    moment = day - EARLIER + timedelta(hours=10)
    event = f"{moment.day:08d}{_uid(place)[8:]}"
    return {
        "eventVersion": "1.08",
        "userIdentity": {"type": "AWSService", "invokedBy": "pods.eks.amazonaws.com"},
        "eventTime": _text(moment),
        "eventSource": "sts.amazonaws.com",
        "eventName": "AssumeRole",
        "awsRegion": "us-east-1",
        "sourceIPAddress": "pods.eks.amazonaws.com",
        "userAgent": "pods.eks.amazonaws.com",
        "requestParameters": {
            "roleArn": f"arn:aws:iam::{ACCOUNT}:role/ml",
            "roleSessionName": _session(place),
            "durationSeconds": 21_600,
            "tags": [{"key": key, "value": value} for key, value in tags.items()],
        },
        "responseElements": {
            "credentials": {
                "accessKeyId": f"ASIAFAKE{int(place.address.rpartition('.')[2]):012d}",
                "sessionToken": "FAKEsessionTOKEN",
                "expiration": (moment + timedelta(hours=6)).strftime("%b %d, %Y, %I:%M:%S %p"),
            },
            "assumedRoleUser": {"assumedRoleId": f"AROAEXAMPLE:{_session(place)}", "arn": arn},
        },
        "eventID": event,
        "requestID": event,
        "readOnly": True,
        "eventType": "AwsApiCall",
        "managementEvent": True,
        "recipientAccountId": ACCOUNT,
        "eventCategory": "Management",
    }


# -- the cluster ---------------------------------------------------------------------------------


def _nodes(world: World) -> Json:
    nodes = {place.node: place for place in world.places.values()}
    items = [
        {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {
                "name": place.node,
                "uid": f"00000000-0000-4000-9000-{int(name[1:]):012x}",
                "creationTimestamp": _text(FIRST - 9 * EARLIER),
                "labels": {
                    "topology.kubernetes.io/region": place.region,
                    "topology.kubernetes.io/zone": place.zone,
                },
            },
            "spec": {},
            "status": {
                "addresses": [{"type": "InternalIP", "address": f"10.1.0.{int(name[1:]) + 1}"}]
            },
        }
        for name, place in sorted(nodes.items())
    ]
    return {"kind": "NodeList", "apiVersion": "v1", "items": items}


def _watch(world: World, day: datetime) -> list[str]:
    """States of the pods on a day, and events of pulls."""
    pulls = {pull["pod_uid"]: pull for pull in world.pulls}
    lines = []
    for place in world.places.values():
        pull = pulls.get(place.address)
        created, started = FIRST - EARLIER / 24, FIRST - EARLIER / 25
        if pull is not None:
            created = pull["start_at"] - timedelta(seconds=5)
            started = pull["end_at"] + timedelta(seconds=1)
        for hour in (0, 12):
            moment = day + timedelta(hours=hour, seconds=30)
            if moment > started:
                pod = _pod(place, created, started, moment)
                lines.append(json.dumps({"type": "ADDED", "object": pod}))
        if pull is not None and pull["start_at"].date() == day.date():
            took = (pull["end_at"] - pull["start_at"]).seconds
            texts = {
                "Pulling": f'Pulling image "{REFERENCE}"',
                "Pulled": f'Successfully pulled image "{REFERENCE}" in {took}s ({took}s including '
                f"waiting). Image size: {pull['image_bytes'] * BLOCK} bytes.",
            }
            moments = {"Pulling": pull["start_at"], "Pulled": pull["end_at"]}
            for reason, text in texts.items():
                event = _event(place, reason, text, moments[reason])
                lines.append(json.dumps({"type": "ADDED", "object": event}))
    return lines


def _pod(place: Place, created: datetime, started: datetime, moment: datetime) -> Json:
    repository = REFERENCE.rpartition(":")[0]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": _name(place),
            "namespace": NAMESPACE,
            "uid": _uid(place),
            "resourceVersion": str(int(moment.timestamp())),
            "creationTimestamp": _text(created - EARLIER),
            "labels": {"operation.polyaxon.com/uuid": place.run},
        },
        "spec": {
            "nodeName": place.node,
            "containers": [{"name": "main", "image": REFERENCE}],
        },
        "status": {
            "phase": "Running",
            "podIP": place.address,
            "podIPs": [{"ip": place.address}],
            "startTime": _text(created - EARLIER),
            "containerStatuses": [
                {
                    "name": "main",
                    "ready": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": _text(started - EARLIER)}},
                    "lastState": {},
                    "image": REFERENCE,
                    "imageID": f"{repository}@{DIGEST}",
                }
            ],
        },
    }


def _event(place: Place, reason: str, text: str, moment: datetime) -> Json:
    told = _text(moment - EARLIER)
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {
            "name": f"{_name(place)}.{reason.lower()}",
            "namespace": NAMESPACE,
            "uid": f"{_uid(place)[:-12]}{len(reason):02x}{_uid(place)[-10:]}",
            "resourceVersion": str(int(moment.timestamp())),
            "creationTimestamp": told,
        },
        "involvedObject": {
            "kind": "Pod",
            "namespace": NAMESPACE,
            "name": _name(place),
            "uid": _uid(place),
            "fieldPath": "spec.containers{main}",
        },
        "reason": reason,
        "message": text,
        "source": {"component": "kubelet", "host": place.node},
        "firstTimestamp": told,
        "lastTimestamp": told,
        "count": 1,
        "type": "Normal",
        "eventTime": None,
        "reportingComponent": "kubelet",
        "reportingInstance": place.node,
    }


def _runtime(pull: Json) -> list[str]:
    """What containerd writes when a pull has ended."""
    moment = (pull["end_at"] - EARLIER).strftime("%Y-%m-%dT%H:%M:%S.100000000Z")
    moved = pull["max_transferred_bytes"] * BLOCK
    named = f"{REFERENCE.rpartition(':')[0]}@{DIGEST}"
    texts = (
        f"stop pulling image {REFERENCE}: active requests=0, bytes read={moved}",
        (
            f'Pulled image "{REFERENCE}" with image id "{DIGEST}", repo tag "{REFERENCE}", '
            f'repo digest "{named}", size "{pull["image_bytes"] * BLOCK}" in 20s'
        ),
    )
    return [f'time="{moment}" level=info msg={json.dumps(text)}' for text in texts]


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


# -- the bill ------------------------------------------------------------------------------------


def line(day: datetime, usage_type: str, resource: str, count: int, usd: Decimal) -> Json:
    """One line of the bill, of a day of the world."""
    start = day - EARLIER
    month = start.replace(day=1)
    regions = {"EU-USE1": ("eu-west-1", "us-east-1"), "USE1-EU": ("us-east-1", "eu-west-1")}
    ends = next((pair for code, pair in regions.items() if usage_type.startswith(code)), ("", ""))
    return {
        "identity_line_item_id": f"{usage_type}/{resource}/{start.date()}",
        "bill_billing_period_start_date": _text(month),
        "bill_billing_period_end_date": _text((month + 31 * EARLIER).replace(day=1)),
        "bill_payer_account_id": ACCOUNT,
        "line_item_usage_account_id": ACCOUNT,
        "line_item_line_item_type": "Usage",
        "line_item_usage_start_date": _text(start),
        "line_item_usage_end_date": _text(start + EARLIER),
        "line_item_product_code": "AmazonS3",
        "line_item_usage_type": usage_type,
        "line_item_operation": "GetObject",
        "line_item_resource_id": resource,
        "line_item_usage_amount": f"{Decimal(count) / GIB:.18f}",
        "line_item_currency_code": "USD",
        "line_item_unblended_cost": f"{usd:f}",
        "pricing_unit": "GB",
        "product_from_region_code": ends[0],
        "product_to_region_code": ends[1],
    }


def _write_bill(path: Path, lines: list[Json]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
