"""Manifests as text, and beside the artifacts of their runs.

`manifests:` of the settings is a template of a folder with `{run_uuid}` and, if wanted,
`{project}`. At the end of a build each run that has ended gets its two files there, each replaced
in one step; one that would be the same is left as it is.
"""

import datetime as dt
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from pipelines.catalog import open_catalog
from pipelines.errors import PodledgerError
from pipelines.manifest_markdown import markdown_of
from pipelines.run_facts import RunReader, ended_runs
from pipelines.settings import Settings
from pipelines.storage import Lake
from transforms.marts.manifest import manifest_of

JSON_NAME = "podledger-manifest.json"
MARKDOWN_NAME = "podledger-manifest.md"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,126}\Z")
"""What may stand in a path: no separator, no way up, no hidden name."""
_FIELD = re.compile(r"\{(project|run_uuid)\}")


def schema_text() -> str:
    """JSON schema of the newest version, as it is published in the package."""
    return files("schemas").joinpath("manifest-1.schema.json").read_text(encoding="utf-8")


def json_of(document: Mapping[str, Any]) -> str:
    """A manifest as JSON text: the same bytes for the same document."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def folder_of(template: str, run_uuid: str, project: str | None) -> Path:
    """Folder of a run's manifest.

    Args:
        template: Absolute path with `{run_uuid}` and perhaps `{project}`.
        run_uuid: The run.
        project: Its project, which exports state: anything may stand in it.

    Raises:
        PodledgerError: A value cannot stand in a path, or the folder would lie elsewhere.
    """
    values = {"run_uuid": run_uuid, "project": project}
    for name in _FIELD.findall(template):
        value = values[name]
        if value is None or not _PLAIN.match(value):
            message = (
                f"manifests: run {run_uuid}: {name} {value!r} names no folder; expected letters, "
                "digits, dots, dashes and underscores"
            )
            raise PodledgerError(message)
    # Only the part before the first field is the settings' own: links below it may lead away.
    fixed = Path(template[: template.index("{")] + "x").parent
    folder = Path(_FIELD.sub(lambda match: str(values[match[1]]), template))
    if not folder.resolve().is_relative_to(fixed.resolve()):
        message = f"manifests: run {run_uuid}: {folder} leads out of {fixed}; it is not written"
        raise PodledgerError(message)
    return folder


def write_manifest(folder: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write both forms of a manifest into a folder; returns the files that changed.

    Raises:
        LakeWriteError: A file cannot be written; what stood there stays.
    """
    written = []
    texts = {JSON_NAME: json_of(document), MARKDOWN_NAME: markdown_of(document)}
    for name, text in texts.items():
        path = folder / name
        content = text.encode()
        if not path.is_symlink() and path.is_file() and path.read_bytes() == content:
            continue
        with Lake(folder).replacing(path) as temporary:
            temporary.write_bytes(content)
        written.append(path)
    return written


def write_manifests(settings: Settings, lake: Lake, day: dt.date) -> list[str]:
    """Write the manifests of the runs that ended up to a day and were last active on it.

    Returns:
        Why manifests could not be written, in words; a run of which one is refused keeps no other
        from being written.
    """
    template = settings.manifests_template
    if template is None:
        return []
    refused = []
    with open_catalog(settings.catalog_path) as connection:
        reader = RunReader(connection, settings, lake)
        for run_uuid in ended_runs(connection, day):
            facts = reader.facts(run_uuid)
            project = facts.of("runs")[0]["project"]
            try:
                folder = folder_of(template, run_uuid, project)
                write_manifest(folder, manifest_of(facts))
            except PodledgerError as error:
                refused.append(str(error))
    return refused
