"""`podledger cache`: what a cache per node, zone or region would have saved, by size."""

import datetime as dt
from typing import Annotated, Any

import typer

from pipelines.cache import WhatIf, what_if
from pipelines.cli.options import AsJson, Config, days_of, settings_of
from pipelines.cli.output import people_bytes, print_plain, print_rows, to_json
from pipelines.damage import REMEDY, reading
from pipelines.durations import parse_size
from pipelines.errors import wrong_option
from pipelines.remote_lake import open_lake
from transforms.marts.cache_replay import POLICIES, Policy
from transforms.marts.cache_study import PLACEMENTS, Placement, Point

COLUMNS = (
    "placement", "policy", "start", "size", "caches", "hit ratio", "from cache", "of",
    "fetched", "saved s (most)", "saved USD",
)  # fmt: skip
ONLY_COPY = "A cache must not be the only copy: keep the source of what it holds."


def cache(
    first: Annotated[str, typer.Option("--from", help="First day that counts.")],
    last: Annotated[str, typer.Option("--to", help="Last day that counts.")],
    placement: Annotated[
        list[str] | None, typer.Option(help="node, zone or region; all if not given.")
    ] = None,
    policy: Annotated[list[str] | None, typer.Option(help="lru or s3-fifo; both if not given.")] = (
        None
    ),
    capacity: Annotated[
        list[str] | None,
        typer.Option(help="Size of each cache, such as 500GB; parts of what is read if not given."),
    ] = None,
    warm_up: Annotated[
        int, typer.Option(min=0, max=365, help="Days before --from that warm caches see.")
    ] = 7,
    as_json: AsJson = False,
    config: Config = None,
) -> None:
    """Replay the reads of objects through caches of several sizes.

    Example: podledger cache --from 2026-03-01 --to 2026-03-31 --placement zone --capacity 2TB
    """
    settings = settings_of(config)
    days = days_of(None, first, last)
    placements: list[Placement] = [
        p for p in PLACEMENTS if p in _known("--placement", placement, PLACEMENTS)
    ]
    policies: list[Policy] = [p for p in POLICIES if p in _known("--policy", policy, POLICIES)]
    with reading(open_lake(settings).everything(), REMEDY):
        found = what_if(
            settings, days[0], days[-1], dt.timedelta(days=warm_up),
            placements=placements,
            policies=policies,
            capacities=sorted({_size(text) for text in capacity or ()}),
        )  # fmt: skip
    if as_json:
        print_plain(to_json(_told(found)))
    else:
        _print(found, warm_up)
    raise typer.Exit(3 if found.missing else 0)


def _known(option: str, given: list[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    for text in given or ():
        if text not in known:
            raise wrong_option(option, text, f"one of {', '.join(known)}")
    return tuple(given) if given else known


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        expected = str(error).removeprefix("expected ")
        raise wrong_option(option="--capacity", value=text, expected=expected) from None


def _told(found: WhatIf) -> dict[str, Any]:
    return {
        "points": [{**p._asdict(), "hit_ratio": p.hit_ratio} for p in found.study.points],
        "cold_endpoints": [
            {"resource_id": resource, "operation": operation, "cold_run_count": runs}
            for resource, operation, runs in found.study.cold_endpoints
        ],
        "missing_days": found.missing,
        "missing_warm_up_days": found.missing_warm_up,
    }


def _print(found: WhatIf, warm_up: int) -> None:
    points = found.study.points
    if points:
        # All of it is numbers with their units.
        print_rows(COLUMNS, [_row(point) for point in points], whole=COLUMNS)
        read, first = points[0].read_count, points[0]
        print_plain(
            f"{read} reads count; {first.unsized_count} of objects of unknown size, and those of "
            "readers of unknown place ("
            + ", ".join(
                f"{name}: {next(p.unplaced_count for p in points if p.placement == name)}"
                for name in dict.fromkeys(p.placement for p in points)
            )
            + "), are never answered by a cache."
        )
    else:
        print_plain("No read of an object whose size and place are known.")
    for what, days in (("", found.missing), ("warm-up ", found.missing_warm_up)):
        if days:
            named = ", ".join(str(day) for day in days[:7])
            more = f" and {len(days) - 7} more" if len(days) > 7 else ""
            print_plain(f"not built, so not replayed: {what}{named}{more}")
    print_plain(
        f"cold: caches begin empty; warm: they saw the {warm_up} days before. Seconds are what the "
        "answered transfers took."
    )
    for resource, operation, runs in found.study.cold_endpoints:
        print_plain(f"only cold runs contact {resource} ({operation}, {runs} runs)")
    print_plain(ONLY_COPY)


def _row(point: Point) -> tuple[object, ...]:
    ratio = point.hit_ratio
    return (
        point.placement,
        point.policy,
        point.start,
        people_bytes(point.capacity_bytes),
        point.cache_count,
        None if ratio is None else f"{100 * ratio:.1f} %",
        people_bytes(point.hit_bytes),
        people_bytes(point.read_bytes),
        people_bytes(point.fetched_bytes),
        f"{point.max_saved_seconds:.0f}",
        _money(point),
    )


def _money(point: Point) -> str:
    least, most = point.min_saved_usd, point.max_saved_usd
    if least is None or most is None:
        return f"{point.unpriced_count} unpriced"
    return f"{least:.2f} to {most:.2f}"
