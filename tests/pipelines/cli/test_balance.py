"""The account of one run's bytes, drawn."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from pipelines.cli.balance import balance_lines
from schemas.registry import table_spec
from tests.pipelines.cli import small_catalogue
from tests.pipelines.cli.command import podledger

RUN = small_catalogue.RUN
MB = 1_000_000


def row(hour: int = 10, pod: str = "p1", direction: str = "receive", **more: Any) -> dict[str, Any]:
    empty = {column.name: None for column in table_spec("byte_balance").columns}
    values = {
        "byte_balance_id": f"{hour} {pod} {direction}", "pod_uid": pod, "run_uuid": RUN,
        "project": "vision", "direction": direction, "chosen_by": "none", "attributed_bytes": 0,
        "hour_start_at": dt.datetime(2026, 3, 10, hour, tzinfo=dt.UTC), "chosen_bytes": 0,
        "min_chosen_bytes": 0, "unattributed_bytes": 0,
    }  # fmt: skip
    return empty | values | more


INTERFACE = {
    "interface_bytes": 11 * MB, "min_interface_bytes": 8 * MB, "max_interface_bytes": 22 * MB,
    "flow_bytes": 5 * MB, "min_flow_bytes": 5 * MB, "max_flow_bytes": 5 * MB,
    "chosen_by": "interface_counter", "chosen_bytes": 11 * MB, "min_chosen_bytes": 8 * MB,
    "max_chosen_bytes": 22 * MB, "attributed_bytes": 5 * MB, "unattributed_bytes": 6 * MB,
    "min_unattributed_bytes": 3 * MB, "max_unattributed_bytes": 17 * MB,
}  # fmt: skip
LOG = {
    "storage_log_bytes": 500_000, "min_storage_log_bytes": 0, "node_runtime_bytes": 2 * MB,
    "chosen_by": "storage_log", "chosen_bytes": 2_500_000, "min_chosen_bytes": 2 * MB,
    "attributed_bytes": 2_600_000, "unattributed_bytes": -100_000, "rdma": "not_observed",
    "violations": ["storage_log_exceeds_interface"],
    "day_violations": ["storage_log_exceeds_interface"],
}  # fmt: skip
DRAWN = f"""\
run {RUN} vision
2 pod(s); hours are UTC; > is the source that counts

received: 13.5 MB (10.0 MB to …)
  of which no row of a dependency shows 5.9 MB (… to …)
03-10 10:00 >interface      11.0 MB {"█" * 8}{"▓" * 3}{"░" * 11} 8.0 MB to 22.0 MB
             flow records    5.0 MB {"█" * 5}
             unresolved      6.0 MB {" " * 22} 3.0 MB to 17.0 MB
03-10 11:00 >storage log   500.0 kB ▓…{" " * 20} 0 B to …
             by the node     2.0 MB
             unresolved   -100.0 kB {" " * 22} … to …
            !storage log exceeds interface
! 2026-03-10: storage log exceeds interface

RDMA, EFA or InfiniBand: not observed, no counter sees it"""


def test_each_hour_has_a_bar_by_source_with_its_range() -> None:
    lines = balance_lines(RUN, [row(11, "p2", **LOG), row(**INTERFACE)])
    assert "\n".join(lines) == DRAWN


def test_rows_of_several_pods_are_one_bar_and_directions_stand_apart() -> None:
    sent = {"flow_bytes": 5, "min_flow_bytes": 5, "max_flow_bytes": 5, "chosen_by": "flow_record"}
    lines = balance_lines(
        RUN, [row(**INTERFACE), row(pod="p2", **INTERFACE), row(direction="transmit", **sent)]
    )
    assert [line for line in lines if "interface" in line] == [
        f"03-10 10:00 >interface      22.0 MB {'█' * 8}{'▓' * 3}{'░' * 11} 16.0 MB to 44.0 MB"
    ]
    sent_lines = lines[lines.index("sent: 0 B (0 B to …)") :]
    assert sent_lines[2] == f"03-10 10:00 >flow records       5 B {'█' * 22}"


def test_no_line_is_longer_than_a_small_terminal_whatever_stands_in_the_rows() -> None:
    huge = dict.fromkeys(
        (f"{bound}{name}_bytes" for bound in ("", "min_", "max_") for name in
         ("interface", "flow", "storage_log", "chosen", "unattributed")),
        2**63 - 1,
    )  # fmt: skip
    hostile = {"project": "[red]数" * 90 + "\x1b[2J\n", "chosen_by": "flow_record"}
    lines = balance_lines("x" * 500, [row(**huge | hostile), row(11, **huge | {"rdma": "x"})])
    assert max(map(cell_len, lines)) <= 80
    assert all(line.isprintable() for line in lines)
    assert balance_lines("r\x07", []) == ["no source saw bytes of run r\\x07"]


def test_show_draws_the_account_of_a_run_and_gives_its_rows_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row(**INTERFACE), row(11, run_uuid=None, project=None)]
    monkeypatch.setitem(small_catalogue.ROWS, "byte_balance", rows)
    config = small_catalogue.small_catalogue(tmp_path)
    drawn = podledger("show", "byte_balance", "--run", RUN, "--config", config)
    assert (drawn.code, drawn.err) == (0, "")
    assert drawn.out.splitlines() == balance_lines(RUN, rows[:1])
    told = podledger("show", "byte_balance", "--run", RUN, "--json", "--config", config)
    (found,) = json.loads(told.out)
    assert (found["interface_bytes"], found["date"]) == (11 * MB, "2026-03-10")
    every = podledger("show", "byte_balance", "--json", "--config", config)
    assert len(json.loads(every.out)) == 2
    columns = podledger(
        "show", "byte_balance", "--run", RUN, "--columns", "direction", "--config", config
    )
    assert columns.out.split() == ["direction", "receive"]


def test_a_run_is_asked_by_name_too_and_an_unknown_one_is_no_run_without_bytes(
    tmp_path: Path,
) -> None:
    config = small_catalogue.small_catalogue(tmp_path)
    ended = podledger("show", "byte_balance", "--run", "[red]nope", "--config", config)
    assert ended.code == 2
    assert "no run '[red]nope'; expected the uuid or the name of a run" in ended.err
    named = podledger("show", "byte_balance", "--run", "train [bold]x[/bold]", "--config", config)
    assert (named.code, named.out) == (0, f"no source saw bytes of run {RUN}\n")


def test_days_that_run_backwards_are_refused(tmp_path: Path) -> None:
    config = small_catalogue.small_catalogue(tmp_path)
    ended = podledger(
        "show", "runs", "--from", "2026-03-12", "--to", "2026-03-01", "--config", config
    )
    assert ended.code == 2
    assert "--to 2026-03-01: expected a day not before --from 2026-03-12" in ended.err
