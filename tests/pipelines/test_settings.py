"""Settings are checked whole, and an error names key, value and expectation."""

from pathlib import Path

import pytest

from pipelines.errors import SettingsError
from pipelines.fixtures import FIXTURES
from pipelines.settings import find_settings_file, load_settings
from transforms.staging.parser import CounterFacts

GOOD = """
lake: lake
catalog: podledger.duckdb
clusters:
  alder: {cloud: aws, region: us-east-1, account_id: "011122223333"}
exports:
  - {name: flows, format: hubble, path: "in/{cluster}/%Y-%m-%d/{node}.log"}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "podledger.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_are_relative_to_the_settings_file(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, GOOD))
    assert settings.lake_path == tmp_path / "lake"
    assert settings.resolve("s3://bucket/x") == "s3://bucket/x"
    assert settings.clusters["alder"].account_id == "011122223333"


def test_defaults_are_those_of_the_contract(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, GOOD))
    assert settings.final_after.days == 3
    assert settings.look_backs.pods.total_seconds() == 36 * 3600
    assert settings.look_backs.repeats.days == 30
    assert settings.look_ahead.total_seconds() == 3600


def test_an_export_declares_its_counters(tmp_path: Path) -> None:
    stated = "counters: {bits: 32, link_bits_per_second: 10000000000, expires_after: 5m}}"
    settings = load_settings(
        write(tmp_path, GOOD.replace('{node}.log"}', '{node}.log", ' + stated))
    )
    counters = settings.exports[0].counters
    assert counters is not None
    assert counters.facts == CounterFacts(32, 10_000_000_000, 300)


@pytest.mark.parametrize(
    "stated", ["{bits: 16}", "{expires_after: 0s}", "{link_bits_per_second: 0}", "{width: 32}"]
)
def test_counters_are_declared_rightly_or_not_at_all(tmp_path: Path, stated: str) -> None:
    text = GOOD.replace('{node}.log"}', f'{{node}}.log", counters: {stated}}}')
    with pytest.raises(SettingsError, match="counters"):
        load_settings(write(tmp_path, text))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("lake: lake\n", ""), "lake: missing; expected a value"),
        (("lake: lake", "lake: lake\nlakes: x"), "lakes: unknown setting"),
        (("lake: lake", "lake: lake\nmemory_limit: 50MB"), "expected at least 256MB"),
        (("lake: lake", "lake: lake\nmemory_limit: 9999999TB"), "expected at most 1000TB"),
        (("lake: lake", "lake: lake\nlook_back: {pods: 999999d}"), "expected at most 3650d"),
        (("lake: lake", "lake: lake\nmemory_limit: lots"), "memory_limit: 'lots': expected a size"),
        (("lake: lake", "lake: lake\nfinal_after: 3"), "final_after: 3: expected a duration"),
        (("lake: lake", "lake: lake\nworkers: 0"), "workers: 0: Input should be greater than"),
        (
            ("lake: lake", "lake: s3://bucket//lake"),
            "lake: 's3://bucket//lake': expected a local path or s3://bucket/prefix",
        ),
        (("lake: lake", "lake: ''"), "lake: '': expected a local path"),
        (("lake: lake", "lake: lake\nreports: gs://b"), "reports: 'gs://b': expected a local path"),
        (("alder:", "fleet:"), "cluster 'fleet': expected"),
        (("alder:", "Alder_1:"), r"cluster 'Alder_1': expected [a-z0-9.-]{1,63}"),
        (
            ("format: hubble", "format: hubbel"),
            "exports.0.format: 'hubbel': expected auto or one of",
        ),
        (("in/{cluster}", "in/../{cluster}"), "expected a path without `..`"),
        (("in/{cluster}", "in/{zone}"), "unknown placeholder {zone}"),
        (('"011122223333"', "11122223333"), "expected text in quotes"),
        (
            ("exports:\n", "exports:\n  - {name: flows, format: otlp, path: a}\n"),
            "name 'flows' stands twice",
        ),
        (
            ("name: flows,", "name: flows, clusters: [birch],"),
            "['birch'] are no clusters of the settings",
        ),
        (("name: flows,", "name: flows, clusters: [],"), "exports.0.clusters: Tuple should have"),
        (
            ("lake: lake", "lake: lake\nbuckets: {a: 3}"),
            "buckets.a: 3: expected a region, or a mapping of region, account_id",
        ),
        (
            ("lake: lake", "lake: lake\nbuckets: {a: {account_id: 111122223333}}"),
            "buckets.a.account_id: 111122223333: expected text in quotes",
        ),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, change: tuple[str, str], expected: str) -> None:
    assert change[0] in GOOD
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, GOOD.replace(*change)))
    assert expected in str(caught.value)
    assert "podledger.yaml" in str(caught.value)


def test_all_wrong_settings_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="2 wrong setting"):
        load_settings(write(tmp_path, GOOD + "workers: -1\nretention_days: 0\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lake: a\nlake: b\n", r"line 2 is no YAML: key 'lake' stands on line 1, too"),
        ("clusters:\n  a: {}\n  a: {}\n", "line 3 is no YAML: key 'a' stands on line 2"),
        ("a: [", "line"),
        ("a: 2026-02-30\n", "holds a value that cannot be read: day"),
        ("lake: a\0b\n", "is no YAML: special characters"),
        ('lake: "a\\0b"\n', "line 1 is no YAML: a text holds NUL"),
        ('a: {b: "\\ud800"}\n', "line 1 is no YAML: a text holds NUL or half"),
        ("[" * 5_000, "is no YAML: too deep"),
        ("- a\n", "expected a mapping of settings, got list"),
        ("", "got NoneType"),
    ],
)
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        load_settings(write(tmp_path, text))


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.yaml: No such file"):
        load_settings(tmp_path / "none.yaml")


def test_the_environment_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODLEDGER_CONFIG", "elsewhere.yaml")
    assert find_settings_file(None) == Path("elsewhere.yaml")
    assert find_settings_file("mine.yaml") == Path("mine.yaml")
    monkeypatch.delenv("PODLEDGER_CONFIG")
    assert find_settings_file(None) == Path("podledger.yaml")


def test_without_a_key_file_access_keys_become_null(tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, GOOD)).key_hash.of("AKIAEXAMPLE") is None


def test_a_short_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("short")
    settings = load_settings(write(tmp_path, GOOD + "redaction_key_file: key\n"))
    with pytest.raises(SettingsError, match="5 bytes; expected at least 16"):
        _ = settings.key_hash


def test_a_credential_in_a_wrong_value_is_not_shown(tmp_path: Path) -> None:
    text = GOOD.replace("lake: lake", "lake: lake\nworkers: 'https://u:hunter2secret@example.com'")
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, text))
    assert "hunter2secret" not in str(caught.value)


def test_buckets_state_a_region_and_who_pays(tmp_path: Path) -> None:
    stated = """buckets:
  example-data: eu-west-1
  "lent-*": {account_id: "011122223333", requester_pays: true}
  example-models: {region: us-east-1, account_id: "011122223333"}
"""
    settings = load_settings(write(tmp_path, GOOD + stated))
    assert settings.bucket_regions == (
        ("example-data", "eu-west-1"),
        ("example-models", "us-east-1"),
    )
    assert settings.bucket_owners == (
        ("lent-*", "011122223333", True),
        ("example-models", "011122223333", False),
    )


def test_the_shipped_settings_load() -> None:
    settings = load_settings(FIXTURES / "podledger.yaml")
    assert set(settings.clusters) == {"alder", "birch"}
