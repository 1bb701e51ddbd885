"""Columns of server access logs give what lines give: rows, refusals, what is ignored, in order."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.registry import table_spec
from tests.transforms.staging.export_text import CONTEXT
from tests.transforms.staging.test_s3_access_log import FIELDS, line
from tests.transforms.staging.test_s3_access_log_json import OF_TABLE, RECORD
from transforms.redaction import redact_name
from transforms.staging import line_columns
from transforms.staging.line_blocks import TextBlock
from transforms.staging.line_columns import parse_lines
from transforms.staging.parser import Parsed, RawRecord
from transforms.staging.plain_names import are_canonical_ipv4, are_plain
from transforms.staging.s3_access_log import PARSER
from transforms.staging.s3_columns import S3Lines
from transforms.staging.values import canonical_address

FILE_ID = "f" * 32
SCHEMA = table_spec("object_requests").arrow_schema
TOKEN = "ghp_" + "a1B2" * 9


def blocks_of(data: bytes, size: int) -> list[TextBlock | Parsed]:
    """The text in blocks of whole lines of about so many bytes."""
    found: list[TextBlock | Parsed] = []
    start, number = 0, 1
    while start < len(data):
        end = data.find(b"\n", min(len(data) - 1, start + size)) + 1 or len(data)
        block = data[start:end]
        found.append(TextBlock(number, block.count(b"\n"), start, block))
        number += block.count(b"\n")
        start = end
    return found


def by_lines(data: bytes, **context: Any) -> tuple[list[dict[str, Any]], list[Any], Counter[str]]:
    records, offset = [], 0
    for number, text in enumerate(data.split(b"\n"), 1):
        if text.strip():
            records.append(RawRecord(f"line {number}", offset, text.rstrip(b"\r")))
        offset += len(text) + 1
    rows, rejects, ignored = [], [], Counter[str]()
    for index, parsed in enumerate(PARSER.parse(iter(records), replace(CONTEXT, **context))):
        if parsed.reject is not None:
            rejects.append((index, parsed.locator, parsed.offset, parsed.raw, parsed.reject))
        elif parsed.ignore is not None:
            ignored[parsed.ignore] += 1
        rows += [
            {
                "export_file_id": FILE_ID, "record_index": index, "row_index": n,
                "source_format": "s3_access_log", "cluster": CONTEXT.cluster, **values,
            }
            for n, (_, values) in enumerate(parsed.rows)
        ]  # fmt: skip
    return rows, rejects, ignored


def by_columns(
    data: bytes, size: int, **context: Any
) -> tuple[list[dict[str, Any]], list[Any], Counter[str], int]:
    tables, rejects, ignored, count, accepted = [], [], Counter[str](), 0, 0
    known = replace(CONTEXT, **context)
    for batch in parse_lines(blocks_of(data, size), known, S3Lines(known), export_file_id=FILE_ID):
        assert set(batch.tables) <= {"object_requests"}
        assert batch.record_count == (
            batch.accepted_count + len(batch.rejects) + sum(batch.ignored.values())
        )
        tables += [table.cast(SCHEMA) for table in batch.tables.values()]
        rejects += [(i, p.locator, p.offset, p.raw, p.reject) for i, p in batch.rejects]
        ignored.update(batch.ignored)
        count += batch.record_count
        accepted += batch.accepted_count
    rows = pa.concat_tables(tables).to_pylist() if tables else []
    assert accepted == len(rows)
    return rows, rejects, ignored, count


def check(data: bytes, size: int = 1 << 20, **context: Any) -> tuple[int, int]:
    """See that both give the same; returns accepted and refused records."""
    rows, rejects, ignored = by_lines(data, **context)
    found, found_rejects, found_ignored, count = by_columns(data, size, **context)
    names = SCHEMA.names
    assert found == [{name: row.get(name) for name in names} for row in rows]
    assert found_rejects == rejects
    assert found_ignored == ignored
    assert count == len(rows) + len(rejects) + sum(ignored.values())
    return len(rows), len(rejects)


KINDS = [
    {}, {"status": "206"}, {"status": "404", "error": "NoSuchKey", "sent": "272", "size": "-"},
    {"status": "-"}, {"status": "99"}, {"status": "1000"}, {"status": "20x"}, {"error": TOKEN},
    {"address": "-"}, {"address": "2001:DB8::1"}, {"address": "::ffff:192.0.2.1"},
    {"address": "010.0.0.1"}, {"address": "1.2.3.4.5"}, {"address": "256.1.1.1"},
    {"requester": "-"}, {"requester": "AmazonS3"}, {"requester": FIELDS["owner"]},
    {"requester": f"arn:aws:iam::111122223333:user/{TOKEN}"},
    {"owner": "-"}, {"bucket": "-"}, {"bucket": TOKEN}, {"request_id": "-"},
    {"request_id": "LTAIABCDEFGHIJKL"}, {"request_id": "a b"}, {"request_id": TOKEN},
    {"time": "[10/Mar/2026:12:02:61 +0000]"}, {"time": "[10/Mar/2026:12:02:01 +0100]"},
    {"time": "[31/Dec/2016:23:59:60 +0000]"}, {"time": "[10/XXX/2026:12:02:01 +0000]"},
    {"time": "10/Mar/2026:12:02:01 +0000"}, {"time": "[- -]"},
    {"operation": "-"}, {"operation": "REST.HEAD.OBJECT"}, {"operation": "GET OBJECT"},
    {"operation": "x"}, {"operation": "REST.PUT.PART"}, {"operation": "REST.GET.BUCKET"},
    {"operation": "REST.COPY.OBJECT_GET", "uri": '"-"'}, {"operation": "REST.COPY.PART_GET"},
    {"operation": "REST.COPY.OBJECT_GET", "key": "-"},
    {"operation": "REST.COPY.OBJECT_GET", "key": "a%2520b", "bucket": "-"},
    {"operation": "BATCH.DELETE.OBJECT", "key": "a+b%2Bc"},
    {"operation": "BATCH.DELETE.OBJECT", "key": "a", "uri": "-", "referer": "-", "agent": "-",
     "status": "204", "sent": "-", "total": "-", "turn": "-"},
    *(
        {"operation": "BATCH.DELETE.OBJECT", "uri": "-", "referer": "-", "agent": "-"} | more
        for more in (
            {"key": "a%2Bb"}, {"status": "0200"}, {"status": "2x4"}, {"referer": "x"},
            {"uri": "x"}, {"agent": "x"}, {"acl": "-  "}, {"address": " 10.0.0.1"},
            {"sent": "007"}, {"total": "-3"}, {"version": "v.1"}, {"key": "ü"}, {"acl": "- x y"},
        )
    ),
    {"status": "0200"},
    {"operation": "S3.EXPIRE.OBJECT", "key": "a%253Db", "uri": '"-"', "agent": '"-"'},
    {"key": "-"}, {"key": "year%253D2026/a"}, {"key": "a%252"}, {"key": "a%25FFb"},
    {"key": f"x/{TOKEN}"}, {"key": "token=abcdefghijklmnopqrstuvwxyz"}, {"key": "ü"},
    {"key": "a:b//c=d"}, {"key": "100%"},
    {"uri": '"GET"'}, {"uri": '""'}, {"uri": '"-"'}, {"uri": "-"}, {"uri": '"get /a HTTP/1.1"'},
    {"uri": '"PATCH /a HTTP/1.1"'}, {"uri": '"GETX /a HTTP/1.1"'}, {"uri": '" GET /a"'},
    {"uri": '"GET /a?partNumber=2&uploadId=abc.def HTTP/1.1"', "operation": "REST.PUT.PART"},
    {"uri": '"GET /a?partNumber=0 HTTP/1.1"'}, {"uri": '"GET /a?partNumber=1&partNumber=2 HTTP/1"'},
    {"uri": '"GET /a HTTP/1.1?partNumber=2"'}, {"uri": '"GET /a?partNumber=2"'},
    {"uri": f'"GET /a?uploadId={TOKEN} HTTP/1.1"'},
    {"uri": '"GET /a?X-Amz-Credential=AKIAFAKE%2F20260310 HTTP/1.1"',
     "authentication": "QueryString"},
    {"uri": '"GET /a?X-Amz-Credential=AKIAFAKE%2F20260310 HTTP/1.1"',
     "authentication": "QueryString", "requester": "-"},
    {"uri": '"GET /a?AWSAccessKeyId=AKIAFAKE HTTP/1.1"'},
    {"uri": '"GET /a b?x c HTTP/1.1"'}, {"uri": '"GET /a?filename="x y" HTTP/1.1"'},
    {"sent": "-"}, {"sent": "x"}, {"sent": "9223372036854775807"}, {"sent": "9223372036854775808"},
    {"sent": "-5"}, {"size": "007"}, {"total": "-3"}, {"total": "604800000"},
    {"total": "604800001"}, {"total": "99999999999999999"}, {"turn": "1.5"}, {"turn": "-"},
    {"agent": '"-"'}, {"agent": '""'}, {"agent": "-"}, {"agent": f'"x {TOKEN}"'},
    {"agent": '"a "b" c"'}, {"agent": '"app/one app/two"'}, {"agent": '"a  b"'},
    {"agent": '"curl/8.5 \\"quoted\\""'}, {"referer": '"https://x/?sig=FAKE"'}, {"referer": "-"},
    {"referer": '"a" "b"'}, {"version": "-"}, {"version": "a=b"}, {"version": TOKEN},
    {"authentication": "-"}, {"authentication": "a-b"},
    {"host": "-"}, {"host": "s3.amazonaws.com"}, {"host": "Example.S3.us-east-1.amazonaws.com:443"},
    {"host": "x_y!"}, {"host": "vpce-0123456789abcdef0-abcd.s3.us-east-1.vpce.amazonaws.com"},
    {"host": FIELDS["host"], "status": "301"}, {"host": FIELDS["host"], "status": "400"},
    {"access_point": "arn:aws:s3:eu-central-1:111122223333:accesspoint/a", "host": "-"},
    {"access_point": "arn:aws:s3:eu-central-1:111122223333:accesspoint/a"},
    {"access_point": "nonsense"}, {"acl": "Yes"}, {"acl": "- us-east-1"},
    {"acl": "- us-east-1 x y"},
    {"acl": "-  "}, {"acl": "-  x"}, {"acl": "-\r"}, {"acl": "-\r\r"}, {"acl": "- \r"},
    {"host_id": "a\x00b"}, {"address": " 10.0.0.1"}, {"address": "10.0.0.1 "}, {"owner": ""},
    {"agent": f'"{"x" * 70_000}"'}, {"key": "k" * 59_000},
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 1_000, 1 << 20])
def test_every_kind_of_line_has_one_reading(size: int) -> None:
    texts = [line(**kind) for kind in KINDS]
    texts += [line(request_id=f"R{n}", total=str(n)) for n in range(50)]
    for count in (1, 5, 17, 18, 19, 24, 25, 26):
        texts.append(" ".join(list(FIELDS.values())[:count]))
    texts += [
        "",
        "  ",
        "\t",
        "\x0b\x0c",
        '"',
        '"' * 6,
        '"" "" ""',
        "free text",
        "{}",
        "[]",
        "[1,2]",
    ]
    texts += [json.dumps(record) for record in (RECORD, OF_TABLE, [RECORD, 5])]
    accepted, refused = check("\n".join(texts).encode(), size)
    assert accepted > 130
    assert refused > 30


def test_neighbours_of_odd_lines_stay_as_they_are() -> None:
    for kind in KINDS:
        data = "\n".join([line(), line(**kind), line(request_id="NEXT"), line(**kind)]).encode()
        check(data)
        check(data + b"\n")


@pytest.mark.parametrize("context", [{"region": "eu-north-1"}, {"cluster": None}])
def test_what_is_known_of_the_file_is_used(context: dict[str, Any]) -> None:
    texts = [line(), line(host="-"), line(host=FIELDS["host"], status="301")]
    rows, _, _ = by_lines("\n".join(texts).encode(), **context)
    found, _, _, _ = by_columns("\n".join(texts).encode(), 1, **context)
    assert [r["bucket_region"] for r in found] == [r["bucket_region"] for r in rows]
    assert {row["cluster"] for row in found} == {context.get("cluster", CONTEXT.cluster)}


def test_what_the_reader_of_the_file_refuses_keeps_its_place() -> None:
    text = f"{line()}\n".encode()
    refused = Parsed("line 2", len(text), b"", reject="line_too_long: expected less")
    blocks = [TextBlock(1, 1, 0, text), refused, TextBlock(3, 1, 2 * len(text), text)]
    batches = list(parse_lines(blocks, CONTEXT, S3Lines(CONTEXT), export_file_id=FILE_ID))
    assert [(b.record_count, b.accepted_count) for b in batches] == [(1, 1), (1, 0), (1, 1)]
    assert batches[1].rejects == [(1, refused)]
    assert batches[2].tables["object_requests"]["record_index"].to_pylist() == [2]


def test_good_lines_are_read_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_lines(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(line_columns._Reader, "_raw", no_lines)
    data = "\n".join(line(request_id=f"R{n}", key=f"a/{n}.tar") for n in range(2_000)).encode()
    _, _, _, count = by_columns(data, 1 << 20)
    assert count == 2_000


ODD_TEXT = st.text(
    st.sampled_from('abAB019 -"%?=&/:[]\\\r\té\x00') | st.characters(codec="utf-8"), max_size=12
)


@settings(max_examples=15)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(list(FIELDS)), ODD_TEXT, max_size=3)
        | st.sampled_from(KINDS),
        min_size=20,
        max_size=60,
    ),
    st.sampled_from([1, 3_000, 1 << 20]),
)
def test_any_text_in_any_field_has_one_reading(kinds: list[dict[str, str]], size: int) -> None:
    texts = [line(**kind).replace("\n", "") for kind in kinds]
    check("\n".join(texts).encode("utf-8", "surrogatepass"), size)


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.integers(0, 20_000), st.integers(0, 40), st.binary(max_size=6)), max_size=12
    ),
    st.sampled_from([1, 3_000, 1 << 20]),
)
def test_any_damage_has_one_reading(cuts: list[tuple[int, int, bytes]], size: int) -> None:
    data = bytearray("\n".join(line(request_id=f"R{n}") for n in range(40)).encode())
    for at, length, new in cuts:
        data[at % len(data) : at % len(data) + length] = new
    text = bytes(data)
    check(text.removeprefix(b"\xef\xbb\xbf"), size)


PIECES = ["ghp_", "sk-", "hf_", "AKIA", "LTAI", "eyJ", "dapi", "SG.", "hooks.slack.com/", "A" * 16,
          "a1B2" * 10, "0" * 32, "-", "_", "/", ".", "x", "token", "key", "basic", "@", "1//0",
          "/api/webhooks/", "-u", "pass", "GOOG1", "bearer", "ya29.", "xoxb-"]  # fmt: skip


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map("".join), min_size=20))
def test_what_is_plain_is_left_alone_by_redaction(names: list[str]) -> None:
    plain = are_plain(pl.Series(names)).to_list()
    assert [redact_name(n) for n, is_plain in zip(names, plain, strict=True) if is_plain] == [
        n for n, is_plain in zip(names, plain, strict=True) if is_plain
    ]


def test_usual_names_are_plain_and_tokens_are_not() -> None:
    usual = ["train/shard-000001.tar", "6NTNFZKAGUI7VK7X", "a" * 64, "task-1/data-users/x_y.z"]
    assert are_plain(pl.Series(usual)).all()
    odd = [TOKEN, f"x/{TOKEN}", "a=b", "a%20b", "a b", "LTAIABCDEFGHIJKL", "ü", "AKIA" + "A" * 16]
    assert not are_plain(pl.Series(odd)).any()


@settings(max_examples=30)
@given(st.lists(st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", fullmatch=True), min_size=10))
def test_what_is_a_plain_address_is_canonical(texts: list[str]) -> None:
    plain = are_canonical_ipv4(pl.Series(texts)).to_list()
    assert plain == [canonical_address(text) == text for text in texts]
