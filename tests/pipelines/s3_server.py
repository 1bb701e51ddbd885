"""An S3 server of its own kind for the tests: MinIO's protocol over JuiceFS, on loopback.

It is no mock of ours or of a library that we use: what it answers was written by others. It keeps
names and sizes in SQLite and bytes in a folder, needs neither FUSE nor a network, and is started
once a session.
"""

import ctypes
import itertools
import json
import os
import signal
import socket
import subprocess
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import botocore.session
import pytest

BINARY = Path(sysconfig.get_path("scripts")) / "juicefs"
KEY, SECRET = "example-access", "example-secret-0123"
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class S3Server:
    """A running server.

    Attributes:
        endpoint: Its URL.
        metadata: What JuiceFS calls the place of names and sizes.
    """

    endpoint: str
    metadata: str

    @property
    def environment(self) -> dict[str, str]:
        """What a user would set."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    @cached_property
    def client(self) -> Any:
        """A client of this very server, whatever the environment says."""
        return botocore.session.get_session().create_client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
            region_name="us-east-1",
        )

    def bucket(self, name: str) -> str:
        """Make a bucket; returns its URL."""
        self.client.create_bucket(Bucket=name)
        return f"s3://{name}"

    def upload(self, folder: Path, url: str) -> None:
        """Put every file of a folder below a prefix."""
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        client = self.client
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            key = "/".join(filter(None, (prefix, path.relative_to(folder).as_posix())))
            client.put_object(Bucket=bucket, Key=key, Body=path.read_bytes())

    def keys(self, url: str) -> list[str]:
        """Keys below a prefix, without it."""
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        found = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        return [key.removeprefix(prefix).lstrip("/") for key in found]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def start(
    folder: Path, names: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[S3Server, "subprocess.Popen[bytes]"]:
    """Make a volume below a folder and serve it; the process leads a group of its own.

    Args:
        folder: An empty folder.
        names: Buckets, each with a tree of folders and objects (`empty_object`), for more objects
            than there is time to put.
    """
    metadata = f"sqlite3://{folder}/names.db"
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(folder),
        "MINIO_ROOT_USER": KEY,
        "MINIO_ROOT_PASSWORD": SECRET,
        "MINIO_UPDATE": "off",
    }

    def run(*arguments: str | Path) -> bytes:
        done = subprocess.run(
            [BINARY, *arguments], check=True, capture_output=True, env=environment
        )
        return done.stdout

    run("format", metadata, "tests", "--storage", "file", "--bucket", f"{folder}/bytes/",
        "--trash-days", "0")  # fmt: skip
    if names is not None:
        dump = json.loads(run("dump", metadata))
        dump["FSTree"]["entries"].update(
            {name: _folder(tree, itertools.count(1_000)) for name, tree in names.items()}
        )
        dump["Counters"]["nextInodes"] = 10_000_000
        for path in folder.glob("names.db*"):
            path.unlink()
        (folder / "dump.json").write_text(json.dumps(dump), encoding="utf-8")
        run("load", metadata, folder / "dump.json")
    address = f"127.0.0.1:{free_port()}"
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [BINARY, "gateway", metadata, address, "--multi-buckets", "--keep-etag", "--no-banner",
             "--no-usage-report", "--no-bgjob", "--backup-meta", "0", "--hide-dir-object",
             "--log", f"{folder}/gateway.log", "--cache-dir", f"{folder}/cache"],
            stdout=out, stderr=out, env=environment, start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509  it makes one call to the system
        )  # fmt: skip
    server = S3Server(f"http://{address}", metadata)
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.endpoint}/minio/health/live", timeout=1):
                return server, process
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    end(process)
    pytest.fail(f"the S3 server does not answer: {log.read_text(errors='replace')[-2000:]}")


def empty_object(tag: str) -> dict[str, Any]:
    """An object without bytes, of a stated ETag, in a tree of names."""
    return {"xattrs": [{"name": "s3-etag", "value": tag}]}


def _folder(tree: Mapping[str, Any], numbers: "itertools.count[int]") -> dict[str, Any]:
    """A folder as JuiceFS writes it down."""
    entries = {
        name: {"attr": _attributes("regular", numbers), **below}
        if "xattrs" in below
        else _folder(below, numbers)
        for name, below in tree.items()
    }
    return {"attr": _attributes("directory", numbers), "entries": entries}


def _attributes(kind: str, numbers: "itertools.count[int]") -> dict[str, Any]:
    times = dict.fromkeys(("atime", "mtime", "ctime"), 1_773_100_000)
    return {
        "inode": next(numbers), "type": kind, "mode": 0o755, "uid": 0, "gid": 0, **times,
        "nlink": 1 if kind == "regular" else 2, "length": 0,
    }  # fmt: skip


def _end_with_parent() -> None:
    """Have the system end the server with the process of the tests, however that one ends."""
    prctl, signal_at_death = getattr(ctypes.CDLL(None), "prctl", None), 1
    if prctl is not None:
        prctl(signal_at_death, signal.SIGKILL)


def end(process: "subprocess.Popen[bytes]") -> None:
    """End the server and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
