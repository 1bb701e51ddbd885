from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.staging.exposition import ExpositionReader, Note, Sample
from transforms.staging.refusal import RefusedError

AT = datetime(2026, 3, 10, 6, 30, 0, 250_000, tzinfo=UTC)


def read(line: str, *, is_openmetrics: bool | None = None) -> Sample | Note:
    """One line of a text of its own."""
    return ExpositionReader(is_openmetrics=is_openmetrics).read(line.encode())


@pytest.mark.parametrize(
    ("line", "name", "labels", "value"),
    [
        ("up 1", "up", {}, "1"),
        ("  up\t1 ", "up", {}, "1"),
        ("up{} 0", "up", {}, "0"),
        ('up{a="b"} 1', "up", {"a": "b"}, "1"),
        ('up{a="b",} 1', "up", {"a": "b"}, "1"),
        ('up { a = "b" , c = "d" } 1', "up", {"a": "b", "c": "d"}, "1"),
        ('up{a="b"}1', "up", {"a": "b"}, "1"),
        (r'up{a="x\\y\"z\nw"} 1', "up", {"a": 'x\\y"z\nw'}, "1"),
        ('up{a="}{,=# "} 1', "up", {"a": "}{,=# "}, "1"),
        ('up{a=""} 1', "up", {"a": ""}, "1"),
        ("job:up:sum 1.5e+3", "job:up:sum", {}, "1.5e+3"),
        ("up -.5", "up", {}, "-.5"),
        ("up +Inf", "up", {}, "+Inf"),
        ("up -infinity", "up", {}, "-infinity"),
        ("up NaN", "up", {}, "NaN"),
        ("up 18446744073709551615", "up", {}, "18446744073709551615"),
        # Quoted names of Prometheus 3, and the name among the labels as `tsdb dump` writes it.
        ('{"my.up", "a.b"="c"} 1', "my.up", {"a.b": "c"}, "1"),
        ('{__name__="up",a="b"} 1', "up", {"a": "b"}, "1"),
        ('up{__name__="up"} 1', "up", {}, "1"),
        # Exemplars say nothing of the series.
        ('up_bucket{le="1"} 2 # {trace_id="x"} 0.6 1773124200.2', "up_bucket", {"le": "1"}, "2"),
    ],
)
def test_a_sample_is_read(line: str, name: str, labels: dict[str, str], value: str) -> None:
    assert read(line) == Sample(name, labels, value, None, None)


@pytest.mark.parametrize(
    ("text", "is_openmetrics", "at"),
    [
        ("1773124200250", None, AT),
        ("1773124200250", False, AT),
        ("1773124200.25", None, AT),
        ("1773124200.25", True, AT),
        ("1773124200", True, AT.replace(microsecond=0)),
        ("1773124200.250000999", True, AT),
        ("1.77312420025e9", True, AT),
        ("0", None, datetime(1970, 1, 1, tzinfo=UTC)),
        ("0.000", None, datetime(1970, 1, 1, tzinfo=UTC)),
        ("60000", False, datetime(1970, 1, 1, 0, 1, tzinfo=UTC)),
        ("-1000", None, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("253402300799999", None, datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
        ("253402300799.999", None, datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)),
    ],
)
def test_a_time_is_milliseconds_or_seconds_by_the_format(
    text: str, is_openmetrics: bool | None, at: datetime
) -> None:
    found = read(f'up{{a="b"}} 1 {text}', is_openmetrics=is_openmetrics)
    assert isinstance(found, Sample)
    assert (found.at, found.start_at) == (at, None)


def test_openmetrics_2_states_when_a_counter_began() -> None:
    found = read("up_total 17.0 1773124200.25 st@1773124200.0", is_openmetrics=True)
    assert found == Sample("up_total", {}, "17.0", AT, AT.replace(microsecond=0))
    found = read('up_total 17.0 st@1773124200.25 # {a="b"} 1', is_openmetrics=True)
    assert found == Sample("up_total", {}, "17.0", None, AT)


def test_a_text_becomes_openmetrics_by_its_own_notes() -> None:
    for note in (b"# TYPE up info", b"# UNIT up_seconds seconds", b"# EOF"):
        reader = ExpositionReader()
        reader.read(note)
        found = reader.read(b"up 1 1773124200")
        assert isinstance(found, Sample)
        assert found.at == AT.replace(microsecond=0)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("# HELP up Whether it is up.", Note("help", "up", "Whether it is up.")),
        ("# TYPE up gauge", Note("type", "up", "gauge")),
        ('# TYPE "my.up" gauge', Note("type", "my.up", "gauge")),
        ("# UNIT up_seconds seconds", Note("unit", "up_seconds", "seconds")),
        ("# HELP up", Note("help", "up", "")),
        ("# EOF", Note("eof", "", "")),
        ("# a comment", Note("comment", "", "a comment")),
        ("#", Note("comment", "", "")),
    ],
)
def test_a_note_is_read(line: str, note: Note) -> None:
    assert read(line) == note


@pytest.mark.parametrize(
    ("line", "reason", "at"),
    [
        ("up", "no_value: expected a number behind the series, got other text", 2),
        ('up{a="b"}', "no_value: expected a number behind the series, got other text", 9),
        ("up x", "wrong_value: expected a number, got other text", 3),
        ("up 0x1p-2", "wrong_value: expected a number, got other text", 3),
        ("up 1_000", "wrong_value: expected a number, got other text", 3),
        ("up 1 noon", "wrong_time: expected a number, got other text", 5),
        ("up 1 2 3", "trailing_text: expected the end of the line, got other text", 7),
        ('up{a="b" 1', "wrong_labels: expected labels and a closing brace, got other text", 2),
        ('up{a="b} 1', "wrong_labels: expected labels and a closing brace, got other text", 2),
        ("{} 1", "no_name: expected the name of a metric", None),
        ("1up 1", "no_name: expected the name of a metric, got other text", 0),
        ("up{a=b} 1", 'wrong_labels: expected labels such as name="value"', None),
        ("up{a} 1", 'wrong_labels: expected labels such as name="value"', None),
        ('up{"a"} 1', 'wrong_labels: expected labels such as name="value"', None),
        ('up{a="b";c="d"} 1', 'wrong_labels: expected labels such as name="value"', None),
        ('up{a="b",;c="d"} 1', 'wrong_labels: expected labels such as name="value"', None),
        ('up{;a="b",} 1', 'wrong_labels: expected labels such as name="value"', None),
        ('up{,} 1', 'wrong_labels: expected labels such as name="value"', None),
        ('up{a="b",a="b"} 1', "wrong_labels: expected each label once", None),
        ('up{__name__="down"} 1', "wrong_labels: expected one name", None),
        (r'up{a="\x"} 1', 'wrong_escape: expected one of \\\\, \\" and \\n', None),
        ("up 1 60000",
         "wrong_time: expected milliseconds since 1970 (or the notes of OpenMetrics), got `60000`",
         None),
        ("up 1 253402300800000",
         "wrong_time: expected a year from 1 to 9999, got `253402300800000`", None),
        ("up 1 1e99", "wrong_time: expected a year from 1 to 9999, got text of 4 characters", None),
        ('up{é="1"} 1 x', "wrong_time: expected a number, got other text", 13),
    ],
)  # fmt: skip
def test_a_line_of_neither_format_is_refused(line: str, reason: str, at: int | None) -> None:
    with pytest.raises(RefusedError) as caught:
        read(line)
    assert (str(caught.value), caught.value.at) == (reason, at)


def test_other_bytes_than_utf_8_are_refused() -> None:
    with pytest.raises(RefusedError, match="invalid_text: expected UTF-8, got other bytes"):
        ExpositionReader().read(b'up{a="\xff"} 1')


def test_more_labels_than_a_series_has_are_refused() -> None:
    many = ",".join(f'a{number}="b"' for number in range(257))
    with pytest.raises(RefusedError, match="wrong_labels: expected at most 256 labels"):
        read(f"up{{{many}}} 1")


@given(st.text(max_size=60), st.text(alphabet='up{}"=\\,# 1e.-', max_size=60))
def test_any_text_is_a_sample_a_note_or_refused(some: str, alike: str) -> None:
    for text in (some, alike, f'up{{a="{some}"}} 1', f"up 1 {alike}"):
        line = text.replace("\n", " ").encode("utf-8", "replace")
        reason = ": expected "
        try:
            ExpositionReader().read(line)
        except RefusedError as error:
            reason = str(error)
        assert ": expected " in reason
        assert len(reason) < 200


@given(
    st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), st.text(), max_size=5)
)
def test_any_label_is_read_back(labels: dict[str, str]) -> None:
    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    pairs = ",".join(f'{name}="{escaped(text)}"' for name, text in labels.items())
    if any("\ud800" <= character <= "\udfff" for character in pairs):
        return
    assert read(f"up{{{pairs}}} 1") == Sample("up", labels, "1", None, None)


def test_a_long_line_of_open_quotes_is_refused_at_once() -> None:
    for line in ('up{a="' * 50_000, "up{" + '"' * 100_001, "up{" + "a" * 500_000, "{" * 200_000):
        with pytest.raises(RefusedError):
            read(line)


@pytest.mark.samples
@pytest.mark.parametrize(
    ("name", "samples_", "notes"),
    [
        ("cadvisor_container_network.prom", None, None),
        ("cadvisor_issue_samples.prom", 4, 1),
        ("prometheus_promtool_dump-openmetrics.prom", 10, 1),
    ],
)
def test_real_texts_are_read_whole(
    samples: Path, name: str, samples_: int | None, notes: int | None
) -> None:
    lines = (samples / "counters" / name).read_bytes().splitlines()
    reader = ExpositionReader()
    found = [reader.read(line) for line in lines if line.strip()]
    hashes = sum(line.startswith(b"#") for line in lines)
    assert sum(isinstance(f, Note) for f in found) == (notes if notes is not None else hashes)
    if samples_ is not None:
        assert sum(isinstance(f, Sample) for f in found) == samples_
