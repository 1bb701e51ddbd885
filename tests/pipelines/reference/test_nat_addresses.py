"""The file of shared addresses."""

from pathlib import Path

import pytest

from pipelines.errors import SettingsError
from pipelines.reference.nat_addresses import load_nat_addresses
from pipelines.settings import load_settings

SETTINGS = "lake: lake\ncatalog: c\nclusters: {oak: {}, elm: {}}\nexports: []\n"


def read(folder: Path, text: str) -> tuple[tuple[str, str | None], ...]:
    path = folder / "nat.csv"
    path.write_bytes(text.encode())
    return load_nat_addresses(str(path), ("oak", "elm"))


def test_addresses_are_canonical_sorted_and_stand_once(tmp_path: Path):
    text = (
        "address,cluster\r\n198.51.100.250,oak\n2001:DB8::0001,\n\n 198.51.100.250 , oak\n"
        '"198.51.100.9",elm\n'
    )
    assert read(tmp_path, text) == (
        ("198.51.100.250", "oak"), ("198.51.100.9", "elm"), ("2001:db8::1", None),
    )  # fmt: skip
    assert read(tmp_path, "\ufeffaddress,cluster\n") == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nat.csv line 1: expected the header address,cluster"),
        ("cluster,address\n", "line 1: expected the header"),
        ("address,cluster\n10.0.0.0/8,oak\n", "line 2: address '10.0.0.0/8'; expected an IPv4"),
        ("address,cluster\n\n1.2.3.4,ash\n", "line 3: cluster 'ash'; expected one of elm, oak"),
        ("address,cluster\n1.2.3.4\n", "line 2: 1 value(s); expected 2"),
        ("address,cluster\n" + "x" * 2**21, "expected a readable CSV file, a list of addresses"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, told: str):
    with pytest.raises(SettingsError, match=r"reference\.nat_addresses") as raised:
        read(tmp_path, text)
    assert told in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    for name in ("missing.csv", "."):
        with pytest.raises(SettingsError, match="expected a readable CSV file"):
            load_nat_addresses(str(tmp_path / name), ())
    (tmp_path / "b.csv").write_bytes(b"address,cluster\n\xff")
    with pytest.raises(SettingsError, match="not UTF-8 text"):
        load_nat_addresses(str(tmp_path / "b.csv"), ())


def test_the_settings_read_it_from_beside_themselves(tmp_path: Path):
    (tmp_path / "nat.csv").write_text("address,cluster\n198.51.100.250,oak\n")
    path = tmp_path / "podledger.yaml"
    path.write_text(SETTINGS + "reference: {nat_addresses: nat.csv}\n")
    assert load_settings(path).nat_addresses == (("198.51.100.250", "oak"),)
    path.write_text(SETTINGS)
    assert load_settings(path).nat_addresses == ()
