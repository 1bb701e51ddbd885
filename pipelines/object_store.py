"""Objects on S3: list, fetch, put, delete; the only module that talks to the network.

s3fs gives the session and its client, and runs it beside the threads that ask. Its files and
listings are not used: they hold back what they listed, read ahead, know no conditions, and say of
an error less than the store did.

Credentials, region and endpoint come from the standard AWS environment alone, and so does how often
a request is tried again (`AWS_MAX_ATTEMPTS`): the client repeats answers such as 500 and SlowDown,
and connections that break, with growing pauses. A body that breaks off or has another length than
was told is fetched anew here, which the client does not do.

What changes an object is tried again for `WRITE_SECONDS` at most, however often the environment
allows it: who writes holds a claim that is good for so long (`pipelines.claims`).
"""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipelines.errors import ObjectStoreError
from pipelines.storage import naming
from transforms.redaction import redact

SCHEME = "s3://"
FETCHES = 3
"""Times that the body of an object is fetched before it counts as unreadable."""
LARGE = 64 << 20
"""An object of more bytes is put in pieces of as many: a piece stands in memory."""
WRITE_SECONDS = 75.0
"""So long a request that changes an object may take with all its repetitions; `LARGE` bytes in it
are 0.9 MB/s."""
CONNECTIONS = 16
"""Requests of one process at a time."""
_BLOCK = 1 << 20
_ABSENT = {"404", "NoSuchKey", "NotFound"}
_NO_BUCKET = "NoSuchBucket"


@dataclass(frozen=True)
class StoredObject:
    """One object of a listing.

    Attributes:
        url: `s3://bucket/key`.
        size: Bytes.
        tag: ETag without quotes; of a store that gives none, the time of the last change.
        age_seconds: Since the last change, by the clock of the store; 0 where it tells no time.
    """

    url: str
    size: int
    tag: str
    age_seconds: float = 0.0

    @property
    def mark(self) -> str:
        """What changes with the object: size and tag."""
        return f"{self.size}-{self.tag}"


def _system() -> Any:  # noqa: ANN401  s3fs is untyped
    """The file system of this process for the environment as it is."""
    told = tuple(sorted((k, v) for k, v in os.environ.items() if k.startswith("AWS_")))
    return _system_of(os.getpid(), told)


@lru_cache(maxsize=2)
def _system_of(_pid: int, _environment: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401
    import s3fs  # noqa: PLC0415  half a second that local lakes need not pay

    timeouts = {"connect_timeout": 10, "read_timeout": 60}
    return s3fs.S3FileSystem(
        config_kwargs={"max_pool_connections": CONNECTIONS, **timeouts},
        use_listings_cache=False,
        skip_instance_cache=True,
    )


def _run(asked: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401
    """Wait for what is asked of the store; of several threads at once if they like."""
    from fsspec.asyn import sync  # noqa: PLC0415

    return sync(_system().loop, lambda: asked)


async def _ask(method: str, **parameters: object) -> dict[str, Any]:
    """One request of the S3 API, with the store's own answer or error."""
    client = await _system().set_session()
    answer: dict[str, Any] = await getattr(client, method)(**parameters)
    return answer


def _asked(method: str, **parameters: object) -> dict[str, Any]:
    answer: dict[str, Any] = _run(_ask(method, **parameters))
    return answer


class _TooSlowError(OSError):
    """A store did not answer in time, however often it was asked."""


async def _ask_in_time(method: str, **parameters: object) -> dict[str, Any]:
    try:
        async with asyncio.timeout(WRITE_SECONDS):
            return await _ask(method, **parameters)
    except TimeoutError:
        message = f"not done within {WRITE_SECONDS:g} s"
        raise _TooSlowError(message) from None


def _changed(method: str, **parameters: object) -> dict[str, Any]:
    """A request that changes what others see; it is over, one way or the other, in time."""
    answer: dict[str, Any] = _run(_ask_in_time(method, **parameters))
    return answer


def bucket_and_key(url: str) -> tuple[str, str]:
    """The two parts of `s3://bucket/key`; the key may be empty."""
    bucket, _, key = url.removeprefix(SCHEME).partition("/")
    return bucket, key


@contextmanager
def _asking(url: str, what: str) -> Iterator[None]:
    """Say in a person's words what a store refused.

    Raises:
        ObjectStoreError: Names the object or prefix, what was tried and the store's reason.
    """
    from aiohttp import ClientPayloadError  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except (BotoCoreError, ClientError, ClientPayloadError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            # A local file could not be read or written.
            raise
        reason = redact(_reason(error))
        is_absent = isinstance(error, ClientError) and _code(error) in _ABSENT
        message = f"{url}: {what} ({reason})"
        raise ObjectStoreError(message, is_absent=is_absent) from None


def _code(error: Any) -> str:  # noqa: ANN401
    return str(error.response.get("Error", {}).get("Code", ""))


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        code = str(response.get("Error", {}).get("Code") or type(error).__name__)
        return code if status is None or code == str(status) else f"{code}, HTTP {status}"
    name = type(error).__name__
    # The text of others may hold a whole answer; of these it says what to mend.
    if isinstance(error, _TooSlowError):
        return str(error)
    is_told = name in {"NoCredentialsError", "NoRegionError", "PartialCredentialsError"}
    return f"{name}: {error}" if is_told else name


def listed(url: str) -> Iterator[StoredObject]:
    """All objects whose URL begins with a prefix, by key.

    A bucket that is absent holds none.

    Raises:
        ObjectStoreError: The prefix cannot be listed.
    """
    bucket, prefix = bucket_and_key(url)
    asked: dict[str, str] = {"Bucket": bucket, "Prefix": prefix}
    while True:
        try:
            with _asking(url, "cannot be listed"):
                answer = _asked("list_objects_v2", **asked)
        except ObjectStoreError as error:
            if f"({_NO_BUCKET}" in str(error):
                return
            raise
        told_at = _told_at(answer)
        for entry in answer.get("Contents", ()):
            yield _stored(f"{SCHEME}{bucket}/{entry['Key']}", entry["Size"], entry, told_at)
        if not answer.get("IsTruncated"):
            return
        asked["ContinuationToken"] = answer["NextContinuationToken"]


def head(url: str) -> StoredObject:
    """What a store tells of one object.

    Raises:
        ObjectStoreError: It is absent or cannot be asked for.
    """
    bucket, key = bucket_and_key(url)
    with _asking(url, "cannot be asked for"):
        answer = _asked("head_object", Bucket=bucket, Key=key)
    return _stored(url, answer["ContentLength"], answer, _told_at(answer))


def _told_at(answer: dict[str, Any]) -> datetime | None:
    """The store's clock at an answer."""
    told = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    return None if told is None else parsedate_to_datetime(told)


def _stored(url: str, size: int, entry: dict[str, Any], told_at: datetime | None) -> StoredObject:
    changed = entry.get("LastModified")
    age = 0.0
    if told_at is not None and changed is not None:
        age = max(0.0, (told_at - changed.astimezone(UTC)).total_seconds())
    tag = str(entry.get("ETag") or "").strip('"') or str(changed)
    return StoredObject(url, int(size), tag, age)


def fetch(url: str, target: Path, size: int | None = None) -> StoredObject:
    """Write the bytes of an object to a local file.

    Args:
        url: The object.
        target: The file.
        size: Bytes that it has, if that is known.

    Returns:
        The object as it was fetched.

    Raises:
        ObjectStoreError: It is absent, or its whole body does not come however often it is tried.
        OSError: The local file cannot be written.
    """
    for left in reversed(range(FETCHES)):
        try:
            return _fetch(url, target, size)
        except ObjectStoreError as error:
            if error.is_absent or not left:
                raise
    raise AssertionError


def _fetch(url: str, target: Path, size: int | None) -> StoredObject:
    bucket, key = bucket_and_key(url)
    with _asking(url, "cannot be fetched"):
        answer, got = _run(_fetch_body(bucket, key, target))
    told = int(answer["ContentLength"])
    for expected in (told, told if size is None else size):
        if got != expected:
            message = f"{url}: cannot be fetched (got {got} bytes, expected {expected})"
            raise ObjectStoreError(message)
    return _stored(url, told, answer, None)


async def _fetch_body(bucket: str, key: str, target: Path) -> tuple[dict[str, Any], int]:
    answer, got = await _ask("get_object", Bucket=bucket, Key=key), 0
    # Closed in the end, as a connection with half of a body cannot be used again.
    async with answer["Body"] as body:
        with target.open("wb") as file:
            while block := await body.read(_BLOCK):
                with naming(target):
                    file.write(block)
                got += len(block)
    return answer, got


def read(url: str) -> bytes:
    """The bytes of a small object.

    Raises:
        ObjectStoreError: It is absent or cannot be fetched.
    """
    bucket, key = bucket_and_key(url)
    with _asking(url, "cannot be fetched"):
        found: bytes = _run(_read_body(bucket, key))
    return found


async def _read_body(bucket: str, key: str) -> bytes:
    async with (await _ask("get_object", Bucket=bucket, Key=key))["Body"] as body:
        found: bytes = await body.read()
    return found


def _nothing() -> None:
    pass


def put(url: str, source: Path, before_change: Callable[[], None] = _nothing) -> StoredObject:
    """Put a local file in an object's place: who reads it gets the old bytes or the new ones.

    Args:
        url: The object.
        source: The file.
        before_change: Asked before the request that changes the object; what it raises stops it.

    Raises:
        ObjectStoreError: The store does not take it.
        OSError: The local file cannot be read.
    """
    bucket, key = bucket_and_key(url)
    size = source.stat().st_size
    with _asking(url, "cannot be written"):
        if size > LARGE:
            answer = _put_in_pieces(bucket, key, source, before_change)
        else:
            body = source.read_bytes()
            before_change()
            answer = _changed("put_object", Bucket=bucket, Key=key, Body=body)
    return _stored(url, size, answer, None)


def _put_in_pieces(
    bucket: str, key: str, source: Path, before_change: Callable[[], None]
) -> dict[str, Any]:
    """The same in several requests; the object changes with the last one."""
    place = {"Bucket": bucket, "Key": key}
    upload = {**place, "UploadId": _asked("create_multipart_upload", **place)["UploadId"]}
    pieces: list[dict[str, Any]] = []
    try:
        with source.open("rb") as file:
            while block := file.read(LARGE):
                number = len(pieces) + 1
                answer = _asked("upload_part", **upload, PartNumber=number, Body=block)
                pieces.append({"PartNumber": number, "ETag": answer["ETag"]})
        before_change()
        done = _changed("complete_multipart_upload", **upload, MultipartUpload={"Parts": pieces})
    except BaseException:
        # What went wrong first is told; pieces that stay are dropped by the next build.
        with suppress(Exception):
            _asked("abort_multipart_upload", **upload)
        raise
    return done


def write(url: str, content: bytes) -> None:
    """Put a small object.

    Raises:
        ObjectStoreError: The store does not take it.
    """
    bucket, key = bucket_and_key(url)
    with _asking(url, "cannot be written"):
        _changed("put_object", Bucket=bucket, Key=key, Body=content)


def delete(url: str) -> None:
    """Remove an object; one that is absent already is none.

    Raises:
        ObjectStoreError: The store refuses.
    """
    bucket, key = bucket_and_key(url)
    with _asking(url, "cannot be removed"):
        _changed("delete_object", Bucket=bucket, Key=key)


def forget_pieces(url: str, is_ours: Callable[[str], bool]) -> int:
    """Have the store drop what killed processes put in pieces below a prefix and never completed.

    Args:
        url: The prefix.
        is_ours: Says of what stands behind the prefix in a key whether it is to be dropped: in a
            bucket that others share the pieces of a living upload may be theirs.

    Returns:
        How many such uploads there were.
    """
    bucket, prefix = bucket_and_key(url)
    with _asking(url, "cannot be listed"):
        uploads = _uploads(bucket, prefix)
        found = [upload for upload in uploads if is_ours(upload["Key"].removeprefix(prefix))]
        for upload in found:
            _asked(
                "abort_multipart_upload",
                Bucket=bucket,
                Key=upload["Key"],
                UploadId=upload["UploadId"],
            )
    return len(found)


def _uploads(bucket: str, prefix: str) -> list[dict[str, Any]]:
    """All unfinished uploads below a prefix; a store tells a thousand of them at a time."""
    asked: dict[str, str] = {"Bucket": bucket, "Prefix": prefix}
    found: list[dict[str, Any]] = []
    while True:
        answer = _asked("list_multipart_uploads", **asked)
        found += answer.get("Uploads", ())
        next_key = answer.get("NextKeyMarker")
        if not answer.get("IsTruncated") or next_key is None:
            return found
        asked["KeyMarker"] = next_key
        asked["UploadIdMarker"] = answer.get("NextUploadIdMarker", "")
