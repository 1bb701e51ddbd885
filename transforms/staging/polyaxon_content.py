"""What a run's compiled content says: images, resources, code, connections.

The content is a JSON text inside the JSON of a run. It holds arguments, environment values and
whatever a user wrote, so nothing of it is kept but the fields derived here (definitions.md 31).
Field names: Polyaxon's compiled operation, version 1.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from transforms.staging import declared_accesses
from transforms.staging.declared_accesses import ContainerFacts, access
from transforms.staging.gpu_requests import effective_gpus, gpus_asked
from transforms.staging.json_records import RecordError, decode
from transforms.staging.kubernetes_metadata import Count
from transforms.staging.resource_ids import git_url, revision_text
from transforms.staging.stored_text import name_text

MAX_CONTENT = 4 << 20
"""Characters of a content that are decoded."""

_MAIN_NAMES = {"pytorchjob": "pytorch", "tfjob": "tensorflow"}
_MAIN_NAME = "polyaxon-main"
_STEP_NAMES = {"git": "polyaxon-init-git", "artifacts": "polyaxon-init-artifacts"}
_NO_POD_KINDS = frozenset({"dag", "matrix", "schedule"})


class _Named(msgspec.Struct):
    name: str | None = None


class _SecretKey(msgspec.Struct):
    name: str | None = None


class _ValueFrom(msgspec.Struct, rename="camel"):
    secret_key_ref: _SecretKey | None = None


class _Variable(msgspec.Struct, rename="camel"):
    """A variable of a container; its value stays undecoded."""

    name: str | None = None
    value_from: _ValueFrom | None = None


class _Resources(msgspec.Struct):
    requests: dict[str, str | int | float] | None = None
    limits: dict[str, str | int | float] | None = None
    claims: list[msgspec.Raw] | None = None


class _Container(msgspec.Struct):
    name: str | None = None
    image: str | None = None
    env: list[_Variable] | dict[str, msgspec.Raw] | None = None
    resources: _Resources | None = None


class _Git(msgspec.Struct):
    url: str | None = None
    revision: str | None = None


class _Init(msgspec.Struct):
    connection: str | None = None
    git: _Git | None = None
    artifacts: msgspec.Raw = msgspec.Raw()
    container: _Container | None = None


class _Environment(msgspec.Struct, rename="camel"):
    image_pull_secrets: list[str | _Named] | None = None


class _Replica(msgspec.Struct):
    replicas: Count | None = None
    container: _Container | None = None
    init: list[_Init] | None = None
    sidecars: list[_Container] | None = None
    environment: _Environment | None = None
    connections: list[str] | None = None


class _Run(_Replica):
    kind: str | None = None
    master: _Replica | None = None
    worker: _Replica | None = None
    chief: _Replica | None = None
    ps: _Replica | None = None
    evaluator: _Replica | None = None
    launcher: _Replica | None = None
    head: _Replica | None = None
    scheduler: _Replica | None = None
    job: _Replica | None = None
    workers: dict[str, _Replica] | None = None


class _Termination(msgspec.Struct, rename="camel"):
    max_retries: Count | None = None


class _Operation(msgspec.Struct):
    queue: str | None = None
    namespace: str | None = None
    termination: _Termination | None = None
    matrix: msgspec.Raw = msgspec.Raw()
    schedule: msgspec.Raw = msgspec.Raw()
    run: _Run | None = None


_TEXT = msgspec.json.Decoder(str)
_OPERATION = msgspec.json.Decoder(_Operation)


@dataclass(frozen=True)
class ContentFacts:
    """What is kept of a content; null where it does not say.

    A content that only starts other runs (a matrix, a schedule, a graph) has no images, replicas,
    GPUs, code or accesses of its own.
    """

    queue: str | None = None
    agent: str | None = None
    namespace: str | None = None
    max_retries: int | None = None
    images: list[str] | None = None
    replicas: int | None = None
    gpu_count: int | None = None
    code_url: str | None = None
    code_revision: str | None = None
    declared_accesses: list[dict[str, Any]] | None = None


def content_facts(content: bytes, path: str) -> ContentFacts:
    """Derive what is kept of a content.

    Args:
        content: The JSON value of `content`: a text of JSON, an object, null or nothing.
        path: Its JSON path, for reasons.

    Raises:
        RecordError: The content is no compiled operation, or larger than is decoded.
    """
    if content in {b"", b"null", b'""'}:
        return ContentFacts()
    if len(content) > MAX_CONTENT:
        message = f"content_too_large: expected at most {MAX_CONTENT} bytes at {path}"
        raise RecordError(message)
    if content[:1] == b'"':
        content = decode(_TEXT, content, path).encode()
    operation = decode(_OPERATION, content, path)
    agent, _, queue = (operation.queue or "").rpartition("/")
    facts = ContentFacts(
        queue=name_text(queue),
        agent=name_text(agent),
        namespace=name_text(operation.namespace),
        max_retries=operation.termination.max_retries if operation.termination else None,
    )
    run = operation.run
    if run is None or _starts_others(operation, run):
        return facts
    replicas = list(_replicas(run))
    code = {
        (url, revision_text(init.git.revision))
        for replica in replicas
        for init in replica.init or ()
        if init.git is not None and init.git.url and (url := git_url(init.git.url)) is not None
    }
    code_url, code_revision = code.pop() if len(code) == 1 else (None, None)
    gpus = {_gpus(replica, f"{path}.run") for replica in replicas}
    return ContentFacts(
        queue=facts.queue,
        agent=facts.agent,
        namespace=facts.namespace,
        max_retries=facts.max_retries,
        images=_images(replicas),
        replicas=sum(1 if r.replicas is None else r.replicas for r in replicas),
        gpu_count=gpus.pop() if len(gpus) == 1 else None,
        code_url=code_url,
        code_revision=code_revision,
        declared_accesses=declared_accesses.ordered(
            [found for replica in replicas for found in _accesses(replica, run.kind or "")]
        ),
    )


def _starts_others(operation: _Operation, run: _Run) -> bool:
    nothing = {b"", b"null"}
    return (
        bytes(operation.matrix) not in nothing
        or bytes(operation.schedule) not in nothing
        or run.kind in _NO_POD_KINDS
    )


def _replicas(run: _Run) -> Iterator[_Replica]:
    """The kinds of replica that a run asks for; a job or service is one by itself."""
    named = [
        run.master, run.worker, run.chief, run.ps, run.evaluator, run.launcher, run.head,
        run.scheduler, run.job, *(run.workers or {}).values(),
    ]  # fmt: skip
    found = [replica for replica in named if replica is not None]
    yield from found or [run]


def _containers(replica: _Replica) -> Iterator[tuple[str, _Container]]:
    """Containers of a replica with their role, init containers first."""
    for init in replica.init or ():
        if init.container is not None and init.git is None:
            yield "init", init.container
    if replica.container is not None:
        yield "main", replica.container
    for sidecar in replica.sidecars or ():
        yield "sidecar", sidecar


def _gpus(replica: _Replica, path: str) -> int | None:
    """GPUs of a replica; null where a claim, which stands elsewhere, says how many it has."""
    asked = [(role, c.resources) for role, c in _containers(replica) if c.resources is not None]
    count = effective_gpus(
        (role == "init", gpus_asked(resources.requests, resources.limits, path))
        for role, resources in asked
    )
    return None if any(resources.claims for _, resources in asked) else count


def _images(replicas: list[_Replica]) -> list[str] | None:
    found = {
        name_text(container.image)
        for replica in replicas
        for _, container in _containers(replica)
        if container.image
    }
    return sorted(image for image in found if image) or None


def _accesses(replica: _Replica, kind: str) -> Iterator[dict[str, Any]]:
    main_name = _MAIN_NAMES.get(kind, _MAIN_NAME)
    environment = replica.environment or _Environment()
    secrets = tuple(
        sorted(
            {
                name
                for secret in environment.image_pull_secrets or ()
                if (name := name_text(secret if isinstance(secret, str) else secret.name))
            }
        )
    )
    for role, container in _containers(replica):
        facts = _facts(main_name if role == "main" else container.name, role, container)
        pull = declared_accesses.image_pull(facts, secrets, "content")
        if pull is not None:
            yield pull
        yield from declared_accesses.variables(facts, "content")
    for init in replica.init or ():
        yield from _init_access(init)
    for name in replica.connections or ():
        yield _connection(name, main_name, "main")


def _init_access(init: _Init) -> Iterator[dict[str, Any]]:
    """What an init step fetches; where only its connection is named, that is all that is known."""
    step = "git" if init.git is not None else "artifacts" if bytes(init.artifacts) else None
    connection = name_text(init.connection)
    component = "-".join(part for part in (_STEP_NAMES.get(step or ""), connection) if part)
    if init.git is not None and init.git.url:
        found = declared_accesses.clone(
            component=component or None,
            url=init.git.url,
            revision=init.git.revision,
            credential=None,
            connection=connection,
            declared_in="content",
        )
        if found is not None:
            yield found
    elif connection is not None:
        yield _connection(connection, component if step else None, "init")


def _connection(name: str, component: str | None, role: str) -> dict[str, Any]:
    """A connection whose bucket or host only the pod's catalogue names."""
    shown = name_text(name) or ""
    return access(
        component=component,
        role=role,
        kind="connection",
        resource_id=f"connection://{shown}",
        operation="connect",
        connection=shown,
        stage="init" if role == "init" else None,
        declared_in="content",
    )


def _facts(name: str | None, role: str, container: _Container) -> ContainerFacts:
    env = container.env or []
    if isinstance(env, dict):
        return ContainerFacts(name_text(name), role, container.image, (), dict.fromkeys(env))
    return ContainerFacts(
        name=name_text(name),
        role=role,
        image=container.image,
        environment={v.name: None for v in env if v.name},
        variable_secrets={
            v.name: v.value_from.secret_key_ref.name
            for v in env
            if v.name
            and v.value_from
            and v.value_from.secret_key_ref
            and v.value_from.secret_key_ref.name
        },
    )
