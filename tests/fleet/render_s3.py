"""S3 server access logs: one record per line, delivered hours late in many small objects.

The field order is AWS's; the newest field, the caller's region, is left out, so nothing in the log
says where the reader was.
"""

from datetime import date, datetime, timedelta

from tests.fleet import draw, secrets
from tests.fleet.clock import DAYS, at, day_start, to_access_log
from tests.fleet.export import ExportFile
from tests.fleet.names import bucket_host
from tests.fleet.places import BUCKET_REGIONS, CHECKPOINTS, DATASETS, MODELS
from tests.fleet.world import Fleet, ObjectRequest

OWNER = draw.hex_digits(64, "bucket-owner")


def render(fleet: Fleet) -> list[ExportFile]:
    """Return a file for what was delivered soon, and one for what came after midnight."""
    files = []
    for bucket in sorted(BUCKET_REGIONS):
        requests = [item for item in fleet.requests if item.bucket == bucket]
        for day in DAYS:
            today = [item for item in requests if item.time.date() == day]
            late = [item for item in today if item.late or item.time >= _cut(day)]
            soon = [item for item in today if item not in late]
            files.append(_file(bucket, day, "23-17-42", soon))
            if late:
                files.append(_file(bucket, day + timedelta(days=1), "03-12-09", late))
    _damage(files)
    return [file for file in files if file.text]


def _cut(day: date) -> datetime:
    return day_start(day) + timedelta(hours=22)


def _file(bucket: str, day: date, clock: str, requests: list[ObjectRequest]) -> ExportFile:
    name = f"{day}-{clock}-{draw.capitals(16, 'log', bucket, day, clock)}"
    file = ExportFile(
        path=f"exports/s3/{bucket}/{name}",
        export="s3-access-logs",
        format="s3_access_log",
        cluster=None,
        node=None,
        landing_date=day,
    )
    for request in requests:
        file.accept(line(request))
    return file


def line(request: ObjectRequest) -> str:
    """Return the record of one request."""
    verb = request.method.split(".")[1]
    region = BUCKET_REGIONS[request.bucket]
    seed = (request.bucket, request.key, request.time, request.client_address)
    turn = max(1, request.milliseconds // 9)
    sent = "-" if not request.sent_bytes else str(request.sent_bytes)
    size = "-" if request.object_bytes is None else str(request.object_bytes)
    fields = [
        OWNER,
        request.bucket,
        f"[{to_access_log(request.time)}]",
        request.client_address,
        request.principal,
        draw.capitals(16, "request", *seed),
        request.method,
        request.key,
        f'"{verb} /{request.key}{request.query} HTTP/1.1"',
        str(request.status),
        request.error or "-",
        sent,
        size,
        str(request.milliseconds),
        str(turn),
        f'"{request.referer}"',
        f'"{request.user_agent}"',
        request.version or "-",
        draw.hex_digits(40, "host-id", *seed) + "EXAMPLE=",
        "SigV4",
        "TLS_AES_128_GCM_SHA256",
        "QueryString" if request.signed_in_query else "AuthHeader",
        bucket_host(request.bucket, region),
        "TLSv1.3",
        "-",
        "-",
    ]
    return " ".join(fields)


def _damage(files: list[ExportFile]) -> None:
    """Add a redelivered record, a line whose quotes can be read in two ways, and a torn line."""
    first = next(file for file in files if f"/{CHECKPOINTS}/{DAYS[0]}" in file.path)
    second = next(file for file in files if f"/{CHECKPOINTS}/{DAYS[1]}" in file.path)
    second.repeat(first.text.splitlines()[0])
    forged = (
        f"{OWNER} {DATASETS} [{to_access_log(at('10 17:00:00'))}] 198.51.100.9 - "
        "FORGED0000000001 REST.GET.OBJECT k "
        '"GET /k?x=" 200 - 999999 5 1 1 "-" "-" HTTP/1.1" 404 NoSuchKey 272 - 8 - "-" "curl" '
        f"- {draw.hex_digits(40, 'forged')}EXAMPLE= - TLS_AES_128_GCM_SHA256 - "
        f"{bucket_host(DATASETS, 'eu-west-1')} TLSv1.3 - -"
    )
    datasets = next(file for file in files if f"/{DATASETS}/{DAYS[0]}" in file.path)
    datasets.reject(forged, "ambiguous_quotes")
    models = next(file for file in files if f"/{MODELS}/{DAYS[1]}" in file.path)
    torn = (
        f"{OWNER} {MODELS} [{to_access_log(at('11 18:00:00'))}] 10.20.1.91 - TORN000000000001 "
        'REST.GET.OBJECT base/x.bin "GET /base/x.bin?X-Amz-Signature=' + secrets.REJECTED_LINE_TOKEN
    )
    models.reject(torn, "unreadable_line")
