"""CoreDNS `log` lines of cluster alder, as the container runtime stores them.

The line itself has no time and no answers. CoreDNS writes it after the response, so the wrapper's
time is that of the answer. The file also holds lines of other plugins, which are no look-ups.
"""

from datetime import date

from tests.fleet import draw
from tests.fleet.clock import DAYS, to_nano
from tests.fleet.export import ExportFile
from tests.fleet.places import A1, ALDER
from tests.fleet.world import Fleet, Lookup


def render(fleet: Fleet) -> list[ExportFile]:
    """Return one file per day, of the node on which CoreDNS runs."""
    return [_file(fleet, day) for day in DAYS]


def _file(fleet: Fleet, day: date) -> ExportFile:
    file = ExportFile(
        path=f"exports/{ALDER.name}/coredns/{day}/{A1.name}.log",
        export="alder-coredns",
        format="coredns",
        cluster=ALDER.name,
        node=A1.name,
        landing_date=day,
    )
    today = [
        item for item in fleet.lookups if item.pod.cluster == ALDER and item.answered.date() == day
    ]
    today.sort(key=lambda item: item.answered)
    if day == DAYS[0]:
        file.ignore("2026-03-10T00:00:00.1Z stdout F .:53")
        file.ignore("2026-03-10T00:00:00.100000201Z stdout F CoreDNS-1.11.1")
        file.ignore(
            "2026-03-10T00:00:01.5Z stdout F [INFO] plugin/reload: Running configuration "
            "SHA512 = 0123abcd"
        )
    for index, lookup in enumerate(today):
        file.accept(_line(lookup))
        if day == DAYS[0] and index == 4:
            file.reject(_line(lookup).split(" stdout F ")[1], "no_time")
        if day == DAYS[0] and index == 8:
            file.reject(_line(lookup)[:88], "unreadable_line")
    return file


def _line(lookup: Lookup) -> str:
    written = lookup.answered
    flags = "qr,rd,ra" if lookup.answers else "qr,aa,rd"
    size = 28 + len(lookup.asked_as)
    response = size + 31 * max(1, len(lookup.answers))
    duration = lookup.latency_micros * 1000 - draw.between(1, 99_999, "duration", written)
    return (
        f"{to_nano(written, draw.between(1, 999, 'coredns', written))} stdout F "
        f"[INFO] {lookup.pod.address}:{lookup.port} - {_message_id(lookup)} "
        f'"{lookup.type} IN {lookup.asked_as}. udp {size} false 1232" '
        f"{lookup.rcode} {flags} {response} {duration / 1_000_000_000:.9f}s"
    )


def _message_id(lookup: Lookup) -> int:
    return draw.below(65_536, "dns-id", lookup.time, lookup.asked_as, lookup.type)
