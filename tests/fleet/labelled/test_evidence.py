"""What exports determine, of lives and requests written by hand."""

from types import SimpleNamespace
from typing import Any, cast

from tests.fleet.labelled.evidence import Knowledge
from tests.fleet.labelled.hosts import NAT_ADDRESS
from tests.fleet.labelled.moments import MIDNIGHT, SECOND
from tests.fleet.labelled.render_kubernetes import State
from tests.fleet.labelled.storage import Request, Session
from tests.fleet.labelled.world import OAK, Node, Pod, World

NODE = Node(OAK, 1, skew=0, resolver="hubble", masks_names=False, tells_uids=False)
SHARED = "10.40.1.30"


def pod(name: str, start: int, end: int, address: str = SHARED) -> Pod:
    """A pod with its address from one second of the day to another."""
    first, last = MIDNIGHT + start * SECOND, MIDNIGHT + end * SECOND
    return Pod(
        OAK, NODE, uid=f"uid-{name}", name=name, addresses=(address,), host_network=False,
        created=first, ready=first, started=first, finished=last, torn_down=last, deleted=last,
    )  # fmt: skip


def known(*told: Pod, unready: tuple[Pod, ...] = ()) -> Knowledge:
    """What is known if the whole lives of some pods are told, and of others only that they are."""
    states: dict[str, list[State]] = {}
    for p in told:
        assert p.deleted is not None
        states[p.uid] = [
            State(p.ready, "MODIFIED", True, False, False),
            State(p.deleted, "DELETED", True, True, True),
        ]
    states |= {p.uid: [State(p.created, "ADDED", False, False, False)] for p in unready}
    world = cast("World", SimpleNamespace(pods=[*told, *unready]))
    return Knowledge(world, states)


def read(of: Pod, second: int, session: Session | None, address: str | None = None) -> Request:
    at = MIDNIGHT + second * SECOND
    return Request(of, at, "key", address or of.address, session, None, 1, "main")


def session(of: Pod, *, is_exported: bool) -> Session:
    return Session(of, f"arn:{of.name}", of.ready, is_exported=is_exported)


BEFORE, UNTOLD = pod("batch-aaaa-1", 0, 100), pod("batch-bbbb-2", 101, 500)
AFTER = pod("batch-cccc-3", 501, 900)


def test_what_alone_fits_is_determined_though_the_pod_that_acted_was_never_told() -> None:
    found = known(BEFORE, AFTER)
    # A second behind the life of the one, four hundred before that of the other.
    acts: dict[str, Any] = {"pod": UNTOLD, "address": SHARED, "moment": MIDNIGHT + 101 * SECOND}
    assert found.only(**acts, has_name=False) == BEFORE.uid
    assert found.only(**acts, has_name=True) is None
    assert not found.determines(**acts, has_name=False)
    later = acts | {"moment": MIDNIGHT + 200 * SECOND}
    assert found.only(**later, has_name=False) is None


def test_two_widened_lives_determine_nobody_without_a_name() -> None:
    found = known(BEFORE, UNTOLD)
    moment = MIDNIGHT + 101 * SECOND
    assert found.only(UNTOLD, SHARED, moment, has_name=False) is None
    assert found.only(UNTOLD, SHARED, moment, has_name=True) == UNTOLD.uid


def test_credentials_are_their_pods_unless_another_had_the_address_for_certain() -> None:
    found = known(BEFORE)
    given = session(UNTOLD, is_exported=True)
    # The other's life ended at 100: at 101 it is only within the guard, at 99 it lives.
    assert found.determines_reader(read(UNTOLD, 101, given))
    assert not found.determines_reader(read(UNTOLD, 99, given))


def test_a_sessions_name_determines_where_nobody_has_the_address_that_shows() -> None:
    found = known(BEFORE, unready=(UNTOLD,))
    named = session(UNTOLD, is_exported=False)
    assert found.determines_reader(read(UNTOLD, 200, named))
    assert found.determines_reader(read(UNTOLD, 200, named, NAT_ADDRESS))
    assert not found.determines_reader(read(UNTOLD, 200, None))
    twin = pod("batch-bbbb-9", 101, 500, "10.40.1.31")
    crowd = known(BEFORE, twin, unready=(UNTOLD,))
    assert not crowd.determines_reader(read(UNTOLD, 200, named))


def test_a_sessions_name_determines_which_of_several_has_the_address() -> None:
    found = known(BEFORE, UNTOLD)
    named = session(UNTOLD, is_exported=False)
    assert found.determines_reader(read(UNTOLD, 101, named))
    assert not found.determines_reader(read(UNTOLD, 101, None))
