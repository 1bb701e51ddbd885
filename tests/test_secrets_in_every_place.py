"""No place of any format lets a secret out, and what stands beside it stays where it is kept."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from pipelines.landing.formats import format_names, parsers
from pipelines.landing.parsing import parse_records
from tests.canaries.every_place import PlantedFile, planted_files, planted_formats
from tests.canaries.planter import Planter
from tests.canaries.search import leaks
from tests.transforms.staging.export_text import CONTEXT
from transforms.redaction import excerpt, excerpt_around, redact
from transforms.staging.parser import Parsed

SHAPES = set(Planter.shape_names())


def rows_of(found: Iterable[Parsed]) -> str:
    """Rows as they are stored."""
    return json.dumps([parsed.rows for parsed in found], default=str, ensure_ascii=False)


def shown_of(found: Iterable[Parsed]) -> str:
    """What landing and `check` show of refused records."""
    parts = []
    for parsed in found:
        if parsed.reject is not None:
            parts += (redact(parsed.reject), excerpt(parsed.raw))
            if parsed.place is not None:
                parts.append(excerpt_around(*parsed.place)[0])
        parts += (parsed.locator, parsed.ignore or "")
    return "\n".join(parts)


def read(folder: Path, planted: PlantedFile, text: str) -> list[Parsed]:
    path = folder / f"{planted.format}-{planted.number}"
    path.write_text(text, encoding="utf-8")
    return list(parse_records(path, parsers()[planted.format], CONTEXT))


def test_every_format_has_canaries() -> None:
    assert planted_formats() == format_names()


@pytest.mark.parametrize("fully", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", planted_formats())
def test_no_place_of_a_format_lets_a_secret_out(tmp_path: Path, name: str, fully: bool) -> None:
    planter = Planter()
    written: dict[str, str] = {}
    lost: list[str] = []
    shapes: set[str] = set()
    for planted in planted_files(name, planter, fully=fully):
        shapes |= planted.shapes
        found = read(tmp_path, planted, planted.text)
        rows = rows_of(found)
        written[f"rows of {name} {planted.number}"] = rows.lower()
        shown = shown_of(found)
        written[f"rejects of {name} {planted.number}"] = shown.lower()
        kept = rows_of(read(tmp_path, planted, planted.twin))
        lost += [word for word in planted.words if word in kept and word not in rows + shown]
    assert leaks(planter.canaries, written) == []
    assert lost == []
    assert len(planter.canaries) >= 60
    assert shapes == SHAPES
