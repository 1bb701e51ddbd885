"""repeat_transfers: what was fetched again within a run, node, zone, region or the fleet.

**Fetches** are of three kinds, side by side:

* reads of objects (`object_transfers`): successful reads that moved bytes, or whose bytes the log
  leaves out. A 304 and a HEAD are no read, error bodies no bytes of one; parts, retries and what an
  aborted 200 moved belong to their burst. What the storage reads for itself is no fetch;
* pulls of images (`image_pulls`) that ended on the day; an image that was present was not pulled;
* contacts of runs with model hubs, git and package hosts (`run_dependency_days`). The thing is the
  one repository, with its revision, that the run declares and the host serves, else the host. A
  contact of a day on which no connection began goes on with the day's before.

`grade` says what the evidence shows: `object`, which content was fetched (a log of the storage, an
image's digest), or `endpoint`, only from where (a host, a repository, an image's tag). Of an
endpoint nothing is certain: min is 0, and max what the contact received (null: not bounded).

**One content** is one provider, bucket, key and version, one image digest. A version that is not
known is part of the identity; such an object got another content where a write, a copy onto it or a
deletion lies between two reads, or they state another ETag or size. A content that comes back is
another one. A read that states neither is of the latest.

**Bounds** (definitions.md 26). With S the bytes of the content that fetches of the scope beginning
in [start_at - 30 d, start_at) had moved by the end of the day on which this one began, plus its own
bytes of earlier days, and b its bytes of this day: min = max(0, S + b - size) - max(0, S - size), 0
where the size is unknown; max = b if there was an earlier one, else min. Where bytes are a range, S
and b are the least for min, and b the most for max. So the minima of a scope add up, over fetches
and over days, to what was moved beyond one whole object, which is certain as a sum from the first
fetch on; a single row's min is its share of that in the order of time, and of ranges whose offsets
no log states another row may be the one that repeated. Whole reads are exact in each row.

Where the log tells offsets, or reads are whole, the repeat is no range but a number: the bytes of a
fetch, each as often as it was moved, that an earlier fetch of the scope had moved, and what the
fetch by itself moved beyond the object's size; a fetch that read nothing again has no row. So it is
where this holds of the fetch and of all that went before it in the scope. Where it holds of some,
the bytes that are known to be the same are certain and no new ones in S.

**Places.** A fetch whose run, node, zone or region is not known has a row in that scope with min 0
and the fleet's max, where the fleet has one. An earlier fetch of an unknown place may have been in
the scope: it raises max, never min, and is named as previous only where none of the scope is known.
Scopes nest and are never added to each other.

**Remedies** (repeat_remedies.sql) go by what was fetched, the scope and the regions: `pin_revision`
(pin the revision and cache it), `node_cache`, `zone_cache`, `image_pre_pull`, `image_mirror` (peer
to peer, or near the nodes), `bucket_replica`, `move_job`, `gateway_endpoint`. None where the place
of the repeat, or the regions that decide, are not known.

**Avoidable** is what the repeated bytes of reads cost at list prices on the path that they took:
the charges that path_prices.py finds for it, min_repeat_bytes at the cheapest and max_repeat_bytes
at the dearest, bytes only; what a cache itself costs is not taken off. Null where a price is
missing, and of images and hosts, whose path no request log shows.
"""

import datetime as dt

import polars as pl

from transforms.day import BuildDay
from transforms.marts.host_contacts import HOST_STEPS
from transforms.marts.path_prices import price_paths
from transforms.marts.path_settings import show_path_settings
from transforms.marts.row_coverage import cover_rows_of_day
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
SOURCES = (*HOST_STEPS, "repeat_contacts", "repeat_pulls")
"""Fetches of all kinds but objects, over the look-back."""
EARLIER = (
    "repeat_wanted",
    "repeat_ranged",
    "repeat_told",
    "repeat_contents",
    "repeat_places",
    "repeat_placed",
    "repeat_before",
    "repeat_day",
    "repeat_old",
    "repeat_summed",
    "repeat_parts",
    "repeat_pieces",
    "repeat_covered",
    "repeat_named",
    "repeat_judged",
    "repeat_bounded",
)
"""What went before each fetch of the day."""
MOST_PIECES = 1_000_000
"""Ranges of one object in the look-back, cut at each other's ends, that are compared."""
PARTS = (
    "repeat_fetches",
    "repeat_measured",
    "repeat_remedies",
    "repeat_avoidable",
    "runs_of_day",
)
"""What the rows are put together from."""
PRICES = (
    "path_gateways",
    "object_paths",
    "paths",
    "path_prices",
    "priced_counts",
    "repeat_amounts",
)


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the repeats of one day, of all clusters."""
    look_back_start = (day.start_at - day.look_back.repeats - day.look_back.transfers).date()
    values = {
        "date": day.date,
        "look_back_us": day.look_back.repeats // dt.timedelta(microseconds=1),
        "look_back_start": look_back_start,
        "piece_limit": MOST_PIECES,
    }

    def create(*steps: str) -> None:
        for step in steps:
            session.create(step, PACKAGE, step, values)

    with session.dropped(*SOURCES, "object_reads"):
        session.create_view("object_reads", PACKAGE, "object_reads")
        create(*SOURCES, "repeat_fetches")
        with session.dropped(*EARLIER, "repeat_scoped"):
            create(
                "repeat_wanted", "repeat_ranged", "repeat_told", "repeat_contents",
                "repeat_places", "repeat_placed",
            )  # fmt: skip
            # A row for each scope, five times as many as were told: nobody needs to hold them.
            session.create_view("repeat_scoped", PACKAGE, "repeat_scoped")
            # Small statements: each of them leaves the engine room to spill.
            create(
                "repeat_before", "repeat_day", "repeat_old", "repeat_summed", "repeat_parts",
                "repeat_pieces", "repeat_covered", "repeat_named", "repeat_judged",
                "repeat_bounded", "repeat_measured",
            )  # fmt: skip
    create("repeat_remedies", "runs_of_day")
    session.register("repeat_history", _history(session, day))
    with session.dropped(*PRICES):
        show_path_settings(session, day)
        create("path_gateways", "object_paths")
        session.create("paths", PACKAGE, "repeat_paths")
        price_paths(session, day)
        session.create("priced_counts", PACKAGE, "repeat_priced_counts")
        session.create("repeat_amounts", PACKAGE, "price_of_path")
        create("repeat_avoidable")
    # A kilobyte a row, which is held once, while rows are put in order.
    session.create_view("mart_rows", PACKAGE, "repeat_transfers", PARTS)
    return cover_rows_of_day(session)


def history_basis(start_date: dt.date, day: BuildDay) -> str:
    """`complete`, or the days not built in which earlier reads may hide.

    Args:
        start_date: Day on which the read began.
        day: The built day.
    """
    first = (dt.datetime.combine(start_date, dt.time(), dt.UTC) - day.look_back.repeats).date()
    built = set(day.built_days)
    days = [first + dt.timedelta(days=n) for n in range((day.date - first).days)]
    spans: list[list[dt.date]] = []
    for missing in (d for d in days if d not in built):
        if spans and missing - spans[-1][-1] == dt.timedelta(days=1):
            spans[-1][1:] = [missing]
        else:
            spans.append([missing])
    named = [" to ".join(d.isoformat() for d in span) for span in spans]
    return f"not built: {', '.join(named)}" if named else "complete"


def _history(session: SqlSession, day: BuildDay) -> pl.DataFrame:
    found = session.connection.execute(
        "SELECT DISTINCT start_date FROM repeat_fetches ORDER BY start_date"
    ).fetchall()
    return pl.DataFrame(
        [(start, history_basis(start, day)) for (start,) in found],
        schema={"start_date": pl.Date, "history_basis": pl.String},
        orient="row",
    )


TRANSFORM = Transform(
    table="repeat_transfers",
    reads=(
        Reads("object_transfers", "repeats"),
        Reads("image_pulls", "repeats"),
        Reads("run_dependency_days", "repeats", part="hosts"),
        Reads("declared_dependencies", "repeats"),
        Reads("pod_intervals", "repeats"),
        Reads("peer_traffic"),
        Reads("runs"),
        Reads("run_coverage_days"),
        Reads("prices"),
    ),
    rows_from=("object_transfers", "image_pulls", "run_dependency_days"),
    build=build,
    version=7,
)
