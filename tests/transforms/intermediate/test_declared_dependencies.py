"""What the runs of a day declare that their components use."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, show
from transforms.day import BuildDay
from transforms.intermediate.declared_dependencies import build
from transforms.sql import SqlSession

RUN = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"
BUCKET = "s3://datasets/images"


def access(resource: str | None = BUCKET, operation: str | None = "read", **more: Any) -> dict:
    fields = (
        "component", "container_role", "resource_kind", "version", "credential", "connection",
        "needed_in_stage", "declared_in",
    )  # fmt: skip
    return dict.fromkeys(fields) | {"resource_id": resource, "operation": operation} | more


def version(*accesses: dict, **more: Any) -> dict[str, Any]:
    return {
        "run_uuid": RUN,
        "created_at": at("08:00"),
        "observed_at": at("12:00"),
        "declared_accesses": list(accesses) or None,
    } | more


def pod(*accesses: dict, **more: Any) -> dict[str, Any]:
    return {
        "pod_uid": "pod",
        "run_uuid": RUN,
        "created_at": at("09:00"),
        "observed_at": at("10:00"),
        "declared_accesses": list(accesses) or None,
    } | more


def built(
    versions: Iterable[dict] = (),
    pods: Iterable[dict] = (),
    history: Iterable[dict] = (),
    day: date = DAY,
    artifacts: Iterable[dict] = (),
) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(
            session,
            run_versions=versions,
            pod_states=pods,
            run_artifacts=artifacts,
            declared_dependencies=history,
        )
        name = build(session, BuildDay(date=day, cluster="fleet"))
        return checked(session, "declared_dependencies", name)


def test_each_access_of_a_version_is_a_row():
    rows = built(
        [
            version(
                access(component="polyaxon-main", container_role="main", resource_kind="bucket"),
                access("git+https://code.example.com/team/train", "clone", version="v2"),
            )
        ]
    )
    columns = ("component", "container_role", "resource_id", "operation", "version", "declared_in")
    assert rows.select(columns).rows() == [
        ("polyaxon-main", "main", BUCKET, "read", None, "content"),
        (None, None, "git+https://code.example.com/team/train", "clone", "v2", "content"),
    ]
    assert rows["resource_kind"].to_list() == ["bucket", "unknown"]


def artifact(**more: Any) -> dict[str, Any]:
    return {
        "run_uuid": RUN,
        "stated_in": "lineage",
        "observed_at": at("12:00"),
        "observed_basis": "path",
        "is_input": True,
        "resource_kind": "bucket",
        "resource_id": BUCKET,
    } | more


def test_data_in_a_bucket_that_a_run_logged_is_declared_by_its_lineage():
    rows = built(
        [version()],
        artifacts=[
            artifact(connection="data"),
            artifact(is_input=False, resource_id="gs://models/best.pt"),
            artifact(is_input=None, resource_id="s3://unknown/direction"),
            artifact(resource_kind="git", resource_id="git+https://code.example.com/a@b"),
            artifact(resource_kind=None, resource_id=None),
            artifact(stated_in="events", resource_id="s3://no/lineage"),
            artifact(run_uuid=OTHER, resource_id="s3://of/another/run"),
        ],
    )
    columns = ("component", "container_role", "resource_id", "operation", "connection",
               "resource_kind", "declared_in")  # fmt: skip
    assert rows.select(columns).rows() == [
        (None, None, "gs://models/best.pt", "write", None, "bucket", "lineage"),
        (None, None, BUCKET, "read", "data", "bucket", "lineage"),
    ]


def test_what_content_and_lineage_declare_alike_is_one_row_of_the_content():
    rows = built([version(access(version="v1"))], artifacts=[artifact(connection="data")])
    columns = ("resource_id", "version", "connection", "declared_in")
    assert rows.select(columns).rows() == [(BUCKET, "v1", "data", "content")]


def test_a_lineage_counts_on_the_day_that_it_speaks_for():
    midnight = at("00:00", days=1)
    late = artifact(observed_at=midnight)
    assert built([version()], artifacts=[late]).is_empty()
    of_landing_day = artifact(observed_at=midnight, observed_basis="landing_day")
    assert built([version()], artifacts=[of_landing_day]).height == 1
    old = artifact(observed_at=at("11:59", days=-2))
    assert built([version()], artifacts=[old]).is_empty()


def test_content_goes_before_the_pod_and_what_it_leaves_out_the_pod_adds():
    rows = built(
        [version(access(version="v1"))],
        [pod(access(version="v2", credential="reader", container_role="init"))],
    )
    assert rows.select("version", "credential", "container_role", "declared_in").rows() == [
        ("v1", "reader", "init", "content")
    ]


def test_among_equals_the_newest_counts():
    rows = built(
        [
            version(access(version="old")),
            version(access(version="new"), observed_at=at("13:00")),
        ]
    )
    assert rows["version"].to_list() == ["new"]


def test_the_operation_and_the_component_tell_rows_apart():
    rows = built([version(access(), access(operation="write"), access(component="sidecar"))])
    assert rows.height == 3


def test_an_access_without_a_resource_or_an_operation_is_none():
    assert built([version(access(None), access(operation=None))]).height == 0


def test_pods_of_no_run_and_cleaners_declare_nothing():
    rows = built(
        pods=[
            pod(access(), run_uuid=None),
            pod(access(), run_component="polyaxon-cleaners"),
        ]
    )
    assert rows.height == 0


def test_a_run_that_ended_before_the_day_is_not_the_days_unless_its_pods_are_seen():
    ended = version(access(), created_at=at("08:00", days=-2), finished_at=at("20:00", days=-1))
    assert built([ended]).height == 0
    assert built([ended], [pod()]).height == 1
    assert built([ended], [pod(run_uuid=OTHER)]).height == 0


def test_a_run_created_after_the_day_is_not_the_days():
    late = version(access(), created_at=at("00:01", days=1), observed_at=at("00:05", days=1))
    assert built([late]).height == 0


def test_what_earlier_days_knew_of_a_run_goes_on():
    first = built([version(access(component="polyaxon-main", version="v1"))])
    history = first.with_columns(date=pl.lit(DAY)).to_dicts()
    later = DAY + timedelta(days=5)
    listed = version(observed_at=at("12:00", days=5))
    assert built([listed], history=history, day=later).equals(first)
    assert built([], history=history, day=later).height == 0


KINDS = st.sampled_from([None, "content", "pod_spec", "environment", "lineage"])
SOME_ACCESS = st.builds(
    access,
    st.sampled_from([BUCKET, "s3://models", None]),
    st.sampled_from(["read", "write"]),
    component=st.sampled_from([None, "polyaxon-main"]),
    version=st.sampled_from([None, "v1", "v2"]),
    credential=st.sampled_from([None, "reader", "writer"]),
    declared_in=KINDS,
)
SOME_VERSIONS = st.lists(
    st.builds(
        lambda accesses, minute, record: version(
            *accesses, observed_at=at(f"12:{minute:02d}"), record_id=record
        ),
        st.lists(SOME_ACCESS, max_size=6),
        st.integers(min_value=0, max_value=3),
        st.sampled_from(["r1", "r2", "r3"]),
    ),
    min_size=3,
    max_size=12,
)


@settings(max_examples=4)
@given(versions=SOME_VERSIONS, data=st.data())
def test_the_order_of_versions_has_no_say(versions: list[dict], data: st.DataObject):
    assert built(versions).equals(built(data.draw(st.permutations(versions))))
