"""Parquet files are read as JSON lines, in bounded batches, and what is damaged is named."""

import base64
import datetime as dt
import hashlib
import json
import random
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.landing import parquet_footer, parquet_rows, readers
from pipelines.landing.land import land
from pipelines.landing.parsing import parse_records
from pipelines.landing.readers import Break, head, raw_records, scan
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, zone
from tests.transforms.staging.export_text import CONTEXT
from transforms.staging.parser import Parser, RawRecord, Recognition, accepted


def written(path: Path, table: pa.Table, **options: Any) -> Path:
    pq.write_table(table, path, **options)
    return path


def rows_of(path: Path) -> list[Any]:
    found = list(raw_records(path, "lines"))
    assert all(isinstance(item, RawRecord) for item in found), found[-1]
    return [json.loads(item.data) for item in found if isinstance(item, RawRecord)]


def break_of(path: Path) -> Break:
    found = list(raw_records(path, "json"))
    assert isinstance(found[-1], Break)
    return found[-1]


def table(**columns: pa.Array) -> pa.Table:
    return pa.table(columns)


TEXTS = table(a=pa.array(["x", None, "y"]), b=pa.array([1, 2, 3]))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array(["a", None, "ü\n"]), ["a", None, "ü\n"]),
        (pa.array([2**63 - 1, None, -1]), [2**63 - 1, None, -1]),
        (pa.array([2**64 - 1], pa.uint64()), [2**64 - 1]),
        (pa.array([True, None, False]), [True, None, False]),
        (pa.array([1.5, None, float("nan"), float("inf")]), [1.5, None, None, None]),
        (pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)), ["1.50", None]),
        (pa.array([b"text", b"\xff\x00", None]), ["text", "/wA=", None]),
        (pa.array([b"\x00\xff"], pa.binary(2)), [base64.b64encode(b"\x00\xff").decode()]),
        (pa.array([0, -1, None], pa.date32()), ["1970-01-01", "1969-12-31", None]),
        (pa.array([1_500_000, None], pa.time64("us")), ["00:00:01.500000", None]),
        (pa.array([["a", None], [], None]), [["a", None], [], None]),
        (pa.array([None, None], pa.null()), [None, None]),
        (
            pa.array([[("k", 1), ("l", None)], [], None], pa.map_(pa.string(), pa.int64())),
            [{"k": 1, "l": None}, {}, None],
        ),
        (
            pa.array([{"x": "a", "y": [{"z": 1}]}, None, {"x": None, "y": None}]),
            [{"x": "a", "y": [{"z": 1}]}, None, {"x": None, "y": None}],
        ),
        (
            pa.array([uuid.UUID(int=7).bytes], pa.uuid()),
            ["00000000-0000-0000-0000-000000000007"],
        ),
    ],
)
def test_every_type_has_its_form_in_json(tmp_path: Path, array: pa.Array, expected: Any) -> None:
    path = written(tmp_path / "a.parquet", table(a=array))
    assert [row["a"] for row in rows_of(path)] == expected


@pytest.mark.parametrize(
    ("value", "unit", "zone", "expected"),
    [
        (0, "s", "UTC", "1970-01-01T00:00:00.000000Z"),
        (1_772_323_200_123, "ms", "UTC", "2026-03-01T00:00:00.123000Z"),
        (1_772_323_200_123_456, "us", None, "2026-03-01T00:00:00.123456"),
        (1_772_323_200_123_456_789, "ns", "UTC", "2026-03-01T00:00:00.123456Z"),
        (-1, "ns", "UTC", "1969-12-31T23:59:59.999999Z"),
        (-1, "us", "UTC", "1969-12-31T23:59:59.999999Z"),
        (253_402_300_799_999_999, "us", "UTC", "9999-12-31T23:59:59.999999Z"),
        (253_402_300_800_000_000, "us", "UTC", "253402300800000000"),
        (-62_135_596_800_000_000, "us", "UTC", "0001-01-01T00:00:00.000000Z"),
        (1_772_323_200_000_000, "us", "+02:00", "2026-03-01T00:00:00.000000Z"),
    ],
)
def test_times_are_rfc_3339_cut_to_microseconds(
    tmp_path: Path, value: int, unit: str, zone: str | None, expected: str
) -> None:
    array = pa.array([value, None], pa.timestamp(unit, zone))
    path = written(tmp_path / "a.parquet", table(a=array))
    assert [row["a"] for row in rows_of(path)] == [expected, None]


def test_times_of_twelve_bytes_are_read(tmp_path: Path) -> None:
    array = pa.array([dt.datetime(2026, 3, 1, 12, 0, 0, 5, dt.UTC)], pa.timestamp("us"))
    path = written(tmp_path / "a.parquet", table(a=array), use_deprecated_int96_timestamps=True)
    assert rows_of(path) == [{"a": "2026-03-01T12:00:00.000005"}]


def test_rows_come_in_order_over_row_groups_and_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_rows, "BATCH_ROWS", 7)
    monkeypatch.setattr(parquet_rows, "PIECE_BYTES", 64)
    numbers = table(n=pa.array(range(1_000)), s=pa.array([f"name {n % 5}" for n in range(1_000)]))
    path = written(tmp_path / "a.parquet", numbers, row_group_size=300)
    found = list(raw_records(path, "json"))
    assert [item.locator for item in found if isinstance(item, RawRecord)] == [
        f"row {n}" for n in range(1, 1_001)
    ]
    assert [row["n"] for row in rows_of(path)] == list(range(1_000))
    assert rows_of(path)[998] == {"n": 998, "s": "name 3"}


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_every_compression_and_page_version_gives_the_same_rows(
    tmp_path: Path, compression: str, version: str
) -> None:
    path = written(tmp_path / "a", TEXTS, compression=compression, data_page_version=version)
    assert rows_of(path) == [{"a": "x", "b": 1}, {"a": None, "b": 2}, {"a": "y", "b": 3}]


def test_delta_encoded_texts_are_read(tmp_path: Path) -> None:
    encodings = {"a": "DELTA_BYTE_ARRAY", "b": "DELTA_BINARY_PACKED"}
    path = written(tmp_path / "a", TEXTS, use_dictionary=False, column_encoding=encodings)
    assert [row["a"] for row in rows_of(path)] == ["x", None, "y"]


def test_the_head_is_the_json_of_the_first_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "a", TEXTS)
    assert head(path) == b'{"a":"x","b":1}\n{"a":null,"b":2}\n{"a":"y","b":3}\n'
    assert head(path, 20) == b'{"a":"x","b":1}\n{"a"'


def test_the_content_is_identified_by_the_bytes_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "a", TEXTS)
    found = scan(path)
    assert found.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.broken is None


def test_a_file_without_rows_is_empty_and_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "a", TEXTS.slice(0, 0))
    assert rows_of(path) == []
    assert scan(path).broken is None


def test_a_row_that_is_too_long_is_given_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "MAX_LINE_BYTES", 100)
    path = written(tmp_path / "a", table(a=pa.array(["x", "y" * 200, "z"])))
    assert [r.data[:9] for r in raw_records(path, "json") if isinstance(r, RawRecord)] == [
        b'{"a":"x"}', b"", b'{"a":"z"}',
    ]  # fmt: skip


def test_rows_have_no_offset_where_they_are_accounted_for(tmp_path: Path) -> None:
    parser = Parser(
        "any", "any", (), "json", "", "", lambda _: Recognition(0),
        lambda records, _: (accepted(raw, ("t", {"record_id": "1"})) for raw in records),
    )  # fmt: skip
    path = written(tmp_path / "a", TEXTS)
    found = list(parse_records(path, parser, CONTEXT))
    assert [(item.locator, item.offset) for item in found] == [
        ("row 1", None), ("row 2", None), ("row 3", None),
    ]  # fmt: skip


def without(data: bytes, start: int, stop: int) -> bytes:
    return data[:start] + data[stop:]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-1], "truncated: expected a Parquet footer"),
        (lambda data: data[: len(data) // 2], "truncated: expected a Parquet footer"),
        (lambda data: data[:4], "truncated: expected a Parquet footer"),
        (lambda data: data[:-4] + b"PARE", "encrypted: expected a Parquet file in clear text"),
        (lambda data: b"PARE" + data[4:], "encrypted: expected a Parquet file in clear text"),
        (
            lambda data: data[:-8] + b"\xff\xff\xff\x7fPAR1",
            "damaged: expected a Parquet footer inside",
        ),
        (lambda data: data[:-8] + b"\0\0\0\0PAR1", "damaged: expected a readable Parquet footer"),
        (lambda data: without(data, 6, 9), "damaged: expected "),
    ],
)
def test_a_damaged_file_is_a_break_and_never_an_exception(
    tmp_path: Path, change: Callable[[bytes], bytes], reason: str
) -> None:
    whole = written(tmp_path / "whole", TEXTS, write_page_checksum=True)
    path = tmp_path / "a"
    path.write_bytes(change(whole.read_bytes()))
    assert break_of(path).reason.startswith(reason)
    assert head(path) == b""


def test_a_wrong_checksum_of_a_page_is_found(tmp_path: Path) -> None:
    numbers = table(a=pa.array(range(1_000)))
    path = written(
        tmp_path / "a", numbers, write_page_checksum=True, compression="none", use_dictionary=False
    )
    data = bytearray(path.read_bytes())
    data[500] ^= 1
    path.write_bytes(bytes(data))
    assert "checksum" in break_of(path).reason


def test_rows_before_damage_are_kept(tmp_path: Path) -> None:
    numbers = table(a=pa.array(range(200)))
    path = written(tmp_path / "a", numbers, row_group_size=100, compression="none")
    place = parquet_footer.read_footer(path).row_groups[1].start
    data = bytearray(path.read_bytes())
    data[place : place + 3] = b"\xff\xff\xff"
    path.write_bytes(bytes(data))
    found = list(raw_records(path, "json"))
    assert len(found) == 101
    assert isinstance(found[100], Break)
    assert found[100].reason.startswith("damaged: expected readable pages in row group 2")
    assert found[100].offset == place


def test_limits_of_columns_names_and_depth_have_clear_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = pa.table({f"c{n}": [1] for n in range(2_001)})
    assert break_of(written(tmp_path / "a", wide)).reason == (
        "too_many_columns: expected at most 2000, got more"
    )
    named = pa.table({"n" * 513: [1]})
    assert break_of(written(tmp_path / "b", named)).reason == (
        "name_too_long: expected names of at most 512 characters, got 513"
    )
    kind: pa.DataType = pa.int64()
    value: Any = 1
    for _ in range(12):
        kind, value = pa.list_(kind), [value]
    nested = pa.table({"a": pa.array([value], kind)})
    assert rows_of(written(tmp_path / "c", nested)) == [{"a": value}]
    monkeypatch.setattr(parquet_footer, "MAX_DEPTH", 20)
    assert break_of(tmp_path / "c").reason.startswith("too_deep: expected at most 20 levels")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    double = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert break_of(written(tmp_path / "a", double)).reason.startswith("duplicate_column: ")


BIG = "x" * 1_000_000


def dictionary(text: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text]))


@pytest.mark.parametrize(
    ("array", "options"),
    [
        pytest.param(dictionary(BIG, 1_000_000), {}, id="one text a million times"),
        pytest.param(
            pa.array(np.zeros(2_000_000, np.int64)), {"use_dictionary": False}, id="zeros"
        ),
        pytest.param(
            pa.ListArray.from_arrays(
                pa.array([0, 2_000_000], pa.int32()), pa.array(np.zeros(2_000_000, np.int8))
            ),
            {},
            id="one long list",
        ),
        pytest.param(
            pa.array([BIG] * 200),
            {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}},
            id="texts that add nothing to the one before",
        ),
    ],
)
def test_a_bomb_ends_at_the_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, array: pa.Array, options: Any
) -> None:
    monkeypatch.setattr(readers, "RATIO_FLOOR", 1 << 20)
    path = written(
        tmp_path / "a", table(a=array), compression="zstd", store_schema=False, **options
    )
    assert path.stat().st_size < 15_000
    text = 0
    broken = None
    for item in raw_records(path, "json"):
        if isinstance(item, Break):
            broken = item
        else:
            text += len(item.data)
    assert broken is not None
    assert broken.reason == "too_compressed: expected at most 1000 bytes of text per stored byte"
    assert text <= 15_000_000


def test_a_row_whose_dictionary_would_fill_the_memory_is_too_long(tmp_path: Path) -> None:
    texts = dictionary("w" * 5_000, 1_000_000)
    lists = pa.ListArray.from_arrays(pa.array([0, 1_000_000], pa.int32()), texts)
    path = written(tmp_path / "a", table(a=lists), compression="zstd", store_schema=False)
    assert [item.data for item in raw_records(path, "json") if isinstance(item, RawRecord)] == [b""]


def test_no_damage_raises(tmp_path: Path) -> None:
    sample = pa.table(
        {
            "s": ["a", None, "b"] * 50,
            "l": [["a", "b"], [], None] * 50,
            "st": [{"x": 1}, None, {"x": 2}] * 50,
            "ts": pa.array([1, 2, 3] * 50, pa.timestamp("us", "UTC")),
            "d": pa.array([Decimal("1.5")] * 150),
        }
    )
    options: list[dict[str, Any]] = [
        {},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"use_dictionary": False, "compression": "none", "write_page_checksum": True},
    ]
    whole = [
        written(tmp_path / str(n), sample, row_group_size=70, **option).read_bytes()
        for n, option in enumerate(options)
    ]
    draw = random.Random(7)
    path = tmp_path / "damaged"
    outcomes = set()
    for _ in range(150):
        data = bytearray(draw.choice(whole))
        for _ in range(draw.choice((1, 1, 3))):
            data[draw.randrange(4, len(data))] = draw.randrange(256)
        if draw.random() < 0.2:
            start = draw.randrange(4, len(data))
            del data[start : start + draw.randrange(1, 30)]
        path.write_bytes(bytes(data))
        scan(path)
        head(path)
        found = list(raw_records(path, "json"))
        last = found[-1] if found else None
        outcomes.add(last.reason.partition(":")[0] if isinstance(last, Break) else "read")
    assert {"read", "damaged"} <= outcomes


def test_parquet_files_land_as_their_json_would(tmp_path: Path) -> None:
    """A damaged file is named, one whose rows break off keeps those before."""
    folder = tmp_path / "in" / "2026-03-10"
    folder.mkdir(parents=True)
    record = {
        "bucket_name": "example-data", "request_time": "2026-03-10T12:02:01.250Z",
        "remote_ip": "192.0.2.7", "request_id": "", "operation": "REST.GET.OBJECT",
        "key_name": "a", "http_status": 200,
    }  # fmt: skip
    rows = pa.Table.from_pylist([record | {"request_id": f"R{n}"} for n in range(200)])
    whole = written(folder / "a.log", rows, row_group_size=100, compression="none")
    place = parquet_footer.read_footer(whole).row_groups[1].start
    data = bytearray(whole.read_bytes())
    data[place : place + 3] = b"\xff\xff\xff"
    (folder / "b.log").write_bytes(bytes(data))
    (folder / "c.log").write_bytes(whole.read_bytes()[:-1])
    (folder / "d.log").write_bytes(whole.read_bytes())
    settings = zone(tmp_path)
    report = land(settings, Lake(settings.lake_path), FIRST_SEEN)
    assert report.unknown == []
    assert report.same_content == 1
    assert report.records == {
        "record": 302, "accepted": 200, "duplicate": 100, "rejected": 2, "ignored": 0,
    }  # fmt: skip
