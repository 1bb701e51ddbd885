"""Which layout a lake has: where its files stand and what their notes say.

Schemas and logic have versions of their own beside each file (`pipelines.ingredients`); the layout
is that of the lake as a whole. An older one is read as it is, a newer one is left alone.
"""

import json

from pipelines.errors import PodledgerError
from pipelines.mirror import shown
from pipelines.storage import Lake

LAYOUT = 1
"""Raised when an earlier version could misread what a later one writes."""
_FILE = ".layout.json"


def require_known_layout(lake: Lake) -> None:
    """See that a lake was not written by a later version than this.

    Raises:
        PodledgerError: It was, or what says so cannot be read.
    """
    path = lake.root / _FILE
    try:
        found = int(json.loads(path.read_bytes())["layout"])
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "damaged"
        message = f"{shown(path)}: {reason}; expected the layout of the lake, such as {_text(1)}"
        raise PodledgerError(message) from None
    if found > LAYOUT:
        message = (
            f"lake {shown(lake.root)}: written by a later version of podledger (layout {found}, "
            f"this version knows {LAYOUT}); expected that version or a later one"
        )
        raise PodledgerError(message)


def note_layout(lake: Lake) -> None:
    """Write the layout of a new lake, or of one that got a later one. Call it under the lock."""
    path = lake.root / _FILE
    if not path.is_file() or path.read_text(encoding="utf-8") != _text(LAYOUT):
        with lake.replacing(path) as temporary:
            temporary.write_text(_text(LAYOUT), encoding="utf-8")


def _text(layout: int) -> str:
    return json.dumps({"layout": layout})
