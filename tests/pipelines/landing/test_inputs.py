"""Inputs are found locally and on S3, and a fetched copy is what the listing promised."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from pipelines import object_store
from pipelines.errors import InputError, ObjectStoreError
from pipelines.landing.inputs import Listing, as_listed, list_inputs, local_copy
from pipelines.landing.land import land
from pipelines.ledger import Ledger
from pipelines.storage import Lake
from tests.pipelines.landing_zone import FIRST_SEEN, ON_S3, SETTINGS, line, put, zone


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=endpoint)
    client.create_bucket(Bucket="example-exports")
    yield client
    server.stop()


def test_local_files_come_with_facts_and_unfinished_ones_are_left(tmp_path: Path) -> None:
    put(tmp_path, "b.log", [line(1)])
    put(tmp_path, "a.log", [line(1)], day="2026-03-11")
    put(tmp_path, "c.log.tmp", [line(1)])
    (tmp_path / "in/2026-03-10/folder.log").mkdir()
    settings = zone(tmp_path)
    found = list_inputs(settings, settings.exports[0]).files
    assert [Path(f.path).name for f in found] == ["b.log", "a.log"]
    assert [f.facts.day.isoformat() for f in found if f.facts.day] == ["2026-03-10", "2026-03-11"]
    assert found[0].size == len(line(1)) + 1


def test_a_day_or_hour_that_there_is_not_is_named(tmp_path: Path) -> None:
    text = SETTINGS.replace('"in/%Y-%m-%d/*.log*"', '"{cluster}/in/%Y-%m-%d/*-%H.log*"')
    settings = zone(tmp_path, text)
    for cluster, day, hour in (
        ("alder", "2026-02-28", "23"),
        ("alder", "2026-02-30", "00"),
        ("alder", "2026-13-01", "00"),
        ("alder", "2026-02-28", "24"),
        ("other", "2026-02-30", "00"),
        ("alder", "2026-2-30", "00"),
    ):
        put(tmp_path / cluster, f"a-{hour}.log", [line(1)], day=day)
    put(tmp_path / "alder", "a-00.log.tmp", [line(1)], day="2026-02-30")
    found = list_inputs(settings, settings.exports[0])
    assert [file.facts.day.isoformat() for file in found.files if file.facts.day] == ["2026-02-28"]
    assert found.problems == [
        (f"{tmp_path}/alder/in/{place}.log", f"its path names a day or hour that there is not; {e}")
        for e in ("expected one such as 2026-03-10",)
        for place in ("2026-02-28/a-24", "2026-02-30/a-00", "2026-13-01/a-00")
    ]
    # What a build names as not read, and ends with 3 for.
    assert land(settings, Lake(settings.lake_path), FIRST_SEEN).unknown == found.problems


def test_a_cluster_that_is_not_in_the_settings_is_no_input(tmp_path: Path) -> None:
    put(tmp_path / "alder", "a.log", [line(1)])
    put(tmp_path / "other", "a.log", [line(1)])
    text = SETTINGS.replace('"in/', '"{cluster}/in/')
    settings = zone(tmp_path, text)
    assert [f.facts.cluster for f in list_inputs(settings, settings.exports[0]).files] == ["alder"]


def test_the_folder_of_the_settings_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "100% {cluster} *?[x]"
    put(folder, "a.log", [line(1)])
    settings = zone(folder)
    assert [Path(f.path).name for f in list_inputs(settings, settings.exports[0]).files] == [
        "a.log"
    ]


def test_links_to_folders_are_followed_but_not_in_a_circle(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", "a.log", [line(1)])
    (tmp_path / "in").symlink_to(tmp_path / "elsewhere/in")
    (tmp_path / "elsewhere/in/2026-03-10/again").symlink_to(tmp_path / "elsewhere/in")
    settings = zone(tmp_path, SETTINGS.replace("%Y-%m-%d/*", "**/%Y-%m-%d/*"))
    assert [Path(f.path).name for f in list_inputs(settings, settings.exports[0]).files] == [
        "a.log"
    ]


def test_a_link_that_leads_nowhere_is_named_and_the_others_land(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    (tmp_path / "in/2026-03-10/b.log").symlink_to(tmp_path / "gone")
    settings = zone(tmp_path)
    report = land(settings, Lake(settings.lake_path), FIRST_SEEN)
    assert (report.files, report.records["accepted"]) == (1, 1)
    ((path, reason),) = report.unknown
    assert path.endswith("b.log")
    assert reason.startswith("vanished")


def test_a_name_that_is_no_utf8_lands_under_an_escaped_name(tmp_path: Path) -> None:
    path = put(tmp_path, "a.log", [line(1)])
    path.rename(path.with_name("a\udcff.log"))
    settings = zone(tmp_path)
    lake = Lake(settings.lake_path)
    assert land(settings, lake, FIRST_SEEN).records["accepted"] == 1
    assert Ledger.read(lake).files["path"].to_list() == [f"{path.parent}/a\\xff.log"]
    assert land(settings, lake, FIRST_SEEN).files == 0


def test_an_absent_folder_has_no_inputs(tmp_path: Path) -> None:
    settings = zone(tmp_path)
    assert list_inputs(settings, settings.exports[0]) == Listing([])


def test_exports_on_s3_land_like_local_ones(tmp_path: Path, s3) -> None:
    body = "".join(f"{line(n)}\n" for n in range(5))
    for key in ("in/2026-03-10/a.log", "in/2026-03-11/copy.log", "in/elsewhere/x.log"):
        s3.put_object(Bucket="example-exports", Key=key, Body=body.encode())
    settings = zone(tmp_path, ON_S3)
    lake = Lake(settings.lake_path)
    report = land(settings, lake, FIRST_SEEN)
    assert (report.files, report.same_content, report.records["accepted"]) == (2, 1, 5)
    paths = Ledger.read(lake).files["path"].to_list()
    assert paths == [
        "s3://example-exports/in/2026-03-10/a.log",
        "s3://example-exports/in/2026-03-11/copy.log",
    ]
    assert land(settings, lake, FIRST_SEEN).files == 0


@pytest.mark.usefixtures("s3")
def test_an_absent_bucket_has_no_inputs(tmp_path: Path) -> None:
    settings = zone(tmp_path, ON_S3.replace("example-exports", "example-absent"))
    assert list_inputs(settings, settings.exports[0]) == Listing([])


def test_a_file_of_another_length_is_refused(s3) -> None:
    s3.put_object(Bucket="example-exports", Key="x", Body=b"12345")
    with (
        pytest.raises(InputError, match="got 5 bytes, expected 6"),
        local_copy("s3://example-exports/x", 6, None),
    ):
        pass


@pytest.mark.usefixtures("s3")
def test_a_vanished_file_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"gone\.log: vanished"),
        local_copy(str(tmp_path / "gone.log"), 6, None),
    ):
        pass
    with (
        pytest.raises(InputError, match="s3://example-exports/gone: cannot be fetched"),
        local_copy("s3://example-exports/gone", 6, None),
    ):
        pass


def test_a_fetched_copy_is_removed(s3) -> None:
    s3.put_object(Bucket="example-exports", Key="x", Body=b"12345")
    with local_copy("s3://example-exports/x", 5, None) as path:
        assert path.read_bytes() == b"12345"
    assert not path.exists()


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    (tmp_path / "in/2026-03-10/b.log").mkdir()
    settings = zone(tmp_path)
    found = list_inputs(settings, settings.exports[0])
    assert [Path(f.path).name for f in found.files] == ["a.log"]
    assert found.problems == [(str(tmp_path / "in/2026-03-10/b.log"), "a folder; expected a file")]
    # Beside files of any name, folders may lie.
    settings = zone(tmp_path, SETTINGS.replace("*.log*", "*"))
    assert list_inputs(settings, settings.exports[0]).problems == []


def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("")
    settings = zone(tmp_path)
    assert list_inputs(settings, settings.exports[0]) == Listing(
        [], [(str(tmp_path / "in"), "Not a directory; expected a readable folder")]
    )


def test_a_link_to_itself_is_named_and_the_others_land(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    (tmp_path / "in/2026-03-10/b.log").symlink_to(tmp_path / "in/2026-03-10/b.log")
    settings = zone(tmp_path)
    report = land(settings, Lake(settings.lake_path), FIRST_SEEN)
    assert report.records["accepted"] == 1
    ((path, reason),) = report.unknown
    assert path.endswith("b.log")
    assert reason


def test_a_link_to_a_file_is_read_as_that_file(tmp_path: Path) -> None:
    original = put(tmp_path / "elsewhere", "a.log", [line(1)])
    put(tmp_path, "b.log", [line(2)])
    (tmp_path / "in/2026-03-10/a.log").symlink_to(original)
    settings = zone(tmp_path)
    assert land(settings, Lake(settings.lake_path), FIRST_SEEN).records["accepted"] == 2


@pytest.mark.parametrize("kind", ["fifo", "socket"])
def test_what_is_no_file_is_no_input(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.log", [line(1)])
    path = tmp_path / "in/2026-03-10/b.log"
    if kind == "fifo":
        os.mkfifo(path)
    else:
        monkeypatch.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    settings = zone(tmp_path)
    assert land(settings, Lake(settings.lake_path), FIRST_SEEN).records["accepted"] == 1


def test_a_bucket_that_cannot_be_listed_is_named_and_local_exports_land(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(prefix: str) -> object:
        message = f"{prefix}: cannot be listed (AccessDenied, HTTP 403)"
        raise ObjectStoreError(message)

    monkeypatch.setattr(object_store, "listed", refuse)
    put(tmp_path, "a.log", [line(1)])
    more = '  - {name: far, format: s3_access_log, path: "s3://example-exports/in/%Y-%m-%d/*"}\n'
    settings = zone(tmp_path, SETTINGS + more)
    report = land(settings, Lake(settings.lake_path), FIRST_SEEN)
    assert report.records["accepted"] == 1
    assert report.unknown == [
        ("s3://example-exports/in/", "cannot be listed (AccessDenied, HTTP 403)")
    ]


def test_an_object_that_is_replaced_by_one_of_its_length_is_refused(tmp_path: Path, s3) -> None:
    body = f"{line(1)}\n".encode()
    s3.put_object(Bucket="example-exports", Key="in/2026-03-12/replaced.log", Body=body)
    settings = zone(tmp_path, ON_S3)
    found = list_inputs(settings, settings.exports[0]).files
    (file,) = [f for f in found if f.path.endswith("replaced.log")]
    with as_listed(file.path, file.size, file.mark, None) as path:
        assert path.read_bytes() == body
    other = body.replace(b"key-1", b"key-2")
    s3.put_object(Bucket="example-exports", Key="in/2026-03-12/replaced.log", Body=other)
    with (
        pytest.raises(InputError, match="replaced while it was read"),
        as_listed(file.path, file.size, file.mark, None),
    ):
        pass


def test_a_pipe_in_place_of_a_file_is_named_and_not_read(tmp_path: Path) -> None:
    put(tmp_path, "a.log", [line(1)])
    os.mkfifo(tmp_path / "in/2026-03-10/b.log")
    settings = zone(tmp_path)
    found = list_inputs(settings, settings.exports[0])
    assert [Path(f.path).name for f in found.files] == ["a.log"]
    expected = (str(tmp_path / "in/2026-03-10/b.log"), "no regular file; expected a file")
    assert found.problems == [expected]
