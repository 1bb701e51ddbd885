"""Which container of a pod acted at a moment: the rungs of the ladder that container states reach.

Containers share their pod's network, so an address names a pod and never a container. A container
is named only where it was the only one that ran (`only_running`); of several all are candidates.

The caller makes a table or view `container_input` (`item_id`, any type, unique; `pod_uid`;
`event_at`; `is_begin`, false of what may have begun before) and calls `match_containers`; it gets
`container_output` with one row for each item of whose pod a container ran at that moment, or before
where that is possible: `item_id`, `container`, `container_role` (null where several),
`container_kind` (`only_running` or `several`), `candidate_containers` (sorted, where several). An
item without a row has kind `none`.

A container runs from its start to its end, widened by the skew guard of 2 s at both ends; a start
that no state tells is as early as can be, an end as late as can be, but no later than its next
start. A container last seen waiting may have started since, so that it is a candidate from then on
unless a later run of it is told; one seen terminated without times may have run at any time before.

Three rungs of design.md 5 are not taken. `socket`: Hubble's socket events state a cgroup, which no
export maps to a container, and newer agents tell about one of them in 5 s. `user_agent`: agents
name a library, a program and at best a run (`app/`), which containers of one pod share.
`declared_by_one`: a declaration says what a container may use, the others may use it too; it stands
in `declared_dependencies`, and the candidates stay open.

What a person does inside a container cannot be told from its job: a notebook's kernel, a terminal
and an agent's installs share the container, its network and its address, and no export tells
processes apart. They are the container's, of a run whose kind says that it is interactive.

Reads of the caller: `container_states` (span `pods`).
"""

from datetime import timedelta

from transforms.day import SKEW_GUARD
from transforms.sql import SqlSession

PACKAGE = "transforms.intermediate"


def match_containers(session: SqlSession) -> str:
    """Match `container_input` to containers.

    Args:
        session: Session that shows `container_input` and `container_states`.

    Returns:
        `container_output`, a temporary table.
    """
    values = {"guard_us": SKEW_GUARD // timedelta(microseconds=1)}
    with session.dropped("container_hours"):
        session.create("container_hours", PACKAGE, "container_hours", values)
        return session.create("container_output", PACKAGE, "container_match", values)
