"""When a day is final, and what stands beside its answers from then on.

A day is provisional until its watermark passes: late files rebuild it silently. Once it is built
behind its watermark with nothing missing, a note beside its answers says that it is final and what
it was made from. From then on it is built only on request, and what that changes is written to
`restatements`. A request is a note, too, so that one that dies half-way is finished by the next
build, whoever starts it.

A final day whose inputs `podledger prune` removed is closed: it is built no more, since it would
come out without them.
"""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.settings import Settings
from pipelines.storage import Lake
from schemas.table import FLEET

BUILT = "run_dependency_days"
"""A day is built when this table has a file of it."""


@dataclass(frozen=True)
class Basis:
    """What a day is made from, as far as a change of it is worth telling.

    Attributes:
        files: Export files that were read, as `id:digest of how`.
        logic: Digest of settings, reference files, schemas and versions of the logic.
        earlier: Digest of what was read of each earlier day's tables, by that day.
    """

    files: frozenset[str]
    logic: str
    earlier: Mapping[dt.date, str] = field(default_factory=dict)


def last_awaited(settings: Settings, day: dt.date) -> dt.date:
    """Last landing day on which files of a day are awaited."""
    end = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC) + dt.timedelta(days=1)
    return (end + settings.final_after).date()


def has_watermark_passed(settings: Settings, day: dt.date, today: dt.date) -> bool:
    """Whether the last landing day that a day's hours await is over."""
    return last_awaited(settings, day) < today


def is_final(settings: Settings, lake: Lake, day: dt.date, today: dt.date) -> bool:
    """Whether a day is built as final: it was before, or its watermark has passed.

    What was published as final stays final, whatever the clock or `final_after` say later.
    """
    return _final(lake, day).is_file() or has_watermark_passed(settings, day, today)


def final_basis(lake: Lake, day: dt.date) -> Basis | None:
    """What a final day was published from; none while it is provisional."""
    try:
        note = json.loads(_final(lake, day).read_bytes())
        return Basis(
            frozenset(note["files"]),
            note["logic"],
            {dt.date.fromisoformat(d): digest for d, digest in note["earlier"].items()},
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # A note that cannot be read still says that the day was published as final.
        return Basis(frozenset(), "")


def note_final(lake: Lake, day: dt.date, basis: Basis) -> None:
    """Note that a day is published as final, and from what."""
    note = {
        "files": sorted(basis.files),
        "logic": basis.logic,
        "earlier": {d.isoformat(): digest for d, digest in sorted(basis.earlier.items())},
    }
    _write(lake, _final(lake, day), json.dumps(note))


def is_asked(lake: Lake, day: dt.date) -> bool:
    """Whether somebody asked for a final day to be built again and it is not done yet."""
    return _asked(lake, day).is_file()


def note_asked(lake: Lake, day: dt.date) -> None:
    """Note that a final day is to be built again."""
    if not is_asked(lake, day):
        _write(lake, _asked(lake, day), "")


def forget_asked(lake: Lake, day: dt.date) -> None:
    """Take the request back: it is done."""
    if is_asked(lake, day):
        lake.remove(_asked(lake, day))


def is_closed(lake: Lake, day: dt.date) -> bool:
    """Whether inputs of a final day were pruned, so that it cannot be built again."""
    return _closed(lake, day).is_file()


def note_closed(lake: Lake, day: dt.date) -> None:
    """Note that a final day is built no more."""
    if not is_closed(lake, day):
        _write(lake, _closed(lake, day), "")


def _closed(lake: Lake, day: dt.date) -> Path:
    return lake.path(BUILT, day, FLEET).with_name(".closed")


def _final(lake: Lake, day: dt.date) -> Path:
    return lake.path(BUILT, day, FLEET).with_name(".final")


def _asked(lake: Lake, day: dt.date) -> Path:
    return lake.path(BUILT, day, FLEET).with_name(".asked")


def _write(lake: Lake, path: Path, text: str) -> None:
    with lake.replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
