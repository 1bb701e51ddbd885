"""The newest delivery of each bill: hand-made deliveries, and the same rule told by slow loops."""

import random
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import at, frame
from transforms.sql import SqlSession

ONE = timedelta(days=1)


def line(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "record_index": number,
        "source_format": "aws_cur",
        "provider": "aws",
        "billing_period": "2026-03",
        "account_id": "444455556666",
        "bill_id": "bill",
        "delivery_id": "first",
        "delivery_part": "1.csv",
        "export_file_id": "file-1",
        "delivered_at": at("04:00"),
        "usage_start_at": at("00:00"),
        "usage_end_at": at("01:00"),
        "line_item_type": "usage",
        "billed_cost": Decimal("1.5"),
        "usage_amount": Decimal(2),
    } | changes


def newest(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    bill = frame("billing_lines", [])
    values = pl.DataFrame(rows, schema={n: bill.schema[n] for n in rows[0]}, orient="row")
    with SqlSession() as session:
        session.register("all_billing_lines", pl.concat([bill, values], how="diagonal"))
        session.create("found", "transforms.marts", "bill_newest")
        found = session.frame("found")
    assert found.schema == bill.schema
    return [(r["export_file_id"], r["record_index"]) for r in found.iter_rows(named=True)]


def test_a_newer_delivery_replaces_all_lines_of_the_older_one():
    old = [line(n) for n in range(3)]
    new = [
        line(n, delivery_id="second", export_file_id="file-2", delivered_at=at("05:00"))
        for n in range(2)
    ]
    assert newest(old) == [("file-1", 0), ("file-1", 1), ("file-1", 2)]
    assert newest(old + new) == [("file-2", 0), ("file-2", 1)]


def test_all_parts_of_a_delivery_count_and_equal_lines_are_lines_of_their_own():
    parts = [line(0), line(1), line(0, delivery_part="2.csv", export_file_id="file-2")]
    assert newest(parts) == [("file-1", 0), ("file-1", 1), ("file-2", 0)]


def test_a_part_that_stands_twice_is_the_file_that_tells_more():
    later = {"export_file_id": "file-2", "usage_end_at": at("02:00")}
    assert newest([line(0), line(1), line(0, **later)]) == [("file-2", 0)]
    copy = {"export_file_id": "file-0"}
    assert newest([line(0), line(1), line(0, **copy)]) == [("file-1", 0), ("file-1", 1)]
    assert newest([line(0), line(0, **copy)]) == [("file-0", 0)]


def test_deliveries_of_one_day_are_told_by_how_far_their_usage_reaches():
    later = {"delivery_id": "a", "export_file_id": "file-2", "usage_end_at": at("02:00")}
    assert newest([line(0), line(1), line(0, **later)]) == [("file-2", 0)]


def test_periods_and_bills_of_other_accounts_do_not_replace_each_other():
    other = [
        line(0, billing_period="2026-02", delivered_at=at("01:00"), export_file_id="file-2"),
        line(0, bill_id="b", account_id="777788889999", delivery_id="x", export_file_id="file-3"),
        line(0, bill_id="b", account_id=None, delivery_id="x", export_file_id="file-3"),
    ]
    assert len(newest([line(0), *other])) == 4


def test_of_two_bills_of_one_account_the_report_with_regions_counts():
    focus = {"source_format": "focus", "bill_id": "f", "delivery_id": "f", "export_file_id": "f"}
    newer = {"delivered_at": at("04:00") + ONE}
    assert newest([line(0), line(0, **focus, **newer)]) == [("file-1", 0)]
    two = [line(0, **focus), line(0, **focus | {"bill_id": "g", "export_file_id": "g"}, **newer)]
    assert newest(two) == [("g", 0)]


# -- an oracle -----------------------------------------------------------------------------------


def oracle(rows: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """The rule, told by loops over lines."""
    files: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        key = ("bill_id", "billing_period", "delivery_id", "delivery_part", "export_file_id")
        files[tuple(row[name] for name in key)].append(row)

    def reach(found: list[dict[str, Any]]) -> float:
        ends = [r["usage_end_at"].timestamp() for r in found if r["usage_end_at"]]
        return max(ends, default=float("-inf"))

    parts: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for key in sorted(files, key=lambda k: (-reach(files[k]), -len(files[k]), k[-1])):
        parts.setdefault(key[:-1], files[key])
    deliveries: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for key, found in parts.items():
        deliveries[key[:3]] += found

    def order(key: tuple[str, ...]) -> tuple[Any, ...]:
        found = deliveries[key]
        newest_at = max(r["delivered_at"].timestamp() for r in found)
        return -newest_at, -reach(found), -len(found), key[2]

    chosen: dict[tuple[str, ...], tuple[str, ...]] = {}
    for key in sorted(deliveries, key=order):
        chosen.setdefault(key[:2], key)
    by_account: dict[tuple[Any, str], list[tuple[Any, ...]]] = defaultdict(list)
    for (bill, period), key in chosen.items():
        found = deliveries[key]
        newest_at = max(r["delivered_at"].timestamp() for r in found)
        for account in {r["account_id"] for r in found}:
            is_focus = any(r["source_format"] == "focus" for r in found)
            by_account[account, period].append((is_focus, -newest_at, bill))
    return sorted(
        (row["export_file_id"], row["record_index"])
        for (bill, period), key in chosen.items()
        for row in deliveries[key]
        if min(by_account[row["account_id"], period])[2] == bill
    )


def deliveries_of(r: random.Random, group: int) -> list[dict[str, Any]]:
    """Deliveries of two bills of a few accounts, which no other group has."""
    rows: list[dict[str, Any]] = []
    for number in range(r.randint(1, 12)):
        bill = r.choice("ab")
        shared = {
            "bill_id": f"{group} {bill}",
            "source_format": "focus" if bill == "a" else "aws_cur",
            "billing_period": r.choice(("2026-02", "2026-03")),
            "delivery_id": f"{group} {bill}{r.randint(0, 2)}",
            "delivery_part": r.choice(("1", "2")),
            "export_file_id": f"file-{group:03d}-{number:02d}",
            "delivered_at": at("00:00") + r.randint(0, 2) * ONE,
        }
        rows += [
            line(
                n,
                **shared,
                account_id=f"{group} {r.choice('xy')}" if group else r.choice(("x", None)),
                usage_end_at=r.choice((None, at("01:00"), at("02:00"))),
            )
            for n in range(r.randint(1, 4))
        ]
    return rows


@settings(max_examples=2)
@given(st.integers(0, 10**9))
def test_any_deliveries_give_what_the_rule_says_in_any_order(seed):
    r = random.Random(seed)
    rows = [row for group in range(80) for row in deliveries_of(r, group)]
    found = newest(rows)
    assert found == oracle(rows)
    r.shuffle(rows)
    assert newest(rows) == found
