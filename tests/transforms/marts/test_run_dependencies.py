"""run_dependencies: a life summed up from its days, beside what was declared and how sure it is."""

import random
from datetime import timedelta

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.marts.run_dependencies import TRANSFORM
from transforms.sql import SqlSession

RUN = "a" * 32
OTHER = "b" * 32
YESTERDAY = DAY - timedelta(days=1)
TABLES = {read.table for read in TRANSFORM.reads}
DATA = "s3://bucket/data"


def built(runs=None, **tables) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(session, **{name: tables.get(name, []) for name in TABLES - {"runs"}})
        show(session, runs=[run()] if runs is None else runs)
        return checked(
            session, "run_dependencies", TRANSFORM.build(session, BuildDay(DAY, "fleet"))
        )


def run(**more) -> dict:
    return {"run_uuid": RUN, "attempt": 1, "cluster": "alder", "project": "vision"} | more


def seen(resource: str = DATA, operation: str = "read", **more) -> dict:
    return {
        "run_dependency_day_id": f"{resource} {operation} {sorted(map(str, more.items()))}",
        "cluster": "alder",
        "run_uuid": RUN,
        "attempt": 1,
        "stage": "unknown",
        "resource_id": resource,
        "operation": operation,
        "measured_by": "none",
        "resource_kind": "bucket",
        "first_seen_at": at("10:00"),
        "last_seen_at": at("11:00"),
        "match_kind": "uid",
        "match_kind_counts": [{"kind": "uid", "count": 1}],
    } | more


def logged(count: int, **more) -> dict:
    return seen(
        measured_by="storage_log", received_bytes=count, min_received_bytes=count,
        max_received_bytes=count, byte_layer="body", request_count=1, **more,
    )  # fmt: skip


def contact(host: str = "data.example.com", **more) -> dict:
    return seen(
        f"dns://{host}:443", "connect",
        **{"endpoint": host, "connection_count": 1, "resource_kind": "host"} | more,
    )  # fmt: skip


def declared(resource: str = DATA, operation: str = "read", **more) -> dict:
    return {
        "declared_dependency_id": resource,
        "run_uuid": RUN,
        "resource_id": resource,
        "operation": operation,
        "resource_kind": "bucket",
        "declared_in": "content",
    } | more


def covered(source: str, share: float = 1.0, **more) -> dict:
    return {
        "run_coverage_id": source,
        "run_uuid": RUN,
        "source": source,
        "cluster": "alder",
        "expected_us": 100,
        "covered_us": int(100 * share),
        "coverage_ratio": share,
        "empty_means": "nothing_happened" if share == 1 else "partly_observed",
    } | more


def only(rows: pl.DataFrame, **where) -> dict:
    found = rows.filter(**where)
    assert found.height == 1, found
    return found.row(0, named=True)


def received(row: dict) -> tuple:
    return row["received_bytes"], row["min_received_bytes"], row["max_received_bytes"]


def test_the_days_of_a_life_are_summed_up():
    row = only(
        built(
            run_dependency_days=[
                logged(5, date=YESTERDAY, first_seen_at=at("23:00", days=-1),
                       last_seen_at=at("23:30", days=-1), not_found_count=1,
                       first_error="NoSuchKey", principal="role",
                       match_kind_counts=[{"kind": "app_id", "count": 2}]),
                logged(7, first_error="SlowDown", principal="role", sources=["object_requests"],
                       match_kind_counts=[{"kind": "uid", "count": 3},
                                          {"kind": "app_id", "count": 1}]),
                logged(100, run_uuid=OTHER),
                logged(100, run_uuid=None, attempt=None),
            ]
        )
    )  # fmt: skip
    assert (received(row), row["request_count"], row["not_found_count"]) == ((12, 12, 12), 2, 1)
    assert (row["first_seen_at"], row["last_seen_at"]) == (at("23:00", days=-1), at("11:00"))
    assert (row["first_error"], row["principal"], row["sources"]) == (
        "NoSuchKey", "role", ["object_requests"],
    )  # fmt: skip
    assert (row["match_kind"], row["measured_by"], row["byte_layer"]) == (
        "app_id", "storage_log", "body",
    )  # fmt: skip
    assert row["match_kind_counts"] == [
        {"kind": "uid", "count": 3}, {"kind": "app_id", "count": 3},
    ]  # fmt: skip
    assert (row["project"], row["cluster"], row["declaration"]) == (
        "vision", "alder", "seen_not_declared",
    )  # fmt: skip


def test_only_runs_of_the_day_have_rows_and_nothing_of_later_days_counts():
    rows = [logged(5), logged(9, date=DAY + timedelta(days=1)), logged(3, run_uuid=OTHER)]
    assert only(built(run_dependency_days=rows))["received_bytes"] == 5
    assert built(runs=[run(date=YESTERDAY)], run_dependency_days=rows).height == 0


def test_contact_that_nothing_measured_leaves_the_upper_bound_open():
    flow = contact(measured_by="flow_record", received_bytes=5, min_received_bytes=4,
                   max_received_bytes=6)  # fmt: skip
    elsewhere = contact(date=YESTERDAY)
    assert received(only(built(run_dependency_days=[flow, elsewhere]))) == (5, 4, None)
    accounted = contact(date=YESTERDAY, accounted_in=DATA)
    assert received(only(built(run_dependency_days=[flow, accounted]))) == (5, 4, 6)
    denied = contact(date=YESTERDAY, denied_count=1)
    row = only(built(run_dependency_days=[flow, denied]))
    assert (received(row), row["measured_by"]) == ((5, 4, 6), "flow_record")


def test_a_best_value_that_one_day_lacks_is_not_known_for_the_life():
    pulls = [
        seen("oci://r.example.com/a@sha256:1", "pull", measured_by="image_size", date=day,
             min_received_bytes=0, max_received_bytes=high, received_bytes=best)
        for day, best, high in ((YESTERDAY, 0, 0), (DAY, None, 9))
    ]  # fmt: skip
    assert received(only(built(run_dependency_days=pulls))) == (None, 0, 9)


def test_bytes_stand_elsewhere_only_if_all_of_them_do():
    one, two = contact(accounted_in=DATA), contact(date=YESTERDAY, accounted_in="s3://bucket")
    assert only(built(run_dependency_days=[one, two]))["accounted_in"] == DATA
    assert only(built(run_dependency_days=[one, contact(date=YESTERDAY)]))["accounted_in"] is None


# -- declarations --------------------------------------------------------------------------------


def test_what_is_declared_and_seen_has_one_row_with_version_and_credential():
    row = only(
        built(
            run_dependency_days=[logged(5)],
            declared_dependencies=[declared(version="v3", credential="s3-secret")],
        )
    )
    assert (row["declaration"], row["version"], row["version_basis"], row["credential"]) == (
        "declared_seen", "v3", "declared", "s3-secret",
    )  # fmt: skip


def test_a_declared_path_covers_what_lies_below_it_and_its_listing_but_no_other_operation():
    rows = built(
        run_dependency_days=[
            logged(5, resource=f"{DATA}/train"),
            seen(f"{DATA}/train", "list"),
            seen(f"{DATA}/train", "head"),
            seen(f"{DATA}/train", "write"),
            seen("s3://bucket/database"),
        ],
        declared_dependencies=[declared()],
    )
    assert rows.select("resource_id", "operation", "declaration").sort(pl.all()).rows() == [
        ("s3://bucket/data/train", "head", "declared_seen"),
        ("s3://bucket/data/train", "list", "declared_seen"),
        ("s3://bucket/data/train", "read", "declared_seen"),
        ("s3://bucket/data/train", "write", "seen_not_declared"),
        ("s3://bucket/database", "read", "seen_not_declared"),
    ]


def test_an_image_is_the_declared_one_whatever_the_tag_and_its_digest_is_observed():
    row = only(
        built(
            run_dependency_days=[seen("oci://r.example.com:5000/a/b@sha256:1", "pull")],
            declared_dependencies=[
                declared("oci://r.example.com:5000/a/b:1.4", "pull", version="1.4")
            ],
        )
    )
    assert (row["declaration"], row["version"], row["version_basis"]) == (
        "declared_seen", "sha256:1", "observed",
    )  # fmt: skip


def test_denied_means_that_every_attempt_was():
    host = declared("dns://data.example.com:443", "connect")
    every = [contact(connection_count=2, denied_count=2)]
    row = only(built(run_dependency_days=every, declared_dependencies=[host]))
    assert row["declaration"] == "declared_denied"
    some = [contact(connection_count=2, denied_count=1)]
    row = only(built(run_dependency_days=some, declared_dependencies=[host]))
    assert row["declaration"] == "declared_seen"
    refused = [seen(request_count=3, denied_count=3)]
    row = only(built(run_dependency_days=refused, declared_dependencies=[declared()]))
    assert row["declaration"] == "declared_denied"


def test_contact_with_the_host_of_a_repository_is_declared_but_proves_no_clone():
    code = declared(
        "git+https://git.example.com/acme/train.git@9f1c2ab", "clone", version="9f1c2ab",
        resource_kind="git", container_role="init",
    )  # fmt: skip
    rows = built(
        run_dependency_days=[contact("git.example.com"), contact("other.example.com")],
        declared_dependencies=[code],
        run_coverage=[covered("flows"), covered("dns_lookups")],
    )
    assert only(rows, endpoint="git.example.com")["declaration"] == "declared_seen"
    assert only(rows, endpoint="other.example.com")["declaration"] == "seen_not_declared"
    row = only(rows, operation="clone")
    assert (row["declaration"], row["version"], row["version_basis"], row["container_role"]) == (
        "declared_not_observable", "9f1c2ab", "declared", "init",
    )  # fmt: skip
    unseen = built(
        declared_dependencies=[code], run_coverage=[covered("flows"), covered("dns_lookups")]
    )
    assert only(unseen)["declaration"] == "declared_not_seen"


def test_a_connection_to_a_declared_buckets_host_is_declared():
    rows = built(
        run_dependency_days=[contact("bucket.s3.eu-west-1.amazonaws.com")],
        declared_dependencies=[declared()],
        run_coverage=[covered("object_requests:bucket")],
    )
    assert only(rows, operation="connect")["declaration"] == "declared_seen"
    assert only(rows, operation="read")["declaration"] == "declared_not_seen"


def test_a_declaration_that_was_not_kept_has_an_empty_row_of_each_attempt():
    rows = built(
        runs=[run(), run(attempt=2)],
        run_dependency_days=[logged(5, attempt=2)],
        declared_dependencies=[declared(version="v3", container_role="main")],
        run_coverage=[covered("object_requests:bucket")],
    )
    assert rows.select("attempt", "declaration", "received_bytes").rows() == [
        (1, "declared_not_seen", None), (2, "declared_seen", 5),
    ]  # fmt: skip
    row = only(rows, attempt=1)
    assert (row["first_seen_at"], row["match_kind"], row["measured_by"]) == (None, None, "none")
    assert (row["request_count"], row["sources"], row["container_role"]) == (0, [], "main")
    assert (row["empty_means"], row["coverage_ratio"]) == ("nothing_happened", 1.0)


def test_what_was_seen_of_an_unknown_attempt_may_be_any_of_them():
    rows = built(
        run_dependency_days=[logged(5, attempt=None)],
        declared_dependencies=[declared()],
        run_coverage=[covered("object_requests:bucket")],
    )
    assert only(rows)["declaration"] == "declared_seen"


def test_a_run_without_pods_has_its_declarations_under_a_null_attempt():
    rows = built(runs=[run(attempt=None, cluster=None)], declared_dependencies=[declared()])
    row = only(rows)
    assert (row["attempt"], row["cluster"], row["declaration"]) == (
        None, None, "declared_not_observable",
    )  # fmt: skip


def test_different_versions_or_credentials_of_one_resource_are_none():
    rows = built(
        run_dependency_days=[logged(5)],
        declared_dependencies=[
            declared(component="a", version="v1", credential="one"),
            declared(component="b", version="v2", credential="one"),
        ],
    )
    row = only(rows)
    assert (row["version"], row["version_basis"], row["credential"]) == (None, None, "one")


HOST = ("dns://data.example.com:443", "connect")


def test_not_seen_needs_a_source_able_to_show_it_that_saw_everything():
    cases = [
        ((DATA, "read"), [covered("object_requests:bucket", 0.5)], "declared_not_observable"),
        ((DATA, "read"), [covered("object_requests:other")], "declared_not_observable"),
        ((DATA, "read"), [], "declared_not_observable"),
        (HOST, [covered("flows"), covered("dns_lookups")], "declared_not_seen"),
        (HOST, [covered("flows")], "declared_not_observable"),
        (HOST, [covered("flows", 0.9), covered("dns_lookups")], "declared_not_observable"),
        (("ip://192.0.2.1:5432", "connect"), [covered("volume_records")], "declared_not_seen"),
        (("oci://r.example.com/a:1", "pull"), [covered("kube_event_states")], "declared_not_seen"),
        (("oci://r.example.com/a:1", "pull"), [covered("flows")], "declared_not_observable"),
        (
            ("kube://alder/ml/persistentvolumeclaims/data", "connect"),
            [covered("flows"), covered("volume_records")],
            "declared_not_observable",
        ),
        (("env://HF_HOME", "connect"), [covered("flows")], "declared_not_observable"),
    ]
    owners = [{"run_uuid": f"{n:032x}"} for n in range(len(cases))]
    rows = built(
        runs=[run(**owner) for owner in owners],
        declared_dependencies=[
            declared(*case[0], **owner) for case, owner in zip(cases, owners, strict=True)
        ],
        run_coverage=[
            row | owner for case, owner in zip(cases, owners, strict=True) for row in case[1]
        ],
    )
    assert rows.sort("run_uuid")["declaration"].to_list() == [case[2] for case in cases]


def test_coverage_stands_beside_what_was_seen():
    rows = built(
        run_dependency_days=[
            contact(),
            contact("192.0.2.1") | {"resource_id": "ip://192.0.2.1:443"},
            logged(5),
            seen("kube://alder/kube-system/kube-dns:53", "resolve"),
            seen("env://X", "connect"),
        ],
        run_coverage=[
            covered("flows", 0.5),
            covered("dns_lookups", 0.75),
            covered("volume_records", 1.0),
            covered("object_requests:bucket", 0.0, empty_means="not_observed"),
            covered("flows", run_uuid=OTHER),
        ],
    )
    row = only(rows, resource_id="dns://data.example.com:443")
    assert row["coverage"] == [
        {"source": "dns_lookups", "covered_us": 75, "expected_us": 100},
        {"source": "flows", "covered_us": 50, "expected_us": 100},
    ]
    found = rows.sort("resource_id").select("resource_id", "coverage_ratio", "empty_means")
    assert found.rows() == [
        ("dns://data.example.com:443", 0.5, "partly_observed"),
        ("env://X", None, "not_observed"),
        ("ip://192.0.2.1:443", 1.0, "nothing_happened"),
        ("kube://alder/kube-system/kube-dns:53", 0.75, "partly_observed"),
        (DATA, 0.0, "not_observed"),
    ]


@settings(max_examples=2)
@given(st.integers(0, 2**32))
def test_the_sum_of_days_is_the_life_and_the_order_of_rows_has_no_say(seed):
    draw = random.Random(seed)
    days = [
        logged(
            draw.randrange(1_000),
            resource=draw.choice([DATA, "s3://bucket"]),
            run_uuid=draw.choice([RUN, OTHER]),
            attempt=draw.choice([1, 2]),
            date=DAY - timedelta(days=draw.randrange(5)),
            first_error=draw.choice([None, f"error {number}"]),
            run_dependency_day_id=f"row {number}",
        )
        for number in range(80)
    ]
    runs = [run(), run(attempt=2), run(run_uuid=OTHER)]
    rows = built(runs, run_dependency_days=days)
    for row in rows.iter_rows(named=True):
        parts = [
            item["received_bytes"]
            for item in days
            if (item["run_uuid"], item["attempt"], item["resource_id"])
            == (row["run_uuid"], row["attempt"], row["resource_id"])
        ]
        assert received(row) == (sum(parts),) * 3
        assert row["request_count"] == len(parts)
    draw.shuffle(days)
    assert built(runs, run_dependency_days=days).equals(rows)
