"""Cilium Hubble exports: one JSON event per line.

Takes the lines of the file exporter (`ExportEvent`), of `hubble observe -o json` and of sysdumps
(`GetFlowsResponse`), and the bare flows that the command line printed before 0.11. Rotated files
(`events-….log`, `.log.gz`) are files like any other.
"""

import re
from collections.abc import Iterable, Iterator

from transforms.staging.hubble_lines import Flow, decode_line, is_present
from transforms.staging.hubble_rows import parse_line
from transforms.staging.line_lineage import LineLineage
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import RefusedError

_PAYLOAD = re.compile(
    rb'\s*\{\s*"(?:flow|lost_events|agent_event|debug_event|node_status)"\s*:\s*\{'
)
_BARE = re.compile(rb'"(?:traffic_direction|trace_observation_point|event_type)"\s*:')
_BOM = b"\xef\xbb\xbf"
_LINES_JUDGED = 20


def _recognise(head: bytes) -> Recognition:
    """Judge by the first lines that can be read, damaged ones among them."""
    lines = [line for line in head.removeprefix(_BOM).split(b"\n") if line.strip()]
    begun = 0
    for line in lines[:_LINES_JUDGED]:
        try:
            event = decode_line(line)
        except RefusedError:
            begun += _PAYLOAD.match(line) is not None
            continue
        others = (event.lost_events, event.agent_event, event.node_status)
        if any(other is not None for other in others) or is_present(event.debug_event):
            return Recognition(3, "Hubble event lines")
        if event.flow is not None:
            # `{"flow":{}}` is a masked flow, and could be many another thing.
            return Recognition(2 if event.flow == Flow() else 3, "Hubble event lines")
        if is_present(event.verdict) and _BARE.search(line):
            return Recognition(2, "Hubble flows without envelope")
    return Recognition(2, "damaged Hubble event lines") if begun else Recognition(0)


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    lineage = LineLineage()
    for raw in records:
        yield parse_line(raw, context, lineage)


PARSER = Parser(
    name="hubble",
    title="Cilium Hubble export",
    tables=("flows", "dns_lookups", "loss_reports"),
    shape="lines",
    record="a line: one event (a packet, an L7 message or a socket call at one trace point)",
    cannot_tell=(
        "bytes; container and process; the pod's UID before Cilium 1.21; traffic of host-network "
        "pods by pod; names and L7 of traffic that no L7 policy redirects; events that rate limits "
        "or an allow list left out"
    ),
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
)
