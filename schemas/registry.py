"""Every table by its name."""

from functools import cache
from types import ModuleType

from schemas import ledger
from schemas.intermediate import coverage as intermediate_coverage
from schemas.intermediate import network as intermediate_network
from schemas.intermediate import pods as intermediate_pods
from schemas.intermediate import stages as intermediate_stages
from schemas.intermediate import traffic as intermediate_traffic
from schemas.intermediate import volumes as intermediate_volumes
from schemas.marts import balance, costs, dependencies, findings, outputs, repeats, runs, waits
from schemas.staging import billing, identity, images, kubernetes, marks, network, storage
from schemas.staging import runs as staging_runs
from schemas.table import SPEC_ATTRIBUTE, TableSpec

MODULES: tuple[ModuleType, ...] = (
    ledger,
    network,
    storage,
    images,
    identity,
    staging_runs,
    kubernetes,
    marks,
    billing,
    intermediate_pods,
    intermediate_network,
    intermediate_traffic,
    intermediate_volumes,
    intermediate_coverage,
    intermediate_stages,
    runs,
    dependencies,
    balance,
    repeats,
    costs,
    waits,
    outputs,
    findings,
)


@cache
def tables() -> dict[str, TableSpec]:
    """All tables, in the order in which the data flows."""
    found: dict[str, TableSpec] = {}
    for module in MODULES:
        for value in vars(module).values():
            spec = vars(value).get(SPEC_ATTRIBUTE) if isinstance(value, type) else None
            if isinstance(spec, TableSpec) and value.__module__ == module.__name__:
                found[spec.name] = spec
    return found


def table_spec(name: str) -> TableSpec:
    """The table of that name.

    Raises:
        KeyError: There is no such table; the message lists the names.
    """
    try:
        return tables()[name]
    except KeyError:
        message = f"no table {name!r}; there are: {', '.join(sorted(tables()))}"
        raise KeyError(message) from None
