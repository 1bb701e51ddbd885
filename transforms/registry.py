"""Every transform by the table it makes, in an order in which each finds its inputs made."""

from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module

from transforms.transform import Transform

MODULES = (
    "transforms.intermediate.pod_intervals",
    "transforms.intermediate.declared_dependencies",
    "transforms.intermediate.image_pulls",
    "transforms.intermediate.stages",
    "transforms.intermediate.name_bindings",
    "transforms.intermediate.connections",
    "transforms.intermediate.unconnected_events",
    "transforms.intermediate.object_transfers",
    "transforms.intermediate.counter_increments",
    "transforms.intermediate.counter_findings",
    "transforms.intermediate.pod_traffic",
    "transforms.intermediate.peer_traffic",
    "transforms.intermediate.volume_findings",
    "transforms.intermediate.node_coverage",
    "transforms.marts.run_coverage_days",
    "transforms.marts.run_dependency_days",
    "transforms.marts.run_dependencies",
    "transforms.marts.byte_balance",
    "transforms.marts.repeat_transfers",
    "transforms.marts.transfer_costs",
    "transforms.marts.bill_reconciliation",
    "transforms.marts.run_outputs",
    "transforms.marts.runs",
    "transforms.marts.run_coverage",
    "transforms.marts.run_checks",
    "transforms.marts.waits",
    "transforms.marts.storms",
    "transforms.marts.findings",
)


@cache
def transforms() -> dict[str, Transform]:
    """All transforms; each comes behind those whose tables it reads on the same day."""
    found = [import_module(name).TRANSFORM for name in MODULES]
    by_table: dict[str, Transform] = {t.table: t for t in found}
    graph = {
        name: sorted(r.table for r in t.reads if r.table in by_table and r.table != name)
        for name, t in sorted(by_table.items())
    }
    return {name: by_table[name] for name in TopologicalSorter(graph).static_order()}
