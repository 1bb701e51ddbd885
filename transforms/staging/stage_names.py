"""Names of events that bound an activity: `dataset_download_finished`, `checkpoint.save.start`.

Source: OpenTelemetry's semantic conventions on event names (words joined by dots, lower case).
The last word may say the phase; the words before it name the activity.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from transforms.secret_patterns import MASK
from transforms.staging.stored_text import name_text

MAX_NAME = 128

_MASKED = "masked"
"""Stands in a name where a credential stood."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINTS = re.compile(r"[\s/:-]+")
_NAME = re.compile(r"[a-z0-9]+(?:[._][a-z0-9]+)*")
_PHASES = {
    **dict.fromkeys(("start", "started", "starting", "begin", "began", "begun"), ("start", None)),
    **dict.fromkeys(
        ("end", "ended", "finish", "finished", "complete", "completed", "done", "stop", "stopped"),
        ("end", None),
    ),
    **dict.fromkeys(("success", "succeeded", "successful"), ("end", "ok")),
    **dict.fromkeys(("fail", "failed", "failure", "error", "aborted"), ("end", "error")),
    **dict.fromkeys(("retry", "retried", "retrying"), ("point", "retry")),
}  # fmt: skip
_ACTIVITIES = frozenset(
    {
        "artifact", "artifacts", "batch", "cache", "checkpoint", "checkpoints", "clone", "compile",
        "data", "dataset", "datasets", "download", "epoch", "eval", "evaluate", "evaluation",
        "export", "fetch", "import", "init", "install", "load", "model", "package", "packages",
        "prefetch", "preprocess", "pull", "restore", "save", "setup", "shard", "stage", "step",
        "tokenizer", "train", "training", "transfer", "upload", "validate", "validation", "warmup",
        "weights",
    }
)  # fmt: skip
"""Words of activities of a run; an event of other words and without a phase is none."""


class StageName(NamedTuple):
    """What an event's name says.

    Attributes:
        event_name: The name, lower case.
        activity: What is bounded, words joined by `_`.
        phase: `start`, `end` or `point`.
        outcome: `ok`, `error` or `retry`, where the phase says so.
        is_of_run: Whether a word of it is that of an activity of a run.
    """

    event_name: str
    activity: str
    phase: str
    outcome: str | None
    is_of_run: bool


@lru_cache(maxsize=4_096)
def stage_name(text: str, activity: str | None = None) -> StageName | None:
    """Read a name; none where the text is none.

    Args:
        text: The name; with an activity it may be the phase alone.
        activity: What the record itself says is bounded.
    """
    written = name_text(text) if len(text) <= MAX_NAME else None
    if written is None:
        return None
    name = _JOINTS.sub("_", _HUMP.sub("_", written.strip().replace(MASK, _MASKED))).lower()
    if not _NAME.fullmatch(name):
        return None
    words = re.split("[._]", name)
    phase, outcome = _PHASES.get(words[-1], ("point", None))
    bounded = words[:-1] if words[-1] in _PHASES else words
    stated = stage_name(activity) if activity else None
    if stated is not None:
        of_run = True
        found = stated.activity
    else:
        of_run = not _ACTIVITIES.isdisjoint(bounded)
        found = "_".join(bounded)
    if not found:
        return None
    return StageName(name, found, phase, outcome, of_run)


def has_phase(name: StageName) -> bool:
    """Whether a name says a phase."""
    return re.split("[._]", name.event_name)[-1] in _PHASES
