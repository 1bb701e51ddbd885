"""Object transfers by one plain pass over all requests: what the SQL is compared with.

It knows what definitions.md 20 to 25 say and nothing of how the transform works. Requests and pods
are the partial rows of the tests; sessions, containers and places are left out.
"""

from collections import defaultdict
from datetime import date, datetime, timedelta
from typing import Any

from tests.transforms.frames import at

GAP = timedelta(seconds=300)
GUARD = timedelta(seconds=2)
IDENTITY = (
    "provider", "bucket", "key", "version_id", "operation", "client_address", "principal",
    "user_agent",
)  # fmt: skip
FACTS = (
    "start_at", "end_at", "request_count", "success_count", "not_modified_count", "denied_count",
    "not_found_count", "throttled_count", "error_count", "first_error", "transferred_bytes",
    "error_bytes", "object_size_bytes", "is_complete", "opened_before", "duration_seconds",
    "match_kind", "pod_uid",
)  # fmt: skip

Request = dict[str, Any]


def succeeded(request: Request) -> bool:
    """Whether it was answered 2xx or 304."""
    return 200 <= request["status"] < 300 or request["status"] == 304


def moved(request: Request) -> int:
    """Body bytes that it moved between client and storage, or that told of its failure."""
    if request["status"] == 304:
        return 0
    if not succeeded(request) or request["operation"] in {"read", "list"}:
        return int(request["response_bytes"] or 0)
    if request["operation"] == "write" and request["operation_name"] != "REST.POST.UPLOAD":
        return int(request["object_size_bytes"])
    return 0


def is_whole(request: Request) -> bool:
    """Whether it is a complete read."""
    return (
        request["operation"] == "read"
        and request["status"] == 200
        and (request["response_bytes"] or 0) == request["object_size_bytes"]
    )


def holders(request: Request, pods: list[dict[str, Any]]) -> tuple[str, ...]:
    """Pods that may have had the client's address."""
    return tuple(
        sorted(
            pod["pod_uid"]
            for pod in pods
            if pod["address"] == request["client_address"]
            and pod["start_at"] - GUARD <= request["event_at"]
            and (pod.get("end_at") is None or request["event_at"] < pod["end_at"] + GUARD)
        )
    )


def transfers(
    requests: list[Request],
    pods: list[dict[str, Any]],
    day: date,
    look_back: timedelta = timedelta(days=1),
) -> dict[str, tuple[Any, ...]]:
    """Give the facts of the day's transfers by the id of each one's first request."""
    begin, end = at("00:00", day), at("00:00", day, days=1)
    seen = [r for r in requests if begin - look_back <= r["event_at"] < end]
    groups: dict[tuple[Any, ...], list[Request]] = defaultdict(list)
    found: list[tuple[list[Request], bool]] = []
    for request in sorted(seen, key=lambda r: (r["event_at"], r["record_id"])):
        if is_whole(request):
            found.append(([request], False))
            continue
        identity = (*(request[name] for name in IDENTITY), holders(request, pods))
        groups[identity].append(request)
    for items in groups.values():
        bursts = [[items[0]]]
        for item in items[1:]:
            if item["event_at"] - bursts[-1][-1]["event_at"] > GAP:
                bursts.append([])
            bursts[-1].append(item)
        found += [(b, b[0]["event_at"] < begin - look_back + GAP) for b in bursts]
    rows = {}
    for burst, is_open in found:
        today = [r for r in burst if r["event_at"] >= begin]
        if today:
            first = today[0] if is_open else burst[0]
            rows[first["record_id"]] = _facts(burst, today, first, pods, end, is_open=is_open)
    return rows


def _facts(
    burst: list[Request],
    today: list[Request],
    first: Request,
    pods: list[dict[str, Any]],
    end: datetime,
    *,
    is_open: bool,
) -> tuple[Any, ...]:
    def count(*statuses: int) -> int:
        return sum(r["status"] in statuses for r in today)

    errors = [r["error"] or str(r["status"]) for r in today if r["status"] >= 400]
    named = (401, 403, 404, 429, 503)
    sizes = {
        r["object_size_bytes"]
        for r in burst
        if r["operation_name"] != "REST.PUT.PART"
        and (r["operation"] != "write" or succeeded(r))
        and r["object_size_bytes"] is not None
    }
    pod = holders(first, pods)
    ends = [r["event_at"] + timedelta(seconds=r["duration_seconds"]) for r in today]
    return (
        first["event_at"],
        min(max(ends), end),
        len(today),
        sum(map(succeeded, today)),
        count(304),
        count(401, 403),
        count(404),
        count(429, 503),
        sum(r["status"] >= 400 and r["status"] not in named for r in today),
        errors[0] if errors else None,
        sum(moved(r) for r in today if succeeded(r)),
        sum(moved(r) for r in today if not succeeded(r)),
        sizes.pop() if len(sizes) == 1 else None,
        is_whole(first),
        is_open,
        max(r["duration_seconds"] for r in today),
        {0: "none", 1: "address_window"}.get(len(pod), "ambiguous"),
        pod[0] if len(pod) == 1 else None,
    )
