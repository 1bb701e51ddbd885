"""Pieces of lines are joined within their source, in order; what never ends is refused."""

from hypothesis import given
from hypothesis import strategies as st

from transforms.staging import line_pieces
from transforms.staging.line_pieces import Line, Piece, join_pieces


class Words:
    """Outcomes as words."""

    def joined(self, item, text):
        return f"{item}={text.decode()}"

    def part(self, item):
        return f"{item}:part"

    def refused(self, item, reason):
        return f"{item}:{reason.partition(':')[0]}"


def join(*lines):
    return list(join_pieces(lines, Words()))


def piece(item, text, source="s", **changes):
    return Line(item, text.encode(), source, Piece(**changes))


def whole(item, text="", source="s"):
    return Line(item, text.encode(), source)


def test_pieces_go_into_the_record_that_ends_them():
    found = join(piece("a", "x"), piece("b", "y"), whole("c", "z"), whole("d", "w"))
    assert found == ["a:part", "b:part", "c=xyz", "d"]


def test_sources_stay_apart_and_in_order():
    found = join(
        piece("a", "x"), piece("b", "1", "t"), whole("c", "2", "t"), Line("d"), whole("e", "y")
    )
    assert found == ["a:part", "b:part", "c=12", "d", "e=xy"]


def test_a_line_without_an_end_is_refused():
    assert join(piece("a", "x"), Line("b")) == ["a:unfinished_line", "b"]


def test_numbered_pieces_are_ended_by_their_own_last_piece_only():
    found = join(
        piece("a", "2", id="x", ordinal=2),
        whole("b", "other"),
        piece("c", "1", id="x", ordinal=1),
        piece("d", "3", id="x", ordinal=3, is_last=True),
    )
    assert found == ["a:part", "b", "c:part", "d=123"]


def test_a_gap_between_numbered_pieces_is_refused():
    found = join(
        piece("a", "1", id="x", ordinal=1),
        piece("b", "3", id="x", ordinal=3, is_last=True),
        piece("c", "2", id="y", ordinal=2, is_last=True),
        piece("d", "1", id="z", ordinal=1, is_last=True),
    )
    assert found == ["a:missing_piece", "b:missing_piece", "c:missing_piece", "d"]


def test_what_waits_is_bounded_by_number_and_bytes(monkeypatch):
    monkeypatch.setattr(line_pieces, "MAX_WAITING", 3)
    found = join(piece("a", "x"), *(Line(str(n)) for n in range(5)), whole("z", "y"))
    assert found == ["a:unfinished_line", "0", "1", "2", "3", "4", "z"]
    monkeypatch.setattr(line_pieces, "MAX_WAITING_BYTES", 10)
    found = join(piece("a", "x"), whole("b", "y" * 12, "t"), whole("c", "z"))
    assert found == ["a:unfinished_line", "b", "c"]


LINES = st.lists(
    st.tuples(st.sampled_from("st"), st.sampled_from(["P", "F", "1", "2", "L2", "-"])), max_size=30
)


@given(LINES)
def test_every_record_has_one_result_in_order(drawn):
    make = {
        "P": lambda n, s: piece(n, str(n), s),
        "F": lambda n, s: whole(n, str(n), s),
        "1": lambda n, s: piece(n, str(n), s, id="x", ordinal=1),
        "2": lambda n, s: piece(n, str(n), s, id="x", ordinal=2),
        "L2": lambda n, s: piece(n, str(n), s, id="x", ordinal=2, is_last=True),
        "-": lambda n, _: Line(n),
    }
    lines = [make[kind](n, source) for n, (source, kind) in enumerate(drawn)]
    found = [str(result) for result in join_pieces(lines, Words())]
    numbers = [int(result.partition(":")[0].partition("=")[0]) for result in found]
    assert numbers == list(range(len(drawn)))
    parts = sum(result.endswith(":part") for result in found)
    assert parts == 0 or any("=" in result for result in found)
