"""Manifests beside the truth of the fixture days, which the simulator states in its own words."""

import csv
import json
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.cells import cell_len

from pipelines.catalog import open_catalog
from pipelines.cli.compare import comparison_document, comparison_lines
from pipelines.cli.output import to_json
from pipelines.fixtures import FIXTURES
from pipelines.manifest_markdown import markdown_of
from pipelines.manifests import json_of, schema_text
from pipelines.run_facts import RunReader
from pipelines.settings import load_settings
from pipelines.storage import Lake
from tests.fleet.answer import NOT_STATED, cell
from tests.json_schema import problems
from transforms.marts.manifest import RunFacts, manifest_of
from transforms.marts.run_comparison import comparison_of, side_of

ATTEMPT = ("cluster", "namespace", "start_at", "end_at", "pod_uids", "pod_count", "nodes",
           "gpu_count", "code_revision")  # fmt: skip
RUN = ("name", "kind", "runtime", "project", "run_owner", "queue", "pipeline_uuid", "status",
       "outcome", "created_at")  # fmt: skip
PULL = ("container", "start_at", "end_at", "image", "was_present")
CONTACT = ("connection_count", "request_count", "denied_count", "throttled_count",
           "not_found_count", "retry_count", "received_bytes", "sent_bytes", "accounted_in",
           "declaration")  # fmt: skip


def expected(table: str, run_uuid: str, day: str | None = None) -> list[dict[str, str]]:
    """What the simulator says of a run: all days of a table, or one."""
    with (FIXTURES / "expected" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["run_uuid"] == run_uuid]
    return [row for row in rows if day is None or row["date"] == day]


def check_manifests(folder: Path) -> int:
    """Hold the manifest of every run of a demo's lake to the truth; returns how many there are."""
    settings = load_settings(folder / "podledger.yaml")
    lake, schema = Lake(settings.lake_path), json.loads(schema_text())
    secrets = (FIXTURES / "planted_secrets.txt").read_text(encoding="utf-8").split()
    with open_catalog(settings.catalog_path) as connection:
        runs = connection.execute("SELECT DISTINCT run_uuid FROM runs ORDER BY 1").fetchall()
        readers = [RunReader(connection, settings, lake) for _ in range(2)]
        for (run_uuid,) in runs:
            document, again = (manifest_of(r.facts(run_uuid)) for r in readers)
            shown, read = json_of(document), markdown_of(document)
            assert shown == json_of(again)
            assert problems(schema, json.loads(shown)) == []
            assert max(map(cell_len, read.splitlines())) <= 100
            assert [n for n, secret in enumerate(secrets) if secret in shown + read] == []
            assert str(folder) not in shown
            _check(document)
        _check_comparisons([readers[0].facts(run_uuid) for (run_uuid,) in runs], secrets)
    return len(runs)


def _check_comparisons(all_facts: list[RunFacts], secrets: list[str]) -> None:
    sides = [side_of(facts.run_uuid, [facts]) for facts in all_facts]
    for a, b in pairwise([*sides, sides[-1]]):
        found = comparison_of(a, b)
        lines = comparison_lines(found)
        shown = "\n".join(lines) + to_json(comparison_document(found))
        assert max(map(cell_len, lines)) <= 100
        assert [n for n, secret in enumerate(secrets) if secret in shown] == []
        named = sum(piece.duration_us for piece in found.explained)
        assert named + found.within_bound_us + found.refused_us == found.difference_us
    # The last one is compared with itself.
    assert (found.explained, found.differences, found.refused) == ((), (), ())


def _check(document: dict[str, Any]) -> None:
    ran, used = document["what_ran"], document["what_it_used"]
    run_uuid, day = ran["run_uuid"], document["as_of_date"]
    truth = expected("runs", run_uuid, day)
    assert len(truth) == len(ran["attempts"])
    for row in truth:
        (attempt,) = (a for a in ran["attempts"] if cell(a["attempt"]) == row["attempt"])
        _same(row, attempt, ATTEMPT)
        _same(row, ran, RUN)
    images = {(i["pod_uid"], i["container"], i["start_at"]): i for i in used["images"]}
    for row in _newest(expected("image_pulls", run_uuid), ("pod_uid", "container", "start_at")):
        _same(row, images[row["pod_uid"], row["container"], row["start_at"]], PULL)
    for row in expected("run_dependencies", run_uuid, day):
        found = [
            contact
            for contact in used["dependencies"]
            if all(
                cell(contact[name]) == row[name]
                for name in ("attempt", "measured_by", "resource_id", "operation")
            )
        ]
        # The truth is stated per resource: endpoints, stages and containers add up to it.
        assert found, (run_uuid, row)
        for name in CONTACT:
            values = [contact[name] for contact in found]
            if name in {"accounted_in", "declaration"}:
                assert row[name] in {NOT_STATED, *map(cell, values)}, (run_uuid, name, row)
            elif row[name] != NOT_STATED:
                known = [value for value in values if value is not None]
                assert cell(sum(known) if known else None) == row[name], (run_uuid, name, row)
    _check_costs(run_uuid, used["costs"])
    for row in expected("run_coverage", run_uuid, day):
        (source,) = (
            s for s in document["what_is_not_known"]["coverage"] if s["source"] == row["source"]
        )
        _same(row, source, ("expected_us", "covered_us", "doubtful_us", "lost_count"))


def _check_costs(run_uuid: str, costs: list[dict[str, Any]]) -> None:
    key = ("resource_id", "distance", "from_region", "to_region")
    truth: dict[tuple[str, ...], Decimal] = {}
    for row in expected("transfer_costs", run_uuid):
        if row["usd"] not in {"", NOT_STATED}:
            place = tuple(row[name] for name in key)
            truth[place] = truth.get(place, Decimal(0)) + Decimal(row["usd"])
    for place, usd in truth.items():
        found = [
            Decimal(cost["usd"])
            for cost in costs
            if cost["charge_kind"] == "transfer" and cost["usd"] is not None
            and tuple(cell(cost[name]) for name in key) == place
        ]  # fmt: skip
        assert sum(found, Decimal(0)) == usd, (run_uuid, place)


def _same(row: dict[str, str], found: dict[str, Any], names: Iterable[str]) -> None:
    for name in names:
        assert row[name] in {NOT_STATED, cell(found[name])}, (name, row[name], found[name])


def _newest(rows: list[dict[str, str]], key: tuple[str, ...]) -> list[dict[str, str]]:
    return list({tuple(row[name] for name in key): row for row in rows}.values())
