"""Waits painted second by second, straight from the order of causes in definitions.md 43.

It knows attempts and stages as plain numbers of seconds, and nothing of the transform.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

CHAIN = 300
STRETCH = 5
PAINTED = ("init", "startup", "download", "upload")
OWN = {
    "scheduling": "placement", "sandbox": "sandbox", "image_pull": "image_pull",
    "volume_mount": "volume", "compute": "working", "interactive": "working",
    "teardown": "working", "upload": "upload", "download": "transfer", "init": "unexplained",
    "startup": "unexplained", "unknown": "unexplained",
}  # fmt: skip


@dataclass(frozen=True)
class Attempt:
    """One thing that a pod tried.

    Attributes:
        kind: `request`, `connection` or `lookup`.
        resource: What it was about.
        begin: Its first second.
        end: When it was known how it went.
        outcome: `ok`, `denied`, `credentials`, `throttled` or `failed`.
        events: Of a connection, when packets were seen.
        is_gate: Of a connection, to a token or metadata endpoint.
    """

    kind: str
    resource: str
    begin: int
    end: int
    outcome: str
    events: tuple[int, ...] = ()
    is_gate: bool = False


@dataclass(frozen=True)
class Stage:
    """One stage of one container, or of the pod as a whole."""

    container: str | None
    stage: str
    start: int
    end: int


@dataclass
class Pod:
    """A pod with its stages and what it tried."""

    number: int
    gpus: int
    stages: list[Stage] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)


def chains(attempts: Iterable[Attempt]) -> list[list[Attempt]]:
    """Attempts of one kind and resource that follow each other within 300 s."""
    groups: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in sorted(attempts, key=lambda a: (a.begin, a.end)):
        groups.setdefault((attempt.kind, attempt.resource), []).append(attempt)
    found = []
    for group in groups.values():
        chain: list[Attempt] = []
        for attempt in group:
            if chain and attempt.begin - max(a.end for a in chain) > CHAIN:
                found.append(chain)
                chain = []
            chain.append(attempt)
        found.append(chain)
    return found


def spans(pod: Pod, day_end: int) -> list[tuple[str, str, int, int]]:
    """(cause, resource, from, to) of everything that the pod waited for."""
    found = []
    for chain in chains(pod.attempts):
        found += failures(chain, day_end)
        for attempt in chain:
            who, begin, end = attempt.resource, attempt.begin, attempt.end
            if attempt.kind == "request":
                found.append(("transfer", who, begin, end))
            if attempt.kind == "lookup":
                found.append(("resolve", who, begin, end))
            if attempt.kind == "connection" and attempt.outcome != "denied":
                found.append(("authenticate" if attempt.is_gate else "connect", who, begin, end))
            if attempt.kind == "connection" and attempt.outcome == "ok":
                cause = "authenticate" if attempt.is_gate else "transfer"
                found += [
                    (cause, who, one, two)
                    for one, two in pairwise(attempt.events)
                    if two - one <= STRETCH
                ]
    return found


def failures(chain: list[Attempt], day_end: int) -> list[tuple[str, str, int, int]]:
    """What each failure of a chain leads to."""
    found = []
    last_end = max(a.end for a in chain)
    beyond = day_end if last_end >= day_end - CHAIN else None
    for place, attempt in enumerate(chain):
        rest = chain[place + 1 :]
        last = max((a.end for a in chain if a.outcome == attempt.outcome), default=0)
        success = next((a.begin for a in rest if a.outcome == "ok"), beyond or last)
        answer = min((a.end for a in rest if a.outcome == "ok"), default=beyond or last)
        retried = rest[0].begin if rest else beyond or attempt.end
        match attempt.outcome, attempt.kind:
            case "denied", _:
                found.append(("denied", attempt.resource, attempt.begin, success))
            case "credentials", _:
                found.append(("authenticate", attempt.resource, attempt.begin, success))
            case "throttled", _:
                found.append(("throttled", attempt.resource, attempt.end, retried))
            case "failed", "lookup":
                found.append(("resolve", attempt.resource, attempt.begin, answer))
            case "failed", _:
                found.append(("retry", attempt.resource, attempt.end, retried))
    return found


ORDER = ("denied", "throttled", "retry", "authenticate", "resolve", "connect", "transfer")


def paint(pod: Pod, day_start: int, day_end: int) -> dict[tuple[str | None, int], tuple[str, str]]:
    """Cause of each (container, second), with the resource: `-` for none, `+` for several."""
    everything = spans(pod, day_end)
    painted = {}
    for stage in pod.stages:
        for second in range(max(stage.start, day_start), min(stage.end, day_end)):
            cause, resource = OWN[stage.stage], "-"
            if stage.stage in PAINTED:
                here = [s for s in everything if s[2] <= second < s[3]]
                for wanted in ORDER:
                    resources = {s[1] for s in here if s[0] == wanted}
                    if resources:
                        cause = wanted
                        resource = resources.pop() if len(resources) == 1 else "+"
                        break
            painted[stage.container, second] = (cause, resource)
    return painted
