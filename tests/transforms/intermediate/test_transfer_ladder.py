"""Who made a request to storage, rung by rung: hand-made cases."""

import random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import at
from tests.transforms.intermediate.test_object_transfers import RUN, by_key, of, pod, request

OTHER_RUN = "fedcba9876543210fedcba9876543210"
KEY = "0" * 31 + "1"
UUID = "b81f0fef-97e9-47da-97a2-948c5bbcd1b3"
NAT = "198.51.100.250"


def arn(name: str, role: str = "reader") -> str:
    return f"arn:aws:sts::111122223333:assumed-role/{role}/{name}"


def session(uid: str | None = "a", **more: Any) -> dict[str, Any]:
    """Credentials given to a pod at 06:00 for six hours."""
    return {
        "start_at": at("06:00"),
        "end_at": at("12:00"),
        "issued_by": "pod_identity",
        "access_key_id_hash": KEY,
        "session_arn": arn(f"eks-oak-pod-a-{UUID}"),
        "pod_uid": uid,
        "namespace": "ml",
        "pod_name": f"pod-{uid}",
        "service_account": "trainer",
        **more,
    }


def chain(key: str, source: str, **more: Any) -> dict[str, Any]:
    """Credentials that were asked for with others."""
    return session(
        None, issued_by="role_chain", access_key_id_hash=key, source_access_key_id_hash=source,
        namespace=None, pod_name=None, service_account=None, session_arn=arn(key), **more,
    )  # fmt: skip


def told(
    requests: list[dict[str, Any]],
    pods: list[dict[str, Any]] = (),  # type: ignore[assignment]
    sessions: list[dict[str, Any]] = (),  # type: ignore[assignment]
    tables: dict[str, list[dict[str, Any]]] | None = None,
    **facts: Any,
) -> pl.DataFrame:
    shown = {"credential_sessions": list(sessions), **(tables or {})}
    return of(requests, pods, tables=shown, **facts)


def one(*arguments: Any, **facts: Any) -> dict[str, Any]:
    (row,) = told(*arguments, **facts).to_dicts()
    return row


def who(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["match_kind"], row["pod_uid"], row["run_uuid"], row["candidate_pod_uids"]


FAR = {"client_address": NAT}


def test_an_access_key_names_the_pod_to_which_it_was_given_wherever_it_asks_from():
    asked = request("08:00", access_key_id_hash=KEY, **FAR)
    row = one([asked], [pod("a"), pod("b", "192.0.2.2")], [session()])
    assert who(row) == ("access_key", "a", RUN, None)
    assert (row["cluster"], row["namespace"], row["pod_name"]) == ("alder", "ml", "pod-a")
    assert (row["node"], row["attempt"], row["reader_region"]) == ("node-a", 1, "us-east-1")


def test_a_session_names_its_pod_where_the_log_has_no_key():
    asked = request("08:00", session_arn=session()["session_arn"], **FAR)
    assert who(one([asked], [pod("a")], [session()])) == ("session_arn", "a", RUN, None)


def test_the_key_goes_before_the_session():
    asked = request("08:00", access_key_id_hash=KEY, session_arn=arn("shared"), **FAR)
    sessions = [
        session(session_arn=None),
        session("b", access_key_id_hash=None, session_arn=arn("shared")),
    ]
    row = one([asked], [pod("a"), pod("b", "192.0.2.2")], sessions)
    assert who(row) == ("access_key", "a", RUN, None)


@pytest.mark.parametrize(
    ("clock", "kind"),
    [
        ("05:59:57.9", "none"), ("05:59:58", "access_key"), ("06:00", "access_key"),
        ("12:00:01.9", "access_key"), ("12:00:02", "none"),
    ],
)  # fmt: skip
def test_credentials_are_a_pods_for_their_life_and_the_skew_guard(clock: str, kind: str):
    asked = request(clock, access_key_id_hash=KEY, **FAR)
    assert one([asked], [pod("a")], [session()])["match_kind"] == kind


def test_a_session_without_an_end_lives_twelve_hours():
    requests = [
        request(clock, clock, access_key_id_hash=KEY, **FAR) for clock in ("17:59", "18:01")
    ]
    rows = told(requests, [pod("a")], [session(end_at=None)])
    assert by_key(rows, "match_kind") == {"17:59": "access_key", "18:01": "none"}


def test_a_pod_that_no_export_knows_is_named_by_its_credentials():
    asked = request("08:00", access_key_id_hash=KEY, **FAR)
    row = one([asked], [], [session("gone")])
    assert who(row) == ("access_key", "gone", None, None)
    assert (row["namespace"], row["pod_name"], row["node"]) == ("ml", "pod-gone", None)


def test_credentials_that_are_used_behind_their_pods_life_or_from_another_pod_are_a_conflict():
    asked = request("08:00", access_key_id_hash=KEY, **FAR)
    dead = pod("a", end_at=at("07:00"))
    assert who(one([asked], [dead], [session()])) == ("conflict", None, None, ["a"])
    asked = request("08:00", access_key_id_hash=KEY)
    pods = [pod("a", "192.0.2.2"), pod("b")]
    assert who(one([asked], pods, [session()])) == ("conflict", None, None, ["a", "b"])


def test_credentials_stand_where_the_address_passes_to_another_pod_within_the_guard():
    asked = request("08:00", access_key_id_hash=KEY)
    late = {"start_at": at("08:00:01"), "created_at": at("07:59:59")}
    pods = [pod("a", end_at=at("08:00:00.5")), pod("b", **late)]
    assert who(one([asked], pods, [session()]))[:2] == ("access_key", "a")


def test_a_chain_of_roles_is_followed_to_its_pod_but_not_without_end():
    last = "f" * 32
    asked = request("08:00", access_key_id_hash=last, **FAR)
    middle = [f"{n:032x}" for n in range(2, 6)]

    def through(*keys: str) -> list[dict[str, Any]]:
        pairs = zip((*keys, last), (KEY, *keys), strict=True)
        return [
            chain(key, source, start_at=at(f"07:0{n}")) for n, (key, source) in enumerate(pairs)
        ]

    row = one([asked], [pod("a")], [session(), *through(*middle[:3])])
    assert who(row) == ("access_key", "a", RUN, None)
    assert one([asked], [pod("a")], [session(), *through(*middle)])["match_kind"] == "none"
    # A chain that bites its tail ends as well.
    assert one([asked], [pod("a")], [chain(last, last)])["match_kind"] == "none"


def test_a_chain_asked_for_outside_the_first_credentials_life_is_none():
    last = "f" * 32
    asked = request("14:00", access_key_id_hash=last, **FAR)
    links = [chain(last, KEY, start_at=at("13:00"), end_at=at("19:00"))]
    assert one([asked], [pod("a")], [session(), *links])["match_kind"] == "none"


def test_one_session_name_of_several_pods_leaves_them_as_candidates_unless_one_has_the_address():
    name = arn("botocore-session-1675698641")
    sessions = [session(uid, access_key_id_hash=None, session_arn=name) for uid in ("a", "b")]
    pods = [pod("a"), pod("b", "192.0.2.2"), pod("c", "192.0.2.3")]
    far = request("08:00", "far", session_arn=name, **FAR)
    near = request("08:00", "near", session_arn=name)
    odd = request("08:00", "odd", session_arn=name, client_address="192.0.2.3")
    rows = told([far, near, odd], pods, sessions)
    assert by_key(rows, "match_kind", "pod_uid", "candidate_pod_uids") == {
        "far": ("ambiguous", None, ["a", "b"]),
        "near": ("address_window", "a", None),
        "odd": ("conflict", None, ["a", "b", "c"]),
    }


def test_a_session_may_bear_the_pods_whole_name():
    asked = request("08:00", session_arn=arn("pod-a"), **FAR)
    row = one([asked], [pod("a"), pod("ab", "192.0.2.2")])
    assert who(row) == ("session_name", "a", RUN, None)
    assert (row["cluster"], row["node"]) == ("alder", "node-a")
    twice = [pod("a"), pod("x", "192.0.2.2", pod_name="pod-a", namespace="other")]
    assert who(one([asked], twice)) == ("ambiguous", None, None, ["a", "x"])
    dead = [pod("a", end_at=at("07:00"))]
    assert who(one([asked], dead)) == ("none", None, None, None)


def test_a_session_that_eks_names_bears_ten_characters_of_the_pod():
    asked = request("08:00", session_arn=arn(f"eks-my-cluster-trainer-on-{UUID}"), **FAR)
    pods = [
        pod("a", pod_name="trainer-one-0"), pod("b", "192.0.2.2", pod_name="trainer-two-0"),
        pod("c", "192.0.2.3", pod_name="on"),
    ]  # fmt: skip
    # `trainer-on` behind `my-cluster`, and `on` behind a cluster whose name would be too long.
    assert who(one([asked], pods)) == ("session_name", "a", RUN, None)
    pods.append(pod("d", "192.0.2.4", pod_name="trainer-only"))
    assert who(one([asked], pods)) == ("ambiguous", None, None, ["a", "d"])
    wrong = request("08:00", session_arn=arn("eks-my-cluster-trainer-on-nothex"), **FAR)
    assert one([wrong], pods)["match_kind"] == "none"


def test_the_address_goes_before_the_sessions_name_and_a_name_tells_two_clusters_apart():
    pods = [pod("a"), pod("b", "192.0.2.2")]
    near = request("08:00", session_arn=arn("pod-b"))
    assert who(one([near], pods))[:2] == ("address_window", "a")
    twins = [pod("a"), pod("b", cluster="birch")]
    assert who(one([near], twins)) == ("session_name", "b", RUN, None)
    assert one([near], twins)["cluster"] == "birch"


def web(**more: Any) -> dict[str, Any]:
    return session(None, issued_by="web_identity", pod_name=None, **more)


def test_a_service_account_names_the_run_of_all_its_pods_and_no_pod():
    asked = request("08:00", access_key_id_hash=KEY, **FAR)
    serving = {"service_account": "trainer"}
    pods = [
        pod("a", **serving), pod("b", "192.0.2.2", **serving),
        pod("c", "192.0.2.3", service_account="other", run_uuid=OTHER_RUN),
        pod("d", "192.0.2.4", namespace="else", run_uuid=OTHER_RUN, **serving),
        pod("e", "192.0.2.5", run_uuid=OTHER_RUN, end_at=at("07:00"), **serving),
    ]  # fmt: skip
    assert who(one([asked], pods, [web()])) == ("service_account", None, RUN, ["a", "b"])
    pods[1]["run_uuid"] = OTHER_RUN
    assert who(one([asked], pods, [web()])) == ("ambiguous", None, None, ["a", "b"])
    pods[1]["run_uuid"] = None
    assert who(one([asked], pods, [web()])) == ("ambiguous", None, None, ["a", "b"])
    assert who(one([asked], [], [web()])) == ("ambiguous", None, None, None)


def test_the_clients_own_word_goes_before_the_service_account():
    asked = request("08:00", access_key_id_hash=KEY, app_id=OTHER_RUN, user_agent="x", **FAR)
    pods = [pod("a", service_account="trainer"), pod("b", "192.0.2.2", run_uuid=OTHER_RUN)]
    assert who(one([asked], pods, [web()]))[:3] == ("app_id", None, OTHER_RUN)


def test_a_session_named_after_a_machine_is_the_nodes():
    asked = request("08:00", session_arn=arn("i-0123456789abcdef0", "nodes"), **FAR)
    node = {
        "cluster": "alder", "node": "node-a", "observed_at": at("00:00"),
        "provider_id": "aws:///us-east-1a/i-0123456789abcdef0",
    }  # fmt: skip
    row = one([asked], [pod("a")], tables={"node_states": [node]})
    assert (row["match_kind"], row["cluster"], row["node"]) == ("node", "alder", "node-a")
    assert (row["pod_uid"], row["run_uuid"]) == (None, None)


def test_behind_a_shared_address_every_pod_of_its_cluster_is_a_candidate():
    asked = request("08:00", **FAR)
    pods = [
        pod("a"), pod("b", "192.0.2.2"), pod("c", "192.0.2.3", end_at=at("07:00")),
        pod("d", "192.0.2.4", cluster="birch"),
    ]  # fmt: skip
    row = one([asked], pods, nat_addresses=((NAT, "alder"),))
    assert who(row) == ("shared_address", None, None, ["a", "b"])
    row = one([asked], pods, nat_addresses=((NAT, None),))
    assert who(row) == ("shared_address", None, None, ["a", "b", "d"])
    stated = asked | {"app_id": RUN, "user_agent": "x"}
    assert who(one([stated], pods, nat_addresses=((NAT, "alder"),)))[:3] == ("app_id", None, RUN)


def test_a_hundred_candidates_are_told_and_no_more():
    asked = request("08:00", **FAR)
    pods = [pod(f"{n:03d}", f"192.0.2.{n}") for n in range(101)]
    row = one([asked], pods[:100], nat_addresses=((NAT, "alder"),))
    assert len(row["candidate_pod_uids"]) == 100
    row = one([asked], pods, nat_addresses=((NAT, "alder"),))
    assert who(row) == ("shared_address", None, None, None)


def test_many_pods_of_one_beginning_are_ambiguous_and_of_one_account_and_run_still_name_it():
    pods = [
        pod(f"{n:03d}", f"192.0.2.{n}", pod_name=f"plx-operation-{n}", service_account="trainer")
        for n in range(150)
    ]
    short = request("08:00", session_arn=arn(f"eks-oak-plx-operat-{UUID}"), **FAR)
    assert who(one([short], pods)) == ("ambiguous", None, None, None)
    asked = request("08:00", access_key_id_hash=KEY, **FAR)
    assert who(one([asked], pods, [web()])) == ("service_account", None, RUN, None)
    pods[7]["run_uuid"] = OTHER_RUN
    assert who(one([asked], pods, [web()])) == ("ambiguous", None, None, None)


def test_the_trails_credentials_count_for_the_servers_record():
    logged = request("08:00", request_id="r", session_arn=arn("pod-b"), **FAR)
    trail = request(
        "08:00", request_id="r", source_format="cloudtrail", access_key_id_hash=KEY,
        session_arn=session()["session_arn"], response_bytes=None, **FAR,
    )  # fmt: skip
    row = one([logged, trail], [pod("a"), pod("b", "192.0.2.2")], [session()])
    assert who(row)[:2] == ("access_key", "a")


def test_a_burst_is_cut_where_the_credentials_come_to_be_another_pods():
    other = "2" * 32
    requests = [
        request("08:00", access_key_id_hash=KEY, **FAR),
        request("08:01", access_key_id_hash=KEY, **FAR),
        request("08:02", access_key_id_hash=other, **FAR),
    ]
    sessions = [session(), session("b", access_key_id_hash=other)]
    rows = told(requests, [pod("a"), pod("b", "192.0.2.2")], sessions)
    assert sorted(rows.select("pod_uid", "request_count").rows()) == [("a", 2), ("b", 1)]


@given(st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_bytes_are_kept_in_any_order_and_no_request_is_given_to_a_pod_that_did_not_ask(seed: int):
    """Pods with their own keys, some behind one address, some unknown; the truth is drawn first."""
    rng = random.Random(seed)
    uids = [f"p{n}" for n in range(12)]
    keys = {uid: f"{n:032x}" for n, uid in enumerate(uids, 100)}
    pods = [pod(uid, f"192.0.2.{n}") for n, uid in enumerate(uids) if rng.random() < 0.8]
    known = {p["pod_uid"]: p["address"] for p in pods}
    sessions = [session(uid, access_key_id_hash=keys[uid], session_arn=arn(uid)) for uid in uids]
    requests, truth = [], []
    for number in range(300):
        uid = rng.choice(uids)
        address = known.get(uid, NAT) if rng.random() < 0.5 else NAT
        key = f"k{number}"
        credentials = {"access_key_id_hash": keys[uid]} if rng.random() < 0.7 else {}
        requests.append(
            request(
                f"0{rng.randrange(6, 10)}:{rng.randrange(60):02d}", key,
                response_bytes=rng.randrange(10**9), client_address=address, record_id=key,
                **credentials,
            )
        )  # fmt: skip
        truth.append((key, uid, bool(credentials) or address != NAT))
    nat = {"nat_addresses": ((NAT, "alder"),)}
    rows = told(requests, pods, sessions, **nat)
    found = by_key(rows, "pod_uid")
    assert {key: uid if told else None for key, uid, told in truth} == found
    assert rows["transferred_bytes"].sum() == sum(r["response_bytes"] for r in requests)
    rng.shuffle(requests)
    rng.shuffle(sessions)
    again = told(requests, pods, sessions, **nat)
    assert again.sort("transfer_id").equals(rows.sort("transfer_id"))
