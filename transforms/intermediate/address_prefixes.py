"""Networks and addresses as text of bits, so that a hash join finds the longest prefix.

The key of a network is its family (`4` or `6`) and the bits of its prefix: an address lies in it if
its own bits, spelled by the macro `address_bits` of `transforms.sql`, begin with the key.
"""

from ipaddress import IPv4Network, IPv6Network, ip_network

import polars as pl

ADDRESS_RANGES = pl.Schema(
    {
        "network": pl.String(),
        "prefix_length": pl.Int64(),
        "provider": pl.String(),
        "service": pl.String(),
        "region": pl.String(),
        "valid_from": pl.Datetime("us", "UTC"),
    }
)
"""The table `address_ranges`: providers' networks in force on a day, each once.

`network` is the key of this module; `provider` (`aws`, `gcp`, `azure`) and `service` are null where
several providers list one network, `region` where the network has none or several; `valid_from` is
the date of the list that says so.
"""
CLUSTER_SUBNETS = pl.Schema(
    {
        "cluster": pl.String(),
        "network": pl.String(),
        "prefix_length": pl.Int64(),
        "zone": pl.String(),
        "region": pl.String(),
    }
)
"""The table `cluster_subnets`: subnets that the settings state, each cluster's own."""


def network_key(network: IPv4Network | IPv6Network) -> str:
    """Key of a network.

    >>> network_key(ip_network("192.0.2.0/24"))
    '4110000000000000000000010'
    """
    bits = format(int(network.network_address), f"0{network.max_prefixlen}b")
    return f"{network.version}{bits[: network.prefixlen]}"


def subnet_row(
    cluster: str, cidr: str, zone: str | None, region: str | None
) -> tuple[str, str, int, str | None, str | None]:
    """Row of `cluster_subnets` for one subnet of a cluster, such as `10.0.0.0/20`."""
    network = ip_network(cidr)
    return cluster, network_key(network), network.prefixlen, zone, region
