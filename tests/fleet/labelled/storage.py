"""Reads of objects by the pods of the labelled fleet: who asked, with what credentials, from where.

In oak storage sees the pods' own addresses, in elm one address of a NAT gateway.
"""

import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fleet.labelled.files import write_lines
from tests.fleet.labelled.hosts import NAT_ADDRESS
from tests.fleet.labelled.moments import (
    HOUR,
    SECOND,
    day_of,
    to_access_log_text,
    to_seconds_text,
    to_whole_second,
)
from tests.fleet.labelled.scenarios import Scenarios
from tests.fleet.labelled.world import ELM, NAMESPACE, Pod, World, uid

BUCKET = "example-datasets"
ACCOUNT = "111122223333"
ROLE = "trainer"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Session:
    """Credentials that EKS gave to a pod."""

    pod: Pod
    arn: str
    start: int
    is_exported: bool


@dataclass(frozen=True)
class Request:
    """One read of an object of its own.

    Attributes:
        pod: Who asked.
        at: When, in whole seconds, as the log tells.
        key: The object.
        address: Address that storage saw.
        session: Credentials of the pod, if it had its own.
        app: What it says of itself in the user agent.
        size: Bytes of the object, all read.
        container: Container that asked.
    """

    pod: Pod
    at: int
    key: str
    address: str
    session: Session | None
    app: str | None
    size: int
    container: str | None


def make_requests(
    rng: random.Random, scenarios: Scenarios, world: World, count: int
) -> list[Request]:
    """Let pods read objects."""
    pods = [pod for pod in world.pods if not pod.host_network and pod.workload != "features"]
    sessions = {pod.uid: _session(rng, pod) for pod in pods if rng.random() < 0.5}
    requests = []
    for number, pod in enumerate(rng.choices(pods, k=count)):
        moment = pod.started + round(rng.random() * (pod.end - pod.started))
        if rng.random() < 0.1:
            moment = pod.started + round(rng.random() * SECOND)
        several = pod.running(moment)
        index = rng.randrange(len(several)) if len(several) > 1 else 0
        is_shared = scenarios.nat and pod.cluster == ELM
        says = pod.run is not None and rng.random() < 0.2
        requests.append(
            Request(
                pod=pod,
                at=to_whole_second(moment),
                key=f"part-{number:07d}.bin",
                address=NAT_ADDRESS if is_shared else pod.address,
                session=sessions.get(pod.uid),
                app=f"app/{pod.run.uuid}" if says and pod.run is not None else None,
                size=rng.randrange(1, 10**9),
                container=several[index].name if several else None,
            )
        )
    return requests


def _session(rng: random.Random, pod: Pod) -> Session:
    name = f"eks-{pod.cluster.name}-{pod.name[:10]}-{uid(rng)}"
    arn = f"arn:aws:sts::{ACCOUNT}:assumed-role/{ROLE}/{name}"
    start = to_whole_second(pod.ready)
    return Session(pod, arn, start, is_exported=rng.random() >= 0.05)


def write(folder: Path, rng: random.Random, requests: list[Request]) -> None:
    """Write the bucket's access log and the trail of the token service, a file an hour each."""
    lines: dict[int, list[tuple[int, str]]] = defaultdict(list)
    sessions: dict[int, dict[str, Session]] = defaultdict(dict)
    for request in requests:
        lines[request.at // HOUR].append((request.at, _line(rng, request)))
        session = request.session
        if session is not None and session.is_exported:
            sessions[session.start // HOUR][session.arn] = session
    for hour, several in lines.items():
        day = day_of(hour * HOUR)
        name = f"{day}-{hour % 24:02d}-17-42-{rng.getrandbits(40):010X}"
        write_lines(folder / "exports" / "s3" / name, [line for _, line in sorted(several)])
    for hour, given in sessions.items():
        day = day_of(hour * HOUR)
        records = [_event(rng, given[arn]) for arn in sorted(given)]
        path = folder / "exports" / "cloudtrail" / str(day) / f"trail-{hour % 24:02d}.json"
        write_lines(path, [json.dumps({"Records": records})])
    (folder / "nat.csv").write_text(f"address,cluster\n{NAT_ADDRESS},{ELM.name}\n")


def _line(rng: random.Random, request: Request) -> str:
    arn = request.session.arn if request.session is not None else "-"
    agent = "Boto3/1.35" + (f" {request.app}" if request.app else "")
    return (
        f"0123456789abcdef {BUCKET} [{to_access_log_text(request.at)}] {request.address} {arn} "
        f"{rng.getrandbits(64):016X} REST.GET.OBJECT {request.key} "
        f'"GET /{request.key} HTTP/1.1" 200 - {request.size} {request.size} 90 10 "-" '
        f'"{agent}" - {rng.getrandbits(160):040x}EXAMPLE= SigV4 TLS_AES_128_GCM_SHA256 '
        f"AuthHeader {BUCKET}.s3.us-east-1.amazonaws.com TLSv1.3 - -"
    )


def _event(rng: random.Random, session: Session) -> dict[str, Any]:
    pod = session.pod
    tags = {
        "eks-cluster-arn": f"arn:aws:eks:us-east-1:{ACCOUNT}:cluster/{pod.cluster.name}",
        "eks-cluster-name": pod.cluster.name,
        "kubernetes-namespace": NAMESPACE,
        "kubernetes-service-account": "default",
        "kubernetes-pod-name": pod.name,
        "kubernetes-pod-uid": pod.uid,
    }
    return {
        "eventVersion": "1.08",
        "userIdentity": {"type": "AWSService", "invokedBy": "pods.eks.amazonaws.com"},
        "eventTime": to_seconds_text(session.start),
        "eventSource": "sts.amazonaws.com",
        "eventName": "AssumeRole",
        "awsRegion": "us-east-1",
        "sourceIPAddress": "pods.eks.amazonaws.com",
        "userAgent": "pods.eks.amazonaws.com",
        "requestParameters": {
            "roleArn": f"arn:aws:iam::{ACCOUNT}:role/{ROLE}",
            "roleSessionName": session.arn.rpartition("/")[2],
            "durationSeconds": 21_600,
            "tags": [{"key": key, "value": value} for key, value in tags.items()],
            "transitiveTagKeys": sorted(tags),
        },
        "responseElements": {
            "credentials": {
                "accessKeyId": f"ASIAFAKE{rng.getrandbits(40):012d}"[:20],
                "sessionToken": "FAKEsessionTOKEN" * 4,
                "expiration": _expiry(session.start + 6 * HOUR),
            },
            "assumedRoleUser": {
                "assumedRoleId": "AROAEXAMPLE:" + session.arn.rpartition("/")[2],
                "arn": session.arn,
            },
        },
        "requestID": uid(rng),
        "eventID": uid(rng),
        "readOnly": True,
        "eventType": "AwsApiCall",
        "managementEvent": True,
        "recipientAccountId": ACCOUNT,
        "eventCategory": "Management",
    }


def _expiry(moment: int) -> str:
    """The token service's own way of writing time: `Mar 10, 2026, 7:14:20 AM`."""
    day = day_of(moment)
    hour = moment // HOUR % 24
    half = "AM" if hour < 12 else "PM"
    return (
        f"{_MONTHS[day.month - 1]} {day.day}, {day.year}, {(hour - 1) % 12 + 1}:"
        f"{moment // (60 * SECOND) % 60:02d}:{moment // SECOND % 60:02d} {half}"
    )
