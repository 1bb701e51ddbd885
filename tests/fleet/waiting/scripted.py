"""Runs alike but for one thing: pairs to compare, and a deployment with one step broken."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.fleet.waiting.fetch import Fetch
from tests.fleet.waiting.life import INIT, MAIN, SIDECAR, Artifact, KubeEvent, Pod, Request, Turn

FIRST = 900
"""Number of the first scripted run; the drawn ones have lower ones."""
DIGEST, NEW_DIGEST = "sha256:" + "a" * 64, "sha256:" + "b" * 64
IMAGE = "registry.example.com/ml/train:1"
OUTPUTS = "example-outputs"
RATE = 12_000_000
"""Bytes a second of what is read at pace 1."""


GROUPED = FIRST + 200
"""Number of the first run of groups."""


@dataclass
class Script:
    """How one pod lives.

    Attributes:
        number: Its number.
        start: When its run is made, in seconds of the first day.
        cluster: Its cluster.
        pulled: Seconds that the pull of its main image takes; 0 if the image is there.
        digest: Of that image.
        revision: Of its code.
        pace: How many times as long reads take.
        reads: Objects that it reads.
        computed: Seconds that it computes.
        project: Project of its run.
    """

    number: int
    start: float
    cluster: str = "elm"
    pulled: float = 40.0
    digest: str = DIGEST
    revision: str = "9f1c2ab"
    pace: float = 1.0
    reads: int = 4
    computed: float = 600.0
    project: str = "scripted"

    def content(self) -> dict[str, Any]:
        """What Polyaxon compiled."""
        container = {"image": IMAGE, "resources": {"limits": {"nvidia.com/gpu": 1}}}
        git = {"url": "https://git.example.com/acme/train.git", "revision": self.revision}
        return {
            "version": 1.1, "kind": "compiled_operation", "name": "train", "queue": "agent/gpus",
            "termination": {"maxRetries": 0},
            "run": {
                "kind": "job", "container": container,
                "init": [{"git": git, "connection": "train-repo"}],
            },
        }  # fmt: skip


@dataclass
class Life:
    """A pod as it lives by a script, step by step."""

    script: Script
    pod: Pod
    now: float
    random: Random = field(default_factory=lambda: Random(11))

    def begin(self) -> None:
        """From its creation to its sandbox."""
        pod, now = self.pod, self.now
        pod.made, pod.bound, pod.ready = now, now + 1.2, now + 3.4
        text = f"Successfully assigned ml/{pod.name} to {pod.node}"
        pod.events.append(KubeEvent(now + 1.2, now + 1.2, 1, "Scheduled", text))
        self.now += 3.4

    def fetch(self) -> None:
        """The init container reads the data."""
        turn = Turn(INIT, "registry.example.com/ml/init:1", digest=DIGEST)
        self.pod.turns.append(turn)
        self._present(turn)
        turn.began = self.now + 0.2
        port = 20_000 + self.pod.number % 20 * 2_000
        fetch = Fetch(self.random, self.pod, INIT, "init", turn.began, port, self.script.pace, RATE)
        self.now = turn.ended = fetch.run([], self.script.reads)

    def ask(self, operation: str, key: str, seconds: float = 2.0, status: int = 200) -> None:
        """One request to the bucket of outputs."""
        error = None if status < 300 else "AccessDenied"
        self.pod.requests.append(
            Request(self.now, seconds, operation, OUTPUTS, f"{self.pod.run}/{key}", status, error,
                    20_000_000 if operation == "REST.GET.OBJECT" else 0, 20_000_000)
        )  # fmt: skip
        self.now += seconds

    def compute(self, exit_code: int = 0, checkpoint: str | None = None) -> None:
        """The main container is pulled, computes, may save a checkpoint, and ends."""
        turn = Turn(MAIN, IMAGE, digest=self.script.digest, exit_code=exit_code)
        self.pod.turns.append(turn)
        self.now += 0.3
        if self.script.pulled:
            text = f'Pulling image "{IMAGE}"'
            self.pod.events.append(KubeEvent(self.now, self.now, 1, "Pulling", text, MAIN))
            self.now += self.script.pulled
            took = f"{self.script.pulled:.3f}s"
            text = (
                f'Successfully pulled image "{IMAGE}" in {took} ({took} including waiting). '
                "Image size: 812345678 bytes."
            )
            self.pod.events.append(KubeEvent(self.now, self.now, 1, "Pulled", text, MAIN))
        else:
            self._present(turn)
        turn.began = self.now + 0.2
        sidecar = Turn(SIDECAR, "registry.example.com/ml/sidecar:1", turn.began + 0.3)
        self.pod.turns.append(sidecar)
        self._present(sidecar)
        self.now = turn.began + self.script.computed
        if checkpoint is not None:
            self.ask("REST.PUT.OBJECT", checkpoint)
            self.now += 5
        turn.ended = self.now

    def end(self, model: str | None = "model.pt") -> None:
        """The sidecar uploads what there is, and the pod ends."""
        self.now += 3
        if model is not None:
            self.ask("REST.PUT.OBJECT", model)
        self.now += 1
        self.pod.turns[-1].ended = self.now
        self.now += 1.5
        self.pod.gone = self.now

    def _present(self, turn: Turn) -> None:
        text = f'Container image "{turn.image}" already present on machine'
        self.pod.events.append(KubeEvent(self.now, self.now, 1, "Pulled", text, turn.name))


def new_life(script: Script, **more: Any) -> Life:
    """A pod of a script that has not begun to live."""
    pod = Pod(
        script.number, None, False, 1, cluster_name=script.cluster, dataset="imagenet",
        project=script.project, content=script.content(),
        labels={"kueue.x-k8s.io/queue-name": "gpus"}, **more,
    )  # fmt: skip
    return Life(script, pod, script.start)


def whole(script: Script) -> Pod:
    """A pod that runs through."""
    life = new_life(script)
    pod = life.pod
    pod.statuses = [(life.now, "created"), (life.now + 1, "queued"), (life.now + 2, "scheduled")]
    life.now += 2.5
    life.begin()
    life.fetch()
    life.compute()
    pod.statuses.append((pod.turns[1].began or 0, "running"))
    life.end()
    pod.statuses.append((pod.gone, "succeeded"))
    return pod


PAIRS: dict[str, dict[str, Any]] = {
    "nothing": {},
    # Its image is there, and half of its data.
    "cache": {"pulled": 0.0, "reads": 2},
    "path": {"cluster": "fir", "pace": 3.0},
    "image": {"digest": NEW_DIGEST, "pulled": 125.0},
    "code": {"revision": "0badc0d", "computed": 780.0},
    # Its look-ups are logged without answers, so that what it waited for is seen in part only.
    "refused": {"cluster": "oak", "pace": 3.0},
}
"""What B of a pair has otherwise, by what must be named."""


def pairs() -> dict[str, Pod]:
    """Run A under `A`, and a B for each thing that differs."""
    changes = {"A": {}, **PAIRS}
    made = {
        name: whole(Script(FIRST + 4 * place, 3_600 + 2_400 * place, **changed))
        for place, (name, changed) in enumerate(changes.items())
    }
    # Others on its node before and behind, so that its cluster's exports are known to be whole.
    node = made["path"].node
    for number, start in ((FIRST + 100, 600), (FIRST + 108, 80_000)):
        other = made[f"beside {number}"] = whole(Script(number, start, cluster="fir"))
        assert other.node == node
    return made


BROKEN = {
    "another_queue": "submitted",
    "data_denied": "data_and_accelerator",
    "no_model": "outputs_retrievable",
    "begun_anew": "interruption_handled",
    "no_reason": "failure_visible",
    "stays": "cleaned_up",
}
"""What is broken of a deployment, and the step of its acceptance that must fail."""


def deployment(number: int, broken: str | None) -> list[Pod]:
    """A run that fails once and is resumed, with one thing broken or none."""
    script = Script(number, 21_600 + 600 * (number - FIRST) / 4, computed=300.0)
    first = new_life(script)
    statuses = [(first.now, "created"), (first.now + 1, "queued"), (first.now + 2, "scheduled")]
    first.now += 2.5
    _live(first, broken, exit_code=1, checkpoint="checkpoint-1", model=None)
    if broken == "no_reason":
        first.pod.turns[1].has_reason = False
    statuses += [(first.pod.turns[1].began or 0, "running"), (first.pod.gone, "failed")]
    again = Script(number + 2, first.now + 60, computed=300.0)
    second = new_life(again, run_number=number)
    second.random = Random(12)
    statuses += [(second.now, "resuming"), (second.now + 1, "queued")]
    second.now += 2.5
    statuses.append((second.now, "scheduled"))
    if broken == "another_queue":
        second.pod.labels = {"kueue.x-k8s.io/queue-name": "other"}
    _live(second, broken, reads_back=broken != "begun_anew",
          model=None if broken == "no_model" else "model.pt")  # fmt: skip
    second.pod.statuses = [
        *statuses, (second.pod.turns[1].began or 0, "running"), (second.pod.gone, "succeeded"),
    ]  # fmt: skip
    second.pod.reason = None if broken == "no_reason" else "OperatorController"
    if broken == "stays":
        second.pod.turns[-1].ended = None
        second.pod.is_torn_down = False
    outputs = f"s3://{OUTPUTS}/{second.pod.run}"
    second.pod.artifacts = [
        Artifact("loss", "metric", None), Artifact("gpu_0_memory_used", "metric", None),
        Artifact("model", "model", f"{outputs}/model.pt"),
        Artifact("checkpoint-1", "checkpoint", f"{outputs}/checkpoint-1"),
        Artifact("data", "data", "s3://example-datasets/imagenet", is_input=True),
    ]  # fmt: skip
    return [first.pod, second.pod]


def _live(
    life: Life, broken: str | None, *, exit_code: int = 0, checkpoint: str | None = None,
    model: str | None = None, reads_back: bool = False,
) -> None:  # fmt: skip
    life.begin()
    life.fetch()
    if broken == "data_denied":
        life.pod.requests = [
            Request(r.at, 0.1, r.operation, r.bucket, r.key, 403, "AccessDenied", 300, None)
            for r in life.pod.requests
        ]
    if reads_back:
        life.ask("REST.GET.OBJECT", "checkpoint-1")
        life.pod.turns[0].ended = life.now
    life.compute(exit_code, checkpoint)
    life.end(model)


def deployments() -> dict[str | None, list[Pod]]:
    """One with everything in place under None, and one for each thing that may be broken."""
    cases = (None, *BROKEN)
    return {
        broken: deployment(FIRST + 40 + 4 * place, broken) for place, broken in enumerate(cases)
    }


def groups() -> list[Pod]:
    """Runs of two days on one node: `steady` ones that are alike, and `changed` ones.

    On the second day those have other code and compute 180 s longer in the mean; each run differs
    from the next of its day by 20 s. Others run before and behind them, so that the exports are
    known to be whole.
    """
    numbers = iter(range(GROUPED, GROUPED + 200, 8))
    made = []
    for day in range(2):
        midnight = 86_400 * day
        made += [whole(Script(next(numbers), midnight + start)) for start in (600, 80_000)]
        for place in range(3):
            start, computed = midnight + 7_200 + 3_600 * place, 580.0 + 20 * place
            made.append(whole(Script(next(numbers), start, computed=computed, project="steady")))
            changed: dict[str, Any] = {"computed": computed}
            if day:
                changed = {"computed": computed + 180, "revision": "0badc0d"}
            start += 1_800
            made.append(whole(Script(next(numbers), start, project="changed", **changed)))
    return made
