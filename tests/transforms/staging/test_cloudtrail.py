"""CloudTrail events: requests to S3 and given credentials are read, the rest is left out by name.

Constructed lines follow the CloudTrail user guide's record contents and public events.
"""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.staging.export_text import (
    CUTS,
    KEY,
    check_each,
    check_others,
    check_rows,
    damaged,
    lines,
    parse,
    parse_file,
    rows,
    stated,
    word,
    words,
    written,
)
from tests.transforms.staging.lookup_rows import ANY_VALUE, NO_TIMES, TIMES, but, with_changes
from tests.transforms.staging.request_rows import RequestReader
from transforms.redaction import KeyedHash, excerpt
from transforms.staging.cloudtrail import PARSER
from transforms.staging.parser import RawRecord

SESSION = "arn:aws:sts::111122223333:assumed-role/ml-runs/eks-alder-train-0a1b"
BUCKET_RESOURCE = {
    "accountId": "111122223333", "type": "AWS::S3::Bucket", "ARN": "arn:aws:s3:::example-data",
}  # fmt: skip
HOST = "example-data.s3.eu-west-1.amazonaws.com"
GET = {
    "eventVersion": "1.11",
    "userIdentity": {
        "type": "AssumedRole",
        "principalId": "AROAEXAMPLE:eks-alder-train-0a1b",
        "arn": SESSION,
        "accountId": "111122223333",
        "accessKeyId": "ASIAFAKEEXAMPLE2PODS",
        "sessionContext": {"attributes": {"mfaAuthenticated": "false"}},
    },
    "eventTime": "2026-03-10T12:02:01Z",
    "eventSource": "s3.amazonaws.com",
    "eventName": "GetObject",
    "awsRegion": "eu-west-1",
    "sourceIPAddress": "10.20.1.51",
    "userAgent": "[Boto3/1.35.20 ua/2.0 os/linux#6.1.0 app/run-42]",
    "requestParameters": {
        "bucketName": "example-data",
        "Host": HOST,
        "key": "train/shard 1.tar",
        "versionId": "v1.EXAMPLE",
        "x-id": "GetObject",
    },
    "responseElements": None,
    "additionalEventData": {
        "SignatureVersion": "SigV4",
        "CipherSuite": "TLS_AES_128_GCM_SHA256",
        "bytesTransferredIn": 0,
        "AuthenticationMethod": "AuthHeader",
        "x-amz-id-2": "hostid=",
        "bytesTransferredOut": 1_048_576,
    },
    "requestID": "6NTNFZKAGUI7VK7X",
    "eventID": "00000000-0000-4000-8000-000000000001",
    "readOnly": True,
    "resources": [
        {"type": "AWS::S3::Object", "ARN": "arn:aws:s3:::example-data/train/shard 1.tar"},
        BUCKET_RESOURCE,
    ],
    "eventType": "AwsApiCall",
    "managementEvent": False,
    "recipientAccountId": "111122223333",
    "vpcEndpointId": "vpce-0123456789abcdef0",
    "eventCategory": "Data",
    "tlsDetails": {"clientProvidedHostHeader": HOST},
}
REQUEST = {
    "event_at": datetime(2026, 3, 10, 12, 2, 1, tzinfo=UTC),
    "provider": "s3",
    "bucket_owner": "111122223333",
    "bucket": "example-data",
    "key": "train/shard 1.tar",
    "version_id": "v1.EXAMPLE",
    "operation": "read",
    "operation_name": "GetObject",
    "response_bytes": 1_048_576,
    "request_bytes": 0,
    "client_address": "10.20.1.51",
    "principal": SESSION,
    "session_arn": SESSION,
    "access_key_id_hash": KEY.of("ASIAFAKEEXAMPLE2PODS"),
    "user_agent": "Boto3/1.35.20 ua/2.0 os/linux#6.1.0 app/run-42",
    "app_id": "run-42",
    "request_id": "6NTNFZKAGUI7VK7X",
    "authentication": "AuthHeader",
    "bucket_region": "eu-west-1",
    "endpoint": HOST,
    "vpc_endpoint_id": "vpce-0123456789abcdef0",
}
TOKEN = "FAKEsessionTOKEN" * 8
POD_UID = "0a1b2c3d-0000-4000-8000-000000000001"
CLUSTER_ARN = "arn:aws:eks:eu-west-1:111122223333:cluster/alder"
ASSUME = {
    "eventVersion": "1.08",
    "userIdentity": {"type": "AWSService", "invokedBy": "pods.eks.amazonaws.com"},
    "eventTime": "2026-03-10T01:14:20Z",
    "eventSource": "sts.amazonaws.com",
    "eventName": "AssumeRole",
    "awsRegion": "eu-west-1",
    "sourceIPAddress": "pods.eks.amazonaws.com",
    "userAgent": "pods.eks.amazonaws.com",
    "requestParameters": {
        "roleArn": "arn:aws:iam::111122223333:role/ml-runs",
        "roleSessionName": "eks-alder-train-0a1b",
        "durationSeconds": 21_600,
        "tags": [
            {"key": "eks-cluster-arn", "value": CLUSTER_ARN},
            {"key": "eks-cluster-name", "value": "alder"},
            {"key": "kubernetes-namespace", "value": "ml"},
            {"key": "kubernetes-service-account", "value": "trainer"},
            {"key": "kubernetes-pod-name", "value": "train-0"},
            {"key": "kubernetes-pod-uid", "value": POD_UID.upper()},
        ],
        "transitiveTagKeys": ["eks-cluster-arn"],
    },
    "responseElements": {
        "credentials": {
            "accessKeyId": "ASIAFAKEEXAMPLE2PODS",
            "sessionToken": TOKEN,
            "expiration": "Mar 10, 2026, 7:14:20 AM",
        },
        "assumedRoleUser": {"assumedRoleId": "AROAEXAMPLE:x", "arn": SESSION},
        "packedPolicySize": 55,
    },
    "requestID": "00000000-0000-4000-8000-0000000000aa",
    "eventID": "00000000-0000-4000-8000-000000000002",
    "readOnly": True,
    "eventType": "AwsApiCall",
    "managementEvent": True,
    "recipientAccountId": "111122223333",
    "sharedEventID": "00000000-0000-4000-8000-0000000000bb",
    "eventCategory": "Management",
}
CREDENTIALS = {
    "start_at": datetime(2026, 3, 10, 1, 14, 20, tzinfo=UTC),
    "end_at": datetime(2026, 3, 10, 7, 14, 20, tzinfo=UTC),
    "issued_by": "pod_identity",
    "access_key_id_hash": KEY.of("ASIAFAKEEXAMPLE2PODS"),
    "session_arn": SESSION,
    "role_arn": "arn:aws:iam::111122223333:role/ml-runs",
    "pod_uid": POD_UID,
    "namespace": "ml",
    "pod_name": "train-0",
    "service_account": "trainer",
    "eks_cluster_name": "alder",
    "eks_cluster_arn": CLUSTER_ARN,
    "account_id": "111122223333",
    "region": "eu-west-1",
    "request_id": "00000000-0000-4000-8000-0000000000aa",
}
POD_COLUMNS = (
    "pod_uid", "namespace", "pod_name", "service_account", "eks_cluster_name", "eks_cluster_arn",
)  # fmt: skip
NO_POD = dict.fromkeys(POD_COLUMNS)
PROVIDER = "arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLE"

reader = RequestReader(PARSER)
get = with_changes(GET)
assume = with_changes(ASSUME)


def asked(**changes):
    return get({f"requestParameters/{key}": new for key, new in changes.items()})


# -- requests ------------------------------------------------------------------------------------


def test_every_column_of_a_read_is_read():
    table, _ = reader.row(GET)
    assert table == "object_requests"
    assert reader.request(GET) == REQUEST


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"sourceIPAddress": "2001:DB8::5"}, {"client_address": "2001:db8::5"}),
        ({"sourceIPAddress": "cloudfront.amazonaws.com"}, {"client_address": None}),
        ({"sourceIPAddress": "AWS Internal"}, {"client_address": None}),
        ({"sourceIPAddress": ""}, {"client_address": None}),
        ({"userAgent": "[]"}, {"user_agent": None, "app_id": None}),
        ({"userAgent": ...}, {"user_agent": None, "app_id": None}),
        ({"userAgent": "aws-cli/2"}, {"user_agent": "aws-cli/2", "app_id": None}),
        ({"userAgent": "[a] b"}, {"user_agent": "[a] b", "app_id": None}),
        ({"errorCode": "AccessDenied", "errorMessage": "no"}, {"error": "AccessDenied"}),
        ({"errorCode": "PermanentRedirect"},
         {"error": "PermanentRedirect", "bucket_region": None}),
        ({"additionalEventData": ...},
         {"response_bytes": None, "request_bytes": None, "authentication": None}),
        ({"additionalEventData/bytesTransferredOut": 5.0}, {"response_bytes": 5}),
        ({"additionalEventData/bytesTransferredOut": ...}, {"response_bytes": None}),
        ({"additionalEventData/bytesTransferredIn": 2**62}, {"request_bytes": 2**62}),
        ({"additionalEventData/AuthenticationMethod": "QueryString"},
         {"authentication": "QueryString"}),
        ({"vpcEndpointId": ...}, {"vpc_endpoint_id": None}),
        ({"tlsDetails": ...}, {}),
        ({"resources": ...}, {"bucket_owner": None}),
        ({"resources": [BUCKET_RESOURCE | {"ARN": "arn:aws:s3:::other"}]}, {"bucket_owner": None}),
        ({"userIdentity/accessKeyId": ""}, {"access_key_id_hash": None}),
        ({"userIdentity": {"type": "AWSService", "invokedBy": "cloudfront.amazonaws.com"}},
         {"principal": "cloudfront.amazonaws.com", "session_arn": None,
          "access_key_id_hash": None}),
        ({"userIdentity": {"type": "AWSAccount", "principalId": "AROAX:s", "accountId": "1"}},
         {"principal": "AROAX:s", "session_arn": None, "access_key_id_hash": None}),
        ({"userIdentity": {"type": "AWSAccount", "principalId": "ANONYMOUS_PRINCIPAL"}},
         {"principal": None, "session_arn": None, "access_key_id_hash": None}),
        ({"userIdentity": {"type": "IAMUser", "arn": "arn:aws:iam::1:user/a"}},
         {"principal": "arn:aws:iam::1:user/a", "session_arn": None, "access_key_id_hash": None}),
        ({"userIdentity": ...},
         {"principal": None, "session_arn": None, "access_key_id_hash": None}),
        ({"awsRegion": "nowhere"}, {"bucket_region": None}),
        ({"eventTime": "2026-03-10T13:02:01+01:00"}, {}),
        ({"requestID": ...}, {"request_id": None}),
        ({"eventCategory": ..., "managementEvent": ..., "eventVersion": "1.03"}, {}),
        ({"eventCategory": ...}, {}),
        ({"requestParameters": None, "tlsDetails": ...},
         {"key": None, "version_id": None, "endpoint": None}),
        ({"requestParameters": {"omitted": True, "originalSize": 102401, "reason": "too large"}},
         {"key": None, "version_id": None}),
    ],
)  # fmt: skip
def test_every_optional_value_is_read(changes, fields):
    assert reader.request(get(changes)) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"Host": ...}, {}),  # the header is in tlsDetails, too
        ({"Host": ..., "host": ["S3.eu-west-1.amazonaws.com:443"]},
         {"endpoint": "s3.eu-west-1.amazonaws.com"}),
        ({"key": ..., "Key": "path/upload.sh"}, {"key": "path/upload.sh"}),
        ({"key": ""}, {"key": None}),
        ({"versionId": ...}, {"version_id": None}),
        ({"partNumber": "3"}, {"part_number": 3, "is_range": True}),
        ({"partNumber": 3}, {"part_number": 3, "is_range": True}),
        ({"partNumber": ["3"]}, {"part_number": 3, "is_range": True}),
        ({"partNumber": 0}, {}),
        ({"partNumber": True}, {}),
        ({"uploadId": "abc.DEF_1~2-"}, {"upload_id": "abc.DEF_1~2-"}),
        ({"uploadId": "a b"}, {}),
        ({"uploadId": {}}, {}),
        ({"x-amz-copy-source": "/other/a%2Fb?versionId=7&X-Amz-Signature=FAKE"},
         {"copy_source": "s3://other/a/b"}),
        ({"x-amz-copy-source": "other/"}, {}),
        ({"x-amz-copy-source": "arn:aws:s3:eu-west-1:1:accesspoint/a/object/b"}, {}),
        ({"x-amz-server-side-encryption-customer-key-MD5": "x", "acl": [""]}, {}),
    ],
)  # fmt: skip
def test_every_optional_parameter_is_read(changes, fields):
    assert reader.request(asked(**changes)) == but(REQUEST, fields)


ACCESS_POINT = "arn:aws:s3:eu-west-1:111122223333:accesspoint/reading"


@pytest.mark.parametrize(
    ("stated_bucket", "resources", "fields"),
    [
        (ACCESS_POINT, [BUCKET_RESOURCE], {"access_point": ACCESS_POINT}),
        (ACCESS_POINT, [], {"access_point": ACCESS_POINT, "bucket": None, "bucket_owner": None}),
        ("reading-0a1b-s3alias",
         [BUCKET_RESOURCE, {"type": "AWS::S3::AccessPoint", "ARN": ACCESS_POINT}],
         {"access_point": ACCESS_POINT}),
        ("reading-0a1b-s3alias", [], {"bucket": "reading-0a1b-s3alias", "bucket_owner": None}),
        ("reading-0a1b-s3alias", [BUCKET_RESOURCE, BUCKET_RESOURCE | {"ARN": "arn:aws:s3:::b"}],
         {"bucket": None, "bucket_owner": None}),
        (..., [BUCKET_RESOURCE], {}),
        (..., [], {"bucket": None, "bucket_owner": None}),
    ],
)  # fmt: skip
def test_the_bucket_behind_an_access_point_is_that_of_the_resources(
    stated_bucket, resources, fields
):
    event = get({"requestParameters/bucketName": stated_bucket, "resources": resources})
    assert reader.request(event) == but(REQUEST, fields)


def test_a_write_names_version_and_entity_tag_in_its_answer():
    event = get(
        {
            "eventName": "PutObject",
            "requestParameters/versionId": ...,
            "responseElements": {"x-amz-version-id": "v2", "ETag": '"d41d8cd9"'},
            "additionalEventData/bytesTransferredIn": 10,
            "additionalEventData/bytesTransferredOut": 0,
        }
    )
    fields = {
        "operation": "write", "operation_name": "PutObject", "version_id": "v2",
        "etag": "d41d8cd9", "request_bytes": 10, "response_bytes": 0,
    }  # fmt: skip
    assert reader.request(event) == but(REQUEST, fields)


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("GetObject", "read"),
        ("HeadObject", "head"),
        ("HeadBucket", "head"),
        ("PutObject", "write"),
        ("UploadPart", "write"),
        ("CompleteMultipartUpload", "write"),
        ("CreateMultipartUpload", "other"),
        ("AbortMultipartUpload", "other"),
        ("CopyObject", "copy"),
        ("UploadPartCopy", "copy"),
        ("ListObjects", "list"),
        ("ListObjectVersions", "list"),
        ("ListParts", "other"),
        ("DeleteObject", "delete"),
        ("DeleteObjects", "delete"),
        ("GetObjectTagging", "other"),
        ("SomethingNew", "other"),
    ],
)
def test_operations_are_named_alike_for_all_stores(name, operation):
    values = reader.request(get({"eventName": name}))
    assert (values["operation"], values["operation_name"]) == (operation, name)


@pytest.mark.parametrize("source", ["s3express.amazonaws.com", "s3-outposts.amazonaws.com"])
def test_other_kinds_of_buckets_are_read_alike(source):
    assert reader.request(get({"eventSource": source})) == REQUEST


def test_without_a_key_no_hash_is_made_and_the_region_may_be_the_exports():
    values = reader.request(get({"awsRegion": ...}), key_hash=KeyedHash(None), region="sa-east-1")
    assert values == but(REQUEST, {"access_key_id_hash": None, "bucket_region": "sa-east-1"})


# -- credentials ---------------------------------------------------------------------------------


def test_every_column_of_credentials_for_a_pod_is_read():
    table, _ = reader.row(ASSUME)
    assert table == "credential_sessions"
    assert reader.request(ASSUME) == CREDENTIALS


@pytest.mark.parametrize(
    ("expiration", "duration", "end_at"),
    [
        ("Mar 10, 2026, 7:14:20\u202fAM", 1, datetime(2026, 3, 10, 7, 14, 20, tzinfo=UTC)),
        ("Mar 10, 2026 7:14:20 AM", 1, datetime(2026, 3, 10, 7, 14, 20, tzinfo=UTC)),
        ("Mar 10, 2026, 12:14:20 PM", 1, datetime(2026, 3, 10, 12, 14, 20, tzinfo=UTC)),
        ("Mar 11, 2026, 12:00:00 AM", 1, datetime(2026, 3, 11, tzinfo=UTC)),
        ("2026-03-10T07:14:20Z", 1, datetime(2026, 3, 10, 7, 14, 20, tzinfo=UTC)),
        ("soon", 21_600, datetime(2026, 3, 10, 7, 14, 20, tzinfo=UTC)),
        (..., 3_600, datetime(2026, 3, 10, 2, 14, 20, tzinfo=UTC)),
        (..., ..., None),
        (..., -5, None),
        (..., 10**30, None),
        ("Feb 30, 2026, 7:14:20 AM", ..., None),
        ("Foo 10, 2026, 7:14:20 AM", ..., None),
        # Before they were given, and longer than credentials live.
        ("Mar 9, 2026, 7:14:20 AM", ..., None),
        ("Mar 12, 2026, 7:14:20 AM", ..., None),
    ],
)
def test_credentials_expire_as_stated_or_after_their_duration(expiration, duration, end_at):
    event = assume(
        {
            "responseElements/credentials/expiration": expiration,
            "requestParameters/durationSeconds": duration,
        }
    )
    assert reader.request(event) == but(CREDENTIALS, {"end_at": end_at})


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"requestParameters/tags": ...}, NO_POD),
        ({"requestParameters/tags": []}, NO_POD),
        ({"requestParameters/tags": [{"key": "kubernetes-pod-name", "value": "train-0"}, {}]},
         NO_POD | {"pod_name": "train-0"}),
        ({"requestParameters/tags": ...,
          "requestParameters/principalTags": {"kubernetes-namespace": "ml", "n": 5}},
         NO_POD | {"namespace": "ml"}),
        ({"requestParameters/tags": ...,
          "requestParameters/incomingTransitiveTags": {"kubernetes-pod-uid": POD_UID},
          "userIdentity": {"type": "AssumedRole", "invokedBy": "pods.eks.amazonaws.com",
                           "arn": SESSION, "accessKeyId": "ASIAFAKEEXAMPLEFIRST"}},
         NO_POD | {"pod_uid": POD_UID, "source_session_arn": SESSION,
                   "source_access_key_id_hash": KEY.of("ASIAFAKEEXAMPLEFIRST")}),
        ({"responseElements/assumedRoleUser": ...}, {"session_arn": None}),
        ({"responseElements/credentials/accessKeyId": ...}, {"access_key_id_hash": None}),
        ({"requestParameters/roleArn": ...}, {"role_arn": None}),
        ({"requestParameters": None}, NO_POD | {"role_arn": None}),
        ({"sourceIPAddress": "192.0.2.7"}, {"client_address": "192.0.2.7"}),
        ({"recipientAccountId": ..., "awsRegion": ..., "requestID": ...},
         {"account_id": None, "region": None, "request_id": None}),
    ],
)  # fmt: skip
def test_every_optional_part_of_credentials_is_read(changes, fields):
    assert reader.request(assume(changes)) == but(CREDENTIALS, fields)


def test_a_service_account_is_no_pod():
    event = assume(
        {
            "eventName": "AssumeRoleWithWebIdentity",
            "userIdentity": {
                "type": "WebIdentityUser",
                "userName": "system:serviceaccount:ml:trainer",
                "identityProvider": PROVIDER,
            },
            "sourceIPAddress": "10.20.1.51",
            "responseElements/subjectFromWebIdentityToken": "system:serviceaccount:ml:trainer",
            "responseElements/provider": PROVIDER,
        }
    )
    fields = NO_POD | {
        "issued_by": "web_identity", "namespace": "ml", "service_account": "trainer",
        "identity_provider": PROVIDER, "client_address": "10.20.1.51",
    }  # fmt: skip
    assert reader.request(event) == but(CREDENTIALS, fields)
    del event["responseElements"]["subjectFromWebIdentityToken"]
    del event["responseElements"]["provider"]
    assert reader.request(event) == but(CREDENTIALS, fields)


def test_a_further_role_names_the_credentials_that_asked_but_believes_no_tags():
    event = assume(
        {
            "userIdentity": {
                "type": "AssumedRole", "arn": SESSION, "accessKeyId": "ASIAFAKEEXAMPLEFIRST",
            },
        }
    )  # fmt: skip
    fields = NO_POD | {
        "issued_by": "role_chain",
        "source_access_key_id_hash": KEY.of("ASIAFAKEEXAMPLEFIRST"),
        "source_session_arn": SESSION,
    }
    assert reader.request(event) == but(CREDENTIALS, fields)


def test_the_role_of_a_node_names_its_instance():
    session = "arn:aws:sts::111122223333:assumed-role/node/i-0a1b2c3d4e5f60718"
    event = assume(
        {
            "userIdentity": {"type": "AWSService", "invokedBy": "ec2.amazonaws.com"},
            "responseElements/assumedRoleUser": {"arn": session},
        }
    )
    fields = NO_POD | {
        "issued_by": "instance_role", "instance_id": "i-0a1b2c3d4e5f60718", "session_arn": session,
    }  # fmt: skip
    assert reader.request(event) == but(CREDENTIALS, fields)
    event["responseElements"]["assumedRoleUser"]["arn"] = session.rpartition("/")[0] + "/other"
    assert reader.request(event).get("instance_id") is None


# -- events that other services write ------------------------------------------------------------


def enveloped(event):
    return {
        "version": "0", "id": "00000000-0000-4000-8000-00000000000e",
        "detail-type": "AWS API Call via CloudTrail", "source": "aws.s3",
        "account": "111122223333", "time": "2026-03-10T12:02:02Z", "region": "eu-west-1",
        "resources": [], "detail": event,
    }  # fmt: skip


def lower(value):
    """A value with the names of its fields in lower case, as in tables."""
    if isinstance(value, dict):
        return {key.lower(): lower(found) for key, found in value.items()}
    return [lower(found) for found in value] if isinstance(value, list) else value


TEXTS_OF_JSON = ("requestParameters", "responseElements", "additionalEventData")


def of_athena(event):
    """Requests and responses are text of JSON, truth values are text."""
    texts = {key: json.dumps(event[key]) for key in TEXTS_OF_JSON if key in event}
    row = lower({k: v for k, v in event.items() if k not in TEXTS_OF_JSON})
    row |= {key.lower(): text for key, text in texts.items()}
    return row | {"readonly": "true", "managementevent": "false"}


def of_lake(event):
    """Requests and responses are maps of texts, the time is written with a blank."""
    maps = {
        key.lower(): {
            name: value if isinstance(value, str) else json.dumps(value)
            for name, value in event[key].items()
        }
        for key in TEXTS_OF_JSON
        if event.get(key) is not None
    }
    row = lower({k: v for k, v in event.items() if k not in TEXTS_OF_JSON}) | maps
    return row | {"eventtime": event["eventTime"].replace("T", " ").replace("Z", ".000")}


@pytest.mark.parametrize("written_by", [enveloped, of_athena, of_lake])
def test_an_event_has_one_reading_whoever_wrote_it(written_by):
    assert reader.row(written_by(GET)) == reader.row(GET)
    assert reader.row(written_by(ASSUME)) == reader.row(ASSUME)
    copied = asked(**{"x-amz-copy-source": "in/a%20b", "partNumber": 7, "uploadId": "abc"})
    assert reader.row(written_by(copied)) == reader.row(copied)


@pytest.mark.parametrize("key", ["requestparameters", "responseelements", "additionaleventdata"])
def test_empty_texts_of_a_table_state_nothing(key):
    row = of_athena(GET)
    for empty in ("", "null", None):
        reader.row(row | {key: empty})
    assert word(reader.one(row | {key: '{"bucketName":'})) == "invalid_json"


def test_what_stands_in_an_envelope_is_refused_at_its_place():
    found = reader.one(enveloped(get({"eventTime": "now"})))
    assert word(found) == "no_time"
    found = reader.one(enveloped(get({"eventName": 5})))
    assert found.reject == "wrong_type: expected str | null, got int at $.detail.eventName"
    assert found.place is not None


def test_a_bucket_or_key_that_looks_like_a_number_stays_text():
    event = of_lake(asked(bucketName="2024", key="[1]"))
    assert reader.request(event)["key"] == "[1]"
    assert reader.request(event)["bucket"] == "2024"


@pytest.mark.parametrize(
    ("time", "at"), [*TIMES, ("2026-03-10 12:02:01.000", datetime(2026, 3, 10, 12, 2, 1, 0, UTC))]
)
def test_times_of_any_year_and_precision_are_read(time, at):
    assert reader.request(get({"eventTime": time}))["event_at"] == at
    # Credentials of the last hours of the last year end in no year.
    assert reader.request(assume({"eventTime": time}))["start_at"] == at


@pytest.mark.parametrize("time", NO_TIMES)
def test_what_is_no_time_is_refused(time):
    assert word(reader.one(get({"eventTime": time}))) == "no_time"


@pytest.mark.parametrize("duration", [-1, 0, 10**12, 1e300])
def test_credentials_that_last_no_time_have_no_end(duration):
    event = assume(
        {
            "responseElements/credentials/expiration": ...,
            "requestParameters/durationSeconds": duration,
        }
    )
    assert reader.request(event).get("end_at") is None


# -- what is left out ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (get({"eventCategory": "NetworkActivity"}), "network_activity"),
        (get({"eventType": "AwsVpceEvent"}), "network_activity"),
        (get({"eventCategory": "Insight"}), "insight"),
        (get({"eventType": "AwsCloudTrailInsight"}), "insight"),
        (get({"eventCategory": "Management"}), "management_event"),
        (get({"eventCategory": ..., "managementEvent": True}), "management_event"),
        (get({"eventCategory": ..., "managementEvent": ..., "eventName": "PutBucketAcl"}),
         "management_event"),
        (get({"eventSource": "lambda.amazonaws.com", "eventName": "Invoke"}), "other_service"),
        (get({"eventSource": "s3tables.amazonaws.com"}), "other_service"),
        (get({"eventSource": "ec2.amazonaws.com", "eventCategory": "Management"}),
         "management_event"),
        (get({"eventSource": "ec2.amazonaws.com", "eventCategory": ..., "managementEvent": ...}),
         "management_event"),
        (assume({"eventName": "GetSessionToken"}), "management_event"),
        (assume({"eventSource": "eks-auth.amazonaws.com", "eventName": "AssumeRoleForPodIdentity",
                 "responseElements": None}), "no_credentials"),
        (assume({"responseElements": None, "errorCode": "AccessDenied"}), "no_credentials"),
        (assume({"responseElements/credentials": ...}), "no_credentials"),
        (assume({"errorCode": "AccessDenied"}), "no_credentials"),
        (assume({"userIdentity": {"type": "AWSService", "invokedBy": "lambda.amazonaws.com"}}),
         "other_identity"),
        ({"version": "0", "detail-type": "Object Created", "source": "aws.s3",
          "detail": {"bucket": {"name": "example-data"}}}, "other_event"),
        (assume({"userIdentity": {"type": "IAMUser", "arn": "x", "accessKeyId": "AKIA"}}),
         "other_identity"),
        (assume({"userIdentity": ...}), "other_identity"),
        (assume({"eventName": "AssumeRoleWithWebIdentity",
                 "userIdentity": {"userName": "repo:example/x:ref:refs/heads/main"}}),
         "other_identity"),
    ],
)  # fmt: skip
def test_what_is_no_request_and_no_session_of_a_pod_is_ignored_by_name(event, reason):
    assert reader.one(event).ignore == reason


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (get({"eventTime": ...}), "no_time"),
        (get({"eventTime": "yesterday"}), "no_time"),
        (get({"eventTime": 5}), "wrong_type"),
        (get({"eventName": ...}), "no_event"),
        (get({"eventSource": ""}), "no_event"),
        (asked(bucketName=5), "wrong_type"),
        (asked(key=["a"]), "wrong_type"),
        (get({"requestParameters": "text"}), "wrong_type"),
        (get({"responseElements": 5}), "wrong_type"),
        (get({"additionalEventData/bytesTransferredOut": -1}), "bytes_out"),
        (get({"additionalEventData/bytesTransferredOut": 1.5}), "bytes_out"),
        (get({"additionalEventData/bytesTransferredIn": 2**70}), "bytes_in"),
        (get({"additionalEventData/bytesTransferredIn": "5"}), "wrong_type"),
        (get({"userIdentity": "root"}), "wrong_type"),
        (get({"resources": {}}), "wrong_type"),
        (assume({"eventTime": ...}), "no_time"),
        (assume({"requestParameters/tags": [{"key": "kubernetes-pod-uid", "value": "x"}]}),
         "pod_uid"),
        (assume({"requestParameters/tags": "x"}), "wrong_type"),
        ({}, "no_event"),
        ('{"flow":{}}', "no_event"),
        (json.dumps(GET)[:-40], "invalid_json"),
        ("free text", "invalid_json"),
        ("5", "wrong_type"),
        ('{"other":' + "[" * 100_000, "too_deep"),
    ],
)  # fmt: skip
def test_an_event_that_cannot_be_kept_is_refused_with_its_reason(event, reason):
    assert word(reader.one(event)) == reason


def test_a_reject_shows_where_its_event_breaks():
    parsed = reader.one(asked(bucketName=5))
    assert parsed.reject is not None
    assert parsed.reject.endswith(" at $.requestParameters.bucketName")
    assert parsed.place is not None
    assert parsed.place.raw[: parsed.place.at].endswith(b'"bucketName": ')


# -- files, identity, secrets --------------------------------------------------------------------


def test_a_file_of_records_gives_one_result_per_event():
    text = json.dumps({"Records": [GET, ASSUME, asked(bucketName=5), {"eventType": "x"}]})
    for locator, head in (("$", ""), ("line 1", "line 1 ")):
        found = parse(PARSER, [RawRecord(locator, 0, text.encode())])
        check_each(found)
        assert [(p.locator, word(p)) for p in found] == [
            (f"{head}$.Records[0]", "accepted"),
            (f"{head}$.Records[1]", "accepted"),
            (f"{head}$.Records[2]", "wrong_type"),
            (f"{head}$.Records[3]", "no_event"),
        ]
        assert stated(rows(found, "object_requests")[0], "record_id") == REQUEST
        assert stated(rows(found, "credential_sessions")[0], "record_id") == CREDENTIALS


def test_an_event_is_identified_across_deliveries_and_accounts():
    def record_id(event):
        return reader.row(event)[1]["record_id"]

    shared = {"sharedEventID": "00000000-0000-4000-8000-0000000000cc"}
    assert record_id(GET) == record_id(get({"eventTime": "2026-03-10T12:02:02Z"}))
    assert record_id(GET) != record_id(get({"eventID": "other"}))
    # Two accounts get copies of one event.
    assert record_id(get(shared)) == record_id(
        get(shared | {"eventID": "other", "recipientAccountId": "444455556666"})
    )
    # An event that replaces another names it.
    assert record_id(GET) == record_id(
        get({"eventID": "later", "addendum": {"originalEventID": GET["eventID"], "reason": "x"}})
    )
    without = get({"eventID": ...})
    assert record_id(without) == record_id(json.dumps(without) + " ")
    assert record_id(without) != record_id(without | {"awsRegion": "eu-west-2"})


def test_no_token_and_no_key_id_is_written():
    token = "ghp_" + "a1B2" * 9
    secret = "wJalrFAKEsecretFAKEsecretFAKEsecretFAKE1"
    events = [
        ASSUME,
        assume({"requestParameters/tags": [{"key": "kubernetes-pod-name", "value": token}]}),
        assume({"requestParameters/tags": [{"key": "kubernetes-pod-uid", "value": TOKEN}]}),
        assume({"responseElements/credentials": [TOKEN, secret]}),
        get({"requestParameters/key": f"a/{token}", "userAgent": f"[x {token}]",
             "errorCode": token, "requestID": token, "vpcEndpointId": token}),
        get({"eventName": f"Get{token}"}),
        asked(**{"x-amz-copy-source": f"b/k?X-Amz-Security-Token={TOKEN}"}),
        get({"requestParameters": TOKEN}),
        get({"eventTime": TOKEN}),
    ]  # fmt: skip
    found = parse(PARSER, lines("\n".join(json.dumps(e) for e in events)))
    kept = written(found)
    for text in ("FAKEsession", token, secret, "ASIAFAKE"):
        assert text not in kept
    assert found[4].rows[0][1]["key"] == "a/***"
    refused = [excerpt(p.raw) for p in found if p.reject]
    assert len(refused) == 5
    assert not [text for text in refused if "FAKE" in text or token in text]


# -- recognition ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (json.dumps({"Records": [GET]}), 3),
        (json.dumps({"Records": [GET] * 99})[:9_000], 3),
        (json.dumps({"Records": [GET]}, indent=1), 3),
        (json.dumps(GET) + "\n" + json.dumps(ASSUME)[:50], 3),
        (json.dumps([GET]), 3),
        (json.dumps(enveloped(GET)), 3),
        (json.dumps(of_athena(GET)), 3),
        (json.dumps(of_lake(GET)), 3),
        (json.dumps(enveloped({"bucket": {}})), 0),
        (json.dumps(get({"userIdentity": ...})), 3),
        (json.dumps(get({"userIdentity": ..., "eventType": ...})), 0),
        (json.dumps(get({"eventSource": "aws:s3"})), 0),
        ('{"Records":[{"eventSource":"aws:s3","eventName":"ObjectCreated:Put"}]}', 0),
        ('{"Records":[]}', 0),
        ('{"Records":{}}', 0),
        ('{"records":[]}', 0),
        ('{"awsAccountId":"1","digestStartTime":"x"}', 0),
        (json.dumps(GET)[:60], 0),
        ("[]", 0),
        ("free text", 0),
        ("", 0),
    ],
)
def test_a_file_is_recognised_by_its_first_event(head, score):
    assert PARSER.recognise(head.encode()).score == score


SAMPLES = {
    "cloudtrail_eks_pod_identity_assumerole.json": {"accepted": 1, "no_credentials": 1},
    # Two events without a time were abridged by hand.
    "cloudtrail_irsa_webidentity_ABRIDGED.json": {"no_time": 1},
    "cloudtrail_s3_getobject_cloudfront_ABRIDGED.json": {"no_time": 1},
    "cloudtrail_network_activity_ABRIDGED.json": {"network_activity": 1},
    "cloudtrail_s3_copy_ssec_panther.ndjson": {"accepted": 2},
    "cloudtrail_s3_copyobject_elastic.json": {"accepted": 1},
    "cloudtrail_s3_mgmt_awsdocs.json": {"management_event": 3},
    "cloudtrail_s3outposts_putobject_awsdocs.json": {"accepted": 1},
}


@pytest.mark.samples
@pytest.mark.parametrize("name", SAMPLES)
def test_real_events_are_read_or_left_out_by_name(samples, name):
    found = parse_file(PARSER, samples / "object_storage" / name)
    check_each(found)
    check_rows(found)
    assert words(found) == SAMPLES[name]


@pytest.mark.samples
def test_values_of_real_events_are_those_that_stand_in_them(samples):
    def values(name, table="object_requests"):
        found = parse_file(PARSER, samples / "object_storage" / f"cloudtrail_{name}")
        return [stated(row, "record_id") for row in rows(found, table)]

    [session] = values("eks_pod_identity_assumerole.json", "credential_sessions")
    role = "eks-pod-s3-read-access-role"
    assert session == {
        "start_at": datetime(2023, 12, 13, 1, 14, 20, tzinfo=UTC),
        "end_at": datetime(2023, 12, 13, 7, 14, 20, tzinfo=UTC),
        "issued_by": "pod_identity",
        "access_key_id_hash": KEY.of("ASIAJEXAMPLEXEG2JICE"),
        "session_arn": f"arn:aws:sts::111122223333:assumed-role/{role}/"
        "eks-eks-ref-sc-app1-b81f0fef-97e9-47da-97a2-948c5bbcd1b3",
        "role_arn": f"arn:aws:iam::111122223333:role/{role}",
        "pod_uid": "91eee131-74f3-49d4-8f7c-bcde305c120b",
        "namespace": "ns-a",
        "pod_name": "app1",
        "service_account": "sa1",
        "eks_cluster_name": "eksworkshop-eksctl",
        "eks_cluster_arn": "arn:aws:eks:us-east-1:111122223333:cluster/eksworkshop-eksctl",
        "account_id": "111122223333",
        "region": "us-east-1",
        "request_id": "b24654c7-be30-474d-903e-caf147dd7286",
    }
    [copy] = values("s3_copyobject_elastic.json")
    assert copy["copy_source"] == (
        "s3://elastic-cspm-cloudtrail-test-bucket/test-copy-object/README.md"
    )
    assert (copy["operation"], copy["response_bytes"], copy["request_bytes"]) == ("copy", 224, 0)
    assert copy["user_agent"].startswith("aws-cli/2.17.60 md/awscrt#0.21.2 ua/2.0")
    assert copy["bucket_owner"] == "000000000"
    [put] = values("s3outposts_putobject_awsdocs.json")
    assert (put["key"], put["version_id"]) == ("path/upload.sh", "001")
    assert (put["request_bytes"], put["response_bytes"]) == (10, 20)
    assert put["etag"] == "d41d8cd98f00b204e9800998ecf8427f"
    assert [row["vpc_endpoint_id"] for row in values("s3_copy_ssec_panther.ndjson")] == [
        "vpce-1a2b3c4d",
        "vpce-1a2b3c4d",
    ]


# -- any text ------------------------------------------------------------------------------------

PLACES = {
    "get": (get, [*GET, *(f"requestParameters/{k}" for k in GET["requestParameters"]),
                  *(f"userIdentity/{k}" for k in GET["userIdentity"]),
                  *(f"additionalEventData/{k}" for k in GET["additionalEventData"])]),
    "assume": (assume, [*ASSUME, *(f"requestParameters/{k}" for k in ASSUME["requestParameters"]),
                        *(f"responseElements/{k}" for k in ASSUME["responseElements"]),
                        "responseElements/credentials/expiration"]),
}  # fmt: skip


@given(
    st.sampled_from([(kind, path) for kind, (_, paths) in PLACES.items() for path in paths]),
    ANY_VALUE,
)
def test_any_value_anywhere_is_read_or_refused(place, new):
    kind, path = place
    reader.one(PLACES[kind][0]({path: new}))


@given(at=st.integers(0, 3), cuts=CUTS)
def test_damage_of_one_event_changes_no_other(at, cuts):
    texts = [json.dumps(e) for e in (GET, ASSUME, get({"eventID": "x"}), asked(key="other"))]
    records = lines("\n".join(texts))
    clean = parse(PARSER, records)
    records[at] = records[at]._replace(data=damaged(records[at].data, cuts))
    found = parse(PARSER, records)
    check_others(found, clean, at)
    check_rows(found)
