"""Tell apart lines that a mask robbed of their time or node, by the file's lines before them.

Such lines are alike by the thousand, in one file and in the next, so that neither their text nor
their place tells them apart. Each is told by all lines of its kind up to itself: a file that grew,
or was copied, begins with the same lines and so repeats them; another file does not.
"""

from transforms.staging.parser import RawRecord
from transforms.staging.values import identity

KEPT = 200_000
"""Lines remembered: more than a reader can come back to."""


class LineLineage:
    """The lineage of one file's lines, which are given in order; a line may be given again."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], str] = {}
        self._last = ""

    def of(self, raw: RawRecord, text: str) -> str:
        """What tells a line: itself and all lines given before it."""
        # Records of one wrapper stand at one byte, and parts of one line in one line.
        place = (raw.offset, raw.locator)
        known = self._known.get(place)
        if known is None:
            self._last = known = identity(self._last, raw.locator, text)
            self._known[place] = known
            if len(self._known) > KEPT:
                self._known = dict(list(self._known.items())[KEPT // 2 :])
        return known
