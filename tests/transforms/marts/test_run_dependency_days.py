"""run_dependency_days: counts where they stand, the same bytes once, totals that close."""

import random
from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.reference.catalogue import load_endpoints
from tests.transforms.frames import DAY, at, checked, frame, show
from transforms.day import BuildDay
from transforms.marts.run_dependency_days import TRANSFORM
from transforms.sql import SqlSession

RUN = "a" * 32
HOST = "dns://data.example.com:443"
BUCKET_HOST = "dns://bucket.s3.eu-west-1.amazonaws.com:443"
PATH_HOST = "dns://s3.eu-west-1.amazonaws.com:443"
MB = 1_000_000

ENDPOINTS = pl.DataFrame(
    [
        ("*.s3.*.amazonaws.com", "Amazon S3", "object I/O", "primary", True),
        ("s3.*.amazonaws.com", "Amazon S3", "path style", "primary", True),
        ("*.example.com", "Example", "all of it", "primary", True),
        ("data.example.com", "Data", "unsure", "blob", False),
        ("cdn?.example.com", "Example", "edges", "blob", True),
        ("to.example.com", "Example", "alias", "redirect", True),
        ("guess.example.net", "Guess", "perhaps", "blob", False),
    ],
    schema={
        "pattern": pl.String, "service": pl.String, "operation": pl.String, "kind": pl.String,
        "is_verified": pl.Boolean,
    },
    orient="row",
)  # fmt: skip
TABLES = {read.table for read in TRANSFORM.reads} - {"endpoints"}


def build(session: SqlSession) -> pl.DataFrame:
    session.register("endpoints", ENDPOINTS)
    name = TRANSFORM.build(session, BuildDay(DAY, "fleet"))
    return checked(session, "run_dependency_days", name)


def built(**tables) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(session, **{name: tables.get(name, []) for name in TABLES})
        return build(session)


def connection(id_: str, start: str = "10:00", end: str | None = "10:10", **more) -> dict:
    return {
        "connection_id": id_,
        "cluster": "alder",
        "start_at": at(start),
        "end_at": at(end) if end else None,
        "transport": "TCP",
        "initiator_address": "10.0.0.1",
        "initiator_port": 40000,
        "initiator_pod_uid": "p1",
        "initiator_match_kind": "uid",
        "responder_address": "192.0.2.1",
        "responder_port": 443,
        "responder_match_kind": "none",
        "run_uuid": RUN,
        "attempt": 1,
        "verdict": "FORWARDED",
        "has_reply": True,
        "attempt_count": 1,
        "peer_kind": "outside",
        "name_kind": "dns_pod",
        "resource_id": HOST,
        "container_kind": "none",
        "stage": "unknown",
    } | more


def transfer(id_: str, start: str = "10:01", end: str = "10:02", count: int = MB, **more) -> dict:
    return {
        "transfer_id": id_,
        "start_at": at(start),
        "end_at": at(end),
        "provider": "s3",
        "bucket": "bucket",
        "key": "key",
        "operation": "read",
        "object_id": "s3://bucket/key",
        "resource_id": "s3://bucket",
        "client_address": "10.0.0.1",
        "request_count": 1,
        "success_count": 1,
        "transferred_bytes": count,
        "object_size_bytes": count,
        "cluster": "alder",
        "pod_uid": "p1",
        "run_uuid": RUN,
        "attempt": 1,
        "match_kind": "access_key",
        "stage": "unknown",
        "principal": "role",
    } | more


def flow(direction: str, count: int, window: str = "10:00", **more) -> dict:
    ordinal = f"{direction} {count} {window} {sorted(more.items())}"
    return {
        "peer_traffic_id": ordinal,
        "scope": "fleet",
        "cluster": "alder",
        "local_address": "10.0.0.1",
        "pod_uid": "p1",
        "run_uuid": RUN,
        "attempt": 1,
        "peer_address": "192.0.2.1",
        "peer_port": 443,
        "transport": "TCP",
        "direction": direction,
        "window_start_at": at(window),
        "bytes": count,
        "min_bytes": count,
        "max_bytes": count,
        "name_kind": "none",
        "measured_by": "flow_record",
        "byte_layer": "packet",
        "observer": "eni",
        "match_kind": "address_window",
        "is_chosen": True,
    } | more


def only(rows: pl.DataFrame, **where) -> dict:
    found = rows.filter(**where)
    assert found.height == 1, found
    return found.row(0, named=True)


def all_bytes(row: dict) -> tuple:
    return tuple(
        row[name]
        for name in (
            "received_bytes", "min_received_bytes", "max_received_bytes", "sent_bytes",
            "min_sent_bytes", "max_sent_bytes",
        )
    )  # fmt: skip


NONE = (None,) * 6


# -- connections ---------------------------------------------------------------------------------


def test_connections_of_one_use_are_one_row_with_their_counts():
    row = only(
        built(
            connections=[
                connection("c1"),
                connection("c2", "12:00", None, initiator_pod_uid="p2", attempt_count=3),
            ],
            runs=[{"run_uuid": RUN, "project": "vision"}],
        )
    )
    assert (row["resource_id"], row["endpoint"], row["operation"]) == (
        HOST, "data.example.com", "connect",
    )  # fmt: skip
    assert (row["connection_count"], row["retry_count"], row["request_count"]) == (2, 2, 0)
    assert (row["first_seen_at"], row["last_seen_at"]) == (at("10:00"), at("00:00", days=1))
    assert (row["pod_uids"], row["project"], row["resource_kind"]) == (
        ["p1", "p2"],
        "vision",
        "host",
    )
    assert (row["measured_by"], all_bytes(row), row["accounted_in"]) == ("none", NONE, None)
    assert (row["sources"], row["byte_layer"]) == (["flows"], None)


def test_a_connection_counts_on_the_day_on_which_it_began_and_is_seen_on_each():
    row = only(
        built(connections=[connection("c1", start_at=at("23:00", days=-1), attempt_count=0)])
    )
    assert (row["connection_count"], row["retry_count"]) == (0, 0)
    assert (row["first_seen_at"], row["last_seen_at"]) == (at("00:00"), at("10:10"))
    early = only(built(connections=[connection("c1", "00:00", opened_before=True)]))
    assert early["connection_count"] == 0


def test_a_drop_is_denied_unless_its_reason_is_no_policys():
    def drop(id_: str, reason: str | None, **more) -> dict:
        return connection(id_, verdict="DROPPED", drop_reason=reason, first_error=reason, **more)

    row = only(
        built(
            connections=[
                drop("c1", "POLICY_DENIED"),
                drop("c2", "POLICY_DENY", start_at=at("09:00")),
                drop("c3", None),
                drop("c4", "STALE_OR_UNROUTABLE_IP", start_at=at("08:00")),
                connection("c5", http_request_count=4, http_error_count=2),
            ]
        )
    )
    assert (row["connection_count"], row["denied_count"], row["error_count"]) == (5, 3, 3)
    assert row["first_error"] == "STALE_OR_UNROUTABLE_IP"


def test_the_host_is_taken_from_the_resource():
    expected = {
        "dns://a.example.com:443/udp": ("a.example.com", "host"),
        "ip://192.0.2.1:443": ("192.0.2.1", "address"),
        "ip://[2001:db8::1]:443": ("2001:db8::1", "address"),
        "ip://[2001:db8::1]:4433/udp": ("2001:db8::1", "address"),
        "kube://alder/ml/trainer:29500": (None, "service"),
        "node://alder/n1:10250": (None, "node"),
    }
    rows = built(connections=[connection(name, resource_id=name) for name in expected])
    found = rows.select("resource_id", "endpoint", "resource_kind").rows()
    assert {row[0]: row[1:] for row in found} == expected


def test_rows_that_no_run_owns_are_kept():
    rows = built(
        connections=[
            connection("c1", run_uuid=None, attempt=None),
            connection("c2", run_uuid=None, attempt=None, initiator_pod_uid=None,
                       initiator_match_kind="none"),
        ]
    )  # fmt: skip
    row = only(rows)
    assert (row["run_uuid"], row["project"], row["connection_count"]) == (None, None, 2)
    assert (row["match_kind"], row["pod_uids"]) == ("none", ["p1"])


def test_kinds_are_the_weakest_and_their_counts_are_kept_best_first():
    row = only(
        built(
            connections=[
                connection("c1"),
                connection("c2", initiator_match_kind="address_window", name_kind="dns_time"),
                connection("c3", name_kind="dns_cluster"),
                connection("c4"),
            ]
        )
    )
    assert (row["match_kind"], row["name_kind"]) == ("address_window", "dns_time")
    assert row["match_kind_counts"] == [
        {"kind": "uid", "count": 3}, {"kind": "address_window", "count": 1},
    ]  # fmt: skip
    assert row["name_kind_counts"] == [
        {"kind": "dns_pod", "count": 2},
        {"kind": "dns_cluster", "count": 1},
        {"kind": "dns_time", "count": 1},
    ]


# -- the endpoint catalogue ----------------------------------------------------------------------


def test_the_most_specific_verified_pattern_names_the_service():
    expected = {
        "data.example.com": ("Example", "all of it", "primary"),
        "cdn1.example.com": ("Example", "edges", "blob"),
        "cdn12.example.com": ("Example", "all of it", "primary"),
        "guess.example.net": (None, "unverified: Guess, perhaps", None),
        "example.com": (None, None, None),
        "a_example.com": (None, None, None),
    }
    rows = built(
        connections=[connection(host, resource_id=f"dns://{host}:443") for host in expected]
    )
    found = rows.select("endpoint", "service", "purpose", "endpoint_kind").rows()
    assert {row[0]: row[1:] for row in found} == expected


@pytest.mark.parametrize(
    ("host", "service", "kind"),
    [
        ("sts.eu-west-1.amazonaws.com", "AWS STS", "auth"),
        ("auth.docker.io", "Docker Hub", "auth"),
        ("lfs.github.com", "GitHub", "primary"),
        ("pypi.org", "PyPI", "primary"),
        ("vpce-0a1.s3.eu-west-1.vpce.amazonaws.com", "Amazon S3", "primary"),
        ("proxy.corp.example.com:3128", None, None),
    ],
)
def test_what_supports_a_use_is_a_row_of_its_own(host: str, service: str | None, kind: str | None):
    resource = f"dns://{host}" if ":" in host else f"dns://{host}:443"
    with SqlSession(threads=1) as session:
        uses = [connection("use"), connection("support", resource_id=resource, start="10:01")]
        show(session, **{name: [] for name in TABLES} | {"connections": uses})
        session.register("endpoints", load_endpoints())
        rows = checked(
            session, "run_dependency_days", TRANSFORM.build(session, BuildDay(DAY, "fleet"))
        )
    assert set(rows["resource_id"]) == {HOST, resource}
    row = only(rows, resource_id=resource)
    assert (row["service"], row["endpoint_kind"], row["connection_count"]) == (service, kind, 1)


# -- object transfers ----------------------------------------------------------------------------


EDGE = {"resource_id": "dns://cdn1.example.com:443", "responder_address": "192.0.2.7"}
HUB = {"resource_id": "dns://hub.example.com:443", "end": "10:00:20"}
OTHER_HUB = {"resource_id": "dns://eu.example.com:443"}


@pytest.mark.parametrize(
    ("seen", "primary"),
    [
        ([HUB], "dns://hub.example.com:443"),
        # Ten seconds are the most between the end of one and the start of the other.
        ([HUB | {"end": "10:00:20"}, {"edge": "10:00:30"}], "dns://hub.example.com:443"),
        ([HUB | {"end": "10:00:20"}, {"edge": "10:00:30.000001"}], None),
        ([HUB | {"start": "10:00:26"}], None),
        ([HUB | {"initiator_pod_uid": "p2"}], None),
        ([HUB | {"verdict": "DROPPED"}], None),
        ([HUB | {"resource_id": "dns://hub.example.org:443"}], None),
        ([HUB, OTHER_HUB], None),
        ([HUB, OTHER_HUB | {"start": "09:00", "end": "09:30"}], "dns://hub.example.com:443"),
        ([], None),
    ],
)
def test_a_blob_host_belongs_to_the_only_primary_host_that_sent_the_pod_on(seen, primary):
    edge = next((more["edge"] for more in seen if "edge" in more), "10:00:25")
    hubs = [
        connection(f"hub{n}", **{"initiator_port": 41000 + n} | more)
        for n, more in enumerate(seen)
        if "edge" not in more
    ]
    rows = built(connections=[connection("blob", start=edge, **EDGE), *hubs])
    row = only(rows, resource_id=EDGE["resource_id"])
    assert (row["service"], row["endpoint_kind"]) == ("Example", "blob")
    assert row["primary_resource_id"] == primary


def test_two_blobs_of_two_primary_hosts_have_no_one_primary():
    contacts = [
        connection("hub", **HUB),
        connection("blob", start="10:00:25", **EDGE),
        connection("eu", start="11:00", end="11:01", **OTHER_HUB),
        connection("again", start="11:00:30", end="11:02", **EDGE),
    ]
    row = only(built(connections=contacts), resource_id=EDGE["resource_id"])
    assert (row["connection_count"], row["primary_resource_id"]) == (2, None)
    assert (
        only(built(connections=contacts), resource_id=HUB["resource_id"])["primary_resource_id"]
        is None
    )


@pytest.mark.parametrize(("hub", "primary"), [("10:00:35", True), ("09:59:59", False)])
def test_a_redirecting_host_belongs_to_the_primary_host_that_follows(hub, primary):
    contacts = [
        connection(
            "alias", start="10:00:25", end="10:00:26", resource_id="dns://to.example.com:443"
        ),
        connection("hub", start=hub, resource_id="dns://hub.example.com:443"),
    ]
    row = only(built(connections=contacts), resource_id="dns://to.example.com:443")
    assert row["endpoint_kind"] == "redirect"
    assert row["primary_resource_id"] == ("dns://hub.example.com:443" if primary else None)


def test_a_host_that_the_catalogue_does_not_know_for_sure_belongs_to_no_service():
    guessed = connection("g", start="10:00:25", resource_id="dns://guess.example.net:443")
    row = only(
        built(connections=[connection("hub", **HUB), guessed]),
        resource_id="dns://guess.example.net:443",
    )
    assert (row["service"], row["primary_resource_id"]) == (None, None)


@pytest.mark.parametrize(
    ("resource", "dataset", "basis", "kind"),
    [
        ("s3://bucket/data", "s3://bucket/data", "declared", "dataset"),
        ("imagenet", "imagenet", "settings", "dataset"),
        # A run declares the whole bucket; that settings or the key name a dataset in it is beside.
        ("s3://bucket", "imagenet", "settings", "bucket"),
        ("s3://bucket", "s3://bucket/data", "prefix", "bucket"),
        ("s3://bucket", None, None, "bucket"),
    ],
)
def test_a_row_is_of_a_dataset_where_that_is_its_resource(resource, dataset, basis, kind):
    named = {"resource_id": resource, "dataset_id": dataset, "dataset_basis": basis}
    row = only(built(object_transfers=[transfer("t1", **named)]), operation="read")
    assert (row["resource_id"], row["resource_kind"]) == (resource, kind)


def test_reads_are_received_and_writes_are_sent():
    rows = built(
        object_transfers=[
            transfer("t1", count=3, denied_count=1, throttled_count=2, not_found_count=3,
                     error_count=4, request_count=11, first_error="SlowDown"),
            transfer("t2", count=4),
            transfer("t3", count=5, operation="write"),
            transfer("t4", count=9, operation="copy"),
        ]
    )  # fmt: skip
    read = only(rows, operation="read")
    assert all_bytes(read) == (7, 7, 7, None, None, None)
    assert (read["measured_by"], read["byte_layer"], read["resource_kind"]) == (
        "storage_log", "body", "bucket",
    )  # fmt: skip
    counts = ("request", "denied", "throttled", "not_found", "error", "connection")
    assert [read[f"{name}_count"] for name in counts] == [12, 1, 2, 3, 4, 0]
    assert (read["first_error"], read["principal"], read["name_kind"]) == ("SlowDown", "role", None)
    assert (read["name_kind_counts"], read["sources"]) == ([], ["object_requests"])
    assert all_bytes(only(rows, operation="write")) == (None, None, None, 5, 5, 5)
    assert all_bytes(only(rows, operation="copy")) == NONE


def test_bytes_that_the_log_does_not_state_leave_max_open_or_bounded_by_the_objects_size():
    rows = built(
        object_transfers=[
            transfer("t1", count=3, unlogged_bytes_count=2, object_size_bytes=10),
            transfer("t2", count=3, unlogged_bytes_count=1, object_size_bytes=None,
                     resource_id="s3://other"),
            transfer("t3", count=0, unlogged_bytes_count=1, resource_id="s3://silent"),
            transfer("t4", count=0, unlogged_bytes_count=1, not_modified_count=1,
                     resource_id="s3://cached"),
        ]
    )  # fmt: skip
    assert all_bytes(only(rows, resource_id="s3://bucket"))[:3] == (3, 3, 23)
    assert all_bytes(only(rows, resource_id="s3://other"))[:3] == (3, 3, None)
    silent = only(rows, resource_id="s3://silent")
    assert (silent["measured_by"], all_bytes(silent)) == ("none", NONE)
    assert all_bytes(only(rows, resource_id="s3://cached"))[:3] == (0, 0, 0)


def test_a_region_or_principal_is_shown_only_if_all_rows_have_the_same():
    places = {"reader_region": "eu-west-1", "bucket_region": "us-east-1"}
    rows = built(
        object_transfers=[
            transfer("t1", **places),
            transfer("t2", **places | {"reader_region": None}),
            transfer("t3", operation="head", **places),
            transfer("t4", operation="head", **places, principal="other"),
        ]
    )
    read, head = only(rows, operation="read"), only(rows, operation="head")
    assert (read["reader_region"], read["resource_region"]) == (None, "us-east-1")
    assert (head["reader_region"], head["principal"]) == ("eu-west-1", None)


# -- bytes of flows ------------------------------------------------------------------------------


def test_bytes_of_flows_stand_on_the_row_of_the_connections_that_they_belong_to():
    rows = built(
        connections=[connection("c1"), connection("c2", "10:20", "10:22")],
        peer_traffic=[
            flow("receive", 500, min_bytes=300, max_bytes=700),
            flow("transmit", 50),
            flow("receive", 5, "10:20"),
            flow("receive", 77, is_chosen=False),
        ],
    )
    row = only(rows)
    assert all_bytes(row) == (505, 305, 705, 50, 50, 50)
    assert (row["measured_by"], row["byte_layer"], row["connection_count"]) == (
        "flow_record", "packet", 2,
    )  # fmt: skip
    assert (row["match_kind"], row["sources"]) == ("address_window", ["flows", "volume_records"])


def test_bytes_of_an_address_with_two_names_follow_the_window_or_stay_with_the_address():
    other = "dns://other.example.com:443"
    rows = built(
        connections=[
            connection("c1", "10:00", "10:01"),
            connection("c2", "10:06", "10:07", resource_id=other),
            connection("c3", "10:11", "10:12"),
            connection("c4", "10:11", "10:12", resource_id=other),
        ],
        peer_traffic=[
            flow("receive", 1, "10:00"), flow("receive", 2, "10:05"), flow("receive", 4, "10:10"),
            flow("receive", 8, "15:00"),
        ],
    )  # fmt: skip
    assert only(rows, resource_id=HOST)["received_bytes"] == 1
    assert only(rows, resource_id=other)["received_bytes"] == 2
    shared = only(rows, resource_id="ip://192.0.2.1:443")
    assert (shared["received_bytes"], shared["name_kind"], shared["connection_count"]) == (
        12, "ambiguous", 0,
    )  # fmt: skip


def test_bytes_that_several_containers_share_are_no_containers():
    rows = built(
        connections=[
            connection("c1", container_role="init", container_kind="only_running"),
            connection("c2", container_role="main", container_kind="only_running"),
            connection("c3", "12:00", "12:01", container_role="main", container_kind="socket"),
        ],
        peer_traffic=[flow("receive", 5), flow("receive", 7, "12:00")],
    )
    assert rows.select("container_role", "measured_by", "connection_count", "received_bytes").rows(
    ) == [
        ("init", "none", 1, None),
        ("main", "flow_record", 2, 7),
        (None, "flow_record", 0, 5),
    ]  # fmt: skip


def test_bytes_without_a_connection_have_the_name_that_is_known_or_the_address():
    rows = built(
        peer_traffic=[
            flow("receive", 1, peer_name="data.example.com", name_kind="dns_pod"),
            flow("receive", 2, peer_address="2001:db8::7", transport="UDP"),
            flow("receive", 4, peer_address="192.0.2.9", peer_name="guessed", name_kind="none"),
            flow("receive", 8, peer_port=None, peer_address="192.0.2.10"),
        ]
    )
    assert rows.select("resource_id", "received_bytes").sort("received_bytes").rows() == [
        (HOST, 1),
        ("ip://[2001:db8::7]:443/udp", 2),
        ("ip://192.0.2.9:443", 4),
        ("ip://192.0.2.10", 8),
    ]


def test_what_a_pod_serves_is_no_dependency_of_it():
    served = connection(
        "c1", responder_pod_uid="p9", responder_address="10.0.0.9", responder_port=8080,
        resource_id="kube://alder/ml/server:8080",
    )  # fmt: skip
    rows = built(
        connections=[served],
        peer_traffic=[
            flow("transmit", 5, pod_uid="p9", local_address="10.0.0.9", peer_address="10.0.0.1",
                 peer_port=40000),
            flow("receive", 5, peer_address="10.0.0.9", peer_port=8080),
            flow("transmit", 3, pod_uid="p9", local_address="10.0.0.9", peer_address="192.0.2.50",
                 peer_port=51000),
        ],
    )  # fmt: skip
    row = only(rows)
    assert (row["received_bytes"], row["resource_id"]) == (5, "kube://alder/ml/server:8080")


def test_bytes_to_a_resolver_belong_to_its_lookups():
    rows = built(peer_traffic=[flow("transmit", 60, peer_port=53, transport="UDP")])
    row = only(rows)
    assert (row["operation"], row["resource_id"]) == ("resolve", "ip://192.0.2.1:53/udp")


def test_bytes_without_a_pod_stay_unattributed():
    row = only(
        built(
            peer_traffic=[
                flow("receive", 5, pod_uid=None, run_uuid=None, attempt=None, cluster=None,
                     match_kind="node")
            ]
        )
    )  # fmt: skip
    assert (row["run_uuid"], row["pod_uids"], row["received_bytes"]) == (None, [], 5)


# -- the same bytes once -------------------------------------------------------------------------


def bucket_visit(*, flows: bool = True, host: str = BUCKET_HOST, **tables) -> dict:
    rows = built(
        connections=[connection("c1", resource_id=host)],
        peer_traffic=[flow("receive", 1_050_000), flow("transmit", 9_000)] if flows else [],
        **tables,
    )
    return only(rows, operation="connect")


def test_a_logged_buckets_host_has_no_bytes_of_its_own_where_the_log_explains_it():
    row = bucket_visit(object_transfers=[transfer("t1")])
    assert (row["measured_by"], all_bytes(row), row["accounted_in"]) == (
        "none", NONE, "s3://bucket",
    )  # fmt: skip
    assert (row["connection_count"], row["byte_layer"]) == (1, None)


def test_it_is_accounted_for_also_where_no_flow_measured_it():
    row = bucket_visit(flows=False, object_transfers=[transfer("t1", count=5)])
    assert (row["measured_by"], row["accounted_in"]) == ("none", "s3://bucket")


def test_of_several_resources_the_one_with_most_bytes_is_named():
    row = bucket_visit(
        object_transfers=[
            transfer("t1", count=5, resource_id="s3://bucket/a"),
            transfer("t2", count=7, resource_id="s3://bucket/b"),
            transfer("t3", count=4, resource_id="s3://bucket/a"),
        ]
    )
    assert row["accounted_in"] == "s3://bucket/a"


def test_other_requests_explain_nothing():
    others = (
        {"start": "11:00", "end": "11:01"},
        {"pod_uid": "stranger"},
        {"bucket": "elsewhere"},
        {"provider": "gcs"},
        {"pod_uid": None, "candidate_pod_uids": ["stranger", "another"]},
        {"count": 0, "unlogged_bytes_count": 1},
    )
    own = [
        {"initiator_pod_uid": f"p{n}", "initiator_address": f"10.0.1.{n}", "run_uuid": f"{n:032x}"}
        for n in range(len(others))
    ]
    rows = built(
        connections=[
            connection(f"c{n}", resource_id=BUCKET_HOST, **mine) for n, mine in enumerate(own)
        ],
        peer_traffic=[
            flow("receive", 1_050_000 + n, pod_uid=f"p{n}", local_address=f"10.0.1.{n}",
                 run_uuid=f"{n:032x}")
            for n in range(len(others))
        ],
        object_transfers=[
            transfer(f"t{n}", **{"pod_uid": f"p{n}", "client_address": f"10.0.1.{n}"} | other)
            for n, other in enumerate(others)
        ],
    ).filter(operation="connect")  # fmt: skip
    assert rows["accounted_in"].null_count() == len(others)
    assert rows["measured_by"].unique().to_list() == ["flow_record"]
    expected = [1_050_000 + n for n in range(len(others))]
    assert sorted(rows["received_bytes"]) == sorted(rows["min_received_bytes"]) == expected


@pytest.mark.parametrize(
    "perhaps",
    [
        {"pod_uid": None, "candidate_pod_uids": ["p1", "p2"], "run_uuid": None},
        {"pod_uid": None, "client_address": "203.0.113.1", "run_uuid": None},
        {"pod_uid": None, "client_address": "203.0.113.1"},
    ],
)
def test_requests_that_may_be_the_owners_explain_a_logged_buckets_host(perhaps):
    row = bucket_visit(object_transfers=[transfer("t1", **perhaps)])
    assert (row["measured_by"], row["accounted_in"]) == ("none", "s3://bucket")
    elsewhere = bucket_visit(host=PATH_HOST, object_transfers=[transfer("t1", **perhaps)])
    assert elsewhere["measured_by"] == "flow_record"


def test_requests_of_another_run_without_a_pod_explain_nothing():
    other = {"pod_uid": None, "client_address": "203.0.113.1", "run_uuid": "b" * 32}
    assert bucket_visit(object_transfers=[transfer("t1", **other)])["accounted_in"] is None


def test_a_bucket_whose_name_begins_anothers_is_not_taken_for_it():
    host = "dns://bucket.old.s3.eu-west-1.amazonaws.com:443"
    assert bucket_visit(host=host, object_transfers=[transfer("t1")])["accounted_in"] is None


def test_clocks_may_differ_by_two_seconds():
    just = {"start": "10:10:02", "end": "10:11"}
    assert bucket_visit(object_transfers=[transfer("t1", **just)])["accounted_in"] == "s3://bucket"
    late = {"start": "10:10:02.000001", "end": "10:11"}
    assert bucket_visit(object_transfers=[transfer("t1", **late)])["accounted_in"] is None


def test_a_host_that_names_no_bucket_is_accounted_for_from_ninety_percent_on():
    # 953 100 is 90 % of the 1 059 000 bytes that flowed.
    enough = transfer("t1", count=953_100)
    less = transfer("t1", count=953_099)
    assert bucket_visit(host=PATH_HOST, object_transfers=[less])["accounted_in"] is None
    row = bucket_visit(host=PATH_HOST, object_transfers=[enough])
    assert (row["measured_by"], row["accounted_in"]) == ("none", "s3://bucket")


def test_below_that_the_rest_stands_and_is_not_certain():
    row = bucket_visit(
        host=PATH_HOST,
        object_transfers=[
            transfer("t1", count=900_000),
            transfer("t2", count=8_000, operation="write"),
        ],
    )
    assert (row["measured_by"], row["accounted_in"]) == ("flow_record", None)
    assert all_bytes(row) == (150_000, 0, 1_050_000, 1_000, 0, 9_000)


def test_more_logged_than_flowed_leaves_nothing_below_zero():
    rows = built(
        connections=[connection("c1", resource_id=PATH_HOST)],
        peer_traffic=[
            flow("receive", 60, min_bytes=60), flow("receive", 50, "10:05"),
            flow("transmit", 1_000),
        ],
        object_transfers=[transfer("t1", count=100)],
    )  # fmt: skip
    assert all_bytes(only(rows, operation="connect")) == (10, 0, 110, 1_000, 0, 1_000)


def test_an_own_storage_is_known_by_the_host_that_its_log_names():
    host = "dns://store.example.org:9000"
    told = {"provider": "minio", "endpoint": "store.example.org", "count": 1_050_000}
    assert bucket_visit(host=host, object_transfers=[transfer("t1", **told)])["accounted_in"]
    virtual = "dns://bucket.store.example.org:9000"
    told = {"provider": "minio", "endpoint": "bucket.store.example.org", "count": 5}
    assert bucket_visit(host=virtual, object_transfers=[transfer("t1", **told)])["accounted_in"]


# -- pulls and look-ups --------------------------------------------------------------------------


def pull(**more) -> dict:
    return {
        "image_pull_id": "pull",
        "cluster": "alder",
        "pod_uid": "p1",
        "run_uuid": RUN,
        "attempt": 1,
        "start_at": at("10:00"),
        "end_at": at("10:01"),
        "image": "registry.example.com:5000/ml/train:1.4",
        "registry": "registry.example.com:5000",
        "image_bytes": 900,
        "min_transferred_bytes": 0,
        "max_transferred_bytes": 900,
        "measured_by": "image_size",
        "attempt_count": 1,
    } | more


def test_a_pull_lies_between_its_bounds_and_is_the_nodes():
    row = only(built(image_pulls=[pull(image_digest="sha256:1", attempt_count=3, error_count=2,
                                       error="toomanyrequests")]))  # fmt: skip
    assert row["resource_id"] == "oci://registry.example.com:5000/ml/train@sha256:1"
    assert (row["endpoint"], row["operation"], row["container_role"]) == (
        "registry.example.com:5000", "pull", "node_runtime",
    )  # fmt: skip
    assert (row["measured_by"], all_bytes(row)) == ("image_size", (None, 0, 900, None, None, None))
    assert (row["retry_count"], row["error_count"], row["first_error"]) == (
        2, 2, "toomanyrequests",
    )  # fmt: skip
    assert (row["match_kind"], row["resource_kind"]) == ("uid", "image")


def test_an_image_that_was_present_moved_nothing():
    row = only(built(image_pulls=[pull(was_present=True, end_at=None, max_transferred_bytes=0)]))
    assert all_bytes(row)[:3] == (0, 0, 0)


def test_a_pull_over_midnight_counts_where_it_began_and_has_its_bytes_where_it_ended():
    row = only(
        built(image_pulls=[pull(start_at=at("23:59", days=-1), attempt_count=2, error_count=1)])
    )
    assert (row["retry_count"], row["error_count"], row["max_received_bytes"]) == (0, 0, 900)
    still = only(built(image_pulls=[pull(end_at=None)]))
    assert (still["measured_by"], all_bytes(still)) == ("none", NONE)
    open_ended = only(built(image_pulls=[pull(max_transferred_bytes=None)]))
    assert (open_ended["measured_by"], all_bytes(open_ended)) == ("none", NONE)


def test_an_image_reference_becomes_a_resource():
    references = {
        "python": ("docker.io", "oci://docker.io/library/python:latest"),
        "acme/tool:2": ("docker.io", "oci://docker.io/acme/tool:2"),
        "localhost/tool:2": ("localhost", "oci://localhost/tool:2"),
        "docker.io/library/python:3": ("docker.io", "oci://docker.io/library/python:3"),
        "index.docker.io/redis:8": ("index.docker.io", "oci://docker.io/library/redis:8"),
        "r.example.com/a/b:c@sha256:1": ("r.example.com", "oci://r.example.com/a/b:c"),
    }
    rows = built(
        image_pulls=[
            pull(image_pull_id=image, image=image, registry=registry)
            for image, (registry, _) in references.items()
        ]
    )
    assert sorted(rows["resource_id"]) == sorted(resource for _, resource in references.values())


def lookup(clock: str = "10:00", **more) -> dict:
    return {
        "cluster": "alder",
        "source_format": "hubble",
        "event_at": at(clock),
        "client_address": "10.0.0.1",
        "resolver_address": "10.96.0.10",
        "query_name": "data.example.com",
        "query_type": "A",
        "rcode": "NOERROR",
        "is_response": True,
    } | more


POD = {
    "cluster": "alder",
    "namespace": "ml",
    "pod_name": "pod",
    "pod_uid": "p1",
    "address": "10.0.0.1",
    "node": "n1",
    "region": "eu-west-1",
    "run_uuid": RUN,
    "attempt": 1,
    "run_match_kind": "label",
    "start_at": at("09:00"),
    "created_at": at("09:00"),
    "end_at": at("12:00"),
}


def test_lookups_are_one_row_per_pod_and_resolver():
    row = only(
        built(
            dns_lookups=[
                lookup(),
                lookup(rcode="NXDOMAIN", query_name="other"),
                lookup("10:01", rcode="SERVFAIL"),
                lookup("10:02", rcode="REFUSED"),
                lookup("10:03", rcode=None, is_response=False),
                lookup("10:04", event_at=at("10:04", days=1)),
            ],
            pod_intervals=[POD],
        )
    )
    assert (row["operation"], row["resource_id"]) == ("resolve", "ip://10.96.0.10:53")
    assert (row["run_uuid"], row["pod_uids"], row["match_kind"]) == (RUN, ["p1"], "address_window")
    assert (row["request_count"], row["not_found_count"], row["error_count"]) == (5, 1, 1)
    assert (row["denied_count"], row["first_error"], row["reader_region"]) == (
        1, "SERVFAIL", "eu-west-1",
    )  # fmt: skip
    assert row["match_kind_counts"] == [{"kind": "address_window", "count": 5}]


def test_a_lookup_that_two_sources_saw_counts_once():
    row = only(
        built(
            dns_lookups=[
                lookup(),
                lookup("10:00:00.0005", source_format="coredns", resolver_address=None),
                lookup("10:30"),
            ],
            pod_intervals=[POD],
        )
    )
    assert (row["request_count"], row["resource_id"]) == (2, "ip://10.96.0.10:53")


def test_a_resolver_behind_a_service_has_the_services_name():
    service = {
        "cluster": "alder", "namespace": "kube-system", "service": "kube-dns",
        "addresses": ["10.96.0.10"], "observed_at": at("08:00"), "created_at": at("00:00"),
    }  # fmt: skip
    row = only(built(dns_lookups=[lookup()], services=[service]))
    assert (row["resource_id"], row["endpoint"]) == ("kube://alder/kube-system/kube-dns:53", None)
    assert (row["run_uuid"], row["pod_uids"], row["match_kind"]) == (None, [], "none")
    two = built(dns_lookups=[lookup()], services=[service, service | {"service": "other"}])
    assert only(two)["resource_id"] == "ip://10.96.0.10:53"
    unknown = only(built(dns_lookups=[lookup(resolver_address=None)]))
    assert unknown["resource_id"] == "dns://(unknown):53"


def test_forged_sizes_do_not_stop_the_day():
    most = 2**63 - 1
    rows = built(
        connections=[connection("c1", resource_id=PATH_HOST)],
        peer_traffic=[flow("receive", most), flow("receive", most, "10:05")],
        object_transfers=[
            transfer("t1", count=most, unlogged_bytes_count=9),
            transfer("t2", count=most),
            transfer("t3", count=most, run_uuid=None, pod_uid=None, resource_id="s3://x'; --"),
        ],
    )
    assert rows.filter(operation="read")["received_bytes"].to_list() == [most, most]
    assert rows.filter(operation="connect")["accounted_in"].to_list() == ["s3://bucket"]


# -- laws ----------------------------------------------------------------------------------------


def drawn(seed: int) -> dict[str, list[dict]]:
    draw = random.Random(seed)
    hosts = (HOST, BUCKET_HOST, PATH_HOST, "ip://192.0.2.1:443")
    tables: dict[str, list[dict]] = {"connections": [], "object_transfers": [], "peer_traffic": []}
    for number in range(60):
        start = at("00:00") + timedelta(minutes=draw.randrange(23 * 60))
        pod = draw.choice(["p1", "p2", None])
        owner = {"run_uuid": RUN if pod == "p1" else None, "attempt": 1 if pod == "p1" else None}
        tables["connections"].append(
            connection(
                f"c{number}", start_at=start, end_at=start + timedelta(minutes=draw.randrange(60)),
                initiator_pod_uid=pod, resource_id=draw.choice(hosts),
                responder_address=f"192.0.2.{draw.randrange(1, 4)}",
                initiator_match_kind=draw.choice(["uid", "address_window"]), **owner,
            )
        )  # fmt: skip
        tables["object_transfers"].append(
            transfer(
                f"t{number}", start_at=start, end_at=start + timedelta(seconds=draw.randrange(600)),
                count=draw.randrange(5_000), pod_uid=pod, cluster="alder" if pod else None,
                operation=draw.choice(["read", "write", "head"]),
                bucket=draw.choice(["bucket", "elsewhere"]),
                resource_id=draw.choice(["s3://bucket", "s3://elsewhere"]),
                principal=draw.choice(["role", "other", None]), **owner,
            )
        )  # fmt: skip
        window = start.replace(minute=start.minute // 5 * 5)
        for direction in ("receive", "transmit"):
            tables["peer_traffic"].append(
                flow(direction, draw.randrange(9_000), window_start_at=window, pod_uid=pod,
                     peer_traffic_id=f"f{number} {direction}",
                     peer_address=f"192.0.2.{draw.randrange(1, 4)}", **owner)
            )  # fmt: skip
    return tables


@settings(max_examples=2)
@given(st.integers(0, 2**32))
def test_totals_close_and_the_order_of_the_input_has_no_say(seed):
    tables = drawn(seed)
    draw = random.Random(seed)
    results = []
    for shuffled in (False, True):
        with SqlSession(threads=2) as session:
            show(session, **{name: [] for name in TABLES})
            for name, rows in tables.items():
                if shuffled:
                    draw.shuffle(rows)
                session.register(name, frame(name, rows, date_column=True))
            results.append(build(session))
    assert results[0].equals(results[1])
    rows = results[0]
    moved = {
        operation: sum(
            t["transferred_bytes"]
            for t in tables["object_transfers"]
            if t["operation"] == operation
        )
        for operation in ("read", "write", "head")
    }
    logged = rows.filter(measured_by="storage_log")
    assert logged.filter(operation="read")["received_bytes"].sum() == moved["read"]
    assert logged.filter(operation="write")["sent_bytes"].sum() == moved["write"]
    assert rows["request_count"].sum() == 60
    assert rows["connection_count"].sum() == 60
    flows = {
        direction: sum(t["bytes"] for t in tables["peer_traffic"] if t["direction"] == direction)
        for direction in ("receive", "transmit")
    }
    network = rows.filter(operation="connect")
    # What a log accounts for is taken off the flows; nothing is ever added to them.
    assert network["received_bytes"].sum() <= flows["receive"]
    assert network["max_received_bytes"].sum() <= flows["receive"]
    for side in ("received", "sent"):
        low, best, high = (f"{prefix}{side}_bytes" for prefix in ("min_", "", "max_"))
        known = rows.drop_nulls([low, best, high])
        assert (known[low] <= known[best]).all()
        assert (known[best] <= known[high]).all()


@settings(max_examples=2)
@given(st.integers(0, 2**32))
def test_without_a_request_log_all_bytes_of_flows_stand(seed):
    tables = drawn(seed) | {"object_transfers": []}
    rows = built(**tables)
    for direction, side in (("receive", "received_bytes"), ("transmit", "sent_bytes")):
        flows = sum(t["bytes"] for t in tables["peer_traffic"] if t["direction"] == direction)
        assert rows[side].sum() == flows


def test_rows_carry_how_far_what_shows_them_observed_the_run_that_day() -> None:
    def said(source: str, covered: int, means: str = "partly_observed", **more) -> dict:
        return {"cluster": "alder", "run_uuid": RUN, "source": source, "expected_us": 100,
                "covered_us": covered, "empty_means": means} | more  # fmt: skip

    rows = built(
        connections=[
            connection("named"),
            connection(
                "address", resource_id="ip://192.0.2.7:443", peer_name=None, name_kind="none"
            ),
            connection("no run", run_uuid=None, attempt=None),
        ],
        run_coverage_days=[
            said("flows", 100, "nothing_happened"),
            said("dns_lookups", 30),
            said("flows", 7, run_uuid=None),
            # Of the same run, in another cluster.
            said("volume_records", 100, "nothing_happened", cluster="birch"),
        ],
    )
    found = {
        (row["run_uuid"], row["resource_id"]): tuple(
            row[c] for c in ("expected_us", "covered_us", "empty_means")
        )
        for row in rows.iter_rows(named=True)
    }
    assert found == {
        (RUN, HOST): (100, 30, "partly_observed"),
        (RUN, "ip://192.0.2.7:443"): (100, 100, "nothing_happened"),
        (None, HOST): (100, 7, "partly_observed"),
    }


def test_installs_of_a_session_stand_apart_from_the_jobs_own() -> None:
    rows = built(
        connections=[
            connection("of the job", stage="compute"),
            connection("of the job again", "10:05", stage="compute"),
            connection("in a terminal", "10:16", stage="interactive"),
            connection(
                "of a debug container", "10:17", stage="interactive", container="debug",
                container_role="ephemeral", container_kind="only_running",
            ),
        ]
    )  # fmt: skip
    counts = rows.select("stage", "container_role", "resource_id", "connection_count").rows()
    assert sorted(counts, key=str) == [
        ("compute", None, HOST, 2),
        ("interactive", "ephemeral", HOST, 1),
        ("interactive", None, HOST, 1),
    ]
