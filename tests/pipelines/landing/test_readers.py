"""Reading is checked: what cannot be read to its end says so, and nothing before it is lost."""

import gzip
import hashlib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.landing import readers
from pipelines.landing.readers import Break, damage_of, head, raw_records, scan
from transforms.staging.parser import RawRecord

LINES = [f"line {n} {'x' * (n % 50)}".encode() for n in range(20_000)]
TEXT = b"\n".join(LINES) + b"\n"


def compress(kind: str, data: bytes) -> bytes:
    if kind == "gz":
        return gzip.compress(data, mtime=0)
    if kind == "zst":
        return pa.compress(data, codec="zstd", asbytes=True)
    return data


@pytest.mark.parametrize("kind", ["plain", "gz", "zst"])
def test_lines_come_with_number_and_offset(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "export"
    path.write_bytes(compress(kind, TEXT))
    records = list(raw_records(path, "lines"))
    assert [r.data for r in records if isinstance(r, RawRecord)] == LINES
    for record in (records[0], records[12_345]):
        assert isinstance(record, RawRecord)
        assert TEXT[record.offset :].startswith(record.data + b"\n")
    assert records[-1] == RawRecord("line 20000", len(TEXT) - len(LINES[-1]) - 1, LINES[-1])


@pytest.mark.parametrize("kind", ["plain", "gz", "zst"])
def test_scan_hashes_the_text_whatever_the_compression(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "export"
    path.write_bytes(compress(kind, TEXT))
    found = scan(path, [10, 100_000, len(TEXT), len(TEXT) + 5])
    assert found.content_hash == hashlib.sha256(TEXT).hexdigest()
    assert found.text_bytes == len(TEXT)
    assert found.broken is None
    assert found.prefixes == (
        (10, hashlib.sha256(TEXT[:10]).hexdigest()),
        (100_000, hashlib.sha256(TEXT[:100_000]).hexdigest()),
    )


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_truncated_stream_keeps_whole_lines_and_ends_in_a_break(
    tmp_path: Path, kind: str
) -> None:
    packed = compress(kind, TEXT)
    path = tmp_path / "export"
    path.write_bytes(packed[: len(packed) // 2])
    *records, last = raw_records(path, "lines")
    assert isinstance(last, Break)
    assert last.reason.startswith("truncated: ")
    kept = [r.data for r in records if isinstance(r, RawRecord)]
    assert kept == LINES[: len(kept)]
    assert scan(path).broken is not None


def test_a_wrong_gzip_checksum_is_a_break(tmp_path: Path) -> None:
    packed = bytearray(compress("gz", TEXT))
    packed[-8] ^= 0xFF
    path = tmp_path / "export"
    path.write_bytes(bytes(packed))
    broken = scan(path).broken
    assert broken is not None
    assert broken.reason == "checksum: expected the checksum in the stream, got another one"
    assert len(TEXT) - readers.PIECE <= broken.offset <= len(TEXT)
    assert broken.is_damage
    assert damage_of(path) == broken


def test_the_content_of_a_damaged_stream_is_its_stored_bytes(tmp_path: Path) -> None:
    packed = bytearray(compress("gz", TEXT))
    packed[-8] ^= 0xFF
    (tmp_path / "damaged").write_bytes(bytes(packed))
    (tmp_path / "whole").write_bytes(compress("gz", TEXT))
    damaged, whole = scan(tmp_path / "damaged"), scan(tmp_path / "whole", [100])
    assert damaged.content_hash == hashlib.sha256(bytes(packed)).hexdigest()
    assert whole.content_hash == hashlib.sha256(TEXT).hexdigest()
    assert (damaged.prefixes, damage_of(tmp_path / "whole")) == ((), None)


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_truncated_or_plain_file_is_not_damaged_inside(tmp_path: Path, kind: str) -> None:
    (tmp_path / "cut").write_bytes(compress(kind, TEXT)[:-20])
    (tmp_path / "plain").write_bytes(TEXT)
    assert damage_of(tmp_path / "cut") is None
    assert damage_of(tmp_path / "plain") is None


def test_a_bomb_stops_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "RATIO_FLOOR", 1 << 20)
    monkeypatch.setattr(readers, "MAX_RATIO", 100)
    path = tmp_path / "export"
    path.write_bytes(bomb())
    found = scan(path)
    assert found.broken is not None
    assert found.broken.reason.startswith("too_compressed: ")
    assert found.text_bytes < 8 << 20


def bomb() -> bytes:
    return gzip.compress(b"\0" * (16 << 20))


def test_a_huge_line_is_skipped_and_its_neighbours_survive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "MAX_LINE_BYTES", 1000)
    text = b"first\n" + b"x" * (3 << 20) + b"\nlast\n"
    path = tmp_path / "export"
    path.write_bytes(text)
    assert list(raw_records(path, "lines")) == [
        RawRecord("line 1", 0, b"first"),
        RawRecord("line 2", 6, b""),
        RawRecord("line 3", text.index(b"last"), b"last"),
    ]


@given(st.lists(st.sampled_from([b"", b" ", b"a", b"bb\r", b"\r", b"\xff"]), max_size=30))
def test_blank_lines_are_no_records_and_offsets_hold(tmp_path_factory, parts: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("readers") / "export"
    text = b"\n".join(parts)
    path.write_bytes(text)
    records = [r for r in raw_records(path, "lines") if isinstance(r, RawRecord)]
    assert [r.data for r in records] == [p.rstrip(b"\r") for p in parts if p.strip()]
    for record in records:
        assert text[record.offset :].startswith(record.data)


@pytest.mark.parametrize(
    ("text", "locators"),
    [
        (b'{"a":1}\n{"b":2}\n', ["line 1", "line 2"]),
        (b'{"a":1}', ["line 1"]),
        (b'{\n  "a": 1\n}\n', ["$"]),
        (b"[1,\n2]", ["$"]),
        (b'{"broken":}\n{"b":2}\n', ["line 1", "line 2"]),
        (b"\n\n", []),
        (b"\xef\xbb\xbf{\n}", ["$"]),
        (b'# text\n{"b":2}\n', ["line 1", "line 2"]),
        (b'"text"\n\n5\n', ["line 1", "line 3"]),
    ],
)
def test_json_is_cut_by_lines_or_kept_whole(
    tmp_path: Path, text: bytes, locators: list[str]
) -> None:
    path = tmp_path / "export"
    path.write_bytes(text)
    found = [r.locator for r in raw_records(path, "json") if isinstance(r, RawRecord)]
    assert found == locators


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(b"")
    assert list(raw_records(path, "lines")) == []
    assert head(path) == b""


@pytest.mark.parametrize("shape", ["lines", "json"])
def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "export"
    path.write_bytes(b'\xef\xbb\xbf{"a":1}\n{"a":2}\n')
    assert list(raw_records(path, shape)) == [
        RawRecord("line 1", 3, b'{"a":1}'),
        RawRecord("line 2", 11, b'{"a":2}'),
    ]


@pytest.mark.parametrize(
    ("text", "is_by_lines"),
    [
        (b'{"a":[1,2\n{"a":2}\n', True),
        (b'{"a":1,\n{"a":2}\n{"a":3}\n', True),
        (b'[[[[\n{"a":2}\n{"a":3}\n', True),
        (b'{\n"a":\n{"b":1},\n"c":\n[]\n}\n', False),
        (b'[\n{"a":1},\n{"a":2}\n]\n', False),
        (b'{"items":[\n{"a":1}\n]}\n', False),
        (b'{__name__="up", job="a"} 1 0\n{__name__="up", job="a"} 1 5\n', True),
        (b'{"a":\n{__name__="up"} 1 0\n', True),
        (b'[[[[\n# HELP up x\nup{job="a"} 1\n', True),
        (b"[[[[\n1.0;2026-03-10;GetBlob\n1.0;2026-03-10;PutBlob\n", True),
        (b'[\n1,\n-2.5e3,\n"a",\ntrue,\nnull\n]\n', False),
        (b'{\n"a": 1,\ngarbage\n"b": 2\n}\n', False),
    ],
)
def test_lines_behind_a_damaged_first_line_tell_how_a_file_is_read(
    tmp_path: Path, text: bytes, is_by_lines: bool
) -> None:
    path = tmp_path / "export"
    path.write_bytes(text)
    locators = [record.locator for record in raw_records(path, "json")]
    assert (locators[0] == "line 1") is is_by_lines
    assert (locators == ["$"]) is not is_by_lines


def test_a_byte_order_mark_is_no_part_of_a_document(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(b"\xef\xbb\xbf\n{\n}\n")
    assert list(raw_records(path, "json")) == [RawRecord("$", 3, b"\n{\n}\n")]
