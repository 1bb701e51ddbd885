"""Mutate a format's files many times and hold what landing says of them against what is known.

Four laws:

* Every record has one fate, and the counts of the ledger are those of the fates.
* A record that was not touched gives the same row, under the same `record_id`.
* A record that by the rules of its format is still valid is still accepted, and where it says the
  same it gives the same row.
* What is no JSON is no record of a format of JSON. No line disappears, and nothing raises.
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random

import pyarrow as pa

from pipelines.landing.formats import MODULES
from pipelines.landing.readers import PEEKED_LINES
from tests.mutations import changes
from tests.mutations.exports import (
    Piece,
    Read,
    Result,
    Seed,
    is_within,
    line_of,
    path_of,
    plant,
    read,
)
from tests.mutations.json_spans import is_json
from tests.mutations.operators import Operator
from tests.mutations.rules import RULES, Rules, valid_change
from tests.transforms.staging.export_text import CONTEXT

_SEEDS = Path(__file__).with_name("seeds")
FORMATS = tuple(name for name in MODULES if (_SEEDS / f"{name}.py").exists())
SHARE = 3
"""One line in so many is changed."""
BESIDE_TORN = frozenset({"hubble"})
"""Formats of which a whole record is taken that stands on one line with a torn one; which are whole
is proven by the tests of their readers."""
ENOUGH = 4
"""So many untouched lines among the first show that a file is read by lines; of a few lines and a
bracket between them nobody can tell."""


@dataclass
class Report:
    """What many mutations showed.

    Attributes:
        mutations: Changes made.
        valid: Changed records that were accepted before and are valid still.
        refused: Those of them that were not accepted, by change and reason.
        problems: What breaks a law, with what is needed to see it again.
    """

    mutations: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], bytes] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def seeds_of(format_name: str, folder: Path) -> list[Seed]:
    """The files of a format that are as they should be."""
    module = import_module(f"tests.mutations.seeds.{format_name}")
    path = folder / "seed"
    return [plant(path, format_name, data, CONTEXT) for data in module.FILES]


def run(format_name: str, count: int, folder: Path, number: int = 0) -> Report:
    """Make at least `count` mutations of a format's files."""
    report = Report()
    seeds = seeds_of(format_name, folder)
    valid_kept = valid_change(RULES.get(format_name, Rules()))
    while report.mutations.total() < count:
        random = Random(f"{format_name} {number}")
        mutate(seeds[number % len(seeds)], random, valid_kept, folder / "file", report, number)
        number += 1
        if len(report.problems) > 20:
            break
    return report


def mutate(
    seed: Seed, random: Random, valid_kept: Operator, path: Path, report: Report, number: int
) -> None:
    """Make one file of many mutations, read it, and note what breaks a law."""
    pieces = changed(seed, random, valid_kept)
    made = [name for piece in pieces for name in piece.operators]
    text = b"\n".join(piece.data for piece in pieces)
    text += b"\n" * (seed.reading != "document" and random.random() < 0.8)
    if random.random() < 0.05:
        text = b"\xef\xbb\xbf" + text
        made.append("byte_order_mark")
    path.write_bytes(text)
    report.mutations.update(made or ["nothing"])
    try:
        found = read(path, seed.format, seed.context)
        problems = [*found.problems, *_broken_laws(seed, pieces, found, report)]
        if text.strip() and random.random() < 0.2:
            problems += _packed(seed, text, path, found, random, report)
    except Exception as error:  # noqa: BLE001  whatever is raised is what is looked for
        problems = [f"raised {type(error).__name__}: {str(error)[:300]}"]
    report.problems += [f"{seed.format} {number} {sorted(set(made))}: {p}" for p in problems]


def changed(seed: Seed, random: Random, valid_kept: Operator) -> list[Piece]:
    """The lines of a file, or its documents, many of them changed."""
    pieces = [Piece(line, n) for n, line in enumerate(seed.lines, 1)]
    if seed.reading != "lines" and random.random() < 0.25:
        # Damage of a document may reach to its end and into those behind it.
        whole = Piece(seed.data, None, ["$"])
        while not changes.damage_line(whole, random):
            pass
        return [whole]
    # What many changes leave of records that hang together nobody knows.
    is_one = RULES.get(seed.format, Rules()).together is not None and random.random() < 0.6
    if is_one or seed.reading == "document":
        piece = random.choice([p for p in pieces if p.origin in seed.results])
        if random.random() < 0.3:
            changes.change_list(seed, piece, random)
        else:
            for _ in range(1 if is_one else random.randint(1, 6)):
                changes.change_record(seed, piece, random, valid_kept)
        return pieces
    return _changed_lines(seed, pieces, random, valid_kept)


def _changed_lines(
    seed: Seed, pieces: list[Piece], random: Random, valid_kept: Operator
) -> list[Piece]:
    for _ in range(random.randrange(4)):
        pieces = changes.change_lines(seed, pieces, random)
    alone = [p for p in pieces if p.origin in seed.results and p.origin not in seed.joined]
    for piece in random.sample(alone, max(1, len(alone) // SHARE)) if alone else ():
        if "$" in piece.touched or piece.operators:
            continue
        kind = random.random()
        if kind < 0.4 and seed.reading == "lines":
            changes.damage_line(piece, random)
        elif kind < 0.5:
            changes.change_list(seed, piece, random)
        else:
            changes.change_record(seed, piece, random, valid_kept)
    if random.random() < 0.15:
        _damage_together(seed, pieces, random)
    return pieces


def _damage_together(seed: Seed, pieces: list[Piece], random: Random) -> None:
    """Damage a line on which others hang: a header, a piece of a long line."""
    for at, piece in enumerate(pieces):
        is_header = piece.origin is not None and piece.origin not in seed.results
        if piece.origin in seed.joined or (is_header and piece.data.strip()):
            if not changes.damage_line(piece, random):
                return
            for other in pieces[at:] if is_header else pieces:
                if is_header or other.origin in seed.joined:
                    changes.note(other, "$", "with_others", "")
                    other.operators.pop()
            piece.operators.append("damaged_header" if is_header else "damaged_piece")
            return


def _broken_laws(seed: Seed, pieces: Iterable[Piece], found: Read, report: Report) -> list[str]:
    pieces = list(pieces)
    if seed.reading != "lines" and len(pieces) == 1 and pieces[0].touched == ["$", "$"]:
        is_there = found.results or not _holds_something(seed, pieces[0])
        return [] if is_there else ["the document disappeared"]
    by_line: dict[int, list[Result]] = {}
    for result in found.results:
        line = 1 if seed.reading == "document" else line_of(result.locator)
        if line is None:
            first = [p for p in pieces if p.data.strip()][:PEEKED_LINES]
            if sum(not piece.touched for piece in first) < ENOUGH:
                return []
            return [f"a record at {result.locator} of a file of lines: {result.word}"]
        by_line.setdefault(line, []).append(result)
    problems: list[str] = []
    shaken = _shaken(seed, pieces)
    number = 1
    for piece in pieces:
        size = 1 if seed.reading == "document" else piece.data.count(b"\n") + 1
        results = [r for line in range(number, number + size) for r in by_line.get(line, ())]
        problems += _of_piece(seed, piece, results, report, shaken)
        if size == 1 and not results and _holds_something(seed, piece):
            problems.append(f"line {number} disappeared: {piece.data[:200]!r}")
        number += size
    return problems


def _holds_something(seed: Seed, piece: Piece) -> bool:
    """Whether a line must be some record.

    All are but blank lines, headers, empty lists, and the bracket of a list over many lines.
    """
    is_header = piece.origin is not None and piece.origin not in seed.results
    text = piece.data.strip()
    compact = b"".join(text.split())
    return bool(text) and not is_header and not text.startswith(b"#") and not _is_list_only(compact)


def _is_list_only(compact: bytes) -> bool:
    return b"[]" in compact or compact in {b"[", b"]"}


def _shaken(seed: Seed, pieces: list[Piece]) -> Counter[bytes]:
    """How many changes there were to what records have in common that become one row together."""
    shaken: Counter[bytes] = Counter()
    places = [piece.origin for piece in pieces if piece.origin is not None]
    in_order = places == sorted(places)
    for number, results in seed.results.items():
        here = [piece for piece in pieces if piece.origin == number]
        for result in results:
            path = path_of(result.locator)
            common = seed.common(number, path)
            if common is None:
                continue
            if len(here) != 1 or not in_order or (here[0].operators and not here[0].touched):
                shaken[common] += 2
            else:
                shaken[common] += sum(is_within(path, touched) for touched in here[0].touched)
    return shaken


def _of_piece(
    seed: Seed, piece: Piece, results: list[Result], report: Report, shaken: Counter[bytes]
) -> list[str]:
    problems = []
    before = seed.results.get(piece.origin or 0, [])
    if before and "$" in piece.touched and _was_json(before, seed, piece):
        taken = [r for r in results if r.fate == "accepted"]
        is_torn = seed.format in BESIDE_TORN and b'{"' in piece.data
        if taken and not (is_torn or is_json(piece.data)) and b"\n" not in piece.data.strip():
            problems.append(f"accepted what is no JSON: {piece.data[:3000]!r}")
    by_path = {path_of(result.locator): result for result in results}
    for result in before:
        path = path_of(result.locator)
        touched = next((t for t in piece.touched if is_within(path, t)), None)
        renamed = piece.renamed(path)
        if renamed is None:
            continue
        now = by_path.get(renamed)
        common = seed.common(piece.origin or 0, path)
        changes_in_common = shaken[common] if common is not None else 0
        if touched is None and changes_in_common:
            continue
        if touched is None:
            if now is None or not now.same_as(result, _unsure(result)):
                problems.append(f"untouched {result.locator} {path} differs: {result} {now}")
            continue
        oracles = {piece.oracle.get(t, "") for t in piece.touched if is_within(path, t)}
        oracle = "" if "" in oracles or changes_in_common > 1 else max(oracles)
        if oracle:
            problems += _still_valid(piece, oracle, result, now, report)
    return problems


def _was_json(before: list[Result], seed: Seed, piece: Piece) -> bool:
    line = seed.lines[(piece.origin or 1) - 1]
    return any(r.fate == "accepted" for r in before) and is_json(line)


def _unsure(result: Result) -> tuple[str, ...]:
    """Columns that may change with other records.

    A masked line is told by those before it, and a condition of a run counts those before it.
    """
    if any(table == "run_statuses" for table, _ in result.rows):
        return ("ordinal",)
    masked = any(row.get("event_at", 0) is None or row.get("node", 0) is None
                 for table, row in result.rows if table in {"flows", "loss_reports"})  # fmt: skip
    return ("record_id",) if masked else ()


def _still_valid(
    piece: Piece, oracle: str, before: Result, now: Result | None, report: Report
) -> list[str]:
    names = "+".join(sorted(set(piece.operators)))
    if before.fate != "accepted" and before.word != "partial":
        return []
    report.valid[names] += 1
    if now is None or now.fate != before.fate:
        key = (names, now.word if now else "gone")
        report.refused[key] += 1
        report.examples.setdefault(key, piece.data)
        return []
    if oracle == "same" and not now.same_as(before, ("record_id",)):
        return [f"{names}: the same record gives another row: {_difference(before, now)}"]
    return []


def _difference(before: Result, now: Result) -> str:
    if len(before.rows) != len(now.rows):
        return f"{len(before.rows)} rows, then {len(now.rows)}"
    for (_, one), (_, two) in zip(before.rows, now.rows, strict=True):
        for name in one.keys() | two.keys():
            if name != "record_id" and one.get(name) != two.get(name):
                return f"{name}: {one.get(name)!r}, then {two.get(name)!r}"[:400]
    return "order of rows"


def _packed(
    seed: Seed, text: bytes, path: Path, whole: Read, random: Random, report: Report
) -> list[str]:
    """Compress the file, damage the stream, and compare with the uncompressed file."""
    kind = random.choice(("gzip", "zstd"))
    data = gzip.compress(text, 1, mtime=0) if kind == "gzip" else pa.compress(
        text, codec="zstd", asbytes=True
    )  # fmt: skip
    harm = random.choice(("whole", "truncated", "flipped", "checksum"))
    if harm == "truncated":
        data = data[: random.randrange(min(8, len(data) - 1), len(data))]
    elif harm == "flipped":
        at = random.randrange(min(12, len(data) - 1), len(data))
        data = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
    elif harm == "checksum":
        if kind == "zstd":
            return []
        data = data[:-8] + bytes(b ^ 0x0F for b in data[-8:-4]) + data[-4:]
    path.write_bytes(data)
    report.mutations[f"{kind}_{harm}"] += 1
    found = read(path, seed.format, seed.context)
    results = found.results
    if harm == "whole":
        if not _all_same(results, whole.results) or len(results) != len(whole.results):
            return [*found.problems, f"{kind} gives other records than the text"]
        return found.problems
    if harm == "flipped" and (kind == "zstd" or _unharmed(data, text)):
        return found.problems
    if not results or results[-1].fate != "rejected" or not results[-1].locator.startswith("byte"):
        return [*found.problems, f"{kind} {harm}: the break is not told"]
    if harm in {"flipped", "checksum"} and not _is_cut(data):
        # Text before the place where damage shows may be wrong: none of it counts.
        return found.problems if len(results) == 1 else [f"{kind} {harm}: more than the break"]
    if not _all_same(results[:-1], whole.results):
        return [*found.problems, f"{kind} {harm}: what was read before the break differs"]
    return found.problems


def _is_cut(data: bytes) -> bool:
    """Whether a changed stream looks as if it ended early."""
    try:
        gzip.decompress(data)
    except EOFError:
        return True
    except (OSError, zlib.error):
        return False
    return False


def _unharmed(data: bytes, text: bytes) -> bool:
    """Whether a changed stream gives the same text still, as some of its bits say nothing."""
    try:
        return gzip.decompress(data) == text
    except (OSError, EOFError, zlib.error):
        return False


def _all_same(some: list[Result], more: list[Result]) -> bool:
    return all(
        one.locator == two.locator and one.same_as(two)
        for one, two in zip(some, more, strict=False)
    )
