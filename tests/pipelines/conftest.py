"""What tests of inputs and lakes on S3 share: one server a session, its environment on demand."""

import shutil
from collections.abc import Iterator

import pytest

from tests.pipelines.s3_server import S3Server, end, start


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    folder = tmp_path_factory.mktemp("s3-server")
    server, process = start(folder)
    try:
        yield server
    finally:
        end(process)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, as the environment names it."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server
