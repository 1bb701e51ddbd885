"""What differs between two runs, or two groups of runs, and what explains the difference in time.

Rules (definitions.md 47):
- A run is its replica that ends last (of several the first by uid), with the time before its pod.
- Delta is B less A per (role, stage, cause), in integer microseconds. Of a group each part is the
  exact sum over its runs, divided once by their number, rounded down; so are bytes.
- Nothing is named where |delta| is at most the larger of 2 s and 2 % of A's stage: it is `within
  the bound`.
- image_pull: the image if its digests differ, else the cache if `was_present` or the transferred
  bytes differ, else unexplained.
- transfer: (bytes B - bytes A) at A's rate (at B's where A transferred nothing) is the cache, or
  the data if its version differs; the rest is the path if distance, gateway or a region differs,
  else unexplained. A piece of these two that is within the bound is not named.
- working and unexplained: the only one of code, image, data and node type that differs; several are
  listed together with one sum; none leaves it unexplained.
- resolve, authenticate and connect: the path if it differs, else the wait itself. Every other wait
  is its own name: placement is not made longer by the run's code.
- What runs beside the main containers is shown and left out of the sums, as the same time would
  count twice: sidecars, but for upload and teardown where the main containers have none.
- Only what both sides know can differ.
- A stage is refused where the share of time that a source covers, one on which its causes depend,
  differs by more than 5 percentage points between A and B: causes that are seen on one side only
  would pass for differences. A source that was expected of one side only counts as 0 on the other;
  the log of a bucket counts where it was expected of both.

Named pieces, what is within the bound and what is refused add up to the whole difference exactly.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transforms.marts.manifest import CODE_SCHEMES, DATA_SCHEMES, RunFacts
from transforms.redaction import redact_name

LEAST_US = 2_000_000
LEAST_SHARE = 50
"""One part in so many of A's stage is not named: 2 %."""
COVERAGE_SHARE = 20
"""Coverage may differ by one part in so many: 5 percentage points."""
ACTIVITY = frozenset({"flows", "dns_lookups", "object_requests", "stage_marks"})
STATES = frozenset({"pod_states", "container_states", "kube_event_states"})
ACTIVE_STAGES = frozenset({"init", "startup", "download", "upload"})
"""Stages whose time goes to what the network and logs show."""
MARKED_STAGES = frozenset({"compute", "interactive"})
BESIDE = frozenset({"sidecar", "ephemeral", "node_runtime"})
AFTER_MAIN = frozenset({"upload", "teardown"})
NETWORK_CAUSES = frozenset({"resolve", "authenticate", "connect"})
WHOLE_RUN = "(run)"

Row = Mapping[str, Any]
Key = tuple[str | None, str, str]
"""Role, stage, cause."""
Values = dict[str, set[str]]


@dataclass
class Part:
    """Time of one (role, stage, cause) of one side, with what it was for."""

    duration_us: int = 0
    transferred_bytes: int | None = None
    resources: set[str] = field(default_factory=set)


@dataclass
class Side:
    """What is known of one run, or of a group of runs.

    Attributes:
        label: What a person calls it.
        run_uuids: The runs.
        parts: Time by (role, stage, cause).
        code: Revisions by repository; that of the run under `(run)`.
        data: Versions of datasets and models.
        declared: Declared repositories, datasets and models.
        digests: Image digests by role; of the run as a whole under `(run)`.
        references: Image references by role.
        present: Whether images were present, by role.
        pulled: Transferred bytes of pulls, least and most, by role.
        node_types: Instance types.
        paths: Distance, gateway and regions by resource, as `resource component`.
        coverage: Covered and expected microseconds by source.
    """

    label: str
    run_uuids: tuple[str, ...] = ()
    parts: dict[Key, Part] = field(default_factory=lambda: defaultdict(Part))
    code: Values = field(default_factory=lambda: defaultdict(set))
    data: Values = field(default_factory=lambda: defaultdict(set))
    declared: Values = field(default_factory=lambda: defaultdict(set))
    digests: Values = field(default_factory=lambda: defaultdict(set))
    references: Values = field(default_factory=lambda: defaultdict(set))
    present: Values = field(default_factory=lambda: defaultdict(set))
    pulled: Values = field(default_factory=lambda: defaultdict(set))
    node_types: Values = field(default_factory=lambda: defaultdict(set))
    paths: Values = field(default_factory=lambda: defaultdict(set))
    coverage: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))

    def stage_us(self, role: str | None, stage: str) -> int:
        """Time of a stage over all causes."""
        return sum(p.duration_us for (r, s, _), p in self.parts.items() if (r, s) == (role, stage))


def side_of(label: str, group: Sequence[RunFacts]) -> Side:
    """Sum up one run, or several.

    Args:
        label: What a person calls it.
        group: At least one run.
    """
    side = Side(label, tuple(sorted(facts.run_uuid for facts in group)))
    for facts in group:
        _add(side, facts)
    for part in side.parts.values():
        part.duration_us //= len(group)
        if part.transferred_bytes is not None:
            part.transferred_bytes //= len(group)
    return side


def _add(side: Side, facts: RunFacts) -> None:
    waits = facts.of("waits")
    pod, attempt = _last_replica(waits)
    chosen = [row for row in waits if _is_of(row, pod, attempt)]
    roles = {row["container"]: row["container_role"] for row in chosen if row["container"]}
    for row in chosen:
        part = side.parts[row["container_role"], row["stage"], row["cause"]]
        part.duration_us += row["duration_us"]
        if row.get("transferred_bytes") is not None:
            part.transferred_bytes = (part.transferred_bytes or 0) + row["transferred_bytes"]
        if row.get("resource_id") is not None:
            part.resources.add(_root(row["resource_id"]))
    for row in facts.of("runs"):
        if attempt is None or row["attempt"] == attempt:
            _put(side.code, WHOLE_RUN, row["code_revision"])
            side.digests[WHOLE_RUN].update(row["image_digests"] or ())
    for row in facts.of("image_pulls"):
        if pod is not None and pod in (row["pod_uid"], row["pod_name"]):
            _add_pull(side, roles.get(row["container"]) or "main", row)
    nodes = {(row["cluster"], row["node"]) for row in chosen if row.get("node") is not None}
    for row in facts.of("nodes"):
        if (row["cluster"], row["node"]) in nodes:
            _put(side.node_types, WHOLE_RUN, row["instance_type"])
    _add_versions(side, facts)
    _add_paths(side, facts)
    for row in facts.of("run_coverage"):
        covered = side.coverage[row["source"]]
        covered[0] += row["covered_us"]
        covered[1] += row["expected_us"]


def _last_replica(waits: Sequence[Row]) -> tuple[str | None, int | None]:
    """Pod and attempt of the replica that ends last."""
    ends: dict[str, Any] = {}
    attempts: dict[str, int | None] = {}
    for row in waits:
        pod = row["pod_uid"]
        if pod is not None:
            ends[pod] = max(ends.get(pod, row["end_at"]), row["end_at"])
            attempts[pod] = row["attempt"]
    if not ends:
        return None, None
    latest = max(ends.values())
    pod = min(pod for pod, end in ends.items() if end == latest)
    return pod, attempts[pod]


def _is_of(row: Row, pod: str | None, attempt: int | None) -> bool:
    """Whether a part is of the replica, or of the time before its pod."""
    if row["pod_uid"] is not None:
        return bool(row["pod_uid"] == pod)
    return row["attempt"] is None or attempt is None or row["attempt"] == attempt


def _add_pull(side: Side, role: str, row: Row) -> None:
    _put(side.references, role, row["image"])
    _put(side.digests, role, row["image_digest"])
    _put(side.present, role, None if row["was_present"] is None else str(row["was_present"]))
    least, most = row["min_transferred_bytes"], row["max_transferred_bytes"]
    if most is not None:
        side.pulled[role].add(f"{least} to {most}" if least != most else str(most))


def _add_versions(side: Side, facts: RunFacts) -> None:
    for row in facts.of("run_dependencies"):
        resource = row["resource_id"]
        # What a run writes, and what lies under its own name, is another in every run.
        if row["operation"] in {"write", "delete"} or facts.run_uuid in resource:
            continue
        kind = "code" if resource.startswith(CODE_SCHEMES) else "data"
        if kind == "data" and not resource.startswith(DATA_SCHEMES):
            continue
        base, version = _versioned(resource)
        _put(side.code if kind == "code" else side.data, base, row["version"] or version)
        if str(row["declaration"]).startswith("declared"):
            side.declared[kind].add(base)


def _versioned(resource: str) -> tuple[str, str | None]:
    """A resource apart from the revision in its id."""
    head, mark, revision = resource.rpartition("@")
    is_revision = bool(mark) and "/" not in revision and not resource.startswith(("s3:", "gs:"))
    return (head, revision) if is_revision else (resource, None)


def _root(resource: str) -> str:
    """Bucket of a path in one, else the resource apart from its revision."""
    scheme, mark, rest = resource.partition("://")
    if mark and scheme in {"s3", "gs", "minio"}:
        return f"{scheme}://{rest.partition('/')[0]}"
    return _versioned(resource)[0]


def _add_paths(side: Side, facts: RunFacts) -> None:
    told = (
        ("transfer_costs", ("distance", "gateway", "from_region", "to_region")),
        ("run_dependency_days", ("reader_region", "resource_region")),
    )
    for table, components in told:
        for row in facts.of(table):
            if row.get("charge_kind", "transfer") != "transfer":
                continue
            for component in components:
                value = row[component]
                if value is not None and value != "unknown":
                    side.paths[f"{_root(row['resource_id'])} {component}"].add(value)


def _put(values: Values, name: str, value: str | None) -> None:
    if value is not None:
        values[name].add(value)


@dataclass(frozen=True)
class Difference:
    """One thing that both sides know and that differs."""

    what: str
    subject: str
    a: tuple[str, ...]
    b: tuple[str, ...]


@dataclass(frozen=True)
class Named:
    """A piece of a difference in time with what explains it."""

    factors: tuple[str, ...]
    duration_us: int


@dataclass(frozen=True)
class ComparedPart:
    """One (role, stage, cause) of both sides.

    Attributes:
        role: Container role; null for the pod as a whole and the time before it.
        stage: Stage.
        cause: Cause.
        a_us: Time of A.
        b_us: Time of B.
        a_bytes: Bytes logged in it; null where no log tells.
        b_bytes: Likewise of B.
        is_beside: It runs beside the main containers and is left out of the sums.
        is_refused: Coverage differs too much for its stage.
        named: What explains it; empty where it is refused or within the bound.
        within_bound_us: What is not named.
    """

    role: str | None
    stage: str
    cause: str
    a_us: int
    b_us: int
    a_bytes: int | None
    b_bytes: int | None
    is_beside: bool
    is_refused: bool
    named: tuple[Named, ...]
    within_bound_us: int

    @property
    def delta_us(self) -> int:
        """B less A."""
        return self.b_us - self.a_us


@dataclass(frozen=True)
class Refused:
    """A stage of which nothing is said, and why."""

    role: str | None
    stage: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """What differs between A and B.

    Attributes:
        a: A.
        b: B.
        differences: What differs beside the time.
        unknown: What cannot be compared, since a side does not know it.
        parts: All parts, by role, stage and cause.
        refused: Stages that are not compared.
    """

    a: Side
    b: Side
    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]
    parts: tuple[ComparedPart, ...]
    refused: tuple[Refused, ...]

    @property
    def difference_us(self) -> int:
        """B less A, without what runs beside the main containers."""
        return sum(part.delta_us for part in self._summed())

    @property
    def within_bound_us(self) -> int:
        """What is not named since it is too little."""
        return sum(part.within_bound_us for part in self._summed())

    @property
    def refused_us(self) -> int:
        """What lies in refused stages."""
        return sum(part.delta_us for part in self._summed() if part.is_refused)

    @property
    def explained(self) -> tuple[Named, ...]:
        """Sums by what explains them, the largest first."""
        sums: dict[tuple[str, ...], int] = defaultdict(int)
        for part in self._summed():
            for piece in part.named:
                sums[piece.factors] += piece.duration_us
        order = sorted(sums.items(), key=lambda item: (-abs(item[1]), item[0]))
        return tuple(Named(factors, us) for factors, us in order)

    def _summed(self) -> Iterator[ComparedPart]:
        return (part for part in self.parts if not part.is_beside)


def comparison_of(a: Side, b: Side) -> Comparison:
    """Compare two sides by the rules above."""
    judge = _Judge(a, b)
    keys = sorted({*a.parts, *b.parts}, key=lambda k: (k[0] is not None, k[0] or "", *k[1:]))
    refused: dict[tuple[str | None, str], Refused] = {}
    parts = []
    for role, stage, cause in keys:
        why = _refusal(a, b, stage)
        if why is not None:
            refused[role, stage] = Refused(role, stage, why)
        parts.append(judge.part((role, stage, cause), is_refused=why is not None))
    return Comparison(
        a, b, tuple(judge.differences()), tuple(judge.unknown()), tuple(parts),
        tuple(refused.values()),
    )  # fmt: skip


def _refusal(a: Side, b: Side, stage: str) -> str | None:
    """Why a stage cannot be compared; none if it can."""
    wanted = set(STATES)
    if stage in ACTIVE_STAGES:
        wanted |= ACTIVITY
    elif stage in MARKED_STAGES:
        wanted.add("stage_marks")
    found = []
    for source in sorted({*a.coverage, *b.coverage}):
        name, _, bucket = source.partition(":")
        is_of_both = source in a.coverage and source in b.coverage
        if name not in wanted or (bucket and not is_of_both):
            continue
        a_covered, a_expected = a.coverage.get(source, (0, 1))
        b_covered, b_expected = b.coverage.get(source, (0, 1))
        if a_expected and b_expected:
            apart = abs(a_covered * b_expected - b_covered * a_expected)
            if apart * COVERAGE_SHARE > a_expected * b_expected:
                shares = f"{a_covered * 100 // a_expected} % and {b_covered * 100 // b_expected} %"
                found.append(f"{source} covers {shares}")
    if not found:
        return None
    return "; ".join(found) + f": more than {100 // COVERAGE_SHARE} percentage points apart"


@dataclass(frozen=True)
class _Judge:
    """Says what explains a part."""

    a: Side
    b: Side

    def part(self, key: Key, *, is_refused: bool) -> ComparedPart:
        role, stage, cause = key
        a, b = self.a.parts.get(key, Part()), self.b.parts.get(key, Part())
        bound = max(LEAST_US, self.a.stage_us(role, stage) // LEAST_SHARE)
        pieces: list[Named] = []
        within = 0
        delta = b.duration_us - a.duration_us
        if not is_refused:
            whole = [Named((), delta)]
            found = whole if abs(delta) <= bound else list(self._pieces(role, cause, a, b))
            # A second piece is what the first leaves over: it must exceed the bound by itself.
            pieces = [p for p in found if p.factors and abs(p.duration_us) > bound]
            within = delta - sum(p.duration_us for p in pieces)
        return ComparedPart(
            role, stage, cause, a.duration_us, b.duration_us, a.transferred_bytes,
            b.transferred_bytes, self._is_beside(role, stage), is_refused,
            tuple(pieces), within,
        )  # fmt: skip

    def _is_beside(self, role: str | None, stage: str) -> bool:
        """Whether a part runs beside the main containers, or beside their own row of its stage."""
        if role not in BESIDE:
            return False
        is_in_main = any(("main", stage) == key[:2] for key in (*self.a.parts, *self.b.parts))
        return stage not in AFTER_MAIN or is_in_main

    def _pieces(self, role: str | None, cause: str, a: Part, b: Part) -> Iterator[Named]:
        delta = b.duration_us - a.duration_us
        if cause == "image_pull":
            yield Named((self._pull(role),), delta)
        elif cause == "transfer":
            moved = _for_bytes(a, b)
            yield Named(("data" if self._differs("data") else "cache",), moved)
            rest = "path" if self._is_other_path(a, b) else "unexplained"
            yield Named((rest,), delta - moved)
        elif cause in {"working", "unexplained"}:
            yield Named(self._differing(role) or ("unexplained",), delta)
        elif cause in NETWORK_CAUSES and self._is_other_path(a, b):
            yield Named(("path",), delta)
        else:
            yield Named((cause,), delta)

    def _pull(self, role: str | None) -> str:
        name = role or "main"
        if self._is_other_image(name):
            return "image"
        is_other = _apart(self.a.present, self.b.present, name)
        is_other = is_other or _apart(self.a.pulled, self.b.pulled, name)
        return "cache" if is_other else "unexplained"

    def _is_other_image(self, role: str) -> bool:
        a, b = self.a, self.b
        if a.digests.get(role) and b.digests.get(role):
            return _apart(a.digests, b.digests, role)
        if _apart(a.digests, b.digests, WHOLE_RUN):
            return True
        is_known = a.digests.get(WHOLE_RUN) and b.digests.get(WHOLE_RUN)
        return not is_known and _apart(a.references, b.references, role)

    def _differing(self, role: str | None) -> tuple[str, ...]:
        found = {
            "code": self._differs("code"),
            "image": self._is_other_image(role or "main"),
            "data": self._differs("data"),
            "node_type": _apart(self.a.node_types, self.b.node_types, WHOLE_RUN),
        }
        return tuple(name for name, is_other in found.items() if is_other)

    def _differs(self, kind: str) -> bool:
        a, b = (self.a.code, self.b.code) if kind == "code" else (self.a.data, self.b.data)
        is_other = any(_apart(a, b, name) for name in {*a} & {*b})
        return is_other or _apart(self.a.declared, self.b.declared, kind)

    def _is_other_path(self, a: Part, b: Part) -> bool:
        resources = a.resources | b.resources
        return any(
            _apart(self.a.paths, self.b.paths, name)
            for name in {*self.a.paths} & {*self.b.paths}
            if not resources or name.rpartition(" ")[0] in resources
        )

    def differences(self) -> Iterator[Difference]:
        a, b = self.a, self.b
        told = (
            ("code", a.code, b.code),
            ("data", a.data, b.data),
            ("declared", a.declared, b.declared),
            ("image", a.digests, b.digests),
            ("cache", a.present, b.present),
            ("pulled bytes", a.pulled, b.pulled),
            ("node type", a.node_types, b.node_types),
            ("path", a.paths, b.paths),
        )
        for what, left, right in told:
            for subject in sorted({*left} & {*right}):
                if _apart(left, right, subject):
                    yield Difference(
                        what, redact_name(subject), _shown(left[subject]), _shown(right[subject])
                    )

    def unknown(self) -> Iterator[str]:
        told = (
            ("code revision", "code"),
            ("data and model versions", "data"),
            ("image digests", "digests"),
            ("node type", "node_types"),
            ("path", "paths"),
        )
        for name, attribute in told:
            for letter, side in (("A", self.a), ("B", self.b)):
                if not any(getattr(side, attribute).values()):
                    yield f"{name} of {letter}"


def _for_bytes(a: Part, b: Part) -> int:
    """Time that the difference in bytes takes at A's rate, at B's where A transferred nothing."""
    if a.transferred_bytes is None and b.transferred_bytes is None:
        return 0
    a_bytes, b_bytes = _bytes(a), _bytes(b)
    if a_bytes is None or b_bytes is None:
        return 0
    rated_us, rated_bytes = (a.duration_us, a_bytes) if a_bytes else (b.duration_us, b_bytes)
    return (b_bytes - a_bytes) * rated_us // rated_bytes if rated_bytes else 0


def _bytes(part: Part) -> int | None:
    """Bytes of a part; none moved where no time went to it."""
    return 0 if not part.duration_us else part.transferred_bytes


def _apart(a: Mapping[str, set[str]], b: Mapping[str, set[str]], name: str) -> bool:
    """Whether both sides know something of a name and it is not the same."""
    left, right = a.get(name), b.get(name)
    return bool(left) and bool(right) and left != right


def _shown(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(redact_name(value) for value in values))
