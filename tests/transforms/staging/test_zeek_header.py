r"""Headers of Zeek's text logs say how their lines are read; escapes come off once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.zeek_header import ZeekHeader, unescaped, unescaped_text


def header(*lines: str) -> ZeekHeader:
    found = ZeekHeader()
    for line in lines:
        read = found.read(line)
        assert read is not None, line
        found = read
    return found


STANDARD = (
    r"#separator \x09",
    "#set_separator\t,",
    "#empty_field\t(empty)",
    "#unset_field\t-",
    "#path\tdns",
    "#open\t2026-03-10-00-00-00",
    "#fields\tts\tquery\tanswers",
    "#types\ttime\tstring\tvector[string]",
)


def test_a_header_says_how_lines_are_read():
    found = header(*STANDARD)
    assert (found.path, found.fields, found.problem) == ("dns", ("ts", "query", "answers"), None)
    assert found.values("1.5\t-\ta,b") == {"ts": "1.5", "query": None, "answers": "a,b"}
    assert found.values("1.5\tx") == 2
    assert found.elements("a,-,(empty),b") == ["a", None, "", "b"]
    assert found.elements("(empty)") == []
    assert (found.text("(empty)"), found.text("x")) == ("", "x")


@pytest.mark.parametrize("line", ["#fields", "#fields\t", "#", "# a remark", "#other\tx"])
def test_what_names_no_field_is_no_header_line(line):
    assert header(*STANDARD).read(line) is None


def test_separators_and_marks_are_those_of_the_header():
    found = header(
        r"#separator \x7c", r"#set_separator|\x3b", "#empty_field|<>", "#unset_field|NULL",
        "#path|dns", "#fields|query|ts",
    )  # fmt: skip
    assert found.fields == ("query", "ts")
    assert found.values("a\tb|NULL") == {"query": "a\tb", "ts": None}
    assert found.elements("a,b;NULL;<>") == ["a,b", None, ""]


def test_another_header_behind_the_first_starts_anew():
    found = header(*STANDARD, r"#separator \x7c")
    assert (found.path, found.fields) == (None, ())
    assert found.text("(empty)") == ""


@pytest.mark.parametrize("line", ["#", "# a comment", "### x", "#closed\tx", "#Fields\tx"])
def test_other_lines_are_no_header_lines(line):
    assert header(*STANDARD).read(line) is None


@pytest.mark.parametrize("line", ["#close\t2026-03-10", "#close 2026-03-10", "#open", "#types"])
def test_lines_that_say_nothing_of_the_reading_are_passed_over(line):
    before = header(*STANDARD)
    assert before.read(line) == before


@pytest.mark.parametrize(
    "line",
    [
        "#separator ", "#set_separator\t", "#unset_field", "#empty_field\t" + "x" * 33,
        "#fields\ta\ta", "#fields\t" + "\t".join(map(str, range(1_001))),
    ],
)  # fmt: skip
def test_a_header_by_which_nothing_can_be_read_says_so(line):
    problem = header(*STANDARD, line).problem
    assert problem is not None
    assert problem.startswith("header: expected ")


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("plain", b"plain"),
        (r"a\x2cb", b"a,b"),
        (r"\xC3\xa9\xff", b"\xc3\xa9\xff"),
        (r"a\\x2cb", rb"a\x2cb"),
        (r"a\x5cb", rb"a\b"),
        (r"\x2", rb"\x2"),
        ("é", "é".encode()),
    ],
)
def test_escapes_come_off_once(text, data):
    assert unescaped(text) == data
    assert unescaped_text(text) == data.decode("utf-8", "replace")


@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=30))
def test_any_lines_are_read_or_no_header(lines, line):
    found = ZeekHeader()
    for text in lines:
        found = found.read(f"#{text}") or found
    values = found.values(line)
    assert isinstance(values, int) or set(values) == set(found.fields)
