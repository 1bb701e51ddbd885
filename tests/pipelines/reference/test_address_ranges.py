"""The networks that providers publish: each file's own shape, dates, overlaps, hostile input."""

import datetime as dt
import json
import os
import random
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.build import Inputs, build_day_of, gather
from pipelines.errors import SettingsError
from pipelines.ledger import Ledger
from pipelines.reference import address_ranges
from pipelines.reference.address_ranges import load_address_ranges
from pipelines.settings import load_settings
from pipelines.storage import Lake
from transforms.intermediate.address_prefixes import ADDRESS_RANGES, network_key
from transforms.intermediate.range_match import match_ranges
from transforms.registry import transforms
from transforms.sql import SqlSession

AWS = {
    "syncToken": "1772438703",  # 2026-03-02T08:05:03Z
    "createDate": "2026-03-02-08-05-03",
    "prefixes": [
        {"ip_prefix": "192.0.2.0/24", "region": "us-east-1", "service": "AMAZON"},
        {"ip_prefix": "192.0.2.0/24", "region": "us-east-1", "service": "S3"},
        {"ip_prefix": "192.0.2.128/25", "region": "eu-west-1", "service": "AMAZON"},
        {"ip_prefix": "198.51.100.0/24", "region": "GLOBAL", "service": "CLOUDFRONT"},
        {"ip_prefix": "198.51.100.0/24", "region": "GLOBAL", "service": "AMAZON"},
        {"ip_prefix": "203.0.113.0/26", "region": "us-east-1", "service": "EC2"},
        {"ip_prefix": "203.0.113.0/26", "region": "us-east-1", "service": "S3"},
        {"ip_prefix": "203.0.113.64/26", "region": "us-east-1", "service": "AMAZON"},
        {"ip_prefix": "203.0.113.64/26", "region": "us-east-2", "service": "EC2"},
    ],
    "ipv6_prefixes": [
        {"ipv6_prefix": "2001:db8::/32", "region": "us-east-1", "service": "AMAZON"},
        {"ipv6_prefix": "2001:db8:80::/41", "region": "us-east-1", "service": "EC2"},
    ],
}
CLOUD = {
    "syncToken": "1772467503087",  # 2026-03-02T16:05:03.087Z
    "creationTime": "2026-03-02T08:05:03.087",
    "prefixes": [
        {"ipv4Prefix": "203.0.113.128/25", "service": "Google Cloud", "scope": "europe-west1"},
        {"ipv6Prefix": "2001:db8:4000::/36", "service": "Google Cloud", "scope": "global"},
    ],
}
GOOG = {
    "syncToken": "1772467503087",
    "creationTime": "2026-03-02T08:05:03.087",
    "prefixes": [{"ipv4Prefix": "203.0.113.0/24"}, {"ipv4Prefix": "203.0.113.128/25"}],
}
AZURE = {
    "changeNumber": 401,
    "cloud": "Public",
    "values": [
        {
            "name": name,
            "id": name,
            "properties": {
                "changeNumber": 7,
                "region": region,
                "platform": "Azure",
                "systemService": service,
                "addressPrefixes": prefixes,
            },
        }
        for name, region, service, prefixes in (
            ("AzureCloud", "", "", ["198.51.100.0/25", "198.51.100.128/25"]),
            ("AzureCloud.westeurope", "westeurope", "", ["198.51.100.0/25"]),
            ("Storage", "", "AzureStorage", ["198.51.100.0/25"]),
            ("Storage.WestEurope", "westeurope", "AzureStorage", ["198.51.100.0/25"]),
        )
    ],
}
END = dt.datetime(2026, 3, 3, tzinfo=dt.UTC)


def written(folder: Path, name: str, document: Any) -> str:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return str(path)


def told(frame: pl.DataFrame, *addresses: str) -> dict[str, tuple[str, str, str] | None]:
    """What the networks say of addresses, through the join that transforms use."""
    with SqlSession(threads=1) as session:
        session.register("address_ranges", frame)
        session.register("range_input", pl.DataFrame({"address": addresses}))
        match_ranges(session)
        rows = session.frame("range_output").rows()
    assert len({row[0] for row in rows}) == len(rows)
    return dict.fromkeys(addresses) | {row[0]: row[1:] for row in rows}


def loaded(folder: Path, *files: tuple[str, Any], end: dt.datetime = END) -> pl.DataFrame:
    paths = [(written(folder, name, document), None) for name, document in files]
    return load_address_ranges(paths).in_force(end)[1]


def test_the_longest_network_speaks_with_its_one_service_and_region(tmp_path: Path):
    frame = loaded(tmp_path, ("ip-ranges.json", AWS))
    assert frame.schema == ADDRESS_RANGES
    found = told(
        frame, "192.0.2.1", "192.0.2.200", "198.51.100.9", "203.0.113.9", "203.0.113.70",
        "203.0.113.200", "2001:db8::1", "2001:db8:ff::9", "2001:db8:ffff::9", "10.0.0.1",
    )  # fmt: skip
    assert found == {
        "192.0.2.1": ("aws", "S3", "us-east-1"),
        "192.0.2.200": ("aws", "AMAZON", "eu-west-1"),  # not S3: the longer network is its own
        "198.51.100.9": ("aws", "CLOUDFRONT", None),
        "203.0.113.9": ("aws", "AMAZON", "us-east-1"),  # two services: no winner is forced
        "203.0.113.70": ("aws", "EC2", None),  # two regions
        "203.0.113.200": None,
        "2001:db8::1": ("aws", "AMAZON", "us-east-1"),
        "2001:db8:ff::9": ("aws", "EC2", "us-east-1"),
        "2001:db8:ffff::9": ("aws", "AMAZON", "us-east-1"),
        "10.0.0.1": None,
    }


def test_each_providers_file_is_told_by_what_it_holds(tmp_path: Path):
    files = (("c.json", CLOUD), ("g.json", GOOG), ("ServiceTags_Public_20260302.json", AZURE))
    found = told(
        loaded(tmp_path, *files), "203.0.113.9", "203.0.113.200", "2001:db8:4000::1",
        "198.51.100.1", "198.51.100.200",
    )  # fmt: skip
    assert found == {
        "203.0.113.9": ("gcp", "Google", None),
        "203.0.113.200": ("gcp", "Google Cloud", "europe-west1"),
        "2001:db8:4000::1": ("gcp", "Google Cloud", None),
        "198.51.100.1": ("azure", "AzureStorage", "westeurope"),
        "198.51.100.200": ("azure", "AzureCloud", None),
    }


def test_a_network_of_two_providers_names_neither_and_hides_the_wider_one(tmp_path: Path):
    wide = AWS | {
        "prefixes": [
            {"ip_prefix": "198.51.100.0/23", "region": "us-east-1", "service": "AMAZON"},
            {"ip_prefix": "198.51.100.0/25", "region": "us-east-1", "service": "AMAZON"},
        ]
    }
    files = (("a.json", wide), ("ServiceTags_Public_20260302.json", AZURE))
    found = told(loaded(tmp_path, *files), "198.51.100.1", "198.51.101.1")
    assert found == {
        "198.51.100.1": (None, None, None),
        "198.51.101.1": ("aws", "AMAZON", "us-east-1"),
    }


def test_the_newest_file_that_is_not_younger_than_the_day_is_in_force(tmp_path: Path):
    later = AWS | {
        "syncToken": "1772582400",  # 2026-03-04T00:00:00Z
        "prefixes": [{"ip_prefix": "192.0.2.0/24", "region": "us-west-2", "service": "S3"}],
    }
    paths = [written(tmp_path, "a.json", AWS), written(tmp_path, "b.json", later)]
    ranges = load_address_ranges([(path, None) for path in paths])
    days = {
        day: told(ranges.in_force(dt.datetime(2026, 3, day + 1, tzinfo=dt.UTC))[1], "192.0.2.1")
        for day in range(1, 6)
    }
    east, west = ("aws", "S3", "us-east-1"), ("aws", "S3", "us-west-2")
    assert [days[day]["192.0.2.1"] for day in range(1, 6)] == [None, east, east, west, west]
    # A file that says nothing new of a day does not make the day another one.
    only_first = load_address_ranges([(paths[0], None)])
    assert ranges.in_force(END)[0] == only_first.in_force(END)[0]
    assert ranges.in_force(END + dt.timedelta(days=9))[0] != only_first.in_force(END)[0]


def test_a_file_without_a_date_needs_one_and_a_stated_one_is_taken_first(tmp_path: Path):
    azure = written(tmp_path, "tags.json", AZURE)
    with pytest.raises(SettingsError, match=r"tags\.json: .* expected {path: …, valid_from"):
        load_address_ranges([(azure, None)])
    ranges = load_address_ranges([(azure, dt.date(2026, 2, 1))])
    assert ranges.snapshots[0].valid_from == dt.datetime(2026, 2, 1, tzinfo=dt.UTC)
    named = written(tmp_path, "ServiceTags_AzureGovernment_20260216.json", AZURE)
    (snapshot,) = load_address_ranges([(named, None)]).snapshots
    assert snapshot.valid_from == dt.datetime(2026, 2, 16, tzinfo=dt.UTC)
    (snapshot,) = load_address_ranges([(named, dt.date(2026, 3, 1))]).snapshots
    assert snapshot.valid_from == dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("document", "date"),
    [
        (AWS, "2026-03-02T08:05:03+00:00"),
        ({k: v for k, v in AWS.items() if k != "syncToken"}, "2026-03-02T08:05:03+00:00"),
        (CLOUD, "2026-03-02T16:05:03.087000+00:00"),
    ],
)
def test_a_files_own_date_is_read(tmp_path: Path, document: Any, date: str):
    ranges = load_address_ranges([(written(tmp_path, "a.json", document), None)])
    assert [s.valid_from.isoformat() for s in ranges.snapshots] == [date]


def test_two_files_of_one_kind_and_date_contradict_each_other(tmp_path: Path):
    paths = [written(tmp_path, name, AWS) for name in ("a.json", "b.json")]
    with pytest.raises(SettingsError, match="two 'aws' files hold from 2026-03-02T08:05:03"):
        load_address_ranges([(path, None) for path in paths])


def aws_with(**entry: Any) -> dict[str, Any]:
    return AWS | {"prefixes": [AWS["prefixes"][0], entry]}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[", "no JSON"),
        ("[" * 100_000, "no JSON: too deep"),
        ("\udcff".encode("utf-8", "surrogatepass").decode("latin-1"), "no JSON"),
        ([], "unknown content; expected AWS's ip-ranges.json"),
        ({"prefixes": {}}, "unknown content"),
        ({"values": []}, "unknown content"),
        (AWS | {"prefixes": [], "ipv6_prefixes": []}, "no network; expected at least one"),
        (AWS | {"ipv6_prefixes": 3}, "ipv6_prefixes: expected a list"),
        (AWS | {"prefixes": ["x"]}, r"prefixes\[0\]: expected an object"),
        (aws_with(ip_prefix="192.0.2.1/24"), r"prefixes\[1\]\.ip_prefix: '192\.0\.2\.1/24': .*"),
        (aws_with(ip_prefix="192.0.2.0"), "expected a network such as"),
        (aws_with(ip_prefix="192.0.2.0/33"), "expected a network"),
        (aws_with(ip_prefix=7), r"prefixes\[1\]\.ip_prefix: 7: expected a network"),
        (aws_with(ip_prefix="0.0.0.0/0", service="S3"), "expected a prefix of at least 8 bits"),
        (aws_with(ip_prefix="192.0.2.0/24", service="a.example.com"), "expected a name of letters"),
        (aws_with(ip_prefix="192.0.2.0/24", service="S3", region="[red]"), "expected a region's"),
        (AWS | {"syncToken": "x", "createDate": "soon"}, "does not say from when on"),
        (AWS | {"syncToken": 9**40, "createDate": None}, "does not say from when on"),
        (CLOUD | {"prefixes": [{"scope": "x"}, 3]}, r"prefixes\[1\]: expected an object"),
        (AZURE | {"values": [{"properties": {"addressPrefixes": 1}}]}, r"values\[0\]\.properties"),
    ],
)
def test_wrong_content_is_named_with_its_place(tmp_path: Path, document: Any, message: str):
    path = written(tmp_path, "wrong.json", document)
    with pytest.raises(SettingsError, match=message) as raised:
        load_address_ranges([(path, None)])
    assert str(raised.value).startswith(f"reference.address_ranges: {path}: ")
    assert len(str(raised.value)) < 4_000


def test_of_many_wrong_entries_only_some_are_named(tmp_path: Path):
    wrong = AWS | {"prefixes": [{"ip_prefix": "x" * 500}] * 1_000}
    with pytest.raises(SettingsError) as raised:
        load_address_ranges([(written(tmp_path, "a.json", wrong), None)])
    assert str(raised.value).count("expected a network") == 20
    assert "and perhaps more" in str(raised.value)


def test_what_is_no_file_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    os.mkfifo(tmp_path / "pipe")
    for name, reason in (
        ("pipe", "no regular file"),
        (".", "a folder"),
        ("none.json", "No such file"),
    ):
        with pytest.raises(SettingsError, match=reason):
            load_address_ranges([(str(tmp_path / name), None)])
    monkeypatch.setattr(address_ranges, "MAX_BYTES", 100)
    with pytest.raises(SettingsError, match="more than 100 bytes; expected a readable file"):
        load_address_ranges([(written(tmp_path, "a.json", AWS), None)])


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 2**32))
def test_the_join_finds_what_comparing_with_every_network_finds(seed: int):
    chance = random.Random(seed)

    def network() -> IPv4Network | IPv6Network:
        if chance.random() < 0.5:
            number, length = 192 << 24 | chance.getrandbits(24), chance.randint(8, 32)
        else:
            # Few different bits in front, so that networks hold each other.
            front = chance.getrandbits(3) << 125 >> 32
            number, length = 0x2001 << 112 | front | chance.getrandbits(60), chance.randint(16, 128)
        return ip_network((number, length), strict=False)

    networks = list({network() for _ in range(400)})
    rows = [(network_key(n), n.prefixlen, "aws", str(n), None, END) for n in networks]
    frame = pl.DataFrame(rows, schema=ADDRESS_RANGES, orient="row")
    inside = [n[chance.randrange(n.num_addresses)] for n in networks]
    others = [network().network_address for _ in range(100)]
    addresses = sorted({str(a) for a in [*inside, *others]})
    found = told(frame, *addresses)
    for address in addresses:
        known = ip_address(address)
        holding = [n for n in networks if known in n]
        longest = max(holding, key=lambda n: n.prefixlen, default=None)
        is_public = not address.startswith("192.168.")
        wanted = str(longest) if longest and is_public else None
        assert (found[address] or (None, None))[1] == wanted


SETTINGS = "lake: lake\ncatalog: c\nexports: []\n"


def test_the_settings_read_files_from_beside_themselves(tmp_path: Path):
    written(tmp_path, "ip-ranges.json", AWS)
    written(tmp_path, "tags.json", AZURE)
    path = Path(
        written(
            tmp_path,
            "podledger.yaml",
            SETTINGS + "clusters: {oak: {}}\nreference: {address_ranges: [ip-ranges.json, "
            "{path: tags.json, valid_from: 2026-03-01}]}\n",
        )
    )
    kinds = [snapshot.kind for snapshot in load_settings(path).address_ranges.snapshots]
    assert kinds == ["aws", "azure Public"]


def test_a_build_reads_the_files_of_its_day_and_is_another_one_only_for_them(tmp_path: Path):
    def gathered(*names: str) -> Inputs:
        path = tmp_path / "podledger.yaml"
        listed = ", ".join(names)
        text = f"clusters: {{oak: {{}}}}\nreference: {{address_ranges: [{listed}]}}\n"
        stated = load_settings(Path(written(tmp_path, path.name, SETTINGS + text)))
        lake = Lake(stated.lake_path)
        ledger = Ledger.read(lake)
        day = build_day_of(stated, lake, ledger, dt.date(2026, 3, 2), dt.date(2026, 3, 9))
        return gather(stated, lake, ledger, transforms()["connections"], day.of("oak"))

    written(tmp_path, "a.json", AWS)
    written(tmp_path, "b.json", AWS | {"syncToken": "1772582400"})  # 2026-03-04
    written(tmp_path, "c.json", AWS | {"syncToken": "1772300000"})  # 2026-02-28
    first = gathered("a.json")
    assert first.frames["address_ranges"].height == len(
        {n["ip_prefix"] for n in AWS["prefixes"]} | {n["ipv6_prefix"] for n in AWS["ipv6_prefixes"]}
    )
    assert gathered("a.json", "b.json").made.inputs == first.made.inputs
    assert gathered("c.json", "a.json").made.inputs == first.made.inputs
    assert gathered("c.json").made.inputs != first.made.inputs
    assert gathered("b.json").frames["address_ranges"].is_empty()


def test_the_settings_state_what_lies_where(tmp_path: Path):
    text = (
        "clusters:\n  oak:\n    zones: {use1-az5: us-east-1a}\n"
        "    subnets: [{cidr: 10.0.0.0/20, zone: use1-az5, region: us-east-1}]\n"
        "    endpoints: [{id: vpce-0example1, kind: interface, addresses: ['2001:DB8::0001']}]\n"
    )
    (oak,) = load_settings(Path(written(tmp_path, "podledger.yaml", SETTINGS + text))).cluster_facts
    assert oak.zones == (("use1-az5", "us-east-1a"),)
    assert oak.subnets == (("10.0.0.0/20", "use1-az5", "us-east-1"),)
    assert oak.endpoints == (("vpce-0example1", "interface", ("2001:db8::1",)),)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("subnets: [{cidr: 10.0.0.1/20}]", "10.0.0.1/20.*expected a network without host bits"),
        ("subnets: [{cidr: 167772160}]", "expected a network"),
        ("subnets: [{cidr: 10.0.0.0/20}, {cidr: 10.0.0.0/20}]", "stands twice"),
        ("subnets: [{cidr: 10.0.0.0/20, zone: 'a b'}]", "zone"),
        ("zones: {use1-az1: us-east-1a, use1-az2: us-east-1a}", "zone name 'us-east-1a' stands"),
        ("endpoints: [{id: vpce-1, kind: nat}]", "kind"),
        ("endpoints: [{id: vpce-1, kind: interface, addresses: [10.0.0.0/8]}]", "expected an IPv4"),
    ],
)
def test_a_wrong_place_is_refused_with_its_key(tmp_path: Path, stated: str, message: str):
    text = SETTINGS + f"clusters:\n  oak:\n    {stated}\n"
    with pytest.raises(SettingsError, match=message) as raised:
        load_settings(Path(written(tmp_path, "podledger.yaml", text)))
    assert "clusters.oak" in str(raised.value)
