"""What a parser is: records in, rows or reasons out.

A reader (in `pipelines`) opens, decompresses and cuts a file into raw records; a parser says for
each record what it is: accepted with rows, rejected with a reason, or ignored with a reason. A
parser never raises on bad input and never drops a record silently, so that
`record_count = accepted + duplicate + rejected + ignored` holds by construction.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, NamedTuple

from transforms.redaction import KeyedHash

Shape = Literal["lines", "json"]
"""How a reader cuts a file.

`lines`: one raw record per non-blank line. `json`: one raw record per line where the first line is
a whole JSON value or does not begin with a bracket, else the whole file is one raw record with
locator `$`.
"""

Row = tuple[str, dict[str, Any]]
"""Table name and values by column; provenance columns except `record_id` are filled by landing."""


class Wrapper(NamedTuple):
    """What a container runtime, a log shipper or a log store said of the record in it.

    Attributes:
        at: Time that it states, in UTC; where wrappers are nested, that of the innermost.
        written: The same time as it is written there.
        nanoseconds: The same time as whole nanoseconds since 1970, for the identity of a record
            that has no time of its own.
        node: Node.
        namespace: Namespace of the pod that wrote the record.
        pod_name: Name of that pod.
        pod_uid: UID of that pod, dashed.
        container: Name of the container.
        stream: `stdout` or `stderr`.
    """

    at: datetime | None = None
    written: str | None = None
    nanoseconds: int | None = None
    node: str | None = None
    namespace: str | None = None
    pod_name: str | None = None
    pod_uid: str | None = None
    container: str | None = None
    stream: str | None = None


class RawRecord(NamedTuple):
    """A piece of a file, before parsing.

    Attributes:
        locator: `line N` from 1, `$` for a whole JSON document; for one of several records that
            stood in one wrapper the JSON path in it, behind `line N ` if the wrapper is a line.
        offset: Byte offset of its first byte in the decompressed text; of a record in wrappers that
            of the line, or of the part of the outermost wrapper that holds it.
        data: The bytes, without the line end and without wrappers.
        wrapper: What the wrappers said that were taken off; none where there was none.
    """

    locator: str
    offset: int
    data: bytes
    wrapper: Wrapper | None = None


class Place(NamedTuple):
    """The place at which a record could not be read.

    Attributes:
        raw: Bytes around it, as they may be shown (landing redacts them).
        at: Its position in them.
    """

    raw: bytes
    at: int


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one record turned out to be; exactly one of rows, reject and ignore says so.

    Attributes:
        locator: Where it stands; for a part of a JSON document the JSON path, such as
            `$.items[3]`, behind `line N ` if the document is a line.
        offset: Byte offset in the decompressed text; null for a part of a document.
        data: The bytes of the record, or what of them may be shown.
        rows: Rows of an accepted record; every row's values hold `record_id`.
        reject: `word: what was expected and what stood there` (names no secret).
        ignore: Why a record of this kind is not used, one word.
        find_place: Finds where a rejected record breaks; called only where that is shown.
        conceal: Takes out of the bytes what no excerpt may hold; called only where one is cut.
    """

    locator: str
    offset: int | None
    data: bytes
    rows: tuple[Row, ...] = ()
    reject: str | None = None
    ignore: str | None = None
    find_place: Callable[[], Place | None] | None = field(default=None, compare=False)
    conceal: Callable[[bytes], bytes] | None = field(default=None, compare=False)

    @property
    def raw(self) -> bytes:
        """The bytes that an excerpt is cut from (landing redacts it)."""
        return self.data if self.conceal is None else self.conceal(self.data)

    @property
    def place(self) -> Place | None:
        """Where a rejected record breaks; none where that is not known."""
        return None if self.find_place is None else self.find_place()


@dataclass(frozen=True)
class CounterFacts:
    """What the settings declare of the counters of an export.

    Attributes:
        bits: Width after which they begin at 0 again; none if they never do.
        link_bits_per_second: Speed of the fastest interface.
        expires_after: Seconds without growth after which the exporter forgets a counter.
    """

    bits: int | None = None
    link_bits_per_second: int | None = None
    expires_after: int | None = None

    @property
    def columns(self) -> dict[str, int | None]:
        """Columns of `counter_samples`."""
        return {
            "counter_bits": self.bits,
            "link_bits_per_second": self.link_bits_per_second,
            "expires_after_seconds": self.expires_after,
        }


@dataclass(frozen=True)
class FileContext:
    """What is known of a file beside its content.

    Attributes:
        export: Name of the export in the settings.
        path: Path of the file, for names in it; never a credential.
        cluster: Cluster, none for scope fleet.
        node: Node in the path.
        project: Polyaxon project in the path.
        region: Region that the settings state for the export.
        landing_date: Day in the path, else the day first seen.
        path_at: Hour or day in the path as an instant, for states without a time of their own.
        record_format: The `record_format` setting: header of a header-less file, custom log line.
        temporality: The `temporality` setting, if any.
        key_hash: Keyed hash for access key ids.
        counters: The `counters` setting.
        read_again: Reads the file's records from their beginning, for what stands behind the
            records that it is about; none where a file can be read only once.
    """

    export: str
    path: str
    cluster: str | None
    node: str | None
    project: str | None
    region: str | None
    landing_date: date
    path_at: datetime | None
    record_format: str | None
    temporality: str | None
    key_hash: KeyedHash
    counters: CounterFacts = CounterFacts()
    read_again: Callable[[], Iterable[RawRecord]] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Recognition:
    """How surely a head of a file is of a format.

    Attributes:
        score: 0 not this format; 1 may be; 2 is, by its structure; 3 is, by a unique mark.
        variant: What exactly it is, for people, such as `ExportEvent lines`.
    """

    score: int
    variant: str = ""


@dataclass(frozen=True)
class Parser:
    """One format.

    Attributes:
        name: Module name and the `format` of the settings.
        title: Name for people.
        tables: Staging tables that it fills.
        shape: How a reader cuts its files.
        record: What one record is, in words.
        cannot_tell: What this format never says, for README's table.
        recognise: Judge the first bytes of a file (at most 64 KiB of decompressed text, which may
            end inside a line) by content alone.
        parse: Parse raw records in order; yields one `Parsed` per record, in source order.
        tested_on: `real` lines that somebody's system wrote, or lines `constructed` from the schema
            that the format's own documentation publishes.
        needs_record_format: Header-less files need the `record_format` setting.
        expected_form: Says of a `record_format` what is expected in its place, or nothing where it
            is right; none where the format takes no such setting.
        reads_path: What its files say depends on their path: when a state was seen, of which run.
            Equal contents under two paths are then two statements, and both are read.
        version: Raised when equal files give other rows, so that `status` names the files that an
            earlier version read.
    """

    name: str
    title: str
    tables: tuple[str, ...]
    shape: Shape
    record: str
    cannot_tell: str
    recognise: Callable[[bytes], Recognition]
    parse: Callable[[Iterable[RawRecord], FileContext], Iterator[Parsed]]
    tested_on: Literal["real", "constructed"] = "constructed"
    needs_record_format: bool = False
    expected_form: Callable[[str], str | None] | None = None
    optional_columns: tuple[str, ...] = field(default=())
    reads_path: bool = False
    version: int = 1


def rejected(raw: RawRecord, reason: str) -> Parsed:
    """Refuse a whole raw record."""
    return Parsed(raw.locator, raw.offset, raw.data, reject=reason)


def ignored(raw: RawRecord, reason: str) -> Parsed:
    """Leave a whole raw record out, by rule."""
    return Parsed(raw.locator, raw.offset, raw.data, ignore=reason)


def accepted(raw: RawRecord, *rows: Row) -> Parsed:
    """Accept a whole raw record."""
    return Parsed(raw.locator, raw.offset, raw.data, rows=rows)
