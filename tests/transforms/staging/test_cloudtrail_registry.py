"""CloudTrail's events of ECR: a pull is its manifest and its layers, and no bytes."""

import json
from datetime import UTC, datetime

import pytest

from tests.transforms.staging.export_text import (
    KEY,
    check_each,
    check_rows,
    parse,
    rows,
    stated,
    word,
    written,
)
from tests.transforms.staging.lookup_rows import but, with_changes
from transforms.staging.cloudtrail import PARSER

HEX = "0123456789abcdef" * 4
DIGEST = f"sha256:{HEX}"
SESSION = "arn:aws:sts::111122223333:assumed-role/nodes/i-0a1b2c3d4e5f60718"
EVENT = {
    "eventVersion": "1.11",
    "userIdentity": {
        "type": "AssumedRole",
        "principalId": "AROAEXAMPLE:i-0a1b2c3d4e5f60718",
        "arn": SESSION,
        "accountId": "111122223333",
        "accessKeyId": "ASIAEXAMPLE",
    },
    "eventTime": "2026-03-10T12:02:01Z",
    "eventSource": "ecr.amazonaws.com",
    "eventName": "GetDownloadUrlForLayer",
    "awsRegion": "eu-west-1",
    "sourceIPAddress": "10.20.1.51",
    "userAgent": "containerd/1.7.2 app/run-42",
    "requestParameters": {
        "registryId": "444455556666",
        "repositoryName": "ml/trainer",
        "layerDigest": DIGEST,
    },
    "responseElements": None,
    "requestID": "0a1b2c3d-0000-4000-8000-000000000001",
    "eventID": "00000000-0000-4000-8000-000000000001",
    "readOnly": True,
    "resources": [
        {"accountId": "444455556666",
         "ARN": "arn:aws:ecr:eu-west-1:444455556666:repository/ml/trainer"}
    ],
    "eventType": "AwsApiCall",
    "managementEvent": True,
    "eventCategory": "Management",
    "vpcEndpointId": "vpce-0a1b2c3d",
}  # fmt: skip
LAYER = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, tzinfo=UTC),
    "provider": "ecr",
    "log_kind": "audit",
    "registry": "444455556666.dkr.ecr.eu-west-1.amazonaws.com",
    "account_id": "444455556666",
    "region": "eu-west-1",
    "repository": "ml/trainer",
    "digest": DIGEST,
    "target": "blob",
    "operation": "read",
    "operation_name": "GetDownloadUrlForLayer",
    "is_redirected": True,
    "client_address": "10.20.1.51",
    "principal": SESSION,
    "session_arn": SESSION,
    "access_key_id_hash": KEY.of("ASIAEXAMPLE"),
    "user_agent": "containerd/1.7.2 app/run-42",
    "app_id": "run-42",
    "request_id": "0a1b2c3d-0000-4000-8000-000000000001",
    "vpc_endpoint_id": "vpce-0a1b2c3d",
}
event = with_changes(EVENT)


def one(record):
    [parsed] = parse(PARSER, json.dumps(record))
    check_each([parsed])
    return parsed


def requests(record):
    return [stated(row, "record_id") for row in rows([one(record)], "registry_requests")]


def test_a_layer_is_read_whole():
    check_rows([one(EVENT), one(event({"requestParameters": None}))])
    assert requests(EVENT) == [LAYER]


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"requestParameters/registryId": ...}, {}),
        ({"requestParameters/registryId": ..., "resources": []},
         {"account_id": "111122223333",
          "registry": "111122223333.dkr.ecr.eu-west-1.amazonaws.com"}),
        ({"awsRegion": "cn-north-1"},
         {"region": "cn-north-1", "registry": "444455556666.dkr.ecr.cn-north-1.amazonaws.com.cn"}),
        ({"eventSource": "ecr-public.amazonaws.com"}, {"registry": "public.ecr.aws"}),
        ({"errorCode": "LayerInaccessibleException"},
         {"error": "LayerInaccessibleException", "is_redirected": False}),
        ({"sourceIPAddress": "ecr.amazonaws.com"}, {"client_address": None}),
        ({"vpcEndpointId": ..., "requestID": ..., "userAgent": ...},
         {"vpc_endpoint_id": None, "request_id": None, "user_agent": None, "app_id": None}),
        ({"userIdentity": {"type": "AWSService", "invokedBy": "ecr.amazonaws.com"}},
         {"principal": "ecr.amazonaws.com", "session_arn": None, "access_key_id_hash": None}),
        ({"requestParameters/layerDigest": ...}, {"digest": None}),
        ({"requestParameters": None},
         {"repository": None, "digest": None}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert requests(event(changes)) == [but(LAYER, fields)]


def test_a_call_about_several_images_is_a_row_for_each():
    record = event(
        {
            "eventName": "BatchGetImage",
            "requestParameters/layerDigest": ...,
            "requestParameters/imageIds": [
                {"imageTag": "1.4"}, {"imageDigest": DIGEST},
                {"imageTag": "1.5", "imageDigest": DIGEST},
            ],
        }
    )  # fmt: skip
    found = requests(record)
    asked = [(row.get("reference"), row.get("digest")) for row in found]
    assert asked == [("1.4", None), (DIGEST, DIGEST), ("1.5", DIGEST)]
    assert {(row["target"], row["operation"]) for row in found} == {("manifest", "read")}
    assert not any("is_redirected" in row for row in found)


@pytest.mark.parametrize(
    ("name", "parameters", "answer", "fields"),
    [
        ("GetAuthorizationToken", None, None, {"target": "token", "operation": "other"}),
        ("BatchCheckLayerAvailability", {"repositoryName": "a", "layerDigests": [DIGEST]}, None,
         {"target": "blob", "operation": "head", "digest": DIGEST}),
        ("PutImage", {"repositoryName": "a", "imageTag": "1"},
         {"image": {"imageId": {"imageDigest": DIGEST, "imageTag": "1"}}},
         {"target": "manifest", "operation": "write", "reference": "1", "digest": DIGEST}),
        ("UploadLayerPart", {"repositoryName": "a", "partFirstByte": 100, "partLastByte": 299},
         None, {"target": "upload", "operation": "write", "request_bytes": 200}),
        ("CompleteLayerUpload", {"repositoryName": "a", "layerDigests": [DIGEST]},
         {"layerDigest": DIGEST}, {"target": "upload", "digest": DIGEST}),
        ("BatchDeleteImage", {"repositoryName": "a", "imageIds": [{"imageTag": "1"}]}, None,
         {"target": "manifest", "operation": "delete", "reference": "1"}),
        ("ListImages", {"repositoryName": "a"}, None, {"target": "tags", "operation": "list"}),
    ],
)  # fmt: skip
def test_every_call_that_moves_images_is_read(name, parameters, answer, fields):
    changes = {"eventName": name, "requestParameters": parameters, "responseElements": answer}
    [row] = requests(event(changes))
    assert row.items() >= fields.items()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"eventName": "DescribeImages"}, "management_event"),
        ({"eventName": "CreateRepository"}, "management_event"),
        ({"eventTime": "today"}, "no_time"),
        ({"requestParameters/imageIds": "x"}, "wrong_type"),
        ({"requestParameters/partFirstByte": -1}, "partFirstByte"),
        ({"eventCategory": "NetworkActivity", "eventType": "AwsVpceEvent"}, "network_activity"),
    ],
)
def test_other_calls_are_ignored_and_wrong_values_refused(changes, reason):
    assert word(one(event(changes))) == reason


def test_a_token_that_an_answer_holds_is_never_kept():
    record = event(
        {
            "eventName": "GetAuthorizationToken",
            "responseElements": {"authorizationData": [{"authorizationToken": "plainsecret"}]},
        }
    )
    parsed = one(record)
    assert word(parsed) == "accepted"
    refused = one(record | {"eventTime": "today"})
    assert word(refused) == "no_time"
    assert "plainsecret" not in written([parsed, refused]) + str(refused.raw)
