"""What delivered look-ups cannot tell is said in `deliveries`, in `status` and in `check`."""

import json

import polars as pl
import pytest
import yaml
from typer.testing import CliRunner

from pipelines.cli.main import app
from pipelines.deliveries import delivery_rows
from pipelines.ledger import Ledger
from pipelines.run import Workspace, land_days

STAMP = "2026-03-10T08:00:06.500000Z stdout F"
LOOKUP = '{stamp} [INFO] {client}:4557 - 1 "{kind} IN {name}. udp 63 false 1232" {tail}'
ERROR = f"{STAMP} [ERROR] plugin/errors: 2 example.com. A: read udp: i/o timeout\n"


def look_up(client="192.0.2.31", kind="A", rcode="NOERROR", name="www.example.com"):
    tail = f"{rcode} qr,rd,ra 94 0.001293327s"
    return LOOKUP.format(stamp=STAMP, client=client, kind=kind, name=name, tail=tail) + "\n"


NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "uid": "b1946ac9-2492-4d23-9f3c-0123456789ab"},
    "status": {"addresses": [{"type": "InternalIP", "address": "198.51.100.11"}]},
}
FILES = {
    "logged": look_up() + look_up(rcode="NXDOMAIN"),
    "denials": look_up(rcode="NXDOMAIN") + look_up(kind="AAAA", name="v4.example.com"),
    "cached": look_up(client="169.254.20.10") + look_up(client="198.51.100.11"),
    "errors": ERROR + ERROR,
    "refused": look_up().removeprefix(f"{STAMP} ") + ERROR,
}
NO_ANSWERS = "no_answers: 2 look-up(s), none with answers; they bind no name to an address"
NOTES = {
    "logged": [NO_ANSWERS],
    "denials": [
        (
            "only_failures: 1 response(s) of type A, none NOERROR; successes are left out "
            "(`class denial error`), or there were none?"
        ),
        NO_ANSWERS,
    ],
    "cached": [
        NO_ANSWERS,
        (
            "node_clients: 2 look-up(s), all of 2 client address(es) link-local, loopback or a "
            "node's; a node-local cache asks for the pods?"
        ),
    ],
    "errors": [
        (
            "no_lookups: 2 record(s) read, none gives a look-up; look-ups are not exported "
            "(CoreDNS without `log`, NetObserv without DNS tracking)?"
        )
    ],
    "refused": [
        (
            "no_lookups: 1 record(s) read, none gives a look-up; look-ups are not exported "
            "(CoreDNS without `log`, NetObserv without DNS tracking)?"
        )
    ],
    "objects": [],
}


@pytest.fixture(scope="module")
def settings_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("naming")
    for name, text in FILES.items():
        path = folder / "exports" / name / "2026-03-10.log"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    nodes = folder / "exports" / "objects" / "2026-03-10.json"
    nodes.parent.mkdir()
    nodes.write_text(json.dumps(NODE))
    exports = [
        {"name": n, "format": "coredns", "path": f"exports/{n}/%Y-%m-%d.log", "clusters": ["alder"]}
        for n in FILES
    ]
    exports.append(
        {
            "name": "objects",
            "format": "kubernetes",
            "path": "exports/objects/%Y-%m-%d.json",
            "clusters": ["alder"],
        }
    )
    settings = {
        "lake": "lake",
        "catalog": "c.duckdb",
        "clusters": {"alder": {"cloud": "aws"}},
        "exports": exports,
    }
    path = folder / "podledger.yaml"
    path.write_text(yaml.safe_dump(settings))
    workspace = Workspace(path)
    land_days(workspace, None)
    return path


def test_deliveries_say_what_the_look_ups_cannot_tell(settings_file):
    workspace = Workspace(settings_file)
    rows = delivery_rows(workspace.settings, Ledger.read(workspace.lake))
    assert {row["export"]: row["naming_notes"] for row in rows.to_dicts()} == NOTES


def test_nothing_is_said_of_files_whose_look_ups_were_not_counted(settings_file):
    workspace = Workspace(settings_file)
    ledger = Ledger.read(workspace.lake)
    kind = ledger.files.schema["naming_facts"]
    older = ledger.files.with_columns(naming_facts=pl.lit(None, kind), lookup_clients=None)
    rows = delivery_rows(workspace.settings, Ledger(workspace.lake, older))
    assert rows["naming_notes"].to_list() == [[]] * len(NOTES)


def test_status_shows_the_notes_of_the_newest_day(settings_file):
    run = CliRunner().invoke(app, ["status", "--config", str(settings_file), "--json"])
    shown = json.loads(run.stdout)["naming"]
    assert [(row["export"], row["note"]) for row in shown] == [
        (name, note) for name in sorted(NOTES) for note in NOTES[name]
    ]
    assert {row["landing_date"] for row in shown} == {"2026-03-10"}
    plain = CliRunner().invoke(app, ["status", "--config", str(settings_file)])
    assert "what the newest look-ups of an export cannot tell" in plain.stdout


@pytest.mark.parametrize("name", FILES)
def test_check_says_the_notes_of_a_file(settings_file, name):
    path = settings_file.parent / "exports" / name / "2026-03-10.log"
    run = CliRunner().invoke(app, ["check", str(path), "--json"])
    [found] = json.loads(run.stdout)
    # One file alone does not tell which addresses are nodes'.
    expected = [note for note in NOTES[name] if not note.startswith("node_clients")]
    assert found["notes"] == expected
    plain = CliRunner().invoke(app, ["check", str(path)]).stdout
    assert plain.count("  note: ") == len(expected)
