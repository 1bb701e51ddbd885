import pytest

from transforms.staging.line_blocks import LONG_LINE, LineBlocks, TextBlock
from transforms.staging.parser import Parsed, RawRecord


def values(text: bytes) -> int | None:
    """Counts `v` as a value; a text with `?` is beyond trust."""
    return None if b"?" in text else text.count(b"v")


def reader(*texts: bytes | Parsed) -> LineBlocks:
    blocks, number, offset = [], 1, 0
    for text in texts:
        if isinstance(text, Parsed):
            blocks.append(text)
            number, offset = number + 1, offset + 10
            continue
        count = text.count(b"\n") + (not text.endswith(b"\n"))
        blocks.append(TextBlock(number, count, offset, text))
        number, offset = number + count, offset + len(text)
    return LineBlocks(blocks, values)


def locators(lines: LineBlocks) -> list[str]:
    lines.read_to(1_000)
    return [lines.record(i).locator for i in range(lines.count)]


REFUSED = Parsed("line 3", 4, b"", reject="line_too_long: expected less")


def test_records_are_read_on_as_far_as_asked():
    lines = reader(b"v1\nv2\n", b"v3\n", b"v4\n")
    lines.read_to(3)
    assert (lines.count, lines.ended) == (3, False)
    lines.read_to(9)
    assert (lines.count, lines.ended) == (4, True)
    assert lines.doubtful == set()


def test_a_record_is_its_line_with_its_place():
    lines = reader(b"v1\r\nv2\n", b"v3")
    lines.read_to(3)
    assert [lines.record(i) for i in range(3)] == [
        RawRecord("line 1", 0, b"v1"),
        RawRecord("line 2", 4, b"v2"),
        RawRecord("line 3", 7, b"v3"),
    ]


def test_blank_lines_count_in_line_numbers_only():
    lines = reader(b"\nv1\n \n\nv2\n", b"\t\n", b"v3\n")
    assert locators(lines) == ["line 2", "line 5", "line 7"]
    assert lines.record(2).offset == 12


def test_lines_beyond_trust_are_doubtful_and_no_others():
    lines = reader(b"v1\n?\nvv\nv4\n", b"v5\n")
    lines.read_to(5)
    assert lines.doubtful == {1, 2}


def test_a_record_that_the_reader_refused_keeps_its_place():
    lines = reader(b"v1\nv2\n", REFUSED, b"v4\n")
    lines.read_to(4)
    assert lines.record(2) == REFUSED
    assert lines.record(3).locator == "line 4"
    assert lines.doubtful == {2}


def test_a_long_line_is_doubtful():
    long = b"v" + b"x" * LONG_LINE + b"\n"
    lines = reader(b"v1\n" + long + long + long + long + b"v6\n")
    lines.read_to(6)
    assert lines.doubtful == {1, 2, 3, 4}


def test_blocks_are_let_go_when_all_their_records_are_done():
    lines = reader(b"v1\n?\n", b"v3\n")
    lines.read_to(3)
    lines.let_go(1)
    assert lines.record(0).locator == "line 1"
    lines.let_go(2)
    assert lines.doubtful == set()
    assert lines.record(2).locator == "line 3"


def test_a_close_look_tells_a_blank_line_and_one_of_two_values_from_two_lines():
    lines = reader(b"v1\n\nvv\nv4\n", b"\nvv\n")
    lines.read_to(9)
    assert (lines.count, lines.doubtful) == (6, set())
    lines.examine_closely()
    assert (lines.count, lines.doubtful) == (4, {1, 3})
    assert locators(lines) == ["line 1", "line 3", "line 4", "line 6"]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 5, b"v1\n{}\n{}\nv4\nv5\n"),
        (1, 3, b"{}\n{}\n"),
        (3, 5, b"v4\nv5\n"),
        (4, 4, b""),
    ],
)
def test_the_engine_gets_a_line_per_record_and_nothing_doubtful(start, end, expected):
    lines = reader(b"v1\n?\n", REFUSED, b"v4\nv5")
    lines.read_to(5)
    assert b"".join(lines.engine_text(start, end)) == expected


def test_text_is_read_on_by_size():
    lines = reader(*[b"v1\nv2\n"] * 10)
    assert lines.read_bytes(0, 12) == 4
    lines.let_go(2)
    assert lines.read_bytes(2, 12) == 6
    assert lines.read_bytes(2, 10_000) == 20
