"""transfer_costs: one case per path, against prices and amounts made by hand."""

import random
from datetime import timedelta
from decimal import Decimal
from hashlib import md5

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.reference.prices import load_prices
from schemas import columns
from tests.transforms.frames import DAY, at, checked, show
from tests.transforms.marts.price_sheet import BY_HAND, GIB, amount, price, sheet
from transforms.day import BuildDay, ClusterFacts
from transforms.marts import run_dependency_days
from transforms.marts.transfer_costs import TRANSFORM
from transforms.sql import SqlSession

RUN = "a" * 32
EAST = ClusterFacts(
    "alder", "aws", "us-east-1", "111122223333", endpoints=(("vpce-1", "gateway", ()),)
)
WEST = ClusterFacts("birch", "aws", "eu-west-1", "444455556666")
ENDPOINTS = pl.DataFrame(
    [("*.s3.*.amazonaws.com", "Amazon S3", "object I/O", "primary", True)],
    schema={
        "pattern": pl.String, "service": pl.String, "operation": pl.String, "kind": pl.String,
        "is_verified": pl.Boolean,
    },
    orient="row",
)  # fmt: skip
SPECIAL = {"endpoints", "prices"}
READ = {read.table for read in TRANSFORM.reads} - SPECIAL
PODS = [
    {"cluster": "alder", "pod_uid": "p1", "address": "10.0.0.1", "region": "us-east-1"},
    {"cluster": "alder", "pod_uid": "p2", "address": "10.0.0.2", "region": "us-east-1"},
    {"cluster": "birch", "pod_uid": "w1", "address": "10.9.0.1", "region": "eu-west-1"},
]
THREE = 3 * GIB


def built(prices=BY_HAND, clusters=(EAST, WEST), day=DAY, **tables) -> pl.DataFrame:
    facts = {key: tables.pop(key) for key in ("nat_addresses", "bucket_owners") if key in tables}
    with SqlSession(threads=1) as session:
        tables.setdefault("pod_intervals", [{**pod, "date": day} for pod in PODS])
        show(session, **{name: tables.get(name, []) for name in READ})
        session.register("endpoints", ENDPOINTS)
        session.register("prices", prices if isinstance(prices, pl.DataFrame) else sheet(*prices))
        name = TRANSFORM.build(session, BuildDay(day, "fleet", clusters=clusters, **facts))
        return checked(session, "transfer_costs", name)


def transfer(id_: str = "t1", count: int = THREE, **more) -> dict:
    return {
        "transfer_id": id_,
        "start_at": at("10:01"),
        "end_at": at("10:02"),
        "provider": "s3",
        "bucket": "bucket",
        "key": "key",
        "operation": "read",
        "object_id": "s3://bucket/key",
        "resource_id": "s3://bucket",
        "client_address": "10.0.0.1",
        "request_count": 2000,
        "success_count": 2000,
        "transferred_bytes": count,
        "object_size_bytes": count,
        "cluster": "alder",
        "pod_uid": "p1",
        "run_uuid": RUN,
        "match_kind": "access_key",
        "stage": "unknown",
        "principal": "arn:aws:sts::777788889999:assumed-role/reader/x",
        "endpoint": "bucket.s3.us-east-1.amazonaws.com",
        "reader_region": "us-east-1",
        "bucket_region": "us-east-1",
    } | more


def flow(direction: str = "receive", count: int = THREE, window: str = "10:00", **more) -> dict:
    return {
        "peer_traffic_id": f"{direction} {count} {window} {sorted(more.items())}",
        "scope": "fleet",
        "cluster": "alder",
        "local_address": "10.0.0.1",
        "pod_uid": "p1",
        "run_uuid": RUN,
        "peer_address": "198.51.100.7",
        "peer_port": 443,
        "transport": "TCP",
        "direction": direction,
        "window_start_at": at(window),
        "bytes": count,
        "min_bytes": count,
        "max_bytes": count,
        "name_kind": "none",
        "distance": "unknown",
        "gateway": "unknown",
        "measured_by": "flow_record",
        "byte_layer": "packet",
        "observer": "eni",
        "match_kind": "address_window",
        "is_chosen": True,
    } | more


OUTSIDE = "cross_region; cross_region/nat; internet; internet/nat; same_region; same_region/nat"
NAT = "203.0.113.9"
HOST = "bucket.s3.us-east-1.amazonaws.com"
VPCE_HOST = "bucket.vpce-1a.s3.us-east-1.vpce.amazonaws.com"
PEER = {"peer_address": "10.0.0.2", "peer_port": 8080}
FAR = {"peer_address": "10.9.0.1"}


def usd(*amounts: str | None) -> tuple:
    return tuple(None if a is None else Decimal(a) for a in amounts)


# What a case sees, and its charges: kind, ends, least, best, most, price.
CASES: dict[str, tuple[list[dict], list[tuple]]] = {
    "gateway endpoint in the region": (
        [transfer(vpc_endpoint_id="vpce-1")],
        [
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "storage"),
        ],
    ),
    "interface endpoint": (
        [transfer(endpoint=VPCE_HOST, vpc_endpoint_id="vpce-1a")],
        [
            (
                "endpoint_processing",
                "us-east-1",
                "us-east-1",
                *usd("0.03", "0.03", "0.03"),
                "endpoint",
            ),
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "storage"),
        ],
    ),
    "nat to storage of the region": (
        [transfer(client_address=NAT)],
        [
            ("nat_processing", "us-east-1", "us-east-1", *usd("0.135", "0.135", "0.135"), "nat"),
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "storage"),
        ],
    ),
    "nat to storage of another region": (
        [transfer(client_address=NAT, bucket_region="eu-west-1")],
        [
            ("nat_processing", "us-east-1", "us-east-1", *usd("0.135", "0.135", "0.135"), "nat"),
            ("request", "eu-west-1", None, None, None, None, None),
            ("transfer", "eu-west-1", "us-east-1", *usd("0.09", "0.09", "0.09"), "regions-west"),
        ],
    ),
    "nat to the internet": (
        [flow("transmit", distance="internet", gateway="nat")],
        [
            ("nat_processing", "us-east-1", "us-east-1", *usd("0.135", "0.135", "0.135"), "nat"),
            ("transfer", "us-east-1", "internet", *usd("0", "0.27", "0.27"), "out-1"),
        ],
    ),
    "nat from the internet": (
        [flow("receive", distance="internet", gateway="nat")],
        [
            ("nat_processing", "us-east-1", "us-east-1", *usd("0.135", "0.135", "0.135"), "nat"),
            ("transfer", "internet", "us-east-1", *usd("0", "0", "0"), "in"),
        ],
    ),
    "internet": (
        [
            flow("transmit", distance="internet", gateway="none"),
            flow("receive", distance="internet", gateway="none"),
        ],
        [
            ("transfer", "internet", "us-east-1", *usd("0", "0", "0"), "in"),
            ("transfer", "us-east-1", "internet", *usd("0", "0.27", "0.27"), "out-1"),
        ],
    ),
    "same node": (
        [flow(distance="same_node", **PEER)],
        [("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "node")],
    ),
    "same zone": (
        [flow(distance="same_zone", **PEER)],
        [("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "zone")],
    ),
    "cross zone, both ways": (
        [
            flow("receive", distance="cross_zone", **PEER),
            flow("transmit", GIB, distance="cross_zone", **PEER),
        ],
        [("transfer", "us-east-1", "us-east-1", *usd("0.052", "0.052", "0.052"), "zones")],
    ),
    "cross region over peering, received": (
        [flow(distance="cross_region", gateway="peering", **FAR)],
        [("transfer", "eu-west-1", "us-east-1", *usd("0.09", "0.09", "0.09"), "regions-west")],
    ),
    "cross region over peering, sent": (
        [flow("transmit", distance="cross_region", gateway="peering", **FAR)],
        [("transfer", "us-east-1", "eu-west-1", *usd("0.06", "0.06", "0.06"), "regions-east")],
    ),
    "transit": (
        [flow("transmit", distance="cross_region", gateway="transit", **FAR)],
        [
            ("endpoint_processing", "us-east-1", "us-east-1", None, None, None, None),
            ("transfer", "us-east-1", "eu-west-1", *usd("0.06", "0.06", "0.06"), "regions-east"),
        ],
    ),
    # A host of the region stands in some zone of it; its storage does not.
    "same region": (
        [
            flow(distance="same_region", gateway="none"),
            flow(
                distance="same_region",
                gateway="none",
                peer_name="S3",
                name_kind="address_range",
                peer_address="198.51.100.8",
                pod_uid="p2",
            ),
        ],
        [
            ("transfer", "us-east-1", "us-east-1", *usd("0", None, "0.039"), None),
            ("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "storage"),
        ],
    ),
    # Buckets that no log tells of, by the hosts that flow records name.
    "nat to unlogged storage of the region": (
        [
            flow(
                peer_name="other.s3.us-east-1.amazonaws.com",
                name_kind="dns_pod",
                gateway="nat",
                peer_address="198.51.100.9",
            ),
        ],
        [
            ("nat_processing", "us-east-1", "us-east-1", *usd("0.135", "0.135", "0.135"), "nat"),
            ("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "storage"),
        ],
    ),
    "unlogged storage of another region": (
        [
            flow(
                peer_name="far.s3.eu-west-1.amazonaws.com",
                name_kind="dns_pod",
                gateway="none",
                peer_address="198.51.100.10",
            ),
            flow(
                "transmit",
                GIB,
                peer_name="far.s3.eu-west-1.amazonaws.com",
                name_kind="dns_pod",
                gateway="none",
                peer_address="198.51.100.10",
            ),
        ],
        [
            ("transfer", "eu-west-1", "us-east-1", *usd("0.09", "0.09", "0.09"), "regions-west"),
            ("transfer", "us-east-1", "eu-west-1", *usd("0.02", "0.02", "0.02"), "regions-east"),
        ],
    ),
    # A price for two regions goes before one for the first.
    "two regions of one price": (
        [transfer(reader_region="us-east-2", client_address=NAT)],
        [
            ("nat_processing", "us-east-2", "us-east-2", None, None, None, None),
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", "us-east-2", *usd("0.021", "0.021", "0.021"), "east-ohio"),
        ],
    ),
    "gateway told by the pod's flow records": (
        [
            transfer(pod_uid="p3", client_address=None),
            flow(
                pod_uid="p3",
                peer_name=HOST,
                name_kind="dns_pod",
                gateway="gateway_endpoint",
                distance="same_region",
            ),
        ],
        [
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "storage"),
        ],
    ),
    "gateway on which flow records disagree": (
        [
            transfer(pod_uid="p4", client_address=None),
            flow(pod_uid="p4", peer_name=HOST, name_kind="dns_pod", gateway="gateway_endpoint"),
            flow(pod_uid="p4", peer_name=HOST, name_kind="dns_pod", gateway="nat", window="11:00"),
        ],
        [
            ("endpoint_processing", "us-east-1", "us-east-1", *usd("0", None, "0.03"), None),
            ("nat_processing", "us-east-1", "us-east-1", *usd("0", None, "0.135"), None),
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", "us-east-1", *usd("0", "0", "0"), "storage"),
        ],
    ),
    "unknown path to a public address": (
        [flow("transmit")],
        [
            ("nat_processing", "us-east-1", "us-east-1", *usd("0", None, "0.135"), None),
            ("transfer", "us-east-1", None, *usd("0", None, "0.27"), None),
        ],
    ),
    # Never assumed near, and never the internet.
    "unknown path to a private address": (
        [flow("transmit", peer_address="10.200.0.1")],
        [
            ("endpoint_processing", "us-east-1", "us-east-1", *usd("0", None, "0.03"), None),
            ("transfer", "us-east-1", None, *usd("0", None, "0.06"), None),
        ],
    ),
    # Over the regions of the price book, but not the receiver's own.
    "unknown region that sends": (
        [flow(peer_address="10.200.0.1", distance="cross_region", gateway="peering")],
        [("transfer", None, "us-east-1", *usd("0.09", None, "0.42"), None)],
    ),
    # A private client excludes NAT and the internet.
    "unknown region of the bucket": (
        [transfer(bucket_region=None)],
        [
            ("endpoint_processing", "us-east-1", "us-east-1", *usd("0", None, "0.03"), None),
            ("request", None, None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", None, "us-east-1", *usd("0", None, "0.42"), None),
        ],
    ),
    # Whoever it is, its gateways are not the fleet's.
    "client of no known cluster": (
        [
            transfer(
                cluster=None,
                pod_uid=None,
                reader_region=None,
                client_address="192.0.2.44",
            ),
        ],
        [
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", None, *usd("0", None, "0.27"), None),
        ],
    ),
    "cluster of another cloud": (
        [transfer(cluster="cedar", reader_region="us-east1", client_address="192.0.2.45")],
        [
            ("nat_processing", "us-east1", "us-east1", None, None, None, None),
            ("request", "us-east-1", None, *usd("0.0008", "0.0008", "0.0008"), "gets"),
            ("transfer", "us-east-1", "internet", *usd("0", "0.27", "0.27"), "out-1"),
        ],
    ),
    "cluster whose cloud is not stated": (
        [
            flow(cluster="dogwood", pod_uid="d1", distance="same_node", peer_address="10.7.0.2"),
            flow("transmit", cluster="dogwood", pod_uid="d1", distance="internet", gateway="none"),
        ],
        [
            ("transfer", None, "internet", None, None, None, None),
            ("transfer", None, None, *usd("0", "0", "0"), "node"),
        ],
    ),
    "classes of requests": (
        [
            transfer(kind, 0, operation=kind, vpc_endpoint_id="vpce-1")
            for kind in ("read", "head", "write", "list", "delete")
        ],
        [
            ("request", "us-east-1", None, None, None, None, None),
            ("request", "us-east-1", None, *usd("0.0016", "0.0016", "0.0016"), "gets"),
            ("request", "us-east-1", None, *usd("0.02", "0.02", "0.02"), "puts"),
        ],
    ),
    "bodies of failed requests": (
        [transfer(count=GIB, error_bytes=GIB, bucket_region="eu-west-1", vpc_endpoint_id="vpce-1")],
        [
            ("request", "eu-west-1", None, None, None, None, None),
            ("transfer", "eu-west-1", "us-east-1", *usd("0.06", "0.06", "0.06"), "regions-west"),
        ],
    ),
    "bytes that the log leaves out": (
        [
            transfer(
                count=GIB,
                object_size_bytes=2 * GIB,
                unlogged_bytes_count=1,
                bucket_region="eu-west-1",
                vpc_endpoint_id="vpce-1",
            ),
        ],
        [
            ("request", "eu-west-1", None, None, None, None, None),
            ("transfer", "eu-west-1", "us-east-1", *usd("0.03", None, "0.09"), "regions-west"),
        ],
    ),
    # 8589934592 GiB less one byte at 0.03 each.
    "the largest count": (
        [transfer(count=2**63 - 1, bucket_region="eu-west-1", vpc_endpoint_id="vpce-1")],
        [
            ("request", "eu-west-1", None, None, None, None, None),
            (
                "transfer",
                "eu-west-1",
                "us-east-1",
                *usd("257698037.76", "257698037.76", "257698037.76"),
                "regions-west",
            ),
        ],
    ),
    # 8589934592 x 0.14 is more than the column holds.
    "more than the column holds": (
        [transfer(count=2**63 - 1, bucket_region="sa-east-1", vpc_endpoint_id="vpce-1")],
        [
            ("request", "sa-east-1", None, None, None, None, None),
            ("transfer", "sa-east-1", "us-east-1", None, None, None, "regions-south"),
        ],
    ),
    "who pays": (
        [
            transfer("own", bucket="owned", vpc_endpoint_id="vpce-1"),
            transfer(
                "away",
                bucket="owned",
                operation="write",
                bucket_region="eu-west-1",
                vpc_endpoint_id="vpce-1",
            ),
            transfer("guest", bucket="lent-1", vpc_endpoint_id="vpce-1"),
            transfer("other", bucket="lent-2", vpc_endpoint_id="vpce-1", principal="alice"),
        ],
        [],
    ),
}


def run_of(case: str) -> str:
    return md5(case.encode()).hexdigest()


@pytest.fixture(scope="module")
def day() -> pl.DataFrame:
    tables: dict[str, list[dict]] = {"object_transfers": [], "peer_traffic": []}
    for case, (rows, _) in CASES.items():
        for row in rows:
            table, key = ("object_transfers", "transfer_id")
            if "peer_traffic_id" in row:
                table, key = ("peer_traffic", "peer_traffic_id")
            tables[table].append(row | {"run_uuid": run_of(case), key: f"{case} {row[key]}"})
    south = price("regions-south", "transfer", "0.14", distance="cross_region",
                  from_region="sa-east-1")  # fmt: skip
    return built(
        prices=(*BY_HAND, south),
        clusters=(EAST, WEST, ClusterFacts("cedar", "gcp", "us-east1"), ClusterFacts("dogwood")),
        nat_addresses=((NAT, "alder"),),
        bucket_owners=(("owned", "999900001111", False), ("lent-*", "999900001111", True)),
        runs=[{"run_uuid": run_of("internet"), "project": "vision"}],
        **tables,
    )


@pytest.mark.parametrize("case", [case for case, (_, expected) in CASES.items() if expected])
def test_a_path_costs_what_the_sheet_says(day, case):
    rows = day.filter(run_uuid=run_of(case))
    shown = rows.select(
        "charge_kind", "from_region", "to_region", "min_usd", "usd", "max_usd", "price_id"
    ).rows()
    assert sorted(shown, key=repr) == sorted(CASES[case][1], key=repr)


def one(day: pl.DataFrame, case: str, **where) -> dict:
    found = day.filter(run_uuid=run_of(case), **where)
    assert found.height == 1, found
    return found.row(0, named=True)


def test_each_distance_has_its_own_price_and_each_gateway_its_own_charge_beside_it():
    """All paths that design.md names, both ways: only what leaves the clouds is internet egress."""
    # Of three GiB, for what is received and sent; None: not determined, so that no price is named.
    priced = {
        "same_node": (("node", "0"), ("node", "0")),
        "same_zone": (("zone", "0"), ("zone", "0")),
        "cross_zone": (("zones", "0.039"), ("zones", "0.039")),
        "same_region": (None, None),
        "cross_region": (("regions-west", "0.09"), ("regions-east", "0.06")),
        "internet": (("in", "0"), ("out-1", "0.27")),
        "unknown": (None, None),
    }
    beside = {
        "nat": ("nat_processing", "nat", "0.135"),
        "interface_endpoint": ("endpoint_processing", "endpoint", "0.03"),
        "transit": ("endpoint_processing", None, None),
    } | dict.fromkeys(("none", "proxy", "gateway_endpoint", "peering"))
    assert set(priced) == set(columns.DISTANCES)
    assert {*beside, "unknown"} == set(columns.GATEWAYS)
    regional = {
        ("same_region", "interface_endpoint"),
        ("same_region", "gateway_endpoint"),
        ("unknown", "gateway_endpoint"),
    }
    peers = {"cross_region": FAR} | dict.fromkeys(("same_node", "same_zone", "cross_zone"), PEER)
    paths = {
        run_of(f"{distance}/{gateway}/{direction}"): (distance, gateway, direction)
        for distance in priced
        for gateway in (*beside, "unknown")
        for direction in ("receive", "transmit")
    }
    rows = built(
        peer_traffic=[
            flow(direction, distance=distance, gateway=gateway, run_uuid=run,
                 **peers.get(distance, {}))
            for run, (distance, gateway, direction) in paths.items()
        ]
    )  # fmt: skip
    charged = {(r["run_uuid"], r["charge_kind"]): r for r in rows.iter_rows(named=True)}
    for run, (distance, gateway, direction) in paths.items():
        row = charged.pop((run, "transfer"))
        expected = priced[distance][direction == "transmit"]
        if expected is not None:
            assert (row["price_id"], row["usd"]) == (expected[0], *usd(expected[1])), row
            assert row["max_usd"] == row["usd"]
        elif (distance, gateway) in regional:
            # Endpoints lead to services of a region; a gateway endpoint to those of its own.
            assert (row["price_id"], row["max_usd"]) == ("storage", 0)
        else:
            assert (row["price_id"], row["usd"]) == (None, None)
            assert row["min_usd"] < row["max_usd"]
        if gateway != "unknown" and beside[gateway] is not None:
            kind, price_id, amounts = beside[gateway]
            row = charged.pop((run, kind))
            assert (row["price_id"], row["min_usd"], row["max_usd"]) == (
                price_id, *usd(amounts, amounts),
            )  # fmt: skip
    # What is left is possible where no gateway is known: NAT, on the way to public addresses.
    left = {(paths[run][0], paths[run][1], kind) for run, kind in charged}
    assert left == {(far, "unknown", "nat_processing") for far in ("internet", "unknown")}
    assert {(row["min_usd"], row["usd"], row["max_usd"]) for row in charged.values()} == {
        usd("0", None, "0.135")
    }


GOOGLE = ClusterFacts("cedar", "gcp", "us-central1")
AZURE = ClusterFacts("dogwood", "azure", "eastus")
SHIPPED = {
    # Of one unit received and sent: least, best and most, by reference/object_storage.md 7.1.
    GOOGLE: ("europe-west4", GIB, {
        "same_node": (("0",) * 3, ("0",) * 3),
        "same_zone": (("0",) * 3, ("0",) * 3),
        "cross_zone": (("0.01",) * 3, ("0.01",) * 3),
        "cross_region": (("0.08",) * 3, ("0.08",) * 3),
        "internet": (("0",) * 3, ("0", "0.12", "0.12")),
    }),
    AZURE: ("westeurope", 10**9, {
        "same_node": (("0",) * 3, ("0",) * 3),
        "same_zone": (("0",) * 3, ("0",) * 3),
        "cross_zone": (("0",) * 3, ("0",) * 3),
        "cross_region": (("0.02",) * 3, ("0.02",) * 3),
        "internet": (("0",) * 3, ("0", "0.087", "0.087")),
    }),
}  # fmt: skip


@pytest.mark.parametrize("cluster", SHIPPED, ids=lambda cluster: cluster.cloud)
def test_other_clouds_paths_cost_what_their_lists_say_and_nat_beside_them(cluster):
    """By the shipped price book: only what leaves a cloud costs what it takes to the internet."""
    far_region, unit, prices = SHIPPED[cluster]
    far = ClusterFacts("far", cluster.cloud, far_region)
    pods = [
        {"cluster": c.name, "pod_uid": uid, "address": address, "region": c.region, "date": DAY}
        for c, uid, address in (
            (cluster, "p1", "10.0.0.1"), (cluster, "p2", "10.0.0.2"), (far, "f1", "10.9.0.1"),
        )
    ]  # fmt: skip
    peers = {"cross_region": FAR, "internet": {}}
    ways = {
        run_of(f"{distance} {gateway} {direction}"): (distance, gateway, direction)
        for distance in prices
        for gateway in ("none", "nat")
        for direction in ("receive", "transmit")
    }
    rows = built(
        prices=load_prices(),
        clusters=(cluster, far),
        pod_intervals=pods,
        peer_traffic=[
            flow(direction, unit, cluster=cluster.name, run_uuid=run, distance=distance,
                 gateway=gateway, **peers.get(distance, PEER))
            for run, (distance, gateway, direction) in ways.items()
        ],
    )  # fmt: skip
    charged = {(r["run_uuid"], r["charge_kind"]): r for r in rows.iter_rows(named=True)}
    for run, (distance, gateway, direction) in ways.items():
        row = charged.pop((run, "transfer"))
        expected = usd(*prices[distance][direction == "transmit"])
        assert (row["min_usd"], row["usd"], row["max_usd"]) == expected, (distance, direction)
        if gateway == "nat":
            row = charged.pop((run, "nat_processing"))
            assert (row["min_usd"], row["usd"], row["max_usd"]) == usd(*("0.045",) * 3)
    assert charged == {}


def test_bytes_stand_on_charges_of_bytes_and_requests_on_those_of_requests(day):
    case = "gateway endpoint in the region"
    moved = one(day, case, charge_kind="transfer")
    asked = one(day, case, charge_kind="request")
    assert (moved["bytes"], moved["min_bytes"], moved["max_bytes"]) == (THREE, THREE, THREE)
    assert (moved["request_count"], asked["request_count"], asked["bytes"]) == (None, 2000, None)
    assert (moved["distance"], moved["gateway"], moved["usage_type"]) == (
        "same_region", "gateway_endpoint", "C3DataTransfer-Out-Bytes",
    )  # fmt: skip
    assert (asked["usage_type"], asked["billed_resource_id"], asked["measured_by"]) == (
        "Requests-Tier2", "bucket", "storage_log",
    )  # fmt: skip
    hidden = one(day, "bytes that the log leaves out", charge_kind="transfer")
    assert (hidden["bytes"], hidden["min_bytes"], hidden["max_bytes"]) == (None, GIB, 3 * GIB)
    possible = one(day, "unknown path to a public address", charge_kind="nat_processing")
    assert (possible["bytes"], possible["min_bytes"], possible["max_bytes"]) == (None, 0, THREE)


def test_candidates_and_what_is_missing_are_named(day):
    known = one(day, "internet", charge_kind="transfer", to_region="internet")
    assert (known["candidate_paths"], known["price_kind"], known["project"]) == (
        None, "listed", "vision",
    )  # fmt: skip
    # One of the tiers of that price is not verified.
    assert known["is_price_verified"] is False
    outside = one(day, "unknown path to a public address", charge_kind="transfer")
    assert (outside["candidate_paths"], outside["price_kind"]) == (OUTSIDE, "candidates")
    inside = one(day, "unknown path to a private address", charge_kind="transfer")
    assert "internet" not in inside["candidate_paths"]
    assert inside["candidate_paths"].startswith("cross_region; cross_region/interface_endpoint; ")
    lacking = one(day, "transit", charge_kind="endpoint_processing")
    assert (lacking["price_kind"], lacking["is_price_verified"]) == ("missing", None)
    assert lacking["missing_prices"] == [
        "aws endpoint_processing transit TransitGateway-Bytes from us-east-1"
    ]
    lacking = one(day, "cluster whose cloud is not stated", to_region="internet")
    assert lacking["missing_prices"] == [
        "unknown provider transfer internet from unknown region to internet"
    ]


def test_a_charge_of_several_paths_names_all_prices_that_one_of_them_lacks():
    lacking = {"p1": ["from a", "from c"], "p2": ["from b", "from c"], "p3": None, "q1": None}
    paths = [
        {"path_id": path, "distance": "cross_region" if path[0] == "p" else "same_region",
         "gateway": "none"}
        for path in lacking
    ]  # fmt: skip
    counts = pl.DataFrame(
        [
            {"path_id": path, "charge_kind": "transfer", "cluster": "alder", "run_uuid": RUN,
             "resource_id": "s3://bucket", "account_id": None, "billed_resource_id": None,
             "measured_by": "storage_log", "bytes": 7, "min_bytes": 7, "max_bytes": 7,
             "request_count": None}
            for path in lacking
        ],
        schema_overrides={"request_count": pl.Int64},
    )  # fmt: skip
    names = (
        "candidate_paths", "provider", "from_region", "to_region", "usage_type", "cheapest", "best",
        "dearest", "price_id",
    )  # fmt: skip
    prices = pl.DataFrame(
        [
            {"path_id": path, "charge_kind": "transfer", "is_certain": True, **dict.fromkeys(names),
             "missing_prices": missing, "is_price_verified": None}
            for path, missing in lacking.items()
        ],
        schema_overrides=dict.fromkeys(names, pl.String) | {"is_price_verified": pl.Boolean},
    )  # fmt: skip
    for order in (1, -1):
        with SqlSession(threads=1) as session:
            session.register("paths", pl.DataFrame(paths)[::order])
            session.register("cost_counts", counts[::order])
            session.register("path_prices", prices[::order])
            sums = session.create("cost_sums", "transforms.marts", "cost_sums", {"date": DAY})
            rows = (
                session.frame(sums).sort("distance").select("distance", "bytes", "missing_prices")
            )
        assert rows.rows() == [
            ("cross_region", 21, ["from a", "from b", "from c"]), ("same_region", 7, None),
        ]  # fmt: skip


def test_who_pays_is_the_owner_the_requester_or_the_cluster_that_sends(day):
    rows = day.filter(run_uuid=run_of("who pays"))
    shown = rows.select("charge_kind", "distance", "account_id", "billed_resource_id").rows()
    assert sorted(shown, key=repr) == sorted(
        [
            ("request", "cross_region", "999900001111", "owned"),
            ("request", "same_region", "999900001111", "owned"),
            ("transfer", "cross_region", "111122223333", None),
            ("transfer", "same_region", "999900001111", "owned"),
            ("request", "same_region", "777788889999", "lent-1"),
            ("transfer", "same_region", "777788889999", "lent-1"),
            ("request", "same_region", None, "lent-2"),
            ("transfer", "same_region", None, "lent-2"),
        ],
        key=repr,
    )
    assert one(day, "interface endpoint", charge_kind="endpoint_processing")["account_id"] == (
        "111122223333"
    )
    far = one(day, "cross region over peering, received", charge_kind="transfer")
    assert far["account_id"] == "444455556666"


def test_costs_never_read_the_bill():
    assert "billing_lines" not in {read.table for read in TRANSFORM.reads}


def priced(rows: list[tuple]) -> list[tuple]:
    price_type = pl.Struct({"worth": pl.Int64, "nano": pl.Int64, "units": pl.Int64})
    schema = {
        "item_id": pl.String, "is_certain": pl.Boolean, "amount": pl.Int64,
        "min_amount": pl.Int64, "max_amount": pl.Int64, "cheapest": price_type,
        "best": price_type, "dearest": price_type,
    }  # fmt: skip
    with SqlSession(threads=1) as session:
        session.register("priced_counts", pl.DataFrame(rows, schema=schema, orient="row"))
        session.create("amounts", "transforms.marts", "price_of_path")
        return session.frame("amounts").sort("item_id").rows()


def test_halves_go_to_the_even_neighbour():
    half = {"worth": 0, "nano": 1, "units": 2}
    made = priced([(f"{n}", True, n, n, n, half, half, half) for n in range(8)])
    nano = [int(row[2].scaleb(9)) for row in made]
    assert nano == [0, 0, 1, 2, 2, 2, 3, 4]


@settings(deadline=None, max_examples=5)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2**63 - 1), st.integers(0, 10**15), st.integers(1, 10**15),
        ),
        min_size=30, max_size=60,
    )
)  # fmt: skip
def test_amounts_are_those_of_exact_decimals(cases):
    rows = []
    for n, (count, nano, units) in enumerate(cases):
        one = {"worth": 0, "nano": nano, "units": units}
        rows.append((f"{n:03}", n % 3 > 0, count, count // 2, count, one, one, one))
    for (count, nano, units), row, made in zip(cases, rows, priced(rows), strict=True):
        whole = str(Decimal(nano).scaleb(-9))
        certain = row[1]
        expected = (
            amount(count // 2 if certain else 0, whole, units),
            amount(count, whole, units) if certain else None,
            amount(count, whole, units),
        )
        fitting = tuple(None if e is None or e >= 10**9 else e for e in expected)
        assert made == (row[0], *fitting)


class Fleet:
    """A day of a fleet whose paths are all determined, with what each charge truly comes to."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.tables: dict[str, list[dict]] = {"object_transfers": [], "peer_traffic": []}
        self.truth: dict[tuple[str, str], int] = {}
        for n in range(40):
            run = f"{n:032x}"
            # The dataset stands in another region; some read it twice, in parts of odd sizes.
            for part in range(draw.randint(1, 3)):
                count = draw.randint(1, 5 * GIB)
                self.tables["object_transfers"].append(
                    transfer(
                        f"{n}/{part}", count, run_uuid=run, bucket_region="eu-west-1",
                        client_address="203.0.113.9", request_count=draw.randint(1, 9000),
                    )
                )  # fmt: skip
                self.add(run, "transfer/0.03", count)
                self.add(run, "nat/0.045", count)
            for distance, rate in (("cross_zone", "0.013"), ("same_zone", "0")):
                count = draw.randint(1, GIB)
                self.tables["peer_traffic"].append(
                    flow("receive", count, run_uuid=run, distance=distance, peer_port=2049,
                         peer_address="10.0.0.2", window=f"{9 + (n % 10)}:00".zfill(5))
                )  # fmt: skip
                self.add(run, f"{distance}/{rate}", count)
        self.expected = {
            key: amount(count, key[1].split("/")[1]) for key, count in self.truth.items()
        }

    def add(self, run: str, charge: str, count: int) -> None:
        self.truth[run, charge] = self.truth.get((run, charge), 0) + count


def rates(rows: pl.DataFrame) -> dict[tuple[str, str], Decimal]:
    names = {
        ("transfer", "cross_region"): "transfer/0.03",
        ("nat_processing", "cross_region"): "nat/0.045",
        ("transfer", "cross_zone"): "cross_zone/0.013",
        ("transfer", "same_zone"): "same_zone/0",
    }
    kept = rows.filter(pl.col("charge_kind") != "request")
    return {
        (row["run_uuid"], names[row["charge_kind"], row["distance"]]): row["usd"]
        for row in kept.iter_rows(named=True)
    }


def test_a_fleet_whose_paths_are_determined_costs_what_its_truth_says_to_the_nanodollar():
    fleet = Fleet(1)
    rows = built(**fleet.tables, nat_addresses=(("203.0.113.9", "alder"),))
    assert rates(rows) == fleet.expected
    assert len(fleet.expected) == 160
    moved = rows.filter(pl.col("charge_kind") != "request")
    assert moved.filter(pl.col("min_usd") != pl.col("max_usd")).is_empty()


def test_the_order_of_rows_changes_nothing_and_days_add_up():
    fleet = Fleet(2)
    mixed = {name: random.Random(3).sample(rows, len(rows)) for name, rows in fleet.tables.items()}
    nat = (("203.0.113.9", "alder"),)
    assert built(**fleet.tables, nat_addresses=nat).equals(built(**mixed, nat_addresses=nat))
    days = [DAY + timedelta(days=n) for n in range(2)]
    moved = [{**row, "date": days[n % 2]} for n, row in enumerate(fleet.tables["object_transfers"])]
    parts = [
        built(object_transfers=moved, nat_addresses=nat, day=day).filter(charge_kind="transfer")
        for day in days
    ]
    month = pl.concat(parts)
    true = dict.fromkeys(days, 0)
    for row in moved:
        true[row["date"]] += row["transferred_bytes"]
    assert [part["bytes"].sum() for part in parts] == list(true.values())
    assert month["bytes"].sum() == sum(true.values())
    by_run: dict = {}
    for row in moved:
        key = (row["run_uuid"], row["date"])
        by_run[key] = by_run.get(key, 0) + row["transferred_bytes"]
    assert month["usd"].sum() == sum(amount(count, "0.03") for count in by_run.values())


@settings(deadline=None, max_examples=2)
@given(st.integers(0, 2**32))
def test_bytes_that_are_charged_are_those_of_run_dependency_days(seed):
    draw = random.Random(seed)
    host = "bucket.s3.us-east-1.amazonaws.com"
    transfers = [
        transfer(
            f"t{n}", draw.randint(0, 1000), run_uuid=draw.choice((RUN, "b" * 32, None)),
            operation=draw.choice(("read", "write", "list")), error_bytes=draw.choice((0, 7)),
            bucket_region=draw.choice(("eu-west-1", "us-east-1", None)),
            pod_uid=draw.choice(("p1", "p2", None)),
        )
        for n in range(25)
    ]  # fmt: skip
    flows = [
        flow(
            draw.choice(("receive", "transmit")), draw.randint(1, 3000),
            window=f"10:{5 * (n % 12):02}",
            distance=draw.choice(("unknown", "internet", "cross_zone")), observer=f"e{n}",
            gateway=draw.choice(("unknown", "nat")), pod_uid=draw.choice(("p1", "p2")),
            peer_name=draw.choice((host, "s3.us-east-1.amazonaws.com", None)),
            name_kind="dns_pod", run_uuid=draw.choice((RUN, "b" * 32)),
        )
        for n in range(40)
    ]  # fmt: skip
    tables = {"object_transfers": transfers, "peer_traffic": flows}
    rows = built(**tables).filter(charge_kind="transfer")
    with SqlSession(threads=1) as session:
        reads = {read.table for read in run_dependency_days.TRANSFORM.reads}
        for name in reads - SPECIAL:
            show(session, **{name: tables.get(name, [])})
        for special, rows_of_it in (("endpoints", ENDPOINTS), ("prices", sheet(*BY_HAND))):
            session.register(special, rows_of_it)
        name = run_dependency_days.TRANSFORM.build(session, BuildDay(DAY, "fleet"))
        days = session.frame(name)
    counted = days["received_bytes"].sum() + days["sent_bytes"].sum()
    assert rows["bytes"].sum() == counted + sum(t["error_bytes"] for t in transfers)
    assert rows["min_bytes"].sum() <= rows["bytes"].sum() <= rows["max_bytes"].sum()


def test_a_charge_carries_how_far_what_measured_it_observed_the_run():
    facts = [
        {"cluster": "alder", "run_uuid": RUN, "source": source, "expected_us": 10,
         "covered_us": covered, "empty_means": "partly_observed"}
        for source, covered in (("object_requests:bucket", 4), ("volume_records", 7))
    ]  # fmt: skip
    rows = built(
        object_transfers=[transfer()], peer_traffic=[flow(distance="internet")],
        run_coverage_days=facts,
    )  # fmt: skip
    found = rows.select("measured_by", "expected_us", "covered_us", "empty_means").rows()
    assert set(found) == {
        ("storage_log", 10, 4, "partly_observed"), ("flow_record", 10, 7, "partly_observed"),
    }  # fmt: skip
