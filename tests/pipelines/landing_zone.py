"""A small landing zone of S3 access logs, written by hand, for tests of landing."""

import datetime as dt
from pathlib import Path

from pipelines.settings import Settings, load_settings

SETTINGS = """
lake: lake
catalog: podledger.duckdb
clusters:
  alder: {cloud: aws, region: us-east-1}
exports:
  - {name: logs, format: s3_access_log, path: "in/%Y-%m-%d/*.log*", region: us-east-1}
"""
ON_S3 = SETTINGS.replace('"in/', '"s3://example-exports/in/')
FIRST_SEEN = dt.date(2026, 3, 20)


def zone(folder: Path, text: str = SETTINGS) -> Settings:
    """Settings over the files below `in/`."""
    path = folder / "podledger.yaml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path)


def line(number: int, *, size: int = 100) -> str:
    """One whole read of an object of `size` bytes, `number` seconds into the day."""
    when = dt.datetime(2026, 3, 10, tzinfo=dt.UTC) + dt.timedelta(seconds=number)
    return (
        f"ownerEXAMPLE example-bucket [{when:%d/%b/%Y:%H:%M:%S} +0000] 192.0.2.7 "
        f"arn:aws:iam::111122223333:role/reader REQ{number:08d} REST.GET.OBJECT key-{number} "
        f'"GET /key-{number} HTTP/1.1" 200 - {size} {size} 20 10 "-" "boto3/1.34" - '
        "hostidEXAMPLE SigV4 TLS_AES_128_GCM_SHA256 AuthHeader "
        "example-bucket.s3.us-east-1.amazonaws.com TLSv1.3 - -"
    )


def put(folder: Path, name: str, lines: list[str], day: str = "2026-03-10") -> Path:
    """Write lines as one export file."""
    path = folder / "in" / day / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{text}\n" for text in lines), encoding="utf-8")
    return path
