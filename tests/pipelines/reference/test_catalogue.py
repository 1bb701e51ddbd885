"""The shipped reference files are what README says, and a user's file is checked as hard."""

import re
from datetime import date
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest

from pipelines.errors import SettingsError
from pipelines.reference.catalogue import load_endpoints, load_well_known_addresses

HEADER = "pattern,service,operation,kind,source,as_of,is_verified\n"
MIRROR = "mirror.example.com,Mirror,packages,primary,internal wiki,2026-02-01,true\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "own.csv"
    path.write_text(text, encoding="utf-8")
    return path


def problem(folder: Path, rows: str, header: str = HEADER) -> str:
    with pytest.raises(SettingsError) as caught:
        load_endpoints(written(folder, header + rows))
    return str(caught.value)


def named(endpoints: pl.DataFrame, host: str) -> tuple[str, str] | None:
    """Service and kind of a host, by the rule of README, written out again."""
    fitting = [
        row
        for row in endpoints.filter("is_verified").iter_rows(named=True)
        if fnmatchcase(host, row["pattern"])
    ]
    if not fitting:
        return None
    best = min(fitting, key=lambda row: (-len(re.sub(r"[*?]", "", row["pattern"])), row["pattern"]))
    return best["service"], best["kind"]


def test_the_shipped_catalogue_has_its_types_and_is_sorted_by_pattern():
    endpoints = load_endpoints()
    assert dict(endpoints.schema) == {
        "pattern": pl.String,
        "service": pl.String,
        "operation": pl.String,
        "kind": pl.String,
        "source": pl.String,
        "as_of": pl.Date,
        "is_verified": pl.Boolean,
    }
    assert endpoints.height == 191
    text = files("pipelines.reference").joinpath("endpoints.csv").read_text(encoding="utf-8")
    shipped = [line.split(",")[0] for line in text.splitlines()[1:]]
    assert shipped == sorted(shipped) == endpoints["pattern"].to_list()


def test_what_no_source_signs_is_not_verified():
    endpoints = load_endpoints()
    unsigned = endpoints["source"].str.contains("UNVERIFIED|unattributed")
    assert (unsigned == ~endpoints["is_verified"]).all()
    assert (~endpoints["is_verified"]).sum() == 26


def test_package_registries_stand_as_patterns():
    endpoints = load_endpoints()
    services = ("PyPI", "npm", "Rust crates", "Go modules", "Anaconda", "Debian", "Ubuntu")
    registries = endpoints.filter(pl.col("service").is_in(services))
    assert registries.height == 21
    assert registries["pattern"].str.contains("*", literal=True).all()


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("huggingface.co", ("Hugging Face Hub", "primary")),
        ("us.aws.cdn.hf.co", ("Hugging Face Hub", "blob")),
        ("cas-bridge.xethub.hf.co", ("Hugging Face Hub", "blob")),
        ("example-bucket.s3.eu-west-1.amazonaws.com", ("Amazon S3", "primary")),
        ("github-cloud.s3.amazonaws.com", ("GitHub", "blob")),
        ("111122223333.dkr.ecr.us-east-1.amazonaws.com", ("Amazon ECR", "primary")),
        ("prod-us-east-1-starport-layer-bucket.s3.us-east-1.amazonaws.com", ("Amazon ECR", "blob")),
        ("example.azurecr.io", ("Azure Container Registry", "primary")),
        ("example.westeurope.data.azurecr.io", ("Azure Container Registry", "blob")),
        ("pypi.example", ("PyPI", "primary")),
        ("169.254.170.23", ("EKS Pod Identity", "metadata")),
        ("zenodo.org", None),
        ("openaipublic.blob.core.windows.net", ("Azure Blob Storage", "primary")),
        ("nothuggingface.co", None),
    ],
)
def test_the_most_specific_verified_pattern_names_a_host(host, expected):
    assert named(load_endpoints(), host) == expected


def test_a_users_file_extends_the_catalogue_and_replaces_equal_patterns(tmp_path):
    replaced = "huggingface.co,Own Hub,proxy of the hub,primary,internal wiki,2026-02-01,true\n"
    endpoints = load_endpoints(written(tmp_path, HEADER + MIRROR + replaced))
    assert endpoints.height == 192
    assert endpoints.filter(pattern="mirror.example.com").row(0) == (
        "mirror.example.com", "Mirror", "packages", "primary", "internal wiki",
        date(2026, 2, 1), True,
    )  # fmt: skip
    assert endpoints.filter(pattern="huggingface.co")["service"].to_list() == ["Own Hub"]
    assert endpoints["pattern"].to_list() == sorted(endpoints["pattern"].to_list())


def test_columns_may_stand_in_any_order_and_a_byte_order_mark_is_no_text(tmp_path):
    header = "\ufeffis_verified,as_of,source,kind,operation,service,pattern\n"
    row = 'false,2026-02-01,"a, b",auth,login,Mirror,login.example.com\n'
    endpoints = load_endpoints(written(tmp_path, header + row))
    assert endpoints.filter(pattern="login.example.com").row(0, named=True)["source"] == "a, b"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            "Mirror.example.com,M,o,primary,s,2026-02-01,true\n",
            "line 2: pattern: 'Mirror.example.com': expected a glob over lower-case host names",
        ),
        ("*.*,M,o,primary,s,2026-02-01,true\n", "line 2: pattern: '*.*': expected at least one"),
        ("m.example.com,,o,primary,s,2026-02-01,true\n", "line 2: service: '': expected 1 to 500"),
        (
            "m.example.com,M,o,proxy,s,2026-02-01,true\n",
            "line 2: kind: 'proxy': expected primary, redirect, blob, auth, metadata",
        ),
        (
            "m.example.com,M,o,primary,s,1 Feb 2026,true\n",
            "line 2: as_of: '1 Feb 2026': expected a date YYYY-MM-DD",
        ),
        (
            "m.example.com,M,o,primary,s,2026-02-01,yes\n",
            "line 2: is_verified: 'yes': expected true, false",
        ),
        (
            "m.example.com,M,o,primary,UNVERIFIED,2026-02-01,true\n",
            "line 2: is_verified: 'true': expected false where the source is UNVERIFIED",
        ),
        ("m.example.com,M,o\n", "line 2: 3 values; expected 7"),
        (
            MIRROR + MIRROR,
            "line 3: pattern: 'mirror.example.com': stands on line 2 too; expected each once",
        ),
        ('"m.example.com,M\n', "unexpected end of data; expected comma-separated values"),
    ],
)
def test_a_wrong_row_is_refused_with_line_key_value_and_expectation(tmp_path, row, expected):
    message = problem(tmp_path, row)
    assert message.startswith(f"{tmp_path / 'own.csv'}: wrong reference file\n")
    assert expected in message


def test_all_wrong_places_are_named_at_once_up_to_a_limit(tmp_path):
    message = problem(tmp_path, "A,B,o,primary,s,2026-02-01,maybe\n" * 100)
    assert message.count("line ") < 30
    assert message.endswith("… and perhaps more")


def test_a_wrong_header_names_the_columns(tmp_path):
    message = problem(tmp_path, MIRROR, header="pattern,service\n")
    assert "line 1: header: 'pattern, service'; expected pattern, service, operation" in message
    assert "line 1: header: ''" in problem(tmp_path, "", header="")


def test_hostile_files_are_refused_with_a_message(tmp_path):
    assert "expected" in problem(tmp_path, "m.example.com\x00,M,o,primary,s,2026-02-01,true\n")
    long = "x" * 300_000
    assert "expected comma-separated" in problem(
        tmp_path, f"{long},M,o,primary,s,2026-02-01,true\n"
    )
    (tmp_path / "latin.csv").write_bytes(HEADER.encode() + b"\xff\xfe")
    for path in (tmp_path / "latin.csv", tmp_path / "none.csv", tmp_path, "s3://bucket/e.csv"):
        with pytest.raises(SettingsError, match="expected a readable CSV file in UTF-8"):
            load_endpoints(path)


def test_well_known_addresses_are_canonical_and_sourced():
    addresses = load_well_known_addresses()
    assert addresses["address"].is_unique().all()
    assert addresses.filter(address="169.254.170.23")["name"].to_list() == ["EKS Pod Identity"]
    assert addresses.filter(~pl.col("is_verified"))["address"].to_list() == ["169.254.20.10"]
    assert addresses["source"].null_count() == 0
