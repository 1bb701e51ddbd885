"""A build talks to the storage of its settings, and to nothing else."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.pipelines.landing_zone import ON_S3
from tests.pipelines.plain_build import lay_out_small_day
from tests.pipelines.s3_server import S3Server
from tests.pipelines.test_remote_lake import move_to_s3

ROOT = Path(__file__).parents[2]
GUARD = '''
import sys

told, allowed = open(sys.argv.pop(1), "a", buffering=1), ("127.0.0.1", int(sys.argv.pop(1)))
NAMES = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


def watch(event, arguments):
    """Whoever swallows the error is told of all the same."""
    if event in {"socket.connect", "socket.sendto", "socket.sendmsg"}:
        where = arguments[-1]
        if isinstance(where, tuple) and where[:2] != allowed:
            told.write(f"{event} {where}\\n")
            raise OSError(f"no network: {where}")
        if where == allowed:
            told.write("storage\\n")
    elif event in NAMES and str(arguments[0]) != allowed[0]:
        told.write(f"{event} {arguments[0]}\\n")
        raise OSError(f"no network: {arguments[0]}")


sys.addaudithook(watch)
from pipelines.cli.main import main

main()
'''


def watched(told: Path, endpoint: str, settings: Path, *arguments: str) -> int:
    """Run a command in a process of its own that is stopped where it leaves the storage."""
    port = urlsplit(endpoint).port
    done = subprocess.run(
        [sys.executable, "-c", GUARD, str(told), str(port), *arguments, "--config", str(settings)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if k != "DAGSTER_HOME"},
    )
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    return done.returncode


def test_landing_talks_to_the_storage_alone(tmp_path: Path, s3: S3Server) -> None:
    """With Dagster, its history and its settings around it; what is read asks for no day."""
    bucket = s3.bucket("landing-alone").removeprefix("s3://")
    s3.client.put_object(Bucket=bucket, Key="in/2026-03-10/a.log", Body=b"no log line\n")
    settings = tmp_path / "podledger.yaml"
    text = ON_S3.replace("example-exports", bucket).replace(
        "lake: lake", f"lake: s3://{bucket}/lake"
    )
    settings.write_text(text, encoding="utf-8")
    told = tmp_path / "told"
    assert watched(told, s3.endpoint, settings, "build") == 0
    assert set(told.read_text(encoding="utf-8").splitlines()) == {"storage"}
    assert "lake/rejected_records" in "".join(s3.keys(f"s3://{bucket}/"))


@pytest.mark.slow
def test_a_whole_build_and_who_reads_it_talk_to_the_storage_alone(
    tmp_path: Path, s3: S3Server
) -> None:
    settings = move_to_s3(lay_out_small_day(tmp_path / "here"), s3, "storage-alone")
    told = tmp_path / "told"
    assert watched(told, s3.endpoint, settings, "build", "--date", "2026-03-10") in {0, 3}
    for command in (["status"], ["show", "connections"], ["query", "SELECT 1"]):
        assert watched(told, s3.endpoint, settings, *command) == 0
    assert set(told.read_text(encoding="utf-8").splitlines()) == {"storage"}


def test_the_watch_sees_what_leaves(tmp_path: Path) -> None:
    """An endpoint that is not the allowed one is such a place."""
    settings = tmp_path / "podledger.yaml"
    settings.write_text(ON_S3.replace("lake: lake", "lake: s3://example-lake"), encoding="utf-8")
    told = tmp_path / "told"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in S3Server("http://127.0.0.1:9", "").environment.items():
            patch.setenv(name, value)
        patch.setenv("AWS_MAX_ATTEMPTS", "1")
        assert watched(told, "http://127.0.0.1:10", settings, "status") == 2
    assert "socket.connect ('127.0.0.1', 9)" in told.read_text(encoding="utf-8")
