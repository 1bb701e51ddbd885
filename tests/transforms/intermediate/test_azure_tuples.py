"""Azure's tuples of flows: when their intervals began, and which of several tuples counts."""

import json
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl

from tests.transforms.frames import at
from tests.transforms.intermediate.peer_examples import Export, staged
from tests.transforms.intermediate.test_peer_traffic import POD, of
from transforms.staging import azure_flow_log

Tuple = tuple[str | datetime, str, int]
"""When it was written, its state, bytes sent."""
Window = tuple[Any, ...]
"""(start, bytes, least, most)."""


class Blob(NamedTuple):
    """One file: tuples of one flow of the pod, under each of some rule lists."""

    tuples: tuple[Tuple, ...]
    lists: str
    rule: str
    port: int

    def exported(self, peer: str) -> Export:
        texts = []
        for clock, state, sent in self.tuples:
            written = at(clock) if isinstance(clock, str) else clock
            ends = f"{int(written.timestamp()) * 1_000},{POD},{peer},{self.port},443,6,O"
            texts.append(f"{ends},{state},NX," + ("0,0,0,0" if state == "B" else f"1,{sent},0,0"))
        flows = [
            {"aclID": name, "flowGroups": [{"rule": self.rule, "flowTuples": texts}]}
            for name in self.lists
        ]
        record = {"macAddress": "00224871C201", "flowRecords": {"flows": flows}}
        return Export(azure_flow_log.PARSER, json.dumps({"records": [record]}))


def blob(*tuples: Tuple, lists: str = "a", rule: str = "r", port: int = 40_000) -> Blob:
    return Blob(tuples, lists, rule, port)


def each(*cases: tuple[Blob, ...], days: tuple[int, ...] = (0,)) -> list[list[Window]]:
    """Windows with bytes of each case, which has a peer of its own: all are built at once."""
    peers = [f"203.0.113.{number}" for number in range(1, len(cases) + 1)]
    exports = [one.exported(peer) for peer, case in zip(peers, cases, strict=True) for one in case]
    rows = of(staged(exports, "blob"), days=days, direction="transmit").filter(
        pl.col("max_bytes") > 0
    )
    shown = ("window_start_at", "bytes", "min_bytes", "max_bytes")
    return [rows.filter(peer_address=peer).select(shown).rows() for peer in peers]


# -- where an interval begins ----------------------------------------------------------------------


def test_an_interval_begins_at_the_flows_last_tuple_whatever_file_holds_it():
    """The second file of each case is the next hour's."""
    found = each(
        (blob(("08:01", "B", 0), ("08:04", "C", 30), ("08:08", "E", 40)),),
        (blob(("08:54", "B", 0), ("08:58", "C", 400)), blob(("09:01", "E", 180))),
        (blob(("08:58", "B", 0)), blob(("09:01", "E", 180))),
        # Nothing was written from 08:50 to 09:01: 220 bytes in eleven minutes.
        (blob(("08:50", "B", 0)), blob(("09:01", "C", 220))),
        (blob(("08:08", "B", 0), ("08:08", "E", 50)),),
    )
    assert found == [
        [(at("08:00"), 30 + 10, 30, 70), (at("08:05"), 30, 0, 40)],
        [
            (at("08:50"), 100, 0, 400), (at("08:55"), 300 + 120, 0, 400 + 180),
            (at("09:00"), 60, 0, 180),
        ],
        [(at("08:55"), 120, 0, 180), (at("09:00"), 60, 0, 180)],
        [(at("08:50"), 100, 0, 220), (at("08:55"), 100, 0, 220), (at("09:00"), 20, 0, 220)],
        [(at("08:05"), 50, 50, 50)],
    ]  # fmt: skip


def test_a_tuple_without_one_before_it_began_five_minutes_before():
    ended = blob(("08:08", "E", 50))
    found = each(
        (ended,),
        # Of other ports; later; before the look-back; the end of the flow before.
        (blob(("08:07", "C", 0), port=40_001), ended),
        (blob(("09:00", "B", 0)), ended),
        (blob((at("08:07", days=-1), "C", 0)), ended),
        (blob(("08:01", "E", 0)), ended),
    )
    assert found == [[(at("08:00"), 20, 0, 50), (at("08:05"), 30, 0, 50)]] * 5
    # A flow cannot begin before the one before it ended.
    assert each((blob(("08:07", "E", 0)), ended)) == [[(at("08:05"), 50, 50, 50)]]


def test_days_that_are_built_alone_have_their_part_of_a_long_interval():
    """400 bytes in 40 minutes over midnight; 260 of which the first day ended too early to see."""
    before = blob((at("23:50", days=-1), "B", 0))
    seen, late = each(
        (before, blob(("00:30", "E", 400))), (before, blob(("02:10", "E", 260))), days=(-1, 0)
    )
    assert [(start, size) for start, size, _, _ in seen] == [
        (at("23:50", days=-1), 50), (at("23:55", days=-1), 50),
        *((at(f"00:{minute:02d}"), 50) for minute in range(0, 30, 5)),
    ]  # fmt: skip
    assert [(start, size) for start, size, _, _ in late] == [
        (at(f"{n // 12:02d}:{n % 12 * 5:02d}"), 10) for n in range(26)
    ]
    assert {least for _, _, least, _ in (*seen, *late)} == {0}


# -- which tuple counts ----------------------------------------------------------------------------


def test_a_flow_that_two_rule_lists_tell_counts_once():
    flow = (("08:01", "B", 0), ("08:04", "C", 30), ("08:08", "E", 40))
    late = (("08:01:01", "B", 0), ("08:04:01", "C", 31), ("08:08:01", "E", 39))
    found = each(
        (blob(*flow, lists="ab"),),
        (blob(*flow, lists="b"), blob(*late, lists="c")),
        (blob(*late, lists="c"), blob(*flow, lists="b")),
        (blob(*flow, lists="b"), blob(*late[1:], lists="a", port=40_001)),
    )
    alone = [(at("08:00"), 30 + 10, 30, 70), (at("08:05"), 30, 0, 40)]
    assert found[:3] == [alone] * 3
    # Flows that each have a rule list of their own all count.
    assert sum(size for _, size, _, _ in found[3]) == 30 + 40 + 31 + 39


def test_a_rule_list_that_joins_late_or_leaves_early_takes_the_place_of_its_time_only():
    flow = (("08:56", "B", 0), ("09:01", "C", 10), ("09:06", "C", 20), ("09:11", "E", 30))
    found = each(
        # The list that counts where both tell joins at 09:01, or leaves at 09:06.
        (blob(*flow, lists="b"), blob(("09:06:01", "C", 21), ("09:11:01", "E", 31), lists="a")),
        (blob(*flow, lists="b"), blob(("08:56", "B", 0), ("09:01", "C", 11), lists="a")),
        # Both are written around an hour's edge.
        (
            blob(("08:54", "B", 0), ("08:59:59", "E", 12), lists="a"),
            blob(("08:54", "B", 0), ("09:00:01", "E", 13), lists="b"),
        ),
        # Both tell of less than the seconds by which they are written apart.
        (
            blob(("09:01", "B", 0), ("09:01", "E", 14), lists="a"),
            blob(("09:01:01", "B", 0), ("09:01:01", "E", 15), lists="b"),
        ),
    )
    assert [sum(size for _, size, _, _ in rows) for rows in found] == [
        10 + 21 + 31, 11 + 20 + 30, 12, 14,
    ]  # fmt: skip


def test_of_two_rules_of_one_instant_the_larger_tuple_counts():
    begun = blob(("08:01", "B", 0))
    found = each(
        (begun, blob(("08:04", "C", 30)), blob(("08:04", "C", 25), rule="s")),
        (begun, blob(("08:04", "C", 25)), blob(("08:04", "C", 30), rule="s")),
        # A flow that goes on under another rule does so from its last tuple on.
        (begun, blob(("08:04", "C", 30)), blob(("08:09", "E", 50), rule="s")),
    )
    assert found[0] == found[1] == [(at("08:00"), 30, 30, 30)]
    assert found[2] == [(at("08:00"), 30 + 10, 30, 80), (at("08:05"), 40, 0, 50)]
