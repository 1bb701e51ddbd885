"""Settings are checked whole, and an error names key, value and expectation."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import SettingsError
from pipelines.fixtures import FIXTURES
from pipelines.settings import Settings, find_settings_file, load_settings
from pipelines.usable import require_usable
from tests.pipelines.cli.command import podledger
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
        (("lake: lake", "lake: lake\nmemory_limit: 50MB"), "expected at least 1.5GB"),
        (("lake: lake", "lake: lake\nmemory_limit: 9999999TB"), "expected at most 1000TB"),
        (("lake: lake", "lake: lake\nlook_back: {pods: 999999d}"), "expected at most 3650d"),
        (("lake: lake", "lake: lake\nmemory_limit: lots"), "memory_limit: 'lots': expected a size"),
        (("lake: lake", "lake: lake\nfinal_after: 3"), "final_after: 3: expected a duration"),
        (("lake: lake", "lake: lake\nworkers: 0"), "workers: 0: expected at least 1"),
        (("lake: lake", "lake: podledger.duckdb/"), "is the lake; expected a file of its own"),
        (
            ("lake: lake", "lake: s3://bucket//lake"),
            "lake: 's3://bucket//lake': expected a local path or s3://bucket/prefix",
        ),
        (("lake: lake", "lake: ''"), "lake: '': expected a local path"),
        (("lake: lake", "lake: lake\nreports: gs://b"), "reports: 'gs://b': expected a local path"),
        (
            ("alder:", "fleet:"),
            "expected [a-z0-9.-]{1,63} other than 'fleet', got cluster 'fleet'",
        ),
        (
            ("alder:", "Alder_1:"),
            "expected [a-z0-9.-]{1,63} other than 'fleet', got cluster 'Alder_1'",
        ),
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
        (
            ("name: flows,", "name: flows, clusters: [],"),
            "exports.0.clusters: expected at least 1 item(s)",
        ),
        (
            ("cloud: aws", "cloud: moon"),
            "clusters.alder.cloud: 'moon': expected 'aws', 'azure' or 'gcp'",
        ),
        (("lake: lake", "lake: 3"), "lake: 3: expected text"),
        (("lake: lake", "lake: lake\nworkers: many"), "workers: 'many': expected a whole number"),
        (("lake: lake", "lake: lake\nworkers: 1.5"), "workers: 1.5: expected a whole number"),
        (("lake: lake", "lake: lake\nworkers: 999"), "workers: 999: expected at most 256"),
        (("lake: lake", "lake: lake\ndatasets: x"), "datasets: 'x': expected a list"),
        (("lake: lake", "lake: lake\nlook_back: x"), "look_back: 'x': expected a mapping"),
        (("lake: lake", "lake: lake\nretention_days: '3 d'"), "'3 d': expected a whole number"),
        (
            ("lake: lake", "lake: lake\nretention_days: 999999999"),
            "retention_days: 999999999: expected a whole number of at least 1 and at most 3650",
        ),
        (
            ("lake: lake", "lake: lake\nretention_days: {marts: 3651}"),
            "retention_days.marts: 3651: expected at most 3650",
        ),
        (("name: flows,", "name: '',"), "name: '': expected text of at least 1 character(s)"),
        (
            ("name: flows,", "name: flows, expect: {every: week},"),
            "exports.0.expect.every: 'week': expected 'day' or 'hour'",
        ),
        (
            ("alder: {", "alder: {zones: {a b: c}, "),
            "expected text of the form ^[A-Za-z0-9]",
        ),
        (
            ("lake: lake", "lake: lake\nbuckets: {a: {requester_pays: often}}"),
            "buckets.a.requester_pays: 'often': expected true or false",
        ),
        (
            ("lake: lake", "lake: lake\nreference: {address_ranges: [{path: a, valid_from: b}]}"),
            "valid_from: 'b': expected a day such as 2026-03-10",
        ),
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


@pytest.mark.parametrize(
    ("format_name", "right", "wrong", "expected"),
    [
        (
            "coredns",
            "{remote} {name}",
            "{remote}",
            "the form of CoreDNS's `log`, with a placeholder",
        ),
        ("dns_collector", "operation qname", "qname", "a `text-format` with operation and qname"),
        ("dns_collector", "{/kubernetes/client-pod-name}", "{name}", "a `text-format` with"),
        ("aws_vpc_flow_log", "version srcaddr dstaddr bytes start end", "a b", "names of fields"),
        ("aws_vpc_flow_log", "${start} ${end} ${bytes}", "start end end", "each field once"),
        ("netobserv", "sampling=flows", "sampling", "sampling=flows or sampling=packets"),
        ("prometheus", "samples=raw", "raw", "samples=raw or step=15s scrape_interval=30s"),
        ("prometheus", "step=15s scrape_interval=30s", "step=30s scrape_interval=15s", "a step no"),
        ("stage_marks", "^(?P<event>a)", "^a", "a pattern with a group named event"),
        ("registry_access_log", "registry=r.example.com", "r.example.com", "registry=HOST"),
        ("netflow_json", "TZ=UTC", "UTC", "TZ=UTC, or an offset such as TZ=+01:00"),
        ("auto", "TZ=UTC", "UTC", "a form of one of the formats coredns, dns_collector"),
    ],
)
def test_the_form_of_records_is_one_of_the_format(
    tmp_path: Path, format_name: str, right: str, wrong: str, expected: str
) -> None:
    def text(form: str) -> str:
        return GOOD.replace("format: hubble", f"format: {format_name}, record_format: '{form}'")

    assert load_settings(write(tmp_path, text(right))).exports[0].record_format == right
    with pytest.raises(SettingsError) as caught:
        load_settings(write(tmp_path, text(wrong)))
    assert f"exports.0.record_format: {wrong!r}: expected {expected}" in str(caught.value)


def test_a_format_without_forms_takes_none(tmp_path: Path) -> None:
    text = GOOD.replace("format: hubble", "format: hubble, record_format: x")
    with pytest.raises(SettingsError, match="'x': expected none, as hubble takes none; formats"):
        load_settings(write(tmp_path, text))


def test_clusters_without_an_export_and_no_exports_are_said(tmp_path: Path) -> None:
    assert load_settings(write(tmp_path, GOOD)).remarks == ()
    one = GOOD.replace("in/{cluster}/", "in/").replace(
        "name: flows", "name: flows, clusters: [oak]"
    )
    text = one.replace("clusters:\n", "clusters:\n  oak: {}\n")
    (remark,) = load_settings(write(tmp_path, text)).remarks
    assert remark.startswith("clusters.alder: no export names it")
    empty = GOOD.split("exports:", maxsplit=1)[0] + "exports: []\n"
    (remark,) = load_settings(write(tmp_path, empty)).remarks
    assert remark.startswith("exports: [] lists none")


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


ENDLESS = "/dev/zero"
READERS: dict[str, tuple[str, Callable[[Settings], object]]] = {
    "redaction_key_file": ("redaction_key_file: {}", lambda s: s.key_hash),
    "prices": ("reference: {{prices: {}}}", lambda s: require_usable(Path(), s)),
    "endpoints": ("reference: {{endpoints: {}}}", lambda s: require_usable(Path(), s)),
    "address_ranges": ("reference: {{address_ranges: [{}]}}", lambda s: s.address_ranges),
    "nat_addresses": ("reference: {{nat_addresses: {}}}", lambda s: s.nat_addresses),
}
"""How a file of the settings is stated, and what reads it."""


@pytest.mark.parametrize("key", READERS)
def test_a_file_of_the_settings_is_a_regular_one_and_has_an_end(tmp_path: Path, key: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "large").open("wb") as file:
        # A hole: nothing of it is on the disk.
        file.truncate(1 << 40)
    stated, read = READERS[key]
    for name, reason in (
        (ENDLESS, "no regular file"),
        ("pipe", "no regular file"),
        ("folder", "a folder"),
        ("large", "more than "),
        ("absent", "No such file or directory"),
    ):
        settings = load_settings(write(tmp_path, f"{GOOD}{stated.format(name)}\n"))
        with pytest.raises(SettingsError) as refused:
            read(settings)
        assert f"{name}: {reason}" in str(refused.value)
        assert "; expected " in str(refused.value)


def test_a_settings_file_has_an_end(tmp_path: Path) -> None:
    # Nobody writes to it, and nobody waits for it.
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SettingsError, match="pipe: expected a mapping of settings, got NoneType"):
        load_settings(tmp_path / "pipe")
    with pytest.raises(SettingsError, match="/dev/zero: more than 16000000 bytes; expected a sett"):
        load_settings(Path(ENDLESS))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        # Words behind a name that secrets have are ours.
        ("token: abc", "  token: unknown setting; `podledger dictionary --settings` lists"),
        ("look_back: {credentials: soon}", "  look_back.credentials: 'soon': expected a duration"),
        ("final_after: token", "  final_after: 'token': expected a duration such as 36h or 3d"),
        ("memory_limit: password", "  memory_limit: 'password': expected a size such as 4GB"),
        ("retention_days: secret", "  retention_days: 'secret': expected a whole number of at"),
        (
            "buckets: {Secret: {requester_pays: often}}",
            "  buckets.Secret.requester_pays: 'often': expected true or false",
        ),
        # What may be one is masked, and what was expected is not.
        ("workers: password=hunter2", "  workers: 'password=***': expected a whole number"),
        ("buckets: {token: 51234}", "  buckets.token: ***: expected a region, or a mapping"),
        ("datasets: 'AKIAIOSFODNN7EXAMPLE'", "  datasets: '***': expected a list"),
        ("AKIAIOSFODNN7EXAMPLE: 1", "  ***: unknown setting; `podledger dictionary"),
    ],
)
@pytest.mark.parametrize("folder", ["settings", "token"])
def test_masks_leave_an_error_readable(
    tmp_path: Path, more: str, expected: str, folder: str
) -> None:
    (tmp_path / folder).mkdir()
    path = write(tmp_path / folder, f"{GOOD}{more}\n")
    with pytest.raises(SettingsError) as refused:
        load_settings(path)
    first, second = str(refused.value).splitlines()
    assert first == f"{path}: 1 wrong setting(s)"
    assert second.startswith(expected)


def test_masks_leave_a_file_error_readable(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, f"{GOOD}redaction_key_file: keys/token\n"))
    with pytest.raises(SettingsError) as refused:
        _ = settings.key_hash
    assert str(refused.value).startswith("redaction_key_file: keys/token: No such file or dir")
    copied = pickle.loads(pickle.dumps(refused.value))
    assert str(copied) == str(refused.value)
    with pytest.raises(SettingsError, match="token: No such file or directory; expected a setti"):
        load_settings(tmp_path / "token")
    ended = podledger("status", "--config", tmp_path / "token")
    assert ended.err.startswith(f"error: {tmp_path}/token: No such file or directory; expected")


@pytest.mark.parametrize(
    ("lake", "path"),
    [
        ("lake", "lake/{cluster}/%Y-%m-%d/*.log"),
        ("lake", "./lake/in/*.log"),
        ("s3://example-lake", "s3://example-lake/exports/date=%Y-%m-%d/*.log"),
        ("s3://example-lake/night/", "s3://example-lake/night/exports/*.log"),
        # These begin above the lake and match names of its files.
        ("exports/lake", "exports/**"),
        ("s3://example-lake/night", "s3://example-lake/**/*.parquet"),
    ],
)
def test_exports_do_not_lie_in_the_lake(tmp_path: Path, lake: str, path: str) -> None:
    text = GOOD.replace("lake: lake", f"lake: {lake}")
    with pytest.raises(SettingsError) as refused:
        load_settings(write(tmp_path, text.replace("in/{cluster}/%Y-%m-%d/{node}.log", path)))
    line = str(refused.value).splitlines()[1]
    assert line.startswith(f"  exports.0.path: {path!r}: its files would lie in the lake ")
    assert line.endswith("; expected a path outside of it")


@pytest.mark.parametrize(
    ("lake", "path"),
    [
        ("lake", "lakes/*.log"),
        ("lake", "*/%Y-%m-%d/*.log"),
        ("s3://example-lake/night", "s3://example-lake/nights/*.log"),
        ("s3://example-lake/night", "s3://example-lake/{cluster}/date=%Y-%m-%d/*.log"),
        ("exports/lake", "exports/{cluster}/%Y-%m-%d/*.log"),
    ],
)
def test_exports_may_lie_beside_the_lake(tmp_path: Path, lake: str, path: str) -> None:
    text = GOOD.replace("lake: lake", f"lake: {lake}")
    load_settings(write(tmp_path, text.replace("in/{cluster}/%Y-%m-%d/{node}.log", path)))


def test_reports_are_said_to_have_no_effect(tmp_path: Path) -> None:
    (remark,) = load_settings(write(tmp_path, f"{GOOD}reports: reports\n")).remarks
    assert remark == "reports: it has no effect, as no command writes reports; expected none"


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
