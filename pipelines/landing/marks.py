"""Marks of files that were only touched: a new modification time over a content that is known.

The ledger is never changed, so that they are remembered beside it. Losing them costs one more
reading of the files.
"""

import json

from pipelines.storage import TEMPORARY, Lake

Mark = tuple[str, str, str]
"""Export, path as stored, and size with modification time or ETag."""
_FILE = ".touched.json"


def known_marks(lake: Lake) -> frozenset[Mark]:
    """Marks that were remembered."""
    try:
        found = json.loads((lake.root / _FILE).read_bytes())
        return frozenset((export, path, mark) for export, path, mark in found)
    except (OSError, ValueError, TypeError):
        return frozenset()


def remember_marks(lake: Lake, marks: set[Mark], listed: frozenset[Mark] | None) -> None:
    """Remember marks, and forget those of files that are gone or were touched again.

    Call it under the lake's lock.

    Args:
        lake: The lake.
        marks: What to remember.
        listed: Marks of all files that there are; none if that is not known.
    """
    known = known_marks(lake)
    found = known | marks
    if listed is not None:
        found &= listed
    for left in lake.root.glob(f"{TEMPORARY}*-{_FILE}"):
        left.unlink(missing_ok=True)
    if found != known:
        with lake.replacing(lake.root / _FILE) as temporary:
            temporary.write_text(json.dumps(sorted(found)), encoding="utf-8")
