"""Cilium Hubble exports: one JSON event per line, and what people make of it.

Takes the lines of the file exporter (`ExportEvent`), of `hubble observe -o jsonpb` and of sysdumps
(`GetFlowsResponse`), the bare flows that the command line printed before 0.11, lists and
pretty-printed documents of any of them, the exporter's output to `stdout` among the agent's log
lines, and rows of the tables to which AKS writes flows (hubble_azure_rows.py). Rotated files
(`events-….log`, `.log.gz`) are files like any other.

What is printed as text (`-o compact`, `dict`, `table`) and an archive that was not unpacked are
known and refused, with the reason. How records are counted where a line is not an event says
`hubble_reader`.
"""

import re
from collections.abc import Iterable, Iterator

from transforms.staging import hubble_text
from transforms.staging.hubble_azure_rows import is_table_row
from transforms.staging.hubble_lines import Envelope, Flow, decode_line, is_present
from transforms.staging.hubble_reader import EventReader
from transforms.staging.hubble_rows import SHOWN_KEYS, parse_line
from transforms.staging.line_lineage import LineLineage
from transforms.staging.parser import FileContext, Parsed, Parser, RawRecord, Recognition
from transforms.staging.refusal import RefusedError

_PAYLOAD = re.compile(
    rb'\s*\{\s*"(?:flow|lost_events|agent_event|debug_event|node_status)"\s*:\s*\{'
)
_BARE = re.compile(
    rb'"(?:traffic_direction|trace_observation_point|event_type'
    rb'|trafficDirection|traceObservationPoint|eventType)"\s*:'
)
_BOM = b"\xef\xbb\xbf"
_LINES_JUDGED = 20
_PRINTED_JUDGED = 3


class _Judge:
    """Judges the records of a file's head."""

    def __init__(self) -> None:
        self.found: Recognition | None = None
        self.objects = 0

    def read(self, raw: RawRecord) -> Parsed:
        """Look at one object, as `EventReader` asks for it."""
        try:
            event = decode_line(raw.data)
        except RefusedError as error:
            return Parsed(raw.locator, raw.offset, b"", reject=str(error))
        self.objects += 1
        if self.found is None:
            self.found = _judged(event, raw.data)
        return Parsed(raw.locator, raw.offset, b"", ignore="seen")


def _judged(event: Envelope, data: bytes) -> Recognition | None:
    others = (event.lost_events, event.agent_event, event.node_status)
    if any(other is not None for other in others) or is_present(event.debug_event):
        return Recognition(3, "Hubble event lines")
    if event.flow is not None:
        # `{"flow":{}}` is a masked flow, and could be many another thing.
        return Recognition(2 if event.flow == Flow() else 3, "Hubble event lines")
    if is_table_row(data):
        return Recognition(3, "rows of AKS' container network logs")
    if is_present(event.verdict) and _BARE.search(data):
        return Recognition(2, "Hubble flows without envelope")
    return None


def _recognise(head: bytes) -> Recognition:
    """Judge by the first objects that can be read, damaged ones and log lines among them."""
    found = hubble_text.archive(head)
    if found is not None:
        what = f"Cilium sysdump as {found.kind} archive, to be unpacked first"
        return Recognition(3, what) if found.is_sysdump else Recognition(0)
    judge = _Judge()
    events = EventReader(judge.read)
    begun = printed = 0
    has_log, forms = False, set()
    offset = 0
    for line in head.removeprefix(_BOM).split(b"\n"):
        begun += _PAYLOAD.match(line) is not None
        has_log = has_log or hubble_text.is_cilium_log(line)
        form = hubble_text.printed_form(line.rstrip())
        if form is not None:
            printed += 1
            forms.add(form)
        if line.strip():
            for _ in events.read(RawRecord("", offset, line)):
                if judge.found is not None:
                    return judge.found
        offset += len(line) + 1
        if judge.objects >= _LINES_JUDGED:
            break
    if begun:
        return Recognition(2, "damaged Hubble event lines")
    is_headed = printed and _first_word(head) in {"TIMESTAMP", "TIMESTAMP:"}
    if is_headed or (printed >= _PRINTED_JUDGED and forms != {"dict"}):
        form = min(forms)
        return Recognition(2, f"text of hubble observe -o {form}, not readable; use -o jsonpb")
    return Recognition(1, "log of a Cilium agent") if has_log else Recognition(0)


def _first_word(head: bytes) -> str:
    return head[:64].strip().split(b" ")[0].decode("ascii", "replace")


def _parse(records: Iterable[RawRecord], context: FileContext) -> Iterator[Parsed]:
    lineage = LineLineage()
    events = EventReader(lambda raw: parse_line(raw, context, lineage), SHOWN_KEYS)
    for raw in records:
        yield from events.read(raw)
    yield from events.end()


PARSER = Parser(
    name="hubble",
    title="Cilium Hubble export",
    tables=("flows", "dns_lookups", "loss_reports"),
    shape="lines",
    record="an event: a packet, an L7 message or a socket call at one trace point",
    cannot_tell=(
        "bytes (but of packets that Microsoft Retina reports); container and process; the pod's "
        "UID before Cilium 1.21; traffic of host-network pods by pod; names and L7 of traffic that "
        "no L7 policy redirects; events that rate limits or an allow list left out"
    ),
    recognise=_recognise,
    parse=_parse,
    tested_on="real",
)
