"""What the description of a run says that its containers use: images, code, data, volumes.

Read from what Polyaxon writes into a pod: arguments of its init containers, the catalogue of
connections in the environment, image references and volumes. Values of environment variables are
used here and then dropped; what is derived from them is exactly what definitions.md 31 names.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from transforms.staging.resource_ids import (
    claim_resource,
    git_resource,
    git_url,
    host_resource,
    image_resource,
    object_resource,
    revision_text,
)
from transforms.staging.stored_text import name_text

CATALOGUE_VARIABLE = "POLYAXON_CONNECTIONS_CATALOG"
VARIABLE_PREFIXES = ("HF_", "PIP_", "WANDB_")
"""Variables whose names, never values, say which service a container uses."""
SIDECAR_NAME = "polyaxon-sidecar"
MAX_COMMAND = 65_536
"""Characters of a container's command and arguments that are read."""

_STEP = re.compile(r"\binitializer\s+path\b")
_VALUE = r"""[= ](?:"([^"]{0,2048})"|'([^']{0,2048})'|([^\s;"']{1,2048}))"""
_PATH_FROM = re.compile(rf"--path-from{_VALUE}")
_CONNECTION_NAME = re.compile(rf"--connection-name{_VALUE}")


@dataclass(frozen=True)
class ContainerFacts:
    """What is known of a container before its environment is dropped.

    Attributes:
        name: Container name, or the step that it will be.
        role: Role in its pod.
        image: Image reference.
        command: Command and arguments, in order.
        environment: Values by name; null where the value is a reference.
        variable_secrets: Secret that a variable refers to, by variable.
    """

    name: str | None
    role: str
    image: str | None = None
    command: tuple[str, ...] = ()
    environment: Mapping[str, str | None] = field(default_factory=dict)
    variable_secrets: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Connection:
    """A connection of the catalogue, without what may be secret."""

    name: str
    resource_kind: str
    resource_id: str | None
    operation: str
    version: str | None
    secret: str | None


class _Secret(msgspec.Struct):
    name: str | None = None


class _Schema(msgspec.Struct, rename="camel"):
    bucket: str | None = None
    url: str | None = None
    revision: str | None = None
    volume_claim: str | None = None


class _CatalogueEntry(msgspec.Struct):
    name: str
    kind: str | None = None
    schema: _Schema | None = None
    secret: _Secret | None = None


class _Catalogue(msgspec.Struct):
    connections: list[msgspec.Raw] | None = None


_CATALOGUE = msgspec.json.Decoder(_Catalogue)
_ENTRY = msgspec.json.Decoder(_CatalogueEntry)


def access(
    *,
    component: str | None,
    role: str | None,
    kind: str,
    resource_id: str,
    operation: str,
    declared_in: str,
    version: str | None = None,
    credential: str | None = None,
    connection: str | None = None,
    stage: str | None = None,
) -> dict[str, Any]:
    """One declared access, as the column `declared_accesses` holds it."""
    return {
        "component": component,
        "container_role": role,
        "resource_kind": kind,
        "resource_id": resource_id,
        "operation": operation,
        "version": version,
        "credential": credential,
        "connection": connection,
        "needed_in_stage": stage,
        "declared_in": declared_in,
    }


def of_container(
    container: ContainerFacts,
    *,
    namespace: str,
    cluster: str | None,
    pull_secrets: tuple[str, ...],
) -> Iterator[dict[str, Any]]:
    """Everything that one container of a pod declares."""
    if (pull := image_pull(container, pull_secrets, "pod_spec")) is not None:
        yield pull
    catalogue = {c.name: c for c in connections(container, namespace, cluster)}
    used: set[str] = set()
    for found in (*_git_arguments(container, catalogue), *_paths(container, catalogue)):
        used.add(found["connection"] or "")
        yield found
    for connection in catalogue.values():
        if connection.name in used or connection.resource_id is None:
            continue
        yield access(
            component=container.name,
            role=container.role,
            kind=connection.resource_kind,
            resource_id=connection.resource_id,
            operation=_direction(container, connection),
            version=connection.version,
            credential=connection.secret,
            connection=connection.name,
            stage=_stage(container, connection),
            declared_in="environment",
        )
    yield from variables(container, "environment")


def image_pull(
    container: ContainerFacts, pull_secrets: tuple[str, ...], declared_in: str
) -> dict[str, Any] | None:
    """The pull of a container's image, with the names of the secrets that may be used."""
    image = image_resource(container.image) if container.image else None
    if image is None:
        return None
    return access(
        component=container.name,
        role=container.role,
        kind="image",
        resource_id=image.resource_id,
        operation="pull",
        version=image.version,
        credential=",".join(pull_secrets) or None,
        stage="image_pull",
        declared_in=declared_in,
    )


def variables(container: ContainerFacts, declared_in: str) -> Iterator[dict[str, Any]]:
    """Names of variables that say which service is used; the value never shows."""
    for name in sorted(container.environment):
        if name.startswith(VARIABLE_PREFIXES):
            yield access(
                component=container.name,
                role=container.role,
                kind="variable",
                resource_id=f"env://{name_text(name)}",
                operation="connect",
                credential=name_text(container.variable_secrets.get(name)),
                declared_in=declared_in,
            )


def claim(*, cluster: str | None, namespace: str, name: str) -> dict[str, Any]:
    """A persistent volume claim that a pod mounts; its bytes go past the pod's network."""
    return access(
        component=None,
        role=None,
        kind="volume",
        resource_id=claim_resource(cluster, namespace, name),
        operation="connect",
        stage="volume_mount",
        declared_in="pod_spec",
    )


def clone(
    *,
    component: str | None,
    url: str,
    revision: str | None,
    credential: str | None,
    connection: str | None,
    declared_in: str,
) -> dict[str, Any] | None:
    """The clone of a repository by an init container; null where the URL names none."""
    resource_id = git_resource(url, revision)
    if resource_id is None:
        return None
    return access(
        component=component,
        role="init",
        kind="git",
        resource_id=resource_id,
        operation="clone",
        version=revision_text(revision),
        credential=credential,
        connection=connection,
        stage="init",
        declared_in=declared_in,
    )


def ordered(accesses: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Distinct accesses in a total order; null where there are none."""
    distinct = {tuple("" if v is None else v for v in a.values()): a for a in accesses}
    return [distinct[key] for key in sorted(distinct)] or None


def connections(
    container: ContainerFacts, namespace: str, cluster: str | None
) -> Iterator[Connection]:
    """The connections of a container's catalogue; an entry that cannot be read is left out.

    The catalogue is Polyaxon's own JSON inside a variable's value. It is a hint, not a record: a
    broken one takes nothing from what the pod itself says.
    """
    text = container.environment.get(CATALOGUE_VARIABLE)
    if not text or len(text) > 1 << 20:
        return
    try:
        entries = _CATALOGUE.decode(text).connections or []
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    for raw in entries:
        try:
            entry = _ENTRY.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        yield _connection(entry, namespace, cluster)


def _connection(entry: _CatalogueEntry, namespace: str, cluster: str | None) -> Connection:
    schema = entry.schema or _Schema()
    kind, resource_id, operation, version = "connection", None, "connect", None
    if schema.bucket:
        kind, resource_id, operation = "bucket", object_resource(schema.bucket), "read"
    elif schema.volume_claim:
        kind = "volume"
        resource_id = claim_resource(cluster, namespace, schema.volume_claim)
    elif schema.url and entry.kind == "git":
        kind, operation = "git", "clone"
        resource_id = git_resource(schema.url, schema.revision)
        version = revision_text(schema.revision)
    elif schema.url:
        kind, resource_id = "host", host_resource(schema.url)
    return Connection(
        name=name_text(entry.name) or "",
        resource_kind=kind,
        resource_id=resource_id,
        operation=operation,
        version=version,
        secret=name_text(entry.secret.name) if entry.secret else None,
    )


def _direction(container: ContainerFacts, connection: Connection) -> str:
    """What is done to a connection that no argument speaks of.

    A catalogue names a bucket, not a direction. The platform's sidecar uploads to its store; for
    any other container reading is the least that a declared bucket is for.
    """
    if connection.resource_kind == "bucket" and container.name == SIDECAR_NAME:
        return "write"
    return connection.operation


def _stage(container: ContainerFacts, connection: Connection) -> str | None:
    if connection.resource_kind == "volume":
        return "volume_mount"
    if container.role == "init":
        return "init"
    return "upload" if _direction(container, connection) == "write" else None


def _git_arguments(
    container: ContainerFacts, catalogue: Mapping[str, Connection]
) -> Iterator[dict[str, Any]]:
    """`polyaxon initializer git --url=… --revision=… --connection=…`."""
    words = _words(container)
    url = _flag(words, "--url")
    if container.role != "init" or url is None or git_url(url) is None:
        return
    if "git" not in words and "-git" not in (container.name or ""):
        return
    name = name_text(_flag(words, "--connection"))
    known = catalogue.get(name or "")
    found = clone(
        component=container.name,
        url=url,
        revision=_flag(words, "--revision"),
        credential=known.secret if known else None,
        connection=name,
        declared_in="pod_spec",
    )
    if found is not None:
        yield found


def _paths(
    container: ContainerFacts, catalogue: Mapping[str, Connection]
) -> Iterator[dict[str, Any]]:
    """`polyaxon initializer path --connection-name=… --path-from=s3://…`, any number of times."""
    text = " ".join(container.command)[:MAX_COMMAND]
    for step in _STEP.split(text)[1:]:
        source = _shell_value(_PATH_FROM, step)
        resource_id = object_resource(source) if source else None
        if resource_id is None:
            continue
        name = name_text(_shell_value(_CONNECTION_NAME, step))
        known = catalogue.get(name or "")
        yield access(
            component=container.name,
            role=container.role,
            kind="bucket",
            resource_id=resource_id,
            operation="read",
            credential=known.secret if known else None,
            connection=name,
            stage="init",
            declared_in="pod_spec",
        )


def _words(container: ContainerFacts) -> tuple[str, ...]:
    """Command and arguments; a shell line that runs the initializer is split at spaces."""
    words: list[str] = []
    for word in container.command:
        is_line = "initializer git" in word and len(word) <= MAX_COMMAND
        words += word.replace(";", " ").split() if is_line else [word]
    return tuple(words)


def _flag(command: tuple[str, ...], name: str) -> str | None:
    """Value of `--name=value` or `--name value`."""
    for index, word in enumerate(command):
        if word.startswith(f"{name}="):
            return word[len(name) + 1 :]
        if word == name and index + 1 < len(command):
            return command[index + 1]
    return None


def _shell_value(pattern: "re.Pattern[str]", text: str) -> str | None:
    match = pattern.search(text)
    return next((group for group in match.groups() if group), None) if match else None
