"""CloudTrail: a log file, events as lines, of EventBridge, Athena, ECR, of given credentials."""

import json
from typing import Any

_ROLE = "arn:aws:iam::111122223333:role/trainer"
_SESSION = "arn:aws:sts::111122223333:assumed-role/trainer/eks-alder-train-0a1b"
_DIGEST = "sha256:" + "0123456789abcdef" * 4
_HOST = "example-data.s3.eu-west-1.amazonaws.com"


def _event(number: int, **changes: Any) -> dict[str, Any]:
    key = f"train/shard-{number:06d}.tar"
    event = {
        "eventVersion": "1.11",
        "userIdentity": {
            "type": "AssumedRole",
            "principalId": "AROAEXAMPLE:eks-alder-train-0a1b",
            "arn": _SESSION,
            "accountId": "111122223333",
            "accessKeyId": "ASIAEXAMPLE",
        },
        "eventTime": f"2026-03-10T12:02:{number:02d}Z",
        "eventSource": "s3.amazonaws.com",
        "eventName": "GetObject",
        "awsRegion": "eu-west-1",
        "sourceIPAddress": "10.20.1.51",
        "userAgent": "[Boto3/1.35.20 ua/2.0 os/linux#6.1.0 app/run-42]",
        "requestParameters": {"bucketName": "example-data", "Host": _HOST, "key": key},
        "responseElements": None,
        "additionalEventData": {
            "SignatureVersion": "SigV4",
            "bytesTransferredIn": 0,
            "AuthenticationMethod": "AuthHeader",
            "bytesTransferredOut": 1_048_576 + number,
        },
        "requestID": f"6NTNFZKAGUI7{number:04d}",
        "eventID": f"00000000-0000-4000-8000-0000000{number:05d}",
        "readOnly": True,
        "resources": [
            {"type": "AWS::S3::Object", "ARN": f"arn:aws:s3:::example-data/{key}"},
            {
                "accountId": "111122223333",
                "type": "AWS::S3::Bucket",
                "ARN": "arn:aws:s3:::example-data",
            },
        ],
        "eventType": "AwsApiCall",
        "managementEvent": False,
        "recipientAccountId": "111122223333",
        "eventCategory": "Data",
        "tlsDetails": {"tlsVersion": "TLSv1.3", "clientProvidedHostHeader": _HOST},
    }
    return event | changes


def _session(number: int, **changes: Any) -> dict[str, Any]:
    event = _event(number) | {
        "userIdentity": {"type": "AWSService", "invokedBy": "pods.eks.amazonaws.com"},
        "eventSource": "sts.amazonaws.com",
        "eventName": "AssumeRole",
        "eventCategory": "Management",
        "managementEvent": True,
        "sourceIPAddress": "pods.eks.amazonaws.com",
        "userAgent": "pods.eks.amazonaws.com",
        "additionalEventData": None,
        "requestParameters": {
            "roleArn": _ROLE,
            "roleSessionName": f"eks-alder-train-{number}",
            "durationSeconds": 21_600,
            "tags": [
                {"key": "eks-cluster-name", "value": "alder"},
                {"key": "kubernetes-namespace", "value": "ml"},
                {"key": "kubernetes-service-account", "value": "trainer"},
                {"key": "kubernetes-pod-name", "value": f"train-{number}"},
                {
                    "key": "kubernetes-pod-uid",
                    "value": f"5f8c1e1a-7f0c-4b7e-9a53-0f4c3a2b1d{number:02d}",
                },
            ],
        },
        "responseElements": {
            "credentials": {
                "accessKeyId": f"ASIAEXAMPLE{number:02d}",
                "sessionToken": "EXAMPLE",
                "expiration": "Mar 10, 2026, 6:02:00 PM",
            },
            "assumedRoleUser": {
                "assumedRoleId": f"AROAEXAMPLE:eks-alder-train-{number}",
                "arn": f"arn:aws:sts::111122223333:assumed-role/trainer/eks-alder-train-{number}",
            },
        },
        "resources": [],
    }
    return event | changes


_WEB = {
    "eventName": "AssumeRoleWithWebIdentity",
    "sourceIPAddress": "10.20.1.51",
    "userIdentity": {"type": "WebIdentityUser", "userName": "system:serviceaccount:ml:trainer"},
}
_NODE = {"userIdentity": {"type": "AWSService", "invokedBy": "ec2.amazonaws.com"}}


def _image(number: int, name: str = "BatchGetImage", **changes: Any) -> dict[str, Any]:
    event = _event(number) | {
        "eventSource": "ecr.amazonaws.com",
        "eventName": name,
        "eventCategory": "Management",
        "managementEvent": True,
        "additionalEventData": None,
        "userAgent": "containerd/1.7.2",
        "requestParameters": {
            "registryId": "111122223333",
            "repositoryName": "ml/trainer",
            "imageIds": [{"imageTag": f"1.{number}"}, {"imageDigest": _DIGEST}],
            "acceptedMediaTypes": ["application/vnd.oci.image.index.v1+json"],
        },
        "resources": [],
    }
    return event | changes


_LAYER = {"requestParameters": {"repositoryName": "ml/trainer", "layerDigest": _DIGEST}}


def _table_row(number: int) -> dict[str, Any]:
    event = _event(number)
    texts = {"requestParameters", "responseElements", "additionalEventData"}
    return {
        name.lower(): json.dumps(value)
        if name in texts
        else {k.lower(): v for k, v in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in event.items()
        if name != "resources"
    }


def _enveloped(number: int) -> dict[str, Any]:
    return {
        "version": "0",
        "id": f"00000000-0000-4000-8000-0000001{number:05d}",
        "detail-type": "AWS API Call via CloudTrail",
        "source": "aws.s3",
        "account": "111122223333",
        "time": f"2026-03-10T12:03:{number:02d}Z",
        "region": "eu-west-1",
        "resources": [],
        "detail": _event(number),
    }


def _lines(*records: Any) -> bytes:
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


_PUT = {
    "eventName": "PutObject",
    "readOnly": False,
    "responseElements": {"x-amz-version-id": "v1"},
}
_DENIED = {"errorCode": "AccessDenied", "errorMessage": "Access Denied"}
FILES: tuple[bytes, ...] = (
    json.dumps({"Records": [*(_event(n) for n in range(6)), _session(6), _event(7)]}).encode(),
    _lines(
        *(_event(n) for n in range(8)),
        _event(8, **_PUT),
        _event(9, **_DENIED),
        *(_session(n) for n in range(10, 13)),
        _session(13, **_WEB),
        _session(14, **_NODE),
        _event(15, eventCategory="NetworkActivity", eventType="AwsVpceEvent"),
    ),
    _lines(
        *(_image(n) for n in range(4)),
        *(_image(n, "GetDownloadUrlForLayer", **_LAYER) for n in range(4, 8)),
        _image(8, "GetAuthorizationToken", requestParameters=None),
        _image(9, "DescribeImages"),
    ),
    _lines(*(_enveloped(n) for n in range(8))),
    _lines(*(_table_row(n) for n in range(8))),
)
