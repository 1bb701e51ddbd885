"""run_dependency_days: what each attempt of each run did to each resource on one day.

The only place in which facts about dependencies are counted (definitions.md 6). Rows come from

* connections (`connect`, one per host contacted, definitions.md 19), with the bytes that chosen
  rows of peer_traffic show between the same pod, address and port at the same time. Bytes of
  interface counters are never spread over peers. What a pod served to a client is the client's;
* object_transfers (`read`, `write`, …), bytes by the request log: received for reads, sent for
  writes, neither for copies, which move nothing through a pod. `max` is open where the log does
  not state the bytes of a successful request and no object size bounds them;
* image_pulls (`pull`), whose bytes lie between two bounds: the size of an image is not what was
  transferred. The puller is the node, `node_runtime`;
* dns_lookups (`resolve`, one per client and resolver).

**Hosts of one service.** The catalogue groups them: `service`, with the part that each plays.
Where a pod was sent from one to another within seconds, `primary_resource_id` names the primary
host, if it is the only one that can have sent it (dependency_primaries.sql). What a service needs
beside it (look-ups, tokens, Git LFS, mirrors, proxies, private endpoints) has rows of its own, and
a host that the catalogue does not know, or not for sure, belongs to no service.

**The same bytes stand once** (definitions.md 21). A request log explains the contact of an owner (a
pod, else an address) with a host of object storage where requests of that owner to the same bucket
or endpoint overlap it in time. Where the host names a logged bucket, requests that may be the
owner's, or of no certain owner, explain it too. The row then has no bytes and `accounted_in` names
the resource whose row has them, if the host names a logged bucket or the log accounts for 90 % of
what the flows certainly show; else max(0, flow - logged) remains, with min 0.

Rows that no run owns have a null run, so that totals close. Kinds are the weakest among the rows
summed up; their counts say how many rows of intermediate tables (look-ups of staging) they are.
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD, BuildDay
from transforms.intermediate.pod_match import match_pods
from transforms.intermediate.stage_match import match_stages
from transforms.marts.host_contacts import hosts_of_day
from transforms.marts.row_coverage import cover_rows_of_day
from transforms.sql import SqlSession
from transforms.transform import Reads, Transform

PACKAGE = "transforms.marts"
EVIDENCE = (
    "dependency_connections",
    "dependency_sides",
    "dependency_flows",
    "dependency_objects",
    "dependency_pulls",
    "dependency_endpoints",
    "dependency_primaries",
    "dependency_hosts",
    "dependency_contacts",
    "dependency_explained",
    "dependency_owners",
    "dependency_standing",
    "dependency_network",
)
FACTS = ("dependency_lookups", "dependency_regions", "dependency_facts", "dependency_kinds")


def build(session: SqlSession, day: BuildDay) -> str:
    """Make the rows of one day, of all clusters."""
    values = {
        "date": day.date,
        "day_start": day.start_at,
        "day_end": day.end_at,
        "guard_us": SKEW_GUARD // timedelta(microseconds=1),
    }
    matched = ("match_input", "match_output", "stage_input", "stage_output")
    with session.dropped(*EVIDENCE, *FACTS, *matched, "runs_of_day"):
        for step in EVIDENCE:
            session.create(step, PACKAGE, step, values)
        session.create("match_input", PACKAGE, "dependency_lookup_input", values)
        match_pods(session, day)
        session.create("stage_input", PACKAGE, "dependency_stage_input", values)
        match_stages(session)
        for step in (*FACTS, "runs_of_day"):
            session.create(step, PACKAGE, step, values)
        session.create("mart_rows", PACKAGE, "run_dependency_days", values)
    return cover_rows_of_day(session)


TRANSFORM = Transform(
    table="run_dependency_days",
    reads=(
        Reads("connections"),
        Reads("object_transfers"),
        Reads("peer_traffic"),
        Reads("image_pulls"),
        Reads("stages"),
        Reads("dns_lookups"),
        Reads("pod_intervals", "pods"),
        Reads("node_states", "pods"),
        Reads("services", "pods"),
        Reads("runs"),
        Reads("run_coverage_days"),
        Reads("declared_dependencies"),
        Reads("endpoints"),
    ),
    rows_from=(
        "connections",
        "object_transfers",
        "peer_traffic",
        "image_pulls",
        "stages",
        "dns_lookups",
    ),
    build=build,
    version=5,
    parts={"hosts": hosts_of_day},
)
