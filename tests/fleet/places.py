"""The two clusters, their nodes and the buckets: where everything happens."""

from datetime import date

from tests.fleet.world import Cluster, Fleet, Node

ALDER = Cluster(
    name="alder",
    region="us-east-1",
    cilium="1.19.2+g3977f6a1",
    kubernetes="1.33",
    resolver="10.20.1.5",
    has_sandbox_condition=True,
)
BIRCH = Cluster(
    name="birch",
    region="eu-west-1",
    cilium="1.13.4",
    kubernetes="1.25",
    resolver="10.30.1.5",
    has_sandbox_condition=False,
)


def _node(cluster: Cluster, address: str, zone: str, kind: str, number: int) -> Node:
    dashed = address.replace(".", "-")
    is_first_region = cluster.region == "us-east-1"
    domain = "ec2.internal" if is_first_region else f"{cluster.region}.compute.internal"
    return Node(
        cluster=cluster.name,
        name=f"ip-{dashed}.{domain}",
        address=address,
        zone=f"{cluster.region}{zone}",
        region=cluster.region,
        instance_type=kind,
        instance_id=f"i-0example{number:010d}",
        interface_id=f"eni-0example{number:08d}",
    )


A1 = _node(ALDER, "10.20.1.11", "a", "g6.4xlarge", 11)
A2 = _node(ALDER, "10.20.1.12", "a", "g6.4xlarge", 12)
A3 = _node(ALDER, "10.20.2.13", "b", "g6.4xlarge", 13)
B1 = _node(BIRCH, "10.30.1.21", "a", "g5.2xlarge", 21)
B2 = _node(BIRCH, "10.30.2.22", "b", "g5.2xlarge", 22)
NODES = (A1, A2, A3, B1, B2)

NAT = "203.0.113.250"

DATASETS = "example-datasets"
MODELS = "example-models"
CHECKPOINTS = "example-checkpoints"
BUCKET_REGIONS = {DATASETS: "eu-west-1", MODELS: "us-east-1", CHECKPOINTS: "us-east-1"}

DATASET_IDS = (
    f"s3://{DATASETS}/imagenet-mini",
    f"s3://{DATASETS}/common-speech",
    f"s3://{MODELS}/base",
)
"""Ids of the declared datasets; each is also the prefix that its pattern names."""

LEXICON = f"s3://{DATASETS}/common-speech/lexicon"
"""A path that only asr-train declares and reads."""

MISSING_HUBBLE = {(A3.name, date(2026, 3, 11))}
"""Node and day of which no Hubble file was delivered."""


def empty_fleet(fleet: Fleet) -> None:
    """Put clusters and nodes into a fleet."""
    fleet.clusters = {ALDER.name: ALDER, BIRCH.name: BIRCH}
    fleet.nodes = list(NODES)
