"""transfer_costs: what moved bytes and requests come to at list prices (definitions.md 40).

**What is charged.** Bytes that run_dependency_days counts stand here once for each charge on their
path: `transfer`, `nat_processing` and `endpoint_processing` beside it, and requests to storage as
`request`. Bytes of object transfers are the request log's (bodies of failed requests too, which are
charged like others); what flow records show beyond them goes by the records' distance and gateway.
What free paths move has rows at 0. Requests are counted whatever their answer. What pulls of images
moved is only in the flow records, and what pods served to others is the client's.

**Paths** (object_paths.sql, flow_paths.sql, path_candidates.sql). Who sends pays, by the prices of
its region. Not every byte that leaves a pod is internet egress: `internet` needs evidence. Where
distance or gateway are not known, the candidates stand in `candidate_paths`, min is the cheapest of
them and max the dearest, and `usd` is null unless all cost the same. Bytes across zones are charged
out and in: the price is that of both.

**Prices** are list prices of the price book (`prices`), valid on the day; tiers are a range, as
they are those of all accounts of an organisation together: min takes the cheapest (a free
allowance), max the dearest, `usd` the first that is not free. The bill is never read. Amounts are
integers of nanodollars: price times bytes first, then divided by the unit and rounded half to
even, once a row.

**Who pays**: the bucket's owner (`buckets` in the settings), the requester where the settings say
that it pays (the account of its ARN), the cluster's account for what its pods send and for NAT and
endpoints.
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.marts.path_prices import price_paths
from transforms.marts.path_settings import show_path_settings
from transforms.marts.row_coverage import cover_rows_of_day
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
FLOWS = (
    "dependency_connections", "dependency_sides", "dependency_flows", "dependency_objects",
    "dependency_pulls", "dependency_endpoints", "dependency_hosts", "dependency_contacts",
    "dependency_explained", "dependency_owners",
)  # fmt: skip
"""Steps of run_dependency_days: whose bytes stand where."""
PATHS = (
    "dependency_regions", "path_gateways", "object_paths", "cost_flows", "cost_peers",
    "cost_regions", "flow_paths",
)  # fmt: skip
COUNTS = ("cost_counts", "cost_sums", "priced_counts", "cost_amounts", "runs_of_day")


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the costs of one day, of all clusters."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "guard_us": SKEW_GUARD // timedelta(microseconds=1),
    }
    with session.dropped(*COUNTS, "path_prices", "paths"):
        with session.dropped(*PATHS, *FLOWS):
            show_path_settings(session, day)
            for step in (*FLOWS, *PATHS):
                session.create(step, PACKAGE, step, values)
            session.create("paths", PACKAGE, "cost_paths")
            price_paths(session, day)
            session.create("cost_counts", PACKAGE, "cost_counts", values)
        session.create("cost_sums", PACKAGE, "cost_sums", values)
        session.create("priced_counts", PACKAGE, "cost_priced_counts")
        session.create("cost_amounts", PACKAGE, "price_of_path")
        session.create("runs_of_day", PACKAGE, "runs_of_day", values)
        session.create("mart_rows", PACKAGE, "transfer_costs")
    return cover_rows_of_day(session)


TRANSFORM = Transform(
    table="transfer_costs",
    reads=(
        Reads("connections"),
        Reads("object_transfers"),
        Reads("peer_traffic"),
        Reads("image_pulls"),
        Reads("pod_intervals"),
        Reads("runs"),
        Reads("run_coverage_days"),
        Reads("endpoints"),
        Reads("prices"),
    ),
    rows_from=("connections", "object_transfers", "peer_traffic", "image_pulls"),
    build=build,
    version=4,
)
