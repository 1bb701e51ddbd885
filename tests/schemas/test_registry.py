"""The tables agree with the contract and with the engines that hold them."""

import re

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from schemas.dictionary import as_markdown, as_records, type_name
from schemas.registry import table_spec, tables
from schemas.table import TableSpec, snake_case

ALL = list(tables().values())


@pytest.mark.parametrize("spec", ALL, ids=lambda s: s.name)
def test_every_column_says_what_it_is_and_what_null_means(spec: TableSpec) -> None:
    for column in spec.columns:
        assert column.description.strip(), column.name
        assert bool(column.null_meaning) == column.nullable, column.name


@pytest.mark.parametrize("spec", ALL, ids=lambda s: s.name)
def test_numbers_have_units_by_their_name(spec: TableSpec) -> None:
    for column in spec.columns:
        if column.name.endswith("_bytes") or column.name == "bytes":
            assert (column.unit, column.dtype) == ("bytes", pl.Int64), column.name
        if column.name.endswith("_count"):
            assert (column.unit, column.dtype) == ("count", pl.Int64), column.name
        if column.name.endswith("_usd"):
            assert (column.unit, column.dtype) == ("USD", pl.Decimal(18, 9)), column.name
        if column.name.endswith("_at"):
            assert column.dtype == pl.Datetime("us", "UTC"), column.name
        if column.name.endswith("_ratio"):
            assert not column.adds_up, column.name


@pytest.mark.parametrize("spec", ALL, ids=lambda s: s.name)
def test_the_order_of_a_table_decides_between_any_two_keys(spec: TableSpec) -> None:
    ordered = set(spec.order)
    identity = {c.name for c in spec.columns if c.name in {"connection_id", "transfer_id"}}
    assert set(spec.key) <= ordered | identity or spec.name in {
        "export_files",
        "rejected_records",
    }, spec.name


@pytest.mark.parametrize("spec", ALL, ids=lambda s: s.name)
def test_column_names_need_no_quotes_in_sql(spec: TableSpec) -> None:
    with duckdb.connect() as connection:
        for column in spec.columns:
            connection.sql(f'SELECT {column.name} FROM (SELECT 1 AS "{column.name}")').fetchall()


@pytest.mark.parametrize("spec", ALL, ids=lambda s: s.name)
def test_the_empty_table_passes_its_own_model(spec: TableSpec) -> None:
    spec.model.validate(spec.empty(), lazy=True)
    assert spec.arrow_schema.names == [c.name for c in spec.columns]


def test_arrow_marks_columns_that_may_not_be_null() -> None:
    schema = table_spec("flows").arrow_schema
    assert not schema.field("record_id").nullable
    assert schema.field("uuid").nullable
    assert schema.field("event_at").type == pa.timestamp("us", "UTC")


def test_the_tables_of_the_contract_are_there() -> None:
    contract = {
        "export_files", "rejected_records", "deliveries", "restatements", "flows", "dns_lookups",
        "object_requests", "credential_sessions", "run_versions", "run_statuses", "run_artifacts",
        "pod_states", "container_states", "node_states", "kube_event_states", "services",
        "counter_samples", "namespaces", "network_policies", "resource_claims",
        "volume_records", "registry_requests",
        "image_pull_logs", "stage_marks", "billing_lines", "loss_reports", "pod_intervals",
        "declared_dependencies", "name_bindings", "connections", "object_transfers",
        "counter_increments", "counter_findings", "pod_traffic", "peer_traffic", "volume_findings",
        "image_pulls", "node_coverage", "stages", "unconnected_events", "runs", "run_dependencies",
        "run_dependency_days", "byte_balance", "repeat_transfers", "waits", "storms",
        "run_coverage", "run_coverage_days", "transfer_costs", "bill_reconciliation", "run_outputs",
        "run_checks", "findings",
    }  # fmt: skip
    assert set(tables()) == contract


def test_an_unknown_table_is_named_with_those_there_are() -> None:
    with pytest.raises(KeyError, match=r"no table 'flow'; there are: .*flows"):
        table_spec("flow")


def test_snake_case_of_class_names() -> None:
    assert snake_case("RunDependencyDays") == "run_dependency_days"
    assert snake_case("Flows") == "flows"


def test_types_are_written_as_duckdb_writes_them() -> None:
    with duckdb.connect() as connection:
        for spec in ALL:
            frame = spec.empty().to_arrow(compat_level=pl.CompatLevel.oldest())
            connection.register("t", frame)
            described = dict(
                connection.execute("SELECT column_name, column_type FROM (DESCRIBE t)").fetchall()
            )
            for column in spec.columns:
                engine = described[column.name].replace('"', "")
                ours = type_name(column.dtype).replace("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
                assert re.sub(r"\s", "", engine) == re.sub(r"\s", "", ours), column.name
            connection.unregister("t")


def test_the_dictionary_has_a_heading_per_table_and_a_row_per_column() -> None:
    text = as_markdown(list(tables()))
    assert text.count("\n## ") + text.startswith("## ") == len(tables())
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == sum(len(s.columns) for s in ALL) + len(ALL)


def test_the_dictionary_for_scripts_says_what_null_means() -> None:
    (flows,) = as_records(["flows"])
    uuid = next(c for c in flows["columns"] if c["name"] == "uuid")
    assert uuid["null_meaning"] == "Cilium before 1.14, or masked"
    assert uuid["type"] == "VARCHAR"
