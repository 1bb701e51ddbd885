"""Change many records of a file at once, and say what is still known of each."""

from collections.abc import Callable
from random import Random

from tests.mutations import operators
from tests.mutations.exports import Piece, Seed, path_of
from tests.mutations.json_spans import Node, at_path, spans


def change_record(seed: Seed, piece: Piece, random: Random, valid_kept: operators.Operator) -> bool:
    """Change one record of a line or document; false where it could not be done.

    Args:
        seed: The file as it was.
        piece: The line.
        random: Source of randomness.
        valid_kept: What, by the format's own documents, leaves a record valid.
    """
    path = _choose_path(seed, piece, random)
    tree = spans(piece.data)
    node = at_path(tree, path) if tree is not None else None
    if node is None or tree is None:
        return _change_text(piece, random, valid_kept)
    part = piece.data[node.start : node.end]
    name, changed, oracle = _changed_json(part, random, valid_kept)
    if changed is None or changed == part:
        return False
    piece.data = piece.data[: node.start] + changed + piece.data[node.end :]
    note(piece, path, name, oracle)
    return True


def _choose_path(seed: Seed, piece: Piece, random: Random) -> str:
    found = [path_of(r.locator) for r in seed.results[piece.origin or 1]]
    if seed.reading == "lines" and random.random() < 0.3:
        return "$"
    return random.choice(found)


def _changed_json(
    part: bytes, random: Random, valid_kept: operators.Operator
) -> tuple[str, bytes | None, str]:
    kind = random.random()
    if kind < 0.3:
        name, change = random.choice(list(operators.MEANING_KEPT.items()))
        return name, change(part, random), "same"
    if kind < 0.45:
        choices = {**operators.VALIDITY_KEPT, "valid_by_document": valid_kept}
        name, change = random.choice(list(choices.items()))
        return name, change(part, random), "valid"
    name, change = random.choice(list(operators.JSON_CHANGES.items()))
    return name, change(part, random), ""


def _change_text(piece: Piece, random: Random, valid_kept: operators.Operator) -> bool:
    if random.random() < 0.3:
        name, changed, oracle = "valid_by_document", valid_kept(piece.data, random), "valid"
    else:
        name, change = random.choice(list(operators.FIELD_CHANGES.items()))
        changed, oracle = change(piece.data, random), ""
    if changed is None or changed == piece.data:
        return False
    piece.data = changed
    note(piece, "$", name, oracle)
    return True


def note(piece: Piece, path: str, name: str, oracle: str) -> None:
    """Keep what was done to a record; a second change leaves what both leave."""
    ranks = ("", "valid", "same")
    before = piece.oracle.get(path, "same" if path not in piece.touched else "")
    piece.oracle[path] = ranks[min(ranks.index(before), ranks.index(oracle))]
    piece.touched.append(path)
    piece.operators.append(name)


def damage_line(piece: Piece, random: Random) -> bool:
    """Damage the bytes of a line."""
    name, change = random.choice(list(operators.DAMAGE.items()))
    changed = change(piece.data, random)
    if changed is None or changed == piece.data:
        return False
    piece.data = changed
    note(piece, "$", name, "")
    return True


def change_list(seed: Seed, piece: Piece, random: Random) -> bool:
    """Leave a record out of the list it stands in, repeat it, or exchange it with another."""
    path = _choose_path(seed, piece, random)
    if not path.endswith("]") or piece.touched:
        return False
    parent, _, number = path[:-1].rpartition("[")
    tree = spans(piece.data)
    items = at_path(tree, parent) if tree else None
    if items is None or items.kind != "array" or len(items.members) < 2:
        return False
    index = int(number)
    order = list(range(len(items.members)))
    what = random.choice(("deleted_item", "repeated_item", "exchanged_items"))
    if what == "deleted_item":
        del order[index]
    elif what == "repeated_item":
        order.insert(random.randrange(len(order) + 1), index)
    else:
        other = random.choice([n for n in order if n != index])
        order[index], order[other] = other, index
    piece.data = _in_order(piece.data, items, order)
    piece.renamed = _renaming(parent, order)
    piece.operators.append(what)
    return True


def _in_order(data: bytes, items: Node, order: list[int]) -> bytes:
    texts = [data[items.members[n].value.start : items.members[n].value.end] for n in order]
    return data[: items.start] + b"[" + b",".join(texts) + b"]" + data[items.end :]


def _renaming(parent: str, order: list[int]) -> Callable[[str], str | None]:
    def renamed(path: str) -> str | None:
        if not path.startswith(f"{parent}["):
            return path
        number, _, rest = path[len(parent) + 1 :].partition("]")
        if int(number) not in order:
            return None
        return f"{parent}[{order.index(int(number))}]{rest}"

    return renamed


def garbage(random: Random) -> Piece:
    """A line that no system wrote."""
    line = random.choice(operators.GARBAGE)
    return Piece(line, None, ["$"], operators=["garbage"])


def change_lines(seed: Seed, pieces: list[Piece], random: Random) -> list[Piece]:
    """Insert, delete, repeat, reorder, join or splice lines of records."""
    free = [
        n
        for n, p in enumerate(pieces)
        if p.origin in seed.results and p.origin not in seed.joined and not p.touched
    ]
    whole = ("deleted", "repeated", "exchanged", "blank")
    what = random.choice(
        whole
        if seed.reading == "documents"
        else (*whole, "garbage", "garbage", "joined", "spliced", "carriage_return")
    )
    if not free:
        return pieces
    at = random.choice(free)
    here = pieces[at]
    if what in {"garbage", "blank"}:
        added = garbage(random) if what == "garbage" else Piece(b" \t" * random.randrange(3), None)
        return [*pieces[:at], added, *pieces[at:]]
    if what == "deleted":
        return pieces[:at] + pieces[at + 1 :]
    if what == "repeated":
        again = Piece(here.data, here.origin, operators=["repeated"])
        return [*pieces[: at + 1], again, *pieces[at + 1 :]]
    if what == "carriage_return":
        here.data += b"\r"
        note(here, "$", what, "same")
        return pieces
    return _change_two(pieces, at, free, what, random)


def _change_two(
    pieces: list[Piece], at: int, free: list[int], what: str, random: Random
) -> list[Piece]:
    other = at + 1 if what == "joined" else random.choice(free)
    if other == at or other not in free:
        return pieces
    here, there = pieces[at], pieces[other]
    if what == "exchanged":
        low, high = sorted((at, other))
        # Only lines that the same header describes change places.
        if all(n in free or pieces[n].touched for n in range(low, high)):
            pieces[at], pieces[other] = there, here
        return pieces
    mark = random.choice((b"", b" ")) if what == "joined" else b""
    first, second = here.data, there.data
    if what == "spliced":
        first = first[: random.randrange(1, len(first))] if len(first) > 1 else first
        second = second[random.randrange(len(second)) :]
    glued = Piece(first + mark + second, here.origin, ["$"], operators=[what])
    pieces[at] = glued
    return pieces[:other] + pieces[other + 1 :]
