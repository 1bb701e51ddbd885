"""The pod ladder said again, item by item and in plain Python: what pod_match.py must give.

It knows nothing of segments or buckets: an item asks every interval of its address, name and UID.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
Held = tuple[set[Member], set[Member]]
"""Who holds a moment, by widened and by unwidened intervals."""


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
        told = _Told(
            self._holding(self.by_uid, item["pod_uid"], item),
            self._holding(self.by_name, (item["namespace"], item["pod_name"]), item),
            self._holding(self.by_address, item["address"], item),
            self._holding(self.nodes, item["address"], item)[0],
            self._holding(self.host_pods, item["address"], item)[0],
        )
        kind, named = _without_uid(item, told)
        if item["pod_uid"] is not None:
            is_known = any(item["pod_uid"] == uid for _, uid in self.pods)
            kind, named = _with_uid(kind, named, told, is_known=is_known)
        if kind in ("uid", "name_window", "address_window"):
            (member,) = named
            return self._judged(item, kind, member, told)
        return _nobody(item, kind, named, told)

    def _judged(self, item: Row, kind: str, member: Member, told: "_Told") -> tuple[Any, ...]:
        pod = self.pods[member]
        differs = any(
            None not in (item[column], pod[column]) and item[column] != pod[column]
            for column in ("namespace", "pod_name")
        )
        if differs and not (kind == "address_window" and not told.address[1]):
            return (*(None,) * 7, "conflict", [member[1]])
        return (*(pod[column] for column in FIELDS[:7]), kind, None)

    def _holding(self, claims: dict[Any, list[Claim]], key: Any, item: Row) -> Held:
        event = item["event_at"]
        if event is None or not (self.day.start_at - _REACH <= event < self.day.end_at + _REACH):
            return set(), set()
        near = [
            claim
            for claim in claims.get(key, ())
            if item["cluster"] is None or claim[0][0] == item["cluster"]
        ]
        wide = {m for m, start, end in near if start - SKEW_GUARD <= event < end + SKEW_GUARD}
        return wide, {m for m, start, end in near if start <= event < end}


@dataclass(frozen=True)
class _Told:
    """Who answers to an item's UID, name and address."""

    uid: Held
    name: Held
    address: Held
    nodes: set[Member]
    hosts: set[Member]


def _without_uid(item: Row, told: _Told) -> tuple[str, set[Member]]:
    """Kind by name and address, and the pods that it speaks of."""
    wide, exact = told.address
    if item["namespace"] is None or item["pod_name"] is None:
        if wide:
            return ("ambiguous" if len(wide) > 1 else "address_window"), wide
        return ("node" if told.nodes or told.hosts else "none"), wide
    name_wide, name_exact = told.name
    if not name_wide:
        return ("conflict" if exact else "none"), set()
    if name_exact and exact and not name_exact & exact:
        return "conflict", set()
    for named in (name_wide, name_wide & wide):
        if len(named) == 1:
            return "name_window", named
    return "ambiguous", name_wide


def _with_uid(
    kind: str, named: set[Member], told: _Told, *, is_known: bool
) -> tuple[str, set[Member]]:
    """Kind where a UID is stated too."""
    if not is_known:
        return ("none" if kind in ("none", "node") else "conflict"), named
    wide, exact = told.uid
    if len(wide) > 1:
        return "ambiguous", wide
    against = exact and told.address[1] and not exact & told.address[1]
    return ("conflict" if against or not wide else "uid"), wide


def _nobody(item: Row, kind: str, named: set[Member], told: _Told) -> tuple[Any, ...]:
    """The row where no pod is named."""
    parts: set[Member] = set()
    if kind == "ambiguous":
        parts = named
    elif kind == "node":
        parts = told.hosts
    elif kind == "conflict":
        parts = told.uid[0] | (told.name[1] or told.name[0]) | (told.address[1] or told.address[0])
    candidates = {uid for _, uid in parts}
    if kind in ("conflict", "none") and item["pod_uid"] is not None:
        candidates.add(item["pod_uid"])
    place: list[str | None] = [None] * 7
    if kind == "node" and len(told.nodes) == 1:
        ((place[0], place[4]),) = told.nodes
    return (*place, kind, sorted(candidates) or None)


def _newness(row: Row) -> tuple[Any, ...]:
    # Of the same day and start, the smallest id; the 1 puts a text before those it begins.
    return row["date"], row["start_at"], (*(-ord(sign) for sign in row["pod_interval_id"]), 1)
