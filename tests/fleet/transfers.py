"""Requests grouped into transfers, from the truth (definitions.md 25)."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.fleet.places import BUCKET_REGIONS, DATASET_IDS, LEXICON
from tests.fleet.world import Fleet, ObjectRequest, Pod, Run

GAP = timedelta(seconds=300)


@dataclass
class Transfer:
    """One client moving one object version in one burst."""

    requests: list[ObjectRequest]
    is_complete: bool

    @property
    def first(self) -> ObjectRequest:
        """Return the request that began it."""
        return self.requests[0]

    @property
    def start(self) -> datetime:
        """Return when it began."""
        return self.first.time

    @property
    def end(self) -> datetime:
        """Return when the last of its requests had been answered."""
        return max(item.time + timedelta(milliseconds=item.milliseconds) for item in self.requests)

    @property
    def operation(self) -> str:
        """Return what was done."""
        return self.first.operation

    @property
    def pod(self) -> Pod | None:
        """Return the pod that did it, where the evidence names one."""
        return self.first.pod

    @property
    def run(self) -> Run | None:
        """Return the run that did it, where the evidence names one."""
        return self.first.run

    @property
    def bytes(self) -> int:
        """Return the body bytes of the requests that succeeded."""
        good = [item for item in self.requests if item.status < 300]
        if self.operation == "write":
            return sum(item.object_bytes or 0 for item in good)
        return sum(item.sent_bytes or 0 for item in good)

    @property
    def error_bytes(self) -> int:
        """Return the body bytes of the requests that failed."""
        return sum(item.sent_bytes or 0 for item in self.requests if item.status >= 400)

    @property
    def size(self) -> int | None:
        """Return the object's size, where the log states it."""
        sizes = [item.object_bytes for item in self.requests if item.object_bytes is not None]
        return max(sizes) if sizes else None

    @property
    def object_id(self) -> str:
        """Return the object as a person reads it."""
        tail = f"@{self.first.version}" if self.first.version else ""
        return f"s3://{self.first.bucket}/{self.first.key}{tail}"

    @property
    def path(self) -> str:
        """Return bucket and key as an address."""
        return f"s3://{self.first.bucket}/{self.first.key}"

    @property
    def dataset_id(self) -> str | None:
        """Return the declared path, else the dataset of the settings, else the object's folder.

        The longest stable prefix of a key is its whole folder here: no folder outside the datasets
        of the settings holds a number, a date, a hash or `name=value`.
        """
        named = (LEXICON, *DATASET_IDS)
        stated = next((name for name in named if self.path.startswith(name + "/")), None)
        folder, slash, _ = (self.first.key or "").rpartition("/")
        if stated is not None or not slash:
            return stated
        if not re.fullmatch(r"[a-z-]+(/[a-z-]+)*", folder):
            message = f"the scenario does not decide how far {folder} is stable"
            raise ValueError(message)
        return f"s3://{self.first.bucket}/{folder}"

    @property
    def resource_id(self) -> str:
        """Return the longest declared path, else the dataset, else the bucket."""
        named = {LEXICON, *DATASET_IDS}
        stated = self.dataset_id if self.dataset_id in named else None
        return stated or f"s3://{self.first.bucket}"

    @property
    def reader_region(self) -> str | None:
        """Return the region of the reader's node."""
        return self.pod.node.region if self.pod is not None else None

    @property
    def bucket_region(self) -> str:
        """Return the region of the bucket."""
        return BUCKET_REGIONS[self.first.bucket]

    def count(self, *statuses: int) -> int:
        """Return how many requests were answered with one of these statuses."""
        return sum(item.status in statuses for item in self.requests)


def transfers(fleet: Fleet) -> list[Transfer]:
    """Return all transfers by time: complete reads alone, the rest cut at gaps above 300 s."""
    found = []
    groups: dict[tuple[object, ...], list[ObjectRequest]] = {}
    for item in fleet.requests:
        is_complete = (
            item.operation == "read" and item.status == 200 and item.sent_bytes == item.object_bytes
        )
        if is_complete:
            found.append(Transfer([item], True))
            continue
        key = (
            item.bucket, item.key, item.version, item.operation, item.client_address,
            item.principal, item.user_agent,
        )  # fmt: skip
        groups.setdefault(key, []).append(item)
    for items in groups.values():
        burst: list[ObjectRequest] = []
        for item in sorted(items, key=lambda request: request.time):
            if burst and item.time - burst[-1].time > GAP:
                found.append(Transfer(burst, False))
                burst = []
            burst.append(item)
        found.append(Transfer(burst, False))
    found.sort(key=lambda item: (item.start, item.object_id))
    return found
