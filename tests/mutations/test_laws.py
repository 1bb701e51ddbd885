"""The laws find what they are for: parsers with a planted fault do not pass."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from pipelines.landing.formats import parsers
from tests.mutations import suite
from transforms.staging.parser import FileContext, Parsed, RawRecord

FORMAT = "route53"
Fault = Callable[[RawRecord, Parsed], Iterator[Parsed]]


def raises(raw: RawRecord, parsed: Parsed) -> Iterator[Parsed]:
    if b"\x00" in raw.data:
        raise ValueError
    yield parsed


def loses_what_it_refuses(_raw: RawRecord, parsed: Parsed) -> Iterator[Parsed]:
    if parsed.reject is None:
        yield parsed


def says_nothing_of_some(raw: RawRecord, parsed: Parsed) -> Iterator[Parsed]:
    yield replace(parsed, rows=(), reject=None) if raw.data[-1:] not in b"}]" else parsed


def refuses_unknown_keys(raw: RawRecord, parsed: Parsed) -> Iterator[Parsed]:
    is_known = b"xUnknownKey9" not in raw.data
    yield parsed if is_known else replace(parsed, rows=(), reject="key: expected known ones")


def reads_numbers_that_json_does_not_know(raw: RawRecord, parsed: Parsed) -> Iterator[Parsed]:
    if raw.data[-1:] not in b"}]" and parsed.reject:
        yield replace(parsed, rows=(("dns_lookups", {"record_id": "x"}),), reject=None)
    else:
        yield parsed


def goes_by_the_number_of_the_line(raw: RawRecord, parsed: Parsed) -> Iterator[Parsed]:
    rows = tuple((table, row | {"record_id": raw.locator}) for table, row in parsed.rows)
    yield replace(parsed, rows=rows)


def goes_by_the_layout(raw: RawRecord, parsed: Parsed) -> Iterator[Parsed]:
    size = str(len(raw.data))
    rows = tuple(
        (table, row | {"client_pod_name": size} if table == "dns_lookups" else row)
        for table, row in parsed.rows
    )
    yield replace(parsed, rows=rows)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (raises, "raised ValueError"),
        (loses_what_it_refuses, "disappeared"),
        (says_nothing_of_some, "rows, reject, ignore"),
        (reads_numbers_that_json_does_not_know, "reject|not_representable|accepted what"),
        (goes_by_the_number_of_the_line, "untouched"),
        (goes_by_the_layout, "the same record gives another row: client_pod_name"),
    ],
)
def test_a_faulty_parser_breaks_a_law(tmp_path: Path, fault: Fault, message: str) -> None:
    found = run(fault, tmp_path)
    assert any(part in problem for problem in found.problems for part in message.split("|"))


def test_a_parser_without_a_fault_breaks_none(tmp_path: Path) -> None:
    found = run(lambda _, parsed: iter((parsed,)), tmp_path)
    assert found.problems == []
    assert not found.refused


def test_a_parser_that_refuses_what_is_valid_is_counted(tmp_path: Path) -> None:
    found = run(refuses_unknown_keys, tmp_path)
    assert found.refused.total() > 0.05 * found.valid.total()


def run(fault: Fault, folder: Path) -> suite.Report:
    parser = parsers()[FORMAT]

    def parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
        for raw in records:
            for parsed in parser.parse([raw], context):
                yield from fault(raw, parsed)

    with mock.patch.dict(parsers(), {FORMAT: replace(parser, parse=parse)}):
        return suite.run(FORMAT, 300, folder)
