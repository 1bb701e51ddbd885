"""The lock of a lake on S3: one writer at a time, on any store whose listings are up to date.

Each writer puts a claim, an object of its own, and then lists the claims: who finds no other one
has the lake. Of two that come together at least one finds the other, whoever the store serves
first, so that no two have it. This asks no more of a store than that a listing tells what was put
before. Conditional requests (`If-None-Match: *`) would spare the listing, but stores that do not
know them take them for plain ones and say nothing, and two writers would have the lake.

A claim is renewed while its writer lives. One that was not for `STALE_SECONDS`, by the clock of the
store, is of a dead writer; so is one of a process of this very machine that is gone. A writer that
could not renew its own in time writes nothing more.
"""

import json
import os
import random
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines import object_store
from pipelines.errors import LakeBusyError, ObjectStoreError
from pipelines.object_store import StoredObject

CLAIMS = ".lock/"
RENEW_SECONDS = 20.0
STALE_SECONDS = 300.0
MARGIN_SECONDS = 90.0
"""So long before its claim counts as stale a writer stops: longer than one request may take with
all its repetitions (`object_store.WRITE_SECONDS`)."""
PATIENCE_SECONDS = 5.0
"""How long one who came first waits for another who came at the same time to give way."""
_PAUSE = (0.05, 0.3)


@dataclass
class Hold:
    """Whether the lake may be written: while its claim is known to be fresh.

    A copy that is sent to a worker process holds nothing of its own: the process that waits for it
    renews the claim.

    Attributes:
        renewed: When the claim was put last, by a clock that runs on while a machine sleeps; none
            where no claim is held.
    """

    renewed: float | None = field(default=None)

    def __getstate__(self) -> dict[str, Any]:
        """Nothing goes to another process."""
        return {"renewed": None}

    def require(self, url: str) -> None:
        """See that what is written now cannot meet another writer.

        Raises:
            LakeBusyError: The claim could not be renewed for so long that another may have begun.
        """
        if self.renewed is not None and self.is_late:
            message = (
                f"lake {url}: its lock could not be renewed for "
                f"{STALE_SECONDS - MARGIN_SECONDS:.0f} s, so that another build may have begun; "
                "what was published stays, and a rerun finishes the work"
            )
            raise LakeBusyError(message)

    @property
    def is_late(self) -> bool:
        """Whether the claim was not renewed in time."""
        return self.renewed is None or _clock() - self.renewed > STALE_SECONDS - MARGIN_SECONDS


def _clock() -> float:
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@contextmanager
def claimed(url: str, owner: str, hold: Hold) -> Iterator[None]:
    """Have a lake alone.

    Args:
        url: `s3://bucket/prefix` of the lake.
        owner: Who writes, for the message to whoever comes second.
        hold: Told when the claim was renewed.

    Raises:
        LakeBusyError: Another has it; the message names its owner.
        ObjectStoreError: The store refuses a claim.
    """
    mine = f"{url}/{CLAIMS}{uuid.uuid4().hex}"
    content = json.dumps({"owner": owner, "pid": os.getpid(), "process": _process()}).encode()
    ended = threading.Event()
    renewal = threading.Thread(
        target=_renew, args=(mine, content, hold, ended), name="lake-claim", daemon=True
    )
    try:
        before = _clock()
        object_store.write(mine, content)
        hold.renewed = before
        _await_turn(url, mine)
        renewal.start()
        yield
    finally:
        ended.set()
        if renewal.is_alive():
            renewal.join()
        hold.renewed = None
        # One that stays for want of a connection is stale soon, and so is its process.
        with suppress(ObjectStoreError):
            object_store.delete(mine)


def _await_turn(url: str, mine: str) -> None:
    """Return once no other claim stands; who came later, or meets a holder, is refused."""
    until = _clock() + PATIENCE_SECONDS
    while True:
        others = [other for other in _living(url) if other.url != mine]
        if not others:
            return
        other = min(others, key=lambda claim: claim.url)
        # Names have an order that all agree on: of those that come together the first stays.
        if other.url < mine or _clock() > until or other.age_seconds > PATIENCE_SECONDS:
            message = f"lake {url} is in use by {_owner_of(other)}; try again later"
            raise LakeBusyError(message)
        time.sleep(random.uniform(*_PAUSE))  # noqa: S311  only so that two do not keep step


def _living(url: str) -> list[StoredObject]:
    """Claims of writers that may live; those of dead ones are removed."""
    living = []
    for claim in object_store.listed(f"{url}/{CLAIMS}"):
        if claim.age_seconds > STALE_SECONDS or _is_gone(_told_by(claim).get("process")):
            object_store.delete(claim.url)
        else:
            living.append(claim)
    return living


def _told_by(claim: StoredObject) -> dict[str, Any]:
    try:
        told = json.loads(object_store.read(claim.url))
    except ValueError:
        return {}
    except ObjectStoreError as error:
        if not error.is_absent:
            raise
        return {}
    return told if isinstance(told, dict) else {}


def _owner_of(claim: StoredObject) -> str:
    told = _told_by(claim)
    owner = f"{told['owner']} (process {told['pid']})" if {"owner", "pid"} <= set(told) else None
    left = STALE_SECONDS - claim.age_seconds
    return f"{owner or 'another build'}; if that one is dead, its lock ends in {left:.0f} s"


def _renew(mine: str, content: bytes, hold: Hold, ended: threading.Event) -> None:
    while not ended.wait(RENEW_SECONDS):
        if hold.is_late:
            # Another may have removed the claim and begun: it must not come back.
            return
        before = _clock()
        with suppress(ObjectStoreError):
            object_store.write(mine, content)
            hold.renewed = before


def _process() -> str | None:
    """What tells this process from all others of all machines; none where a system has no /proc."""
    return _process_of(os.getpid())


def _process_of(pid: int) -> str | None:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # A container counts its processes for itself.
        space = Path("/proc/self/ns/pid").readlink()
        # The name may hold blanks and brackets; what follows it does not.
        facts = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    behind_name = facts.rpartition(")")[2].split()
    state, began = behind_name[0], behind_name[19]
    return None if state in {"Z", "X"} else f"{boot} {space} {pid} {began}"


def _is_gone(process: object) -> bool:
    """Whether a claim's process was one of this machine and has ended."""
    ours = _process()
    if not isinstance(process, str) or ours is None:
        return False
    theirs = process.split(" ")
    if len(theirs) != 4 or theirs[:2] != ours.split(" ")[:2] or not theirs[2].isdigit():
        return False
    pid = int(theirs[2])
    found = _process_of(pid)
    return found != process and not (found is None and _is_hidden(pid))


def _is_hidden(pid: int) -> bool:
    """Whether a process runs of which this user may see nothing (`hidepid`)."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return False
