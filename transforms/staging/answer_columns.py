"""Answers of look-ups by columns, and the name asked, which an alias among them may tell.

An answer is one of few, a list of them is not; so each distinct answer is read once. Of the answers
only those that are aliases tell something of the name.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import lookup_fields as f
from transforms.staging.json_columns import Records

ALIASES = "aliases"
"""Part with the aliases among a record's answers: see `answers_of`."""
_OTHER: f.Answer = {"name": None, "type": None, "data": None, "ttl": None}

Aliases = tuple[tuple[Any, ...], ...]


def answers_of(
    records: Records, read: Callable[[Any], f.Answer], path: str, *, or_text: bool = False
) -> pa.Array:
    """The column `answers`, after which the records have the part ALIASES.

    Args:
        records: The records.
        read: Reads one answer.
        path: The part, a list.
        or_text: Whether the list may be written as a text.
    """
    found = records.lists(read, path, "answers", f.MAX_ANSWERS, or_text=or_text)
    stated = [
        tuple(value.values()) if value is not None and value["type"] == "CNAME" else ()
        for value in found.values
    ]
    is_alias = np.array(list(map(bool, stated)), np.bool_)
    places = np.flatnonzero(is_alias[found.codes])
    owners = np.searchsorted(found.offsets, places, side="right") - 1
    is_first = places == found.offsets[owners]
    counts = np.bincount(owners, minlength=len(records))
    # Most look-ups have one alias at most, so that all of these are told apart at once.
    alone = counts[owners] == 1
    keys, which = np.unique(2 * found.codes[places[alone]] + is_first[alone], return_inverse=True)
    single = [((stated[key // 2],) if key % 2 else ((), stated[key // 2])) for key in keys.tolist()]
    distinct: dict[Aliases, int] = {(): 0}
    codes = np.zeros(len(records), np.int64)
    numbers = [distinct.setdefault(chain, len(distinct)) for chain in single]
    codes[owners[alone]] = np.array(numbers, np.int64)[which]
    chains: dict[int, Aliases] = {}
    for place, owner, leads in zip(
        places[~alone].tolist(), owners[~alone].tolist(), is_first[~alone].tolist(), strict=True
    ):
        # The first answer matters where it has no owner; others that are no alias do not.
        before = chains.get(owner) or (() if leads else ((),))
        chains[owner] = (*before, stated[found.codes[place]])
    for owner, chain in chains.items():
        codes[owner] = distinct.setdefault(chain, len(distinct))
    records.add_part(ALIASES, codes, list(distinct))
    return found.column


def aliases(stated: Aliases) -> list[f.Answer]:
    """The aliases of ALIASES among answers, in the places that matter."""
    return [dict(zip(_OTHER, each, strict=True)) if each else _OTHER for each in stated]


def of_responses(answers: pa.Array, is_response: pa.Array) -> pa.Array:
    """The answers, null where there is no response."""
    if pc.all(is_response).as_py():
        return answers
    places = pc.if_else(is_response, pa.array(np.arange(len(answers))), None)
    return answers.take(places)
