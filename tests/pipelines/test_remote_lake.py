"""A lake on S3 holds what a local one holds, whatever the store answers on the way.

The store is MinIO's protocol over JuiceFS (`tests.pipelines.s3_server`), and its errors come from
a proxy in front of it (`tests.pipelines.s3_faults`).
"""

import errno
import io
import json
import os
import random
import shutil
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import yaml

import pipelines.landing.land as land_module
from pipelines import claims, mirror, object_store
from pipelines.catalog import open_catalog
from pipelines.claims import Hold, claimed
from pipelines.errors import LakeBusyError, LakeWriteError, ObjectStoreError
from pipelines.fixtures import lay_out
from pipelines.landing.land import LandReport
from pipelines.ledger import Ledger
from pipelines.remote_lake import RemoteLake, open_lake
from pipelines.run import Listener, Workspace, land_days
from pipelines.settings import load_settings
from pipelines.storage import Lake
from tests.pipelines.cli.command import podledger
from tests.pipelines.plain_build import (
    build_all,
    catalogue_rows,
    digests,
    lay_out_small_day,
    published,
    untouched_processes,
)
from tests.pipelines.s3_faults import Fault, Kind, damaging
from tests.pipelines.s3_server import S3Server
from tests.pipelines.test_crash import DAY

LITTLE = ("pod_traffic",)
"""What most tests build, with all that it is made from: all kinds of steps, a tenth of the time."""


def move_to_s3(settings: Path, server: S3Server, name: str) -> Path:
    """Have the exports and the lake of a laid-out folder on S3, in buckets of a name of its own."""
    exports, lake = server.bucket(f"{name}-exports"), server.bucket(f"{name}-lake")
    server.upload(settings.parent / "exports", f"{exports}/in")
    shutil.rmtree(settings.parent / "exports")
    content = yaml.safe_load(settings.read_text(encoding="utf-8"))
    content["lake"] = f"{lake}/night/lake"
    for export in content["exports"]:
        assert export["path"].startswith("exports/")
        export["path"] = export["path"].replace("exports/", f"{exports}/in/", 1)
    settings.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return settings


@pytest.fixture
def remote(tmp_path: Path, s3: S3Server, request: pytest.FixtureRequest) -> Path:
    """Settings of a small day, of which nothing but the catalogue is to be on this machine."""
    name = "t" + request.node.name.encode().hex()[-40:]
    return move_to_s3(lay_out_small_day(tmp_path / "here"), s3, name)


@pytest.fixture(scope="module")
def little(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same day in a local lake, as far as most tests build it."""
    folder = tmp_path_factory.mktemp("little")
    build_all(lay_out_small_day(folder), tables=LITTLE)
    return folder


def fetched(settings: Path, target: Path, server: S3Server) -> Path:
    """The lake as the store holds it, asked for by a client of our own."""
    url = load_settings(settings).lake
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    client = server.client
    for key in server.keys(f"{url}/"):
        path = target / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(client.get_object(Bucket=bucket, Key=f"{prefix}/{key}")["Body"].read())
    return target


def assert_holds(settings: Path, local: Path, target: Path, server: S3Server) -> None:
    """The store holds the files of a local lake, byte for byte, and the catalogue their rows."""
    held = fetched(settings, target, server)
    assert digests(held) == digests(local / "lake") != {}
    assert catalogue_rows(settings.parent / "podledger.duckdb") == catalogue_rows(
        local / "podledger.duckdb"
    )
    assert not [key for key in server.keys(f"{load_settings(settings).lake}/") if "lock" in key]


def test_a_small_day_lands_and_builds_on_s3_as_on_a_disk(
    remote: Path, little: Path, tmp_path: Path, s3: S3Server
) -> None:
    build_all(remote, tables=LITTLE)
    assert_holds(remote, little, tmp_path / "held", s3)
    # Who has no copy yet sees the same.
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("podledger.yaml", "redaction.key"):
        shutil.copy(remote.parent / name, other / name)
    lake = open_lake(load_settings(other / "podledger.yaml"))
    assert lake.days("pod_traffic") == [DAY]
    (path,) = lake.files("pod_traffic", DAY)
    assert mirror.is_stand_in(path)
    whole = little / "lake" / path.relative_to(lake.root)
    assert lake.sizes([path]) == {path: whole.stat().st_size}
    assert mirror.present([path]) == [path]
    assert path.read_bytes() == whole.read_bytes()
    assert {
        p.relative_to(lake.root).as_posix() for p in lake.root.rglob("*") if p.is_file()
    } == set(s3.keys(f"{load_settings(remote).lake}/"))
    assert (lake.root / ".layout.json").is_file()


@pytest.mark.slow
def test_the_fixture_days_on_s3_give_the_files_of_a_local_lake_and_the_same_answers(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_all(lay_out(tmp_path / "local"))
    remote = move_to_s3(lay_out(tmp_path / "here"), s3, "fixture-days")
    with monkeypatch.context() as patch:
        # As with large inputs: worker processes fetch, and put what they write.
        patch.setattr(land_module, "PARALLEL_FROM", 0)
        # Workers are forked from a process that may have begun before the environment was set.
        pool = partial(
            ProcessPoolExecutor, initializer=os.environ.update, initargs=(s3.environment,)
        )
        patch.setattr(land_module, "ProcessPoolExecutor", pool)
        build_all(remote)
    assert_holds(remote, tmp_path / "local", tmp_path / "held", s3)
    shutil.rmtree(remote.parent / mirror.MIRRORS)
    for arguments in (
        ("status",),
        ("show", "connections", "--limit", 1),
        ("show", "runs", "--limit", 1),
        ("query", "SELECT count(*) FROM runs"),
        ("status", "--accuracy"),
        ("cache", "--from", "2026-03-10", "--to", "2026-03-11"),
    ):
        there = podledger(*arguments, "--config", remote)
        here = podledger(*arguments, "--config", tmp_path / "local" / "podledger.yaml")
        assert (there.code, there.err) == (here.code, here.err), arguments
        if arguments[0] != "status":
            assert there.out == here.out, arguments
    with open_catalog(remote.parent / "podledger.duckdb") as catalogue:
        ((run, transfer),) = catalogue.execute(
            "SELECT min(run_uuid), (SELECT min(transfer_id) FROM object_transfers) FROM runs"
        ).fetchall()
    assert podledger("manifest", run, "--config", remote).code == 0
    (there, here) = (
        json.loads(podledger("explain", transfer, "--json", "--config", settings).out)
        for settings in (remote, tmp_path / "local" / "podledger.yaml")
    )
    assert there["row"] == here["row"]
    assert there["record_count"] == here["record_count"] > 0
    shutil.rmtree(remote.parent / mirror.MIRRORS)
    assert podledger("build", "--config", remote).out.startswith("nothing changed")


class Landed(Listener):
    """Keeps what landings report."""

    def __init__(self) -> None:
        self.reports: list[LandReport] = []

    def landed(self, report: LandReport) -> None:
        self.reports.append(report)


def land_all_telling(settings: Path, listener: Landed) -> None:
    land_days(Workspace(settings, listener), None)


WRITES: list[tuple[Kind, str, str]] = [
    ("InternalError", "/counter_samples/", "InternalError, HTTP 500"),
    ("SlowDown", "/export_files/", "SlowDown, HTTP 503"),
    ("AccessDenied", "/deliveries/", "AccessDenied, HTTP 403"),
    ("reset", "/pod_intervals/", "EndpointConnectionError"),
    ("lost answer", "/counter_increments/.*parquet", "EndpointConnectionError"),
    ("XMinioStorageFull", r"/pod_traffic/.*/alder\.parquet", "XMinioStorageFull, HTTP 507"),
    ("lost answer", r"/pod_traffic/.*/\.alder\.made", "EndpointConnectionError"),
]
"""What the store answers to a PUT, of which object, and what is said of it."""


def test_a_store_that_takes_no_file_ends_the_build_with_its_reason_and_a_rerun_finishes(
    remote: Path, little: Path, tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lake suffers all of it, one step further each time."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    whole = digests(little / "lake")
    for number, (kind, place, reason) in enumerate(WRITES):
        fault = Fault(kind, "PUT", place)
        with damaging(s3.endpoint, fault) as endpoint, monkeypatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", endpoint)
            with pytest.raises(LakeWriteError) as stopped:
                build_all(remote, tables=LITTLE)
        assert stopped.value.exit_code == 2
        assert str(stopped.value).startswith("s3://")
        assert str(stopped.value).endswith(
            f": cannot be written ({reason}); nothing half-written is visible, and a rerun "
            "finishes the work once it can be written"
        )
        # A kept connection that is gone before an answer began is opened anew once.
        assert 1 <= fault.happened <= (2 if reason == "EndpointConnectionError" else 1)
        held = fetched(remote, tmp_path / f"held-{number}", s3)
        assert digests(held).items() <= whole.items()
        for part in Ledger.read(Lake(held)).all_parts():
            assert part.path.is_file()
    build_all(remote, tables=LITTLE)
    assert digests(fetched(remote, tmp_path / "held", s3)) == whole


READS: list[tuple[Kind, str, str, str]] = [
    ("InternalError", "pods-23.json", "/pod_states/", "InternalError, HTTP 500)"),
    ("SlowDown", "nodes-23.json", "/counter_samples/", "SlowDown, HTTP 503)"),
    ("reset", "runs.json", "/pod_states/", "ClientPayloadError)"),
    ("short", "events.log.gz", "/counter_samples/", "got "),
]
"""What the store answers to a GET: of an input, of a part of the lake; and what is said of it."""


def test_what_does_not_come_whole_from_the_store_is_named_and_comes_with_the_next_run(
    remote: Path, little: Path, tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First inputs, which are left for the next landing; then parts that no copy is here of."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    landed = Landed()
    inputs = [Fault(kind, place=f"/in/.*/{name}") for kind, name, _, _ in READS]
    with damaging(s3.endpoint, *inputs) as endpoint, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        land_all_telling(remote, landed)
    told = {path.rpartition("/")[2]: why for path, why in landed.reports[0].unknown}
    assert told.keys() == {name for _, name, _, _ in READS}
    for _, name, _, reason in READS:
        assert told[name].startswith(f"cannot be fetched ({reason}")
    assert {fault.happened for fault in inputs} == {object_store.FETCHES}
    land_all_telling(remote, landed)
    assert landed.reports[1].unknown == []
    assert landed.reports[1].files == len(READS)
    for kind, _, place, reason in READS:
        shutil.rmtree(remote.parent / mirror.MIRRORS)
        fault = Fault(kind, place=f"{place}.*parquet")
        with damaging(s3.endpoint, fault) as endpoint, monkeypatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", endpoint)
            with pytest.raises(ObjectStoreError) as stopped:
                build_all(remote, tables=LITTLE)
        assert stopped.value.exit_code == 2
        assert f"{place}date=2026-03-10/alder-" in str(stopped.value)
        assert f".parquet: cannot be fetched ({reason}" in str(stopped.value)
    build_all(remote, tables=LITTLE)
    assert digests(fetched(remote, tmp_path / "held", s3)) == digests(little / "lake")


def test_notes_that_did_not_come_are_fetched_when_the_lake_is_looked_at_again(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note whose bytes are not there would say something else, and nobody else asks for them."""
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    url = f"{s3.bucket('notes-that-did-not-come')}/lake"
    notes = ("run_dependency_days/date=2026-03-10/.final", ".layout.json")
    for name in notes:
        object_store.write(f"{url}/{name}", f"what {name} says".encode())
    lake = RemoteLake(mirror.root_of(tmp_path, url))
    fault = Fault("InternalError", place="/lake/(run|.layout)")
    with damaging(s3.endpoint, fault) as endpoint, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        with pytest.raises(ObjectStoreError, match="cannot be fetched"):
            lake.refresh()
    lake.refresh()
    for name in notes:
        assert (lake.root / name).read_text(encoding="utf-8") == f"what {name} says"


def test_a_large_file_is_put_in_pieces_and_is_there_whole_or_as_it_was(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "LARGE", 5 << 20)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    url = f"{s3.bucket('large-files')}/lake/runs/date=2026-03-10/fleet.parquet"
    source, target = tmp_path / "source", tmp_path / "target"
    first, second = (random.Random(seed).randbytes(11 << 20) for seed in (1, 2))
    source.write_bytes(first)
    stored = object_store.put(url, source)
    assert (object_store.head(url).mark, stored.size) == (stored.mark, 11 << 20)
    source.write_bytes(second)
    faults = (Fault("InternalError", "PUT", "partNumber=3"), Fault("AccessDenied", "DELETE"))
    with damaging(s3.endpoint, *faults) as endpoint, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        with pytest.raises(
            ObjectStoreError, match=r"cannot be written \(InternalError, HTTP 500\)"
        ):
            object_store.put(url, source)
    assert [fault.happened for fault in faults] == [1, 1]
    object_store.fetch(url, target)
    assert target.read_bytes() == first
    object_store.put(url, source)
    object_store.fetch(url, target)
    assert target.read_bytes() == second


def test_what_another_machine_replaced_is_fetched_once(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{s3.bucket('replaced-elsewhere')}/lake"
    lake = RemoteLake(mirror.root_of(tmp_path, url))
    path = lake.path("runs", DAY, "fleet")
    fetched: list[str] = []
    fetch = object_store.fetch

    def counted(url: str, target: Path, size: int | None = None) -> object_store.StoredObject:
        fetched.append(url)
        return fetch(url, target, size)

    monkeypatch.setattr(object_store, "fetch", counted)
    for content in (b"first", b"second", b"third"):
        object_store.write(mirror.shown(path), content)
        lake.refresh()
        assert mirror.present([path])[0].read_bytes() == content
    assert fetched == [mirror.shown(path)] * 3


def test_pieces_that_others_are_putting_in_the_lakes_bucket_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lake may be a whole bucket, into which exporters put large files in pieces."""
    ours = ("flows/date=2026-03-10/alder-1.parquet", ".touched.json")
    theirs = ("exports/alder/hubble/2026-03-10/node-1/events.log.gz", "backup.tar")
    uploads = [{"Key": key, "UploadId": f"of {key}"} for key in (*ours, *theirs)]
    dropped: list[object] = []

    def asked(method: str, **parameters: object) -> dict[str, object]:
        if method == "abort_multipart_upload":
            dropped.append((parameters["Key"], parameters["UploadId"]))
        return {"Uploads": uploads}

    monkeypatch.setattr(object_store, "_asked", asked)
    lake = RemoteLake(mirror.root_of(tmp_path, "s3://example-lake"))
    assert lake.sweep() == len(ours)
    assert dropped == [(key, f"of {key}") for key in ours]


def test_all_unfinished_uploads_are_found_however_many_a_store_tells_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [f"flows/date=2026-03-10/alder-{n // 2}.parquet" for n in range(7)]
    uploads = [{"Key": key, "UploadId": str(n)} for n, key in enumerate(keys)]
    dropped: list[object] = []

    def asked(method: str, **parameters: object) -> dict[str, object]:
        if method == "abort_multipart_upload":
            dropped.append(parameters["UploadId"])
            return {}
        mark = (parameters.get("KeyMarker", ""), parameters.get("UploadIdMarker", ""))
        left = [u for u in uploads if (u["Key"], u["UploadId"]) > mark]
        told = left[:3]
        if len(left) == len(told):
            return {"Uploads": told, "IsTruncated": False}
        more = {"NextKeyMarker": told[-1]["Key"], "NextUploadIdMarker": told[-1]["UploadId"]}
        return {"Uploads": told, "IsTruncated": True, **more}

    monkeypatch.setattr(object_store, "_asked", asked)
    lake = RemoteLake(mirror.root_of(tmp_path, "s3://example-lake"))
    assert lake.sweep() == 7
    assert dropped == [str(n) for n in range(7)]


@pytest.mark.parametrize("kind", ["SlowDown", "silence", "lost answer"])
def test_what_changes_the_lake_ends_before_its_claim_does(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    """However often a request may be tried again, and however long a store is silent."""
    assert object_store.WRITE_SECONDS < claims.MARGIN_SECONDS
    monkeypatch.setattr(object_store, "WRITE_SECONDS", 0.5)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1000")
    name = "in-time-" + kind.lower().replace(" ", "-")
    url = f"{s3.bucket(name)}/lake"
    source = tmp_path / "source"
    source.write_bytes(b"content")
    faults = [Fault(kind, method) for method in ("PUT", "DELETE")]
    with damaging(s3.endpoint, *faults) as endpoint, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        for change in (
            lambda: object_store.put(f"{url}/a", source),
            lambda: object_store.write(f"{url}/a", b"content"),
            lambda: object_store.delete(f"{url}/a"),
        ):
            with pytest.raises(ObjectStoreError, match=r"\(not done within 0.5 s\)"):
                change()
    assert all(1 <= fault.happened < 1000 for fault in faults)


def test_a_large_file_is_not_completed_behind_its_claim(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "LARGE", 5 << 20)
    url = f"{s3.bucket('behind-its-claim')}/lake"
    lake = RemoteLake(mirror.root_of(tmp_path, url))
    path = lake.path("runs", DAY, "fleet")
    pieces: list[str] = []
    asked = object_store._asked

    def slow(method: str, **parameters: object) -> dict[str, object]:
        if method == "upload_part":
            pieces.append(method)
            lake.hold.renewed = claims._clock() - claims.STALE_SECONDS
        return asked(method, **parameters)

    monkeypatch.setattr(object_store, "_asked", slow)
    with (
        lake.locked("a test"),
        pytest.raises(LakeBusyError, match="its lock could not be renewed"),
        lake.replacing(path) as temporary,
    ):
        temporary.write_bytes(b"x" * (6 << 20))
    assert len(pieces) == 2
    assert s3.keys(f"{url}/") == []
    assert object_store._uploads(*object_store.bucket_and_key(f"{url}/")) == []


def test_a_store_that_stumbles_now_and_then_is_asked_again(
    remote: Path, little: Path, tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [
        Fault("SlowDown", place="list-type", times=1),
        Fault("reset", place="/in/.*pods-23", times=2),
        Fault("short", place="/in/.*nodes-23", times=1),
        Fault("InternalError", "PUT", "/pod_traffic/", times=1),
        Fault("lost answer", "PUT", "/export_files/", times=1),
    ]
    with damaging(s3.endpoint, *faults) as endpoint, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        build_all(remote, tables=LITTLE)
    assert [fault.happened for fault in faults] == [1, 2, 1, 1, 1]
    assert digests(fetched(remote, tmp_path / "held", s3)) == digests(little / "lake")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault("InternalError", place="list-type"), "cannot be listed (InternalError, HTTP 500)"),
        (Fault("AccessDenied", "PUT", "lock"), "cannot be written (AccessDenied, HTTP 403)"),
    ],
)
def test_a_lake_that_cannot_be_asked_or_locked_is_named(
    remote: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch, fault: Fault, message: str
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with damaging(s3.endpoint, fault) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        ended = podledger("build", "--config", remote)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {load_settings(remote).lake}/")
    assert ended.err.endswith(f"{message}\n")


def test_without_credentials_or_server_the_reason_is_named(
    remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        ended = podledger("status", "--config", remote)
    assert (ended.code, ended.out) == (2, "")
    assert "cannot be listed (EndpointConnectionError)" in ended.err
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    ended = podledger("status", "--config", remote)
    assert ended.code == 2
    assert "Unable to locate credentials" in ended.err


def test_the_second_of_two_builds_is_told_who_holds_the_lake(remote: Path, s3: S3Server) -> None:
    lake = RemoteLake(load_settings(remote).lake_path)
    with lake.locked("night job on node-1"):
        ended = podledger("build", "--config", remote)
        (claim,) = s3.keys(f"{lake.url}/.lock/")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(
        f"error: lake {lake.url} is in use by night job on node-1 (process {os.getpid()}); "
        "if that one is dead, its lock ends in "
    )
    assert claim
    assert s3.keys(f"{lake.url}/") == []


def build_elsewhere(environment: dict[str, str], settings: Path, tables: tuple[str, ...]) -> None:
    """Build in a process that was forked before the environment named a store."""
    os.environ.update(environment)
    build_all(settings, tables=tables)


def hold_until_killed(environment: dict[str, str], url: str, ready: Path) -> None:
    os.environ.update(environment)
    with claimed(url, "killed", Hold()):
        ready.touch()
        time.sleep(600)


def holding(s3: S3Server, url: str, on: Path) -> BaseProcess:
    """A process that has a lake's lock, and says so by a file."""
    process = untouched_processes().Process(
        target=hold_until_killed, args=(s3.environment, url, on)
    )
    process.start()
    while not on.exists():
        assert process.is_alive()
        time.sleep(0.01)
    return process


def test_the_lock_of_a_killed_build_of_this_machine_is_taken_over(
    s3: S3Server, tmp_path: Path
) -> None:
    url = s3.bucket("killed-lake")
    process = holding(s3, url, tmp_path / "on")
    with pytest.raises(LakeBusyError, match="is in use by killed"), claimed(url, "me", Hold()):
        pass
    process.kill()
    process.join()
    with claimed(url, "me", Hold()):
        assert len(s3.keys(f"{url}/")) == 1
    assert s3.keys(f"{url}/") == []


def test_the_lock_of_another_users_build_is_kept_where_processes_of_others_are_hidden(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where /proc hides a process that runs, a signal tells that it is there."""
    url = s3.bucket("hidden-lake")
    process = holding(s3, url, tmp_path / "on")
    told = claims._process_of
    monkeypatch.setattr(
        claims, "_process_of", lambda pid: None if pid == process.pid else told(pid)
    )

    def kill(pid: int, signal_number: int) -> None:
        assert (pid, signal_number) == (process.pid, 0)
        if process.is_alive():
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))

    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", kill)
        with pytest.raises(LakeBusyError, match="is in use by killed"), claimed(url, "me", Hold()):
            pass
    process.kill()
    process.join()
    monkeypatch.setattr(os, "kill", kill)
    with claimed(url, "me", Hold()):
        assert len(s3.keys(f"{url}/")) == 1


def test_a_claim_that_nobody_renews_ends_and_a_living_one_does_not(
    s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of another machine nothing else is known: only the store's clock says that it is over."""
    url = s3.bucket("stale-lake")
    told = {"owner": "night job on node-1", "pid": 7, "process": "elsewhere pid:[1] 7 1"}
    object_store.write(f"{url}/.lock/0", json.dumps(told).encode())
    with (
        pytest.raises(LakeBusyError, match=r"night job on node-1 \(process 7\); if that one is"),
        claimed(url, "me", Hold()),
    ):
        pass
    monkeypatch.setattr(claims, "STALE_SECONDS", 2.0)
    monkeypatch.setattr(claims, "MARGIN_SECONDS", 0.5)
    monkeypatch.setattr(claims, "RENEW_SECONDS", 0.2)
    time.sleep(3.1)
    hold = Hold()
    with claimed(url, "me", hold):
        assert len(s3.keys(f"{url}/")) == 1
        time.sleep(3.1)
        hold.require(url)
        with pytest.raises(LakeBusyError, match="in use by me"), claimed(url, "other", Hold()):
            pass


def test_a_writer_whose_claim_could_not_be_renewed_writes_nothing_more(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = s3.bucket("late-lake")
    lake = RemoteLake(mirror.root_of(tmp_path, f"{url}/lake"))
    with lake.locked("slow one"):
        path = lake.path("runs", DAY, "fleet")
        with lake.replacing(path) as temporary:
            temporary.write_bytes(b"first")
        assert s3.keys(f"{url}/lake/runs/") == ["date=2026-03-10/fleet.parquet"]
        monkeypatch.setattr(claims, "STALE_SECONDS", 0.0)
        for what in (lake.remove, lambda path: lake._put(path, path)):
            with pytest.raises(LakeBusyError, match="its lock could not be renewed"):
                what(path)
    assert object_store.read(f"{url}/lake/runs/date=2026-03-10/fleet.parquet") == b"first"


def test_of_many_that_come_at_once_one_at_a_time_has_the_lake(s3: S3Server) -> None:
    url = s3.bucket("busy-lake")
    inside, most, had = [0], [0], [0]
    guard = threading.Lock()

    def come() -> None:
        for _ in range(5):
            try:
                with claimed(url, "one of many", Hold()):
                    with guard:
                        inside[0] += 1
                        most[0] = max(most[0], inside[0])
                        had[0] += 1
                    time.sleep(0.02)
                    with guard:
                        inside[0] -= 1
            except LakeBusyError:
                time.sleep(0.02)

    threads = [threading.Thread(target=come) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert had[0] > 0
    assert s3.keys(f"{url}/") == []


@pytest.mark.parametrize(
    ("kills", "tables"), [(4, LITTLE), pytest.param(20, (), marks=pytest.mark.slow)]
)
def test_a_build_on_s3_that_is_killed_leaves_whole_objects_and_a_rerun_finishes(
    remote: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, s3: S3Server,
    kills: int, tables: tuple[str, ...],
) -> None:  # fmt: skip
    """The rerun takes over the lock of the killed process, and its copy."""
    undisturbed = tmp_path_factory.mktemp("undisturbed")
    build_all(lay_out_small_day(undisturbed), tables=tables)
    url = load_settings(remote).lake
    rng = random.Random(20260311)
    killed = 0
    for number, progress in enumerate(
        sorted(rng.sample(range(len(published(undisturbed))), kills))
    ):
        process = untouched_processes().Process(
            target=build_elsewhere, args=(s3.environment, remote, tables)
        )
        process.start()
        while process.exitcode is None and len(s3.keys(f"{url}/")) < progress:
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.2))
        process.kill()
        process.join()
        assert process.exitcode in {0, -signal.SIGKILL}
        killed += process.exitcode != 0
        held = fetched(remote, tmp_path / f"held-{number}", s3)
        assert digests(held).items() <= digests(undisturbed / "lake").items()
        for part in Ledger.read(Lake(held)).all_parts():
            assert part.path.is_file()
    assert killed >= kills // 2
    build_all(remote, tables=tables)
    assert_holds(remote, undisturbed, tmp_path / "held", s3)


def test_no_room_for_the_copy_names_the_disk_and_not_the_store(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = s3.bucket("large-lake")
    object_store.write(f"{url}/lake/runs/date=2026-03-10/fleet.parquet", b"PAR1" * 1000)
    lake = RemoteLake(mirror.root_of(tmp_path, f"{url}/lake"))
    lake.refresh()
    (path,) = lake.files("runs", DAY)

    class Full(io.BytesIO):
        def write(self, _data: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    opened = Path.open
    with monkeypatch.context() as patch:
        patch.setattr(
            Path,
            "open",
            lambda path, *how, **more: (
                Full() if ".fetch-" in path.name else opened(path, *how, **more)
            ),
        )
        with pytest.raises(OSError, match=r"No space left on device: '.*/\.fetch-.*") as stopped:
            mirror.present([path])
    assert stopped.value.errno == errno.ENOSPC
    assert mirror.is_stand_in(path)
    mirror.present([path])
    assert path.read_bytes() == b"PAR1" * 1000
