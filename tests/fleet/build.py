"""All files of the fixtures, by path, as the simulator writes them."""

from tests.fleet import (
    answers_balance,
    answers_costs,
    answers_dependencies,
    answers_ledger,
    answers_network,
    answers_outcomes,
    answers_pods,
    answers_queries,
    answers_runs,
    answers_stages,
    answers_storage,
    answers_traffic,
    render_coredns,
    render_dns_collector,
    render_hubble,
    render_kubernetes,
    render_otlp,
    render_polyaxon,
    render_s3,
    render_vpc_flow,
    secrets,
    settings,
)
from tests.fleet.answer import Table, keys_text
from tests.fleet.export import ExportFile, by_path
from tests.fleet.scenario import simulate
from tests.fleet.world import Fleet


def exports(fleet: Fleet) -> list[ExportFile]:
    """Return all export files."""
    files = [
        *render_coredns.render(fleet),
        *render_dns_collector.render(fleet),
        *render_hubble.render(fleet),
        *render_kubernetes.render(fleet),
        *render_otlp.render(fleet),
        *render_polyaxon.render(fleet),
        *render_s3.render(fleet),
        *render_vpc_flow.render(fleet),
    ]
    return by_path(files)


def answers(fleet: Fleet, files: list[ExportFile]) -> list[Table]:
    """Return the stated rows of all tables."""
    return [
        answers_ledger.export_files(files),
        answers_ledger.rejected_records(files),
        answers_traffic.pod_traffic(fleet),
        answers_traffic.peer_traffic(fleet),
        answers_balance.byte_balance(fleet),
        answers_pods.pod_intervals(fleet),
        answers_pods.image_pulls(fleet),
        answers_network.connections(fleet),
        answers_network.name_bindings(fleet),
        answers_storage.object_transfers(fleet),
        answers_storage.repeat_transfers(fleet),
        answers_costs.transfer_costs(fleet),
        answers_runs.runs(fleet),
        answers_runs.declared_dependencies(fleet),
        answers_runs.node_coverage(fleet),
        answers_runs.run_coverage(fleet),
        answers_runs.run_coverage_days(fleet),
        answers_stages.stages(fleet),
        answers_stages.waits(fleet),
        answers_outcomes.run_outputs(fleet),
        answers_outcomes.run_checks(fleet),
        answers_outcomes.findings(fleet),
        answers_dependencies.run_dependency_days(fleet),
        answers_dependencies.run_dependencies(fleet),
        answers_dependencies.dependencies(fleet),
    ]


def all_files() -> dict[str, str]:
    """Return the text of every file, by its path below `data/fixtures`."""
    fleet = simulate()
    files = exports(fleet)
    tables = answers(fleet, files)
    written = {file.path: file.text for file in files}
    if len(written) != len(files):
        message = "two export files have one path"
        raise ValueError(message)
    written["podledger.yaml"] = settings.text()
    written["redaction.key"] = settings.REDACTION_KEY
    written["planted_secrets.txt"] = "".join(f"{value}\n" for value in secrets.ALL)
    written["expected/keys.csv"] = keys_text(tables)
    for table in [*tables, *answers_queries.queries(fleet)]:
        written[f"expected/{table.name}.csv"] = table.text()
    return written
