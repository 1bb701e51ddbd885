"""`podledger status --accuracy`: which rungs of the ladders named the rows of a day."""

import datetime as dt
from dataclasses import asdict

from pipelines.accuracy import CHANGE, Split, newest_day, split_of
from pipelines.cli.output import print_plain, print_rows, to_json
from pipelines.errors import PodledgerError
from pipelines.storage import Lake

COLUMNS = ["cluster", "table", "ladder", "rung", "rows", "share", "7 days before"]


def show_accuracy(lake: Lake, date: dt.date | None, *, as_json: bool) -> None:
    """Print the split of a day, the newest built one if none is given.

    Raises:
        PodledgerError: Nothing is built.
    """
    day = date or newest_day(lake)
    if day is None:
        message = f"{lake.root}: no day is built; expected one (podledger build)"
        raise PodledgerError(message)
    split = split_of(lake, day)
    if as_json:
        content = {
            "date": day,
            "rungs": [asdict(rung) for rung in split.rungs()],
            "changes": [asdict(change) for change in split.changes()],
        }
        print_plain(to_json(content))
        return
    _print(split)


def _print(split: Split) -> None:
    rows = [
        [
            rung.cluster,
            rung.source,
            rung.ladder,
            rung.rung,
            rung.row_count,
            _percent(rung.share),
            "no day" if rung.share_before is None else _percent(rung.share_before),
        ]
        for rung in split.rungs()
    ]
    if not rows:
        print_plain(f"{split.date}: no rows")
        return
    print_rows(COLUMNS, rows, title=f"rows of {split.date} by the rung that names them")
    changes = split.changes()
    print_plain("")
    if not changes:
        print_plain(
            f"no ladder names {CHANGE:.0%} more or less of its rows than in the week before"
        )
    for change in changes:
        print_plain(
            f"changed: {change.cluster}, {change.source}, {change.ladder}: "
            f"{_percent(change.named_share)} named, {_percent(change.named_share_before)} in the "
            "week before"
        )


def _percent(share: float) -> str:
    return f"{share:.2%}"
