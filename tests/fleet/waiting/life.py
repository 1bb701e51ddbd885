"""One pod: what it spent its time on, and the traces that it left."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

INIT, MAIN, SIDECAR = "polyaxon-init", "polyaxon-main", "polyaxon-sidecar"
SOURCES = ("storage_log", "dns", "flows", "events")
"""What may be left out of a pod's evidence."""


@dataclass(frozen=True)
class Spent:
    """What seconds went to.

    Attributes:
        container: Container, none for the pod or run as a whole.
        stage: Stage.
        cause: Cause by definitions.md 43.
        told_by: One of SOURCES, `kubernetes`, `polyaxon`, or `nothing` if no trace is left.
    """

    container: str | None
    stage: str
    cause: str
    told_by: str


@dataclass(frozen=True)
class Packet:
    """One packet of a connection, as Hubble tells it."""

    at: float
    port: int
    peer: str
    peer_port: int
    flags: str
    is_reply: bool = False
    is_dropped: bool = False


@dataclass(frozen=True)
class Lookup:
    """One look-up: when it was answered, what was asked, and how it went."""

    at: float
    name: str
    rcode: str
    latency: float
    address: str | None = None


@dataclass(frozen=True)
class Request:
    """One request to a bucket."""

    at: float
    seconds: float
    operation: str
    bucket: str
    key: str
    status: int
    error: str | None
    sent: int
    size: int | None


@dataclass(frozen=True)
class KubeEvent:
    """An event of Kubernetes, or a repetition of one.

    Attributes:
        at: When it was told.
        first: When it was first told.
        count: How often by now.
        reason: Its reason.
        message: Its message.
        container: Container that it is about.
    """

    at: float
    first: float
    count: int
    reason: str
    message: str
    container: str | None = None


@dataclass(frozen=True)
class Mark:
    """A line that the application logged of a stage."""

    at: float
    event: str
    resource: str
    bytes: int | None = None


@dataclass
class Turn:
    """One container: when it was pulled, ran and ended.

    `present_at` is when its image was found to be there, which the time to its start is counted
    from; what is pulled has that time with the pull.
    """

    name: str
    image: str
    began: float | None = None
    ended: float | None = None
    exit_code: int = 0
    message: str | None = None
    restarts: int = 0
    earlier: tuple[float, float] | None = None
    waiting: tuple[str, str] | None = None
    digest: str | None = None
    has_reason: bool = True
    present_at: float | None = None


@dataclass(frozen=True)
class Artifact:
    """One artifact of a run's lineage."""

    name: str
    kind: str
    path: str | None
    is_input: bool = False


@dataclass
class Pod:
    """One pod of one run.

    Attributes:
        number: Its number, from which its names follow.
        missing: The source whose traces are left out, if any; `all` for all but Kubernetes' states.
        has_marks: Whether its application logs its stages.
        spent: Seconds by what they went to.
        untold: (container, stage) of which no export tells both edges.
        storms: Failures by (container, activity, error class), of five and more.
        faults: (kind, who is responsible) that findings must name.
        proof: What of its output is true: a proof of run_outputs.
        run_number: Number of its run, where that has several pods.
        cluster_name: Its cluster, where it is not by its number.
        labels: Labels beside those that name the run.
        dataset: Folder of what it reads.
        project: Project of its run.
        reads_as: Role with which it reads.
        content: What Polyaxon compiled, of runs of which it tells.
        artifacts: Lineage of its run; the model alone where nothing is said.
        is_torn_down: Whether it ends.
        reason: Reason of its run's conditions.
        is_claimed: Its GPUs are those of a resource claim.
    """

    number: int
    missing: str | None
    has_marks: bool
    gpus: int
    spent: dict[Spent, float] = field(default_factory=dict)
    untold: set[tuple[str | None, str]] = field(default_factory=set)
    storms: Counter[tuple[str | None, str, str]] = field(default_factory=Counter)
    faults: set[tuple[str, str]] = field(default_factory=set)
    proof: str | None = None
    bucket: str = "example-outputs"
    outcome: str = "succeeded"
    run_number: int | None = None
    cluster_name: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    dataset: str | None = None
    project: str = "waiting"
    reads_as: str = "trainer"
    content: dict[str, Any] | None = None
    artifacts: list[Artifact] = field(default_factory=list)
    is_torn_down: bool = True
    reason: str | None = "OperatorController"
    is_claimed: bool = False
    statuses: list[tuple[float, str]] = field(default_factory=list)
    made: float = 0.0
    bound: float | None = None
    ready: float | None = None
    gone: float = 0.0
    turns: list[Turn] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    events: list[KubeEvent] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    @property
    def uid(self) -> str:
        """UID."""
        return f"dddddddd-0000-4000-8000-{self.number:012x}"

    @property
    def run(self) -> str:
        """The run's uuid."""
        number = self.number if self.run_number is None else self.run_number
        return f"{0xABC00000 + number:032x}"

    @property
    def run_name(self) -> str:
        """Name of its run."""
        return f"run-{self.number if self.run_number is None else self.run_number}"

    @property
    def name(self) -> str:
        """Name of the pod, by that of its run."""
        return f"plx-operation-{self.run}-main"

    @property
    def address(self) -> str:
        """Address."""
        return f"10.2.{self.number // 200}.{self.number % 200 + 1}"

    @property
    def cluster(self) -> str:
        """Oak logs look-ups without answers, elm with them."""
        return self.cluster_name or ("oak", "elm")[self.number % 2]

    @property
    def node(self) -> str:
        """Node."""
        return f"{self.cluster}-node-{self.number // 2 % 4}"

    @property
    def output(self) -> str:
        """The object that it is to leave."""
        return f"s3://{self.bucket}/{self.run}/model.pt"

    @property
    def folder(self) -> str:
        """Folder of what it reads."""
        return self.dataset or f"set-{self.number}"

    def tells(self, source: str) -> bool:
        """Whether a source's traces of it are exported."""
        return self.missing not in {source, "all"}

    def stage_at(self, moment: float) -> str | None:
        """The stage in which what asks for data did so at a moment; none where none of these is."""
        init, main = self.turns[0], self.turns[1] if len(self.turns) > 1 else None
        if init.began is not None and init.ended is not None:
            began = init.earlier[0] if init.earlier else init.began
            if began <= moment < init.ended:
                return "init"
        if main is None or main.ended is None:
            return None
        if self.marks and self.marks[0].at <= moment < self.marks[1].at:
            return "download"
        return "upload" if moment >= main.ended else None

    def spend(
        self, container: str | None, stage: str, cause: str, told_by: str, seconds: float
    ) -> float:
        """Spend seconds, and return them."""
        key = Spent(container, stage, cause, told_by)
        self.spent[key] = self.spent.get(key, 0.0) + seconds
        return seconds
