"""The comparison finds what differs, and nothing else."""

from datetime import date, datetime, timedelta, timezone

from tests.fleet.answers_network import connections
from tests.fleet.compare import EXPECTED, Stated
from tests.fleet.scenario import simulate


def _rows() -> list[dict[str, object]]:
    table = connections(simulate())
    return [{column: row.get(column) for column in table.columns} for row in table.rows]


def test_the_truth_itself_has_no_differences() -> None:
    assert Stated.load("connections").differences(_rows()) == []


def test_another_zone_is_the_same_time() -> None:
    rows = _rows()
    zone = timezone(timedelta(hours=5))
    for row in rows:
        assert isinstance(row["start_at"], datetime)
        row["start_at"] = row["start_at"].astimezone(zone)
    assert Stated.load("connections").differences(rows) == []


def test_a_wrong_cell_a_missing_row_and_a_row_too_many_are_named() -> None:
    rows = _rows()
    rows[0] = rows[0] | {"event_count": 999}
    gone = rows.pop()
    rows.append(gone | {"date": date(2026, 3, 12)})
    problems = Stated.load("connections").differences(rows)
    assert len(problems) == 3
    assert "event_count: expected" in problems[0] or "missing" in problems[0]


def test_a_cell_that_is_not_stated_is_not_compared() -> None:
    rows = _rows()
    index = next(i for i, row in enumerate(rows) if row["verdict"] == "?")
    rows[index] = rows[index] | {"verdict": "FORWARDED"}
    assert Stated.load("connections").differences(rows) == []


def test_a_key_that_stands_twice_is_named() -> None:
    rows = _rows()
    problems = Stated.load("connections").differences([*rows, rows[0]])
    assert [text for text in problems if text.endswith("stands twice")]


def test_each_answer_can_be_selected() -> None:
    for path in EXPECTED.glob("*.csv"):
        if path.stem != "keys":
            stated = Stated.load(path.stem)
            assert stated.select("t").startswith('SELECT "')
            assert set(stated.key) <= set(stated.columns)
