"""Cloud DNS query logs by columns; the rules are those of `gcp_dns`."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from transforms.staging import gcp_dns
from transforms.staging import lookup_fields as f
from transforms.staging.answer_columns import ALIASES, Aliases, aliases, answers_of, of_responses
from transforms.staging.json_columns import JsonColumns, Records
from transforms.staging.json_shapes import Shape
from transforms.staging.refusal import refuse
from transforms.staging.values import parse_instant

_ANSWERS = "answers that are whole"
_NO_LINE = r"^[^!-~]"


def _response(code: str | None) -> dict[str, Any]:
    rcode = gcp_dns.response_code(code)
    return {"rcode": rcode, "is_response": rcode is not None}


def _named(name: str | None, rcode: str | None, answers: Aliases) -> dict[str, Any]:
    if name is None:
        refuse("query_name", "a name", None)
    stated = None if rcode is None else aliases(answers)
    return f.asked(f.escaped_name(name), rcode, answers=stated)


def _add_answers(records: Records, path: str) -> None:
    """Add the lines of a text of answers; the last one of a text that was cut is none."""
    text = records.text(path)
    lists = pc.split_pattern(text, "\n")
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    lines = lists.flatten()
    owners = np.repeat(np.arange(len(records)), lengths)
    # Whether a line is blank, the row parser says.
    odd = np.zeros(len(records), np.bool_)
    odd[owners[_mask(pc.match_substring_regex(lines, _NO_LINE))]] = True
    records.doubt(pa.array(odd))
    is_line = _mask(pc.greater(pc.binary_length(lines), 0))
    last = np.full(len(records), -1, np.int64)
    places = np.flatnonzero(is_line)
    last[owners[places]] = places
    is_cut = _mask(pc.ends_with(text, gcp_dns.CUT_MARK))
    is_line[last[is_cut & (last >= 0)]] = False
    counts = np.bincount(owners[is_line], minlength=len(records))
    whole = pa.LargeListArray.from_arrays(
        pa.array(np.append(0, np.cumsum(counts)).astype(np.int64)),
        lines.filter(pa.array(is_line)),
        mask=pc.or_(text.is_null(), pa.array(is_cut & (counts == 0))),
    )
    records.add_lists(_ANSWERS, whole, of_json=False)


def _mask(found: pa.BooleanArray) -> npt.NDArray[np.bool_]:
    return np.array(pc.fill_null(found, False), np.bool_)


def _latency(code: str | None, milliseconds: float | None) -> dict[str, Any]:
    return {"latency_seconds": gcp_dns.latency(code, milliseconds)}


def _columns(records: Records) -> dict[str, Any]:
    event_at, insert_id = records.instants("timestamp", parse_instant), records.text("insert_id")
    records.need("insert_id")
    records.doubt(pc.equal(insert_id, ""))
    query = "json_payload"
    response = records.each(_response, (f"{query}.response_code",), ("rcode", "is_response"))
    records.add_texts("rcode", response["rcode"])
    _add_answers(records, f"{query}.rdata")
    answers = answers_of(records, gcp_dns.answer, _ANSWERS)
    return {
        "record_id": records.ids(insert_id, event_at),
        "event_at": event_at,
        "client_address": records.addresses(f"{query}.source_ip", gcp_dns.client_address),
        **records.rows(
            ("log_name", "resource.type", "resource.labels.source_type"),
            (),
            ("other_log", "public_zone"),
        ),
        **records.rows((f"{query}.vm_instance_name",), ("node",)),
        **records.rows((f"{query}.protocol",), ("transport",)),
        **records.rows((f"{query}.query_type",), ("query_type",)),
        **records.each(
            _named,
            (f"{query}.query_name", "rcode", ALIASES),
            ("query_name", "original_query_name"),
        ),
        **response,
        "answers": of_responses(answers, response["is_response"]),
        **records.each(
            _latency,
            (f"{query}.response_code", f"{query}.server_latency"),
            ("latency_seconds",),
        ),
    }


COLUMNS = JsonColumns(
    gcp_dns.PARSER,
    f.TABLE,
    Shape(gcp_dns.Entry, inner={"json_payload": gcp_dns.Query}),
    _columns,
    base={
        "timestamp": '"2026-01-01T00:00:00Z"',
        "json_payload.query_name": '"x"',
    },
)
