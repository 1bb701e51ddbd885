r"""Lines of libraries' own that bound an activity, as they stand in the logs of runs.

Sources (texts in source code): huggingface_hub 2.4, datasets 5.2, transformers 5.24, pytorch
lightning 2.6, botocore 1.43, gcsfs 2026.10, pip 23.2, git 2, wandb 0.31, Polyaxon's initialisers
2.18. Retries of botocore, s3fs and gcsfs are written at level DEBUG only, so that none in a log
does not mean that there were none.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from transforms.staging.stage_fields import resource
from transforms.staging.stored_text import name_text
from transforms.staging.values import integer

MAX_TEXT = 4_096
MAX_PARTS = 50
"""Pieces of a line that progress bars write over each other."""


class LibraryMark(NamedTuple):
    """What a line says.

    Attributes:
        source: Library that wrote it.
        activity: What it bounds.
        phase: `start`, `end` or `point`.
        values: Further columns.
    """

    source: str
    activity: str
    phase: str
    values: dict[str, Any]


_Values = Callable[[Mapping[str, str]], dict[str, Any]]


class _Form(NamedTuple):
    source: str
    anchor: str
    pattern: re.Pattern[str]
    activity: str
    phase: str
    fixed: Mapping[str, Any]


def _form(
    source: str, anchor: str, pattern: str, activity: str, phase: str = "point", **fixed: str | int
) -> _Form:
    return _Form(source, anchor, re.compile(pattern), activity, phase, fixed)


_URL = r"(?P<resource>https?://[^\s'\"<>]{1,2000})"
_RETRY = r"\[Retry (?P<attempts>\d{1,6})/\d{1,6}\]"
_HUB, _DATA = "huggingface_hub", "datasets"
_FORMS = (
    _form(_HUB, "Fetching ", r"Fetching \d{1,9} files:\s{1,9}0%", "hub_download", "start"),
    _form(_HUB, "Fetching ", r"Fetching \d{1,9} files:\s{0,9}100%", "hub_download", "end",
          outcome="ok"),
    _form(_HUB, "HTTP Error ", r"HTTP Error (?P<status>[1-5]\d\d) thrown while requesting "
          r"[A-Z]{1,9} " + _URL, "hub_download", outcome="retry"),
    _form(_HUB, "Rate limited. Waiting", rf"Rate limited\. Waiting [\d.]{{1,12}}s before retry "
          rf"{_RETRY}", "hub_download", outcome="retry", status=429),
    _form(_HUB, "Retrying in ", rf"Retrying in [\d.]{{1,12}}s {_RETRY}", "hub_download",
          outcome="retry"),
    _form(_HUB, " thrown while requesting ", r"'(?P<error_type>[A-Za-z_.]{1,100})\(?[^']{0,1000}' "
          r"thrown while requesting [A-Z]{1,9} " + _URL, "hub_download", outcome="retry"),
    _form(_HUB, "Error while downloading from", r"Error while downloading from " + _URL,
          "hub_download", outcome="retry"),
    _form(_HUB, "Max retries exceeded", r"Max retries exceeded", "hub_download", "end",
          outcome="error", error_type="MaxRetriesExceeded"),
    _form(_DATA, "Downloading and preparing dataset", r"Downloading and preparing dataset "
          r"(?P<resource>[\w./-]{1,300})", "dataset_download", "start"),
    _form(_DATA, "Downloading data", r"(?:\A|[\s:])Downloading data(?:\Z|[\s:.])",
          "dataset_download", "start"),
    _form(_DATA, "Found cached dataset", r"Found cached dataset (?P<resource>[\w./-]{1,300})",
          "dataset_download", "end", outcome="ok", cache="hit"),
    _form(_DATA, "Downloading took", r"Downloading took (?P<minutes>\d{1,6}(?:\.\d{1,9})?) min",
          "dataset_download", "end", outcome="ok"),
    _form(_DATA, "Generating ", r"Generating [\w-]{1,100} split: 0 examples", "dataset_prepare",
          "start"),
    _form(_DATA, "Got disconnected from remote data host", r"Got disconnected from remote data host"
          r"\. Retrying in \d{1,9}sec \[(?P<attempts>\d{1,6})/\d{1,6}\]", "dataset_download",
          outcome="retry"),
    _form(_DATA, "Failed to connect to remote data host", r"Failed to connect to remote data host",
          "dataset_download", outcome="retry"),
    _form("transformers", "***** Running training *****", r"\*{5} Running training \*{5}",
          "training", "start"),
    _form("transformers", "Training completed.", r"Training completed\.", "training", "end",
          outcome="ok"),
    _form("transformers", "Saving model checkpoint to", r"Saving model checkpoint to "
          r"(?P<resource>[^\s]{1,1000})", "checkpoint_save"),
    _form("transformers", "Loading model from", r"Loading model from (?P<resource>[^\s]{1,1000}?)"
          r"\.?(?:\Z|\s)", "model_load", "start"),
    _form("lightning", "GPU available: ", r"GPU available: True \([a-z]{1,20}\), used: True",
          "accelerator", outcome="ok"),
    _form("lightning", "GPU available: ", r"GPU available: (?:False|True \([a-z]{1,20}\)), used: "
          r"False", "accelerator", outcome="error"),
    _form("lightning", "Restoring states from the checkpoint", r"Restoring states from the "
          r"checkpoint path at (?P<resource>[^\s]{1,1000})", "checkpoint_load", "start"),
    _form("lightning", "saving model to '", r"saving model to '(?P<resource>[^']{1,1000})'",
          "checkpoint_save"),
    _form("botocore", "Retry needed, action of", r"Retry needed, action of: [\d.]{1,12}",
          "request", outcome="retry"),
    _form("botocore", "Max attempts of", r"Max attempts of (?P<attempts>\d{1,6}) reached",
          "request", "end", outcome="error", error_type="MaxAttemptsReached"),
    _form("gcsfs", "_request ", r"_request (?:retrying after|out of retries on) exception",
          "request", outcome="retry"),
    _form("pip", "Downloading ", r"(?:\A|\s)Downloading (?P<resource>[\w.+-]{1,300}\.(?:whl|zip|"
          r"tar\.gz))", "package_install"),
    _form("pip", "Using cached ", r"(?:\A|\s)Using cached (?P<resource>[\w.+-]{1,300}\.(?:whl|zip|"
          r"tar\.gz))", "package_install", cache="hit"),
    _form("pip", "Retrying (Retry(total=", r"Retrying \(Retry\(total=\d{1,3}", "package_install",
          outcome="retry"),
    _form("pip", "Successfully installed ", r"Successfully installed \S", "package_install", "end",
          outcome="ok"),
    _form("git", "Cloning into '", r"Cloning into '(?P<resource>[^']{1,500})'\.\.\.",
          "repository_clone", "start"),
    _form("git", "Receiving objects: 100%", r"Receiving objects: 100% \(\d{1,12}/\d{1,12}\)"
          r".{0,100}, done\.", "repository_clone"),
    _form("polyaxon", "Git Repo is initialized", r"Git Repo is initialized", "repository_clone",
          "end", outcome="ok"),
    _form("polyaxon", " path is initialized", r"(?P<resource>s3|gcs|wasb|volume) path is "
          r"initialized", "artifacts_download", "end", outcome="ok"),
    _form("polyaxon", "Auth context initialized", r"Auth context initialized\.", "authentication",
          "end", outcome="ok"),
    _form("polyaxon", "Could not establish connection, retrying", r"Could not establish connection,"
          r" retrying", "authentication", outcome="retry"),
    _form("wandb", "wandb: Tracking run with", r"wandb: Tracking run with wandb version",
          "tracking", "start"),
    _form("wandb", "wandb: Synced ", r"wandb: Synced \d{1,9} W&B file\(s\)", "tracking", "end",
          outcome="ok"),
)  # fmt: skip
_ANCHORS = re.compile("|".join(re.escape(anchor) for anchor in {form.anchor for form in _FORMS}))


def library_marks(text: str) -> Iterator[LibraryMark]:
    """What a line says, once for each thing of it that progress bars wrote over each other."""
    seen: set[tuple[str, str]] = set()
    for part in text[:MAX_TEXT].split("\r")[:MAX_PARTS]:
        mark = _mark(part)
        if mark is not None and (mark.activity, mark.phase) not in seen:
            seen.add((mark.activity, mark.phase))
            yield mark


def _mark(text: str) -> LibraryMark | None:
    if _ANCHORS.search(text) is None:
        return None
    for form in _FORMS:
        match = form.pattern.search(text) if form.anchor in text else None
        if match is not None:
            return LibraryMark(form.source, form.activity, form.phase, _values(form, match))
    return None


def _values(form: _Form, match: re.Match[str]) -> dict[str, Any]:
    found = dict(form.fixed)
    groups = match.groupdict()
    for name in ("attempts", "status"):
        if groups.get(name):
            found[name] = integer(groups[name])
    if groups.get("resource"):
        found["resource"] = resource(groups["resource"])
    if groups.get("error_type"):
        found["error_type"] = name_text(groups["error_type"])
    if groups.get("minutes"):
        found["elapsed_seconds"] = float(groups["minutes"]) * 60
    return found
