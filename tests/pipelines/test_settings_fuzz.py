"""However settings are mutated, they are accepted, or refused by key, value and expectation."""

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.errors import SettingsError
from pipelines.fixtures import FIXTURES
from pipelines.settings import load_settings
from pipelines.settings_dictionary import all_settings

WHOLE = yaml.safe_load((FIXTURES / "podledger.yaml").read_text(encoding="utf-8")) | {
    "workers": 2,
    "retention_days": {"staging": 60, "marts": 400},
    "temp_directory": "spill",
    "manifests": "artifacts/{project}/{run_uuid}",
    "reference": {
        "endpoints": "e.csv",
        "prices": "p.csv",
        "address_ranges": ["a.json", {"path": "b.json", "valid_from": "2026-01-01"}],
        "nat_addresses": "n.csv",
    },
    "look_back": {"pods": "36h", "repeats": "30d"},
    "look_ahead": "1h",
}
WHOLE["clusters"]["alder"] |= {
    "zones": {"use1-az1": "us-east-1a"},
    "subnets": [{"cidr": "10.0.0.0/20", "zone": "use1-az1"}],
    "endpoints": [{"id": "vpce-0example", "kind": "interface", "addresses": ["10.0.0.9"]}],
}
WHOLE["exports"][0] |= {"expect": {"nodes": 3, "by_hour_utc": 6, "every": "hour"}}
WHOLE["exports"][1] |= {"counters": {"bits": 32, "expires_after": "5m"}}
WORDS = sorted({part.strip("[]") for s in all_settings() for part in s.key.split(".")})
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=20),
        st.dates(),
        st.datetimes(),
        st.binary(max_size=8),
        st.sampled_from(
            [*WORDS, "s3://bucket/x", "{cluster}/{node}", "%Y-%m-%d", "4GB", "36h", ""]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), inner, max_size=3),
    ),
    max_leaves=6,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to everything within a value."""
    found = [at] if at else []
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            found += places(inner, (*at, key))
    return found


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """Settings of which up to three places are replaced, removed, renamed or given a neighbour."""
    content = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(places(content)))
        within = content
        for key in above:
            within = within[key]
        match draw(st.sampled_from(["replace", "remove", "rename", "add"])):
            case "replace":
                within[last] = draw(VALUES)
            case "remove":
                del within[last]
            case "rename" if isinstance(within, dict):
                within[draw(st.one_of(st.sampled_from(WORDS), st.text()))] = within.pop(last)
            case _ if isinstance(within, dict):
                within[draw(st.one_of(st.sampled_from(WORDS), st.text()))] = draw(VALUES)
            case _:
                within.append(draw(VALUES))
    return content


def load(folder: Path, data: bytes) -> None:
    path = folder / "podledger.yaml"
    path.write_bytes(data)
    said = None
    try:
        load_settings(path)
    except SettingsError as error:
        said = str(error)
    if said is None:
        return
    first, *lines = said.splitlines()
    assert first.startswith(str(path))
    told = "is no YAML|expected|cannot be read"
    if re.search(r": \d+ wrong setting\(s\)$", first):
        assert lines
        # Each names its key and says what was expected, in our words or in those of the models.
        told = "expected|[Uu]nknown|should|must|stands twice|need|are no clusters"
        for line in lines:
            assert re.match(r"  \S.*: .", line), line
    assert re.search(told, said), said


def test_the_settings_that_are_mutated_are_good(tmp_path: Path) -> None:
    (tmp_path / "podledger.yaml").write_text(yaml.safe_dump(WHOLE), encoding="utf-8")
    assert load_settings(tmp_path / "podledger.yaml").retention_days is not None


@pytest.mark.slow
@settings(max_examples=1_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=mutated())
def test_mutated_values_are_accepted_or_refused_by_key(tmp_path: Path, content: Any) -> None:
    text = yaml.safe_dump(content, allow_unicode=True)
    load(tmp_path, text.encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(max_examples=1_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_text_is_accepted_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    text = yaml.safe_dump(WHOLE).encode()
    for _ in range(data.draw(st.integers(1, 4))):
        first = data.draw(st.integers(0, len(text)))
        last = data.draw(st.integers(first, min(len(text), first + 20)))
        more = data.draw(
            st.one_of(
                st.binary(max_size=6),
                st.sampled_from(
                    [b"&a ", b"*a", b"!!python/x ", b"? ", b"- ", b"{", b"[", b"\t", b"%", b"<<: "]
                ),
            )
        )
        text = text[:first] + more + text[last:]
    load(tmp_path, text)
