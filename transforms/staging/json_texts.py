"""Columns of JSON texts and lists, as the texts and elements that they hold."""

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging.column_rules import TEXT, Doubts

_UNREADABLE = (msgspec.DecodeError, RecursionError)
_LIST: "msgspec.json.Decoder[list[msgspec.Raw]]" = msgspec.json.Decoder(list[msgspec.Raw])
_TEXTS: "msgspec.json.Decoder[list[str]]" = msgspec.json.Decoder(list[str])


def unquoted(column: pa.Array) -> pa.Array:
    """The texts that are JSON texts; what another value gives means nothing."""
    found = pc.utf8_slice_codeunits(column, 1, -1)
    has_escape = pc.fill_null(pc.match_substring(column, "\\"), False)
    if not pc.any(has_escape).as_py():
        return found
    # Most escapes are quotes; where there is a backslash more, the decoder reads the text.
    found = pc.replace_substring(found, '\\"', '"')
    is_escaped = pc.and_(pc.match_substring(found, "\\"), pc.starts_with(column, '"'))
    is_escaped = pc.fill_null(is_escaped, False)
    if not pc.any(is_escaped).as_py():
        return found
    decoded = _TEXTS.decode("[" + ",".join(column.filter(is_escaped).to_pylist()) + "]")
    return pc.replace_with_mask(found, is_escaped, pa.array(decoded, TEXT))


def elements(column: pa.Array, doubts: Doubts, *, or_text: bool) -> pa.LargeListArray:
    """JSON lists as lists of their elements' JSON; other values are null and in doubt.

    Args:
        column: JSON; null gives null.
        doubts: Where doubts are noted.
        or_text: Whether the list may be written as a text, in which an empty one is none.
    """
    none = pa.scalar(None, TEXT)
    if or_text:
        is_text = pc.fill_null(pc.starts_with(column, '"'), False)
        inner = unquoted(pc.if_else(is_text, column, none))
        column = pc.if_else(is_text, pc.if_else(pc.equal(inner, ""), none, inner), column)
    is_odd = pc.or_(pc.invert(pc.starts_with(column, "[")), pc.match_substring(column, "\n"))
    column = pc.if_else(pc.fill_null(is_odd, True), none, column)
    doubts.note(is_odd)
    is_list = column.is_valid().to_numpy(zero_copy_only=False)
    texts = column.drop_null().to_pylist()
    try:
        found = _LIST.decode_lines("\n".join(texts))
    except _UNREADABLE:
        read = [_elements_of(text) for text in texts]
        is_list[is_list] = [each is not None for each in read]
        doubts.note(pc.and_(column.is_valid(), pa.array(~is_list)))
        found = [each for each in read if each is not None]
    flat = [element for each in found for element in each]
    lengths = np.zeros(len(column), np.int64)
    lengths[is_list] = list(map(len, found))
    ends = np.cumsum(np.array(list(map(len, flat)), np.int64))
    buffers = [None, pa.py_buffer(np.append(0, ends)), pa.py_buffer(b"".join(flat))]
    return pa.LargeListArray.from_arrays(
        pa.array(np.append(0, np.cumsum(lengths))),
        pa.Array.from_buffers(TEXT, len(flat), buffers),
        mask=pa.array(~is_list),
    )


def _elements_of(text: str) -> list[msgspec.Raw] | None:
    try:
        return _LIST.decode(text)
    except _UNREADABLE:
        return None
