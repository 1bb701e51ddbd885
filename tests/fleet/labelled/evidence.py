"""What the exports of the labelled fleet prove, worked out from what was exported and nothing else.

An end of a connection is *determined* if one pod and no other fits all that was exported of it: its
name and its address, or its address alone where no name was told, by the lifetimes that the exports
of Kubernetes state, each widened by the skew guard. This is the contract read by another reader: it
shares no code with what is measured.
"""

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass

from tests.fleet.labelled.hosts import life_of
from tests.fleet.labelled.moments import HOUR, SECOND, to_whole_second
from tests.fleet.labelled.render_kubernetes import State, is_ended, shown_containers
from tests.fleet.labelled.storage import Request
from tests.fleet.labelled.traffic import GONE, Connection, Event, Lookup, Traffic, is_in_gap
from tests.fleet.labelled.world import Pod, World, start_time

GUARD = 2 * SECOND
LIFE_OF_SESSION = 6 * HOUR


@dataclass(frozen=True)
class Life:
    """What can be known of a pod.

    Attributes:
        pod: The pod.
        created: Written to the API.
        start: It had its addresses; none if no state showed them.
        end: It lost them, at the latest; none if nothing says so.
    """

    pod: Pod
    created: int
    start: int | None
    end: int | None

    def lives(self, moment: int, guard: int) -> bool:
        """Whether it was there, its interval widened by the guard."""
        return self.created - guard <= moment and (self.end is None or moment < self.end + guard)

    def holds(self, moment: int, guard: int) -> bool:
        """Whether it had its addresses, its interval widened by the guard."""
        return (
            self.start is not None
            and self.start - guard <= moment
            and (self.end is None or moment < self.end + guard)
        )


@dataclass(frozen=True)
class Told:
    """What of a container's run was told; `end` is none where no state shows it."""

    name: str
    start: int
    end: int | None

    def ran(self, moment: int) -> bool:
        """Whether it ran, its run widened by the guard."""
        return self.start - GUARD <= moment and (self.end is None or moment < self.end + GUARD)


class Knowledge:
    """What the builds can know of pods.

    A state speaks for the time from the pod's creation to its observation, so one of the next day
    tells what was true on the day before as well.
    """

    def __init__(self, world: World, told: dict[str, list[State]]) -> None:
        lives = [_life(pod, told[pod.uid]) for pod in world.pods if pod.uid in told]
        self.by_address: dict[str, list[Life]] = defaultdict(list)
        self.by_name: dict[str, list[Life]] = defaultdict(list)
        self.by_beginning: dict[str, list[Life]] = defaultdict(list)
        self.by_uid: dict[str, Life] = {}
        self.containers = {
            pod.uid: _containers(pod, told[pod.uid]) for pod in world.pods if pod.uid in told
        }
        for life in _ended_by_successors(lives):
            for address in life.pod.addresses:
                if not life.pod.host_network:
                    self.by_address[address].append(life)
            self.by_name[life.pod.cluster.name + "/" + life.pod.name].append(life)
            self.by_beginning[life.pod.name[:10]].append(life)
            self.by_uid[life.pod.uid] = life

    def holders(self, address: str, moment: int, guard: int) -> set[str]:
        """UIDs of pods that had an address."""
        return {x.pod.uid for x in self.by_address[address] if x.holds(moment, guard)}

    def begins_like(self, pod: Pod, moment: int) -> set[str]:
        """UIDs of pods of any cluster whose names begin like this one's."""
        lives = self.by_beginning[pod.name[:10]]
        return {x.pod.uid for x in lives if x.lives(moment, GUARD)}

    def named(self, pod: Pod, moment: int, guard: int) -> set[str]:
        """UIDs of pods of that name."""
        lives = self.by_name[pod.cluster.name + "/" + pod.name]
        return {x.pod.uid for x in lives if x.lives(moment, guard)}

    def running(self, pod: Pod, moment: int) -> set[str]:
        """Containers of a pod that may have run; none if no state shows any."""
        return {c.name for c in self.containers.get(pod.uid, ()) if c.ran(moment)}

    def begun(self, pod: Pod, moment: int) -> set[str]:
        """Containers of a pod that may have run then or before."""
        return {c.name for c in self.containers.get(pod.uid, ()) if c.start <= moment + GUARD}

    def is_told(self, pod: Pod, container: str | None) -> bool:
        """Whether any state shows the container."""
        return container in {told.name for told in self.containers.get(pod.uid, ())}

    def only(self, pod: Pod, address: str, moment: int, *, has_name: bool) -> str | None:
        """UID of the one pod that fits all that was exported of one that acted; none if several do.

        It is the acting one's, but where no export tells of that pod and another has its name or
        address: then what was exported determines the wrong one.
        """
        if pod.host_network:
            return None
        wide = self.holders(address, moment, GUARD)
        if not has_name:
            return next(iter(wide)) if len(wide) == 1 else None
        exact = self.holders(address, moment, 0)
        named_exact = self.named(pod, moment, 0)
        if exact and named_exact and not exact & named_exact:
            return None
        named = self.named(pod, moment, GUARD)
        fitting = named if len(named) == 1 else named & wide
        return next(iter(fitting)) if len(fitting) == 1 else None

    def determines(self, pod: Pod, address: str, moment: int, *, has_name: bool) -> bool:
        """Whether what was exported fits this pod and no other."""
        return self.only(pod, address, moment, has_name=has_name) == pod.uid

    def determines_record(self, pod: Pod, start: int, end: int) -> bool:
        """Whether the instants of a record over whole seconds allow this pod and no other."""
        first = self.holders(pod.address, start, GUARD)
        last = [self.holders(pod.address, moment, GUARD) for moment in (end, end + SECOND - 1)]
        return all(pod.uid in found for found in (first, *last)) and (
            first == {pod.uid} or last[0] == last[1] == {pod.uid}
        )

    def determines_reader(self, request: Request) -> bool:
        """Whether what was exported of a request to storage fits one pod and no other.

        The pod's own address, else its session's name, which holds ten characters: alone where
        nobody has the address, as behind a shared one; of several who have it the one that bears
        the name. Credentials given to a pod are its own, unless another one had the address for
        certain, not only within the guard.
        """
        pod = request.pod
        session = request.session
        is_given = (
            session is not None
            and session.is_exported
            and session.start - GUARD <= request.at < session.start + LIFE_OF_SESSION + GUARD
        )
        if not is_given:
            wide = self.holders(request.address, request.at, GUARD)
            if len(wide) == 1:
                return True
            if session is None:
                return False
            like = self.begins_like(pod, request.at)
            return len(wide & like if wide else like) == 1
        exact = self.holders(request.address, request.at, 0)
        if pod.uid in self.by_uid:
            has_life = bool(self.named(pod, request.at, GUARD) & {pod.uid})
            return has_life and not (
                exact and pod.uid not in exact and self.by_uid[pod.uid].lives(request.at, 0)
            )
        # No other export knows the pod: nobody else may have its name or its address.
        return not exact and not self.named(pod, request.at, GUARD)


def _life(pod: Pod, seen: list[State]) -> Life:
    created = to_whole_second(pod.created)
    shown = [state for state in seen if state.is_ready]
    start = end = None
    if shown:
        start = to_whole_second(start_time(pod))
        if pod.cluster.has_sandbox_condition and any(not state.is_torn_down for state in shown):
            start = to_whole_second(pod.ready)
    if any(state.is_over for state in seen):
        assert pod.finished is not None
        assert pod.torn_down is not None
        is_told = pod.cluster.has_sandbox_condition
        end = to_whole_second(pod.torn_down if is_told else pod.finished)
    return Life(pod, created, start, end)


def _containers(pod: Pod, seen: list[State]) -> list[Told]:
    """The runs of containers that a pod's states show."""
    found = []
    for container in pod.containers:
        shown = [
            state for state in seen
            if state.is_ready and (container.role == "main" or container in
                                   shown_containers(pod, state))
        ]  # fmt: skip
        if shown:
            end = None
            if any(is_ended(container, state) for state in shown):
                assert container.end is not None
                end = to_whole_second(container.end)
            found.append(Told(container.name, to_whole_second(container.start), end))
    return found


def _ended_by_successors(lives: list[Life]) -> list[Life]:
    """An interval that nothing ends is ended by the next pod on its address."""
    starts: dict[str, list[int]] = defaultdict(list)
    for life in lives:
        if life.start is not None and not life.pod.host_network:
            starts[life.pod.address].append(life.start)
    for several in starts.values():
        several.sort()
    found = []
    for life in lives:
        end = life.end
        if end is None and life.start is not None and not life.pod.host_network:
            following = starts[life.pod.address]
            index = bisect_left(following, life.start + 1)
            if index < len(following):
                end = following[index]
        found.append(Life(life.pod, life.created, life.start, end))
    return found


class Judge:
    """Says what of the traffic is determined."""

    def __init__(self, world: World, told: dict[str, list[State]], traffic: Traffic) -> None:
        self.gaps = traffic.gaps
        self.knowledge = Knowledge(world, told)
        self.answers: dict[tuple[str, str], list[Lookup]] = defaultdict(list)
        for lookup in traffic.lookups:
            if self.is_own_answer(lookup):
                for address in lookup.addresses:
                    self.answers[lookup.pod.uid, address].append(lookup)

    def is_own_answer(self, lookup: Lookup) -> bool:
        """Whether the pod's own answer is exported, and provably its own."""
        node = lookup.pod.node
        if node.resolver not in {"collector", "hubble"}:
            return False
        moment = lookup.answered + node.skew
        has_name = node.resolver == "hubble"
        if has_name and is_in_gap(self.gaps, node, moment, GONE):
            return False
        return self.knowledge.determines(
            lookup.pod, lookup.pod.address, moment,
            has_name=has_name and not node.masks_names,
        )  # fmt: skip

    def names_at(self, pod: Pod, address: str, moment: int) -> set[str]:
        """Names that the pod's own exported answers give an address at a moment."""
        return {
            lookup.host.name
            for lookup in self.answers.get((pod.uid, address), ())
            if 0
            <= moment - (lookup.answered + lookup.pod.node.skew) + GUARD
            < life_of(lookup.host.ttl) + GUARD
        }

    def is_determined(
        self, connection: Connection, pod: Pod | None, address: str, seen: list[Event]
    ) -> bool:
        """Whether an end is determined."""
        if pod is None or connection.kind == "proxied":
            return False
        is_client = pod is connection.client
        tellers = {event.node for event in seen if _tells_name(event)}
        if is_client and connection.wrong_uid and any(node.tells_uids for node in tellers):
            return False
        moment = first_seen(seen)
        return self.knowledge.only(pod, address, moment, has_name=bool(tellers)) is not None

    def containers(self, connection: Connection, seen: list[Event]) -> set[str]:
        """Containers of the client that may have begun: any of its life if no opening is told."""
        assert connection.client is not None
        moment = first_seen(seen)
        is_opened = any(
            event.code == "drop" or event.code.endswith(("syn", "syn_ack"))
            for event in seen
            if event.time + event.node.skew <= moment + GUARD
        )
        find = self.knowledge.running if is_opened else self.knowledge.begun
        return find(connection.client, moment)


def _tells_name(event: Event) -> bool:
    return not event.nameless and not event.node.masks_names


def first_seen(seen: list[Event]) -> int:
    """When the first exported event was told, on the clock of who told it."""
    return min(event.time + event.node.skew for event in seen)
