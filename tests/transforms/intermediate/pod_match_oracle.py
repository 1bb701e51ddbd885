"""The pod ladder said again, item by item and in plain Python: what pod_match.py must give.

It knows nothing of segments or buckets: an item asks every interval of its address, name and UID.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from transforms.day import SKEW_GUARD, BuildDay

Row = Mapping[str, Any]
FIELDS = (
    "cluster", "pod_uid", "namespace", "pod_name", "node", "run_uuid", "attempt", "match_kind",
    "candidate_pod_uids",
)  # fmt: skip
_FOREVER = dt.datetime(9999, 12, 31, tzinfo=dt.UTC)
_REACH = dt.timedelta(days=40)

Member = tuple[str, str]
"""Cluster and pod UID, or cluster and node."""
Claim = tuple[Member, dt.datetime, dt.datetime]


class Oracle:
    """All that is known of pods and nodes, by address, name and UID."""

    def __init__(self, intervals: Iterable[Row], nodes: Iterable[Row], day: BuildDay) -> None:
        """Take rows of pod_intervals (with `date`) and of node_states."""
        self.day = day
        self.by_address: dict[str, list[Claim]] = defaultdict(list)
        self.by_name: dict[tuple[str, str], list[Claim]] = defaultdict(list)
        self.by_uid: dict[str, list[Claim]] = defaultdict(list)
        self.host_pods: dict[str, list[Claim]] = defaultdict(list)
        self.nodes: dict[str, list[Claim]] = defaultdict(list)
        self.pods: dict[Member, Row] = {}
        for row in intervals:
            self._take(row)
        self._take_nodes(nodes)

    def _take(self, row: Row) -> None:
        member = (row["cluster"], row["pod_uid"])
        end = row["end_at"]
        if end is None:
            midnight = dt.datetime.combine(row["date"], dt.time(), dt.UTC)
            end = _FOREVER if row["date"] >= self.day.date else midnight + dt.timedelta(days=1)
        start = row["start_at"]
        born = start if row["created_at"] is None else min(start, row["created_at"])
        self.by_uid[row["pod_uid"]].append((member, born, end))
        if row["namespace"] is not None and row["pod_name"] is not None:
            self.by_name[row["namespace"], row["pod_name"]].append((member, born, end))
        if row["address"] is not None:
            if not row["host_network"]:
                self.by_address[row["address"]].append((member, start, end))
            else:
                self.host_pods[row["address"]].append((member, start, end))
                if row["node"] is not None:
                    node = (row["cluster"], row["node"])
                    self.nodes[row["address"]].append((node, start, end))
        known = self.pods.get(member)
        if known is None or _newness(row) > _newness(known):
            self.pods[member] = row

    def _take_nodes(self, states: Iterable[Row]) -> None:
        first: dict[tuple[str, str], dict[str, dt.datetime]] = defaultdict(dict)
        for row in states:
            if row["cluster"] is None:
                continue
            start = row["observed_at"] if row["created_at"] is None else row["created_at"]
            for address in row["addresses"] or ():
                held = first[row["cluster"], address]
                held[row["node"]] = min(start, held.get(row["node"], start))
        for (cluster, address), held in first.items():
            for node, start in held.items():
                later = [other for other in held.values() if other > start]
                end = min(later, default=_FOREVER)
                self.nodes[address].append(((cluster, node), start, end))

    def match(self, item: Row) -> tuple[Any, ...]:
        """What is to be said of one row of match_input, in the order of FIELDS."""
        uid, namespace, name = item["pod_uid"], item["namespace"], item["pod_name"]

        def ask(claims: dict[Any, list[Claim]], key: Any) -> tuple[set[Member], set[Member]]:
            return self._holding(claims.get(key, []), item)

        uid_wide, uid_exact = ask(self.by_uid, uid)
        name_wide, name_exact = ask(self.by_name, (namespace, name))
        wide, exact = ask(self.by_address, item["address"])
        nodes, _ = ask(self.nodes, item["address"])
        hosts, _ = ask(self.host_pods, item["address"])
        has_name = namespace is not None and name is not None

        named: set[Member] = set()
        if not has_name:
            kind = ("address_window" if len(wide) == 1 else "ambiguous" if wide
                    else "node" if nodes or hosts else "none")  # fmt: skip
            named = wide
        elif not name_wide:
            kind = "conflict" if exact else "none"
        elif name_exact and exact and not name_exact & exact:
            kind = "conflict"
        elif len(name_wide) == 1:
            kind, named = "name_window", name_wide
        elif len(name_wide & wide) == 1:
            kind, named = "name_window", name_wide & wide
        else:
            kind, named = "ambiguous", name_wide

        if uid is not None:
            if not any(uid == known for _, known in self.pods):
                kind = "none" if kind in ("none", "node") else "conflict"
            elif not uid_wide or (len(uid_wide) == 1 and uid_exact and exact
                                  and not uid_exact & exact):  # fmt: skip
                kind = "conflict"
            else:
                kind, named = ("uid" if len(uid_wide) == 1 else "ambiguous"), uid_wide

        if kind in ("uid", "name_window", "address_window"):
            (member,) = named
            pod = self.pods[member]
            differs = any(
                stated is not None and pod[column] is not None and stated != pod[column]
                for column, stated in (("namespace", namespace), ("pod_name", name))
            )
            if differs and not (kind == "address_window" and not exact):
                return (*(None,) * 7, "conflict", [member[1]])
            return (*(pod[column] for column in FIELDS[:7]), kind, None)

        candidates: set[str] = set()
        if kind == "ambiguous":
            candidates = {known for _, known in named}
        elif kind == "node":
            candidates = {known for _, known in hosts}
        elif kind == "conflict":
            parts = uid_wide | (name_exact or name_wide) | (exact or wide)
            candidates = {known for _, known in parts}
        if kind in ("conflict", "none") and uid is not None:
            candidates.add(uid)
        place: list[str | None] = [None] * 7
        if kind == "node" and len(nodes) == 1:
            ((place[0], place[4]),) = nodes
        return (*place, kind, sorted(candidates) or None)

    def _holding(self, claims: list[Claim], item: Row) -> tuple[set[Member], set[Member]]:
        """Who holds the item's moment, by widened and by unwidened intervals."""
        event = item["event_at"]
        if event is None or not (
            self.day.start_at - _REACH <= event < self.day.end_at + _REACH
        ):
            return set(), set()
        near = [
            claim for claim in claims if item["cluster"] is None or claim[0][0] == item["cluster"]
        ]
        wide = {m for m, start, end in near if start - SKEW_GUARD <= event < end + SKEW_GUARD}
        return wide, {m for m, start, end in near if start <= event < end}


def _newness(row: Row) -> tuple[Any, ...]:
    # Of the same day and start, the smallest id; the 1 puts a text before those it begins.
    return row["date"], row["start_at"], (*(-ord(sign) for sign in row["pod_interval_id"]), 1)
