"""The lives of all pods of one day, with what goes wrong in them."""

from random import Random

from tests.fleet.waiting.fetch import ALIKE, PLOTS, STORM, Fetch
from tests.fleet.waiting.life import (
    INIT,
    MAIN,
    SIDECAR,
    SOURCES,
    Artifact,
    KubeEvent,
    Mark,
    Pod,
    Request,
    Turn,
)

REGISTRY = "registry.example.com/ml"
PULL_ERRORS = {
    # Who answers for a pull that failed, by what the kubelet says (definitions.md 45).
    "unauthorized: authentication required": ("registry", "credentials"),
    "unexpected status from HEAD request to https://registry.example.com/v2/ml/x/manifests/1: "
    "403 Forbidden": ("registry", "forbidden"),
    "429 Too Many Requests - Server message: toomanyrequests: rate limit exceeded": (
        "registry", "throttled",
    ),
    "unexpected status from GET request to https://registry.example.com/v2/ml/x/blobs/y: "
    "503 Service Unavailable": ("registry", "server_error"),
    "registry.example.com/ml/x:1: not found": ("ml_team", "not_found"),
    "failed to copy: write /var/lib/containerd/x: no space left on device": (
        "platform", "disk",
    ),
    "context deadline exceeded": ("platform", "timeout"),
    "dial tcp: lookup registry.example.com on 192.0.2.53:53: no such host": (
        "network", "name_failure",
    ),
    "dial tcp 192.0.2.99:443: connect: connection refused": ("network", "connection_failure"),
}  # fmt: skip
ENDS = (
    "proven", "proven", "proven", "proven", "unproven", "failed_write", "aborted", "deleted",
    "unlogged", "import_error", "exit_code",
)  # fmt: skip
UNLOGGED = "example-archive"


class World:
    """All pods.

    Args:
        seed: Everything follows from it and the count.
        count: How many pods.
    """

    def __init__(self, seed: int, count: int) -> None:
        self.random = Random(seed)
        self.pods: list[Pod] = []
        kinds = (None, None, None, None, None, None, *SOURCES, "all")
        for number in range(count):
            pod = Pod(
                number, kinds[number % len(kinds)], self.random.random() < 0.4,
                self.random.choice((1, 1, 2)), is_claimed=number % 7 == 3,
            )  # fmt: skip
            self._place_in_project(pod)
            # All of a day's pods end well before its midnight.
            self._live(pod, 1_800 + self.random.uniform(0, 50_000))
            if pod.artifacts:
                pod.artifacts.append(Artifact("model", "model", pod.output))
            self.pods.append(pod)

    def _place_in_project(self, pod: Pod) -> None:
        """A second project declares its data; some read it who should not, or as someone else."""
        turn = pod.number % 23
        if turn in {2, 5}:
            pod.project = "other"
        if turn == 5:
            pod.dataset = "set-other"
            data = f"s3://example-datasets/{pod.dataset}"
            pod.artifacts.append(Artifact("data", "data", data, is_input=True))
        elif turn == 2:
            pod.reads_as = "intern"
        elif turn == 14:
            pod.dataset = "set-other"

    def _live(self, pod: Pod, now: float) -> None:
        now = self._before(pod, now)
        now = self._place(pod, now)
        now = self._volume(pod, now)
        now = self._sandbox(pod, now)
        pod.ready = now
        pulled = self._pull(pod, INIT, now)
        if pulled is not None:
            self._work(pod, pulled)

    def _before(self, pod: Pod, now: float) -> float:
        """Polyaxon takes the run, and queues it."""
        draw = self.random.uniform
        pod.statuses.append((now, "created"))
        for status, stage, most in (
            ("queued", "admission", 3), ("scheduled", "queued", 90), ("", "admission", 4),
        ):  # fmt: skip
            now += pod.spend(None, stage, "placement", "polyaxon", draw(0.2, most))
            if status:
                pod.statuses.append((now, status))
        pod.made = now
        return now

    def _place(self, pod: Pod, now: float) -> float:
        draw = self.random.uniform
        took = draw(0.1, 2)
        if self.random.random() < 0.3:
            took = draw(5, 400)
            message = "0/8 nodes are available: 8 Insufficient nvidia.com/gpu."
            pod.events.append(KubeEvent(now + 0.05, now + 0.05, 1, "FailedScheduling", message))
        before = sum(s for k, s in pod.spent.items() if k.cause == "placement")
        if 57 < took + before < 63:
            # No pod is so near to what is worth a finding that rounding decides.
            took += 8
        if took + before >= 60:
            pod.faults.add(("placement_wait", "platform"))
        now += pod.spend(None, "scheduling", "placement", "kubernetes", took)
        pod.bound = now
        message = f"Successfully assigned ml/{pod.name} to {pod.node}"
        pod.events.append(KubeEvent(now, now, 1, "Scheduled", message))
        return now

    def _volume(self, pod: Pod, now: float) -> float:
        """Some pods wait for a volume that another node still holds."""
        if self.random.random() >= 0.2:
            return now
        draw = self.random.uniform
        began, first = now, now + 0.2
        message = 'Multi-Attach error for volume "pvc-data" Volume is already used by pod(s) other'
        times = self.random.choice((0, 1, 2, STORM + 1))
        for count in range(1, times + 1):
            now = max(first, now + (draw(5, 40) if count > 1 else 0.2))
            pod.events.append(KubeEvent(now, first, count, "FailedAttachVolume", message))
        now += draw(3, 30)
        if 57 < now - began < 63:
            now += 8
        text = 'AttachVolume.Attach succeeded for volume "pvc-data"'
        pod.events.append(KubeEvent(now, now, 1, "SuccessfulAttachVolume", text))
        now += draw(0.1, 0.5)
        pod.spend(None, "volume_mount", "volume", "events", now - began)
        # Nothing tells when mounting ended and making the sandbox began.
        pod.untold |= {(None, "sandbox")}
        if times >= STORM:
            pod.storms[None, "volume_mount", "other"] += times
            pod.faults.add(("retry_storm", "platform"))
        if now - began >= 60:
            pod.faults.add(("volume_wait", "platform"))
        return now

    def _sandbox(self, pod: Pod, now: float) -> float:
        draw = self.random.uniform
        took = draw(1, 6)
        if self.random.random() < 0.06:
            message = (
                "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup "
                'network for sandbox "x": plugin type="cilium-cni" failed (add): unable to connect'
            )
            times, moment = STORM + 2, now + 1
            for count in range(1, times + 1):
                pod.events.append(
                    KubeEvent(moment, now + 1, count, "FailedCreatePodSandBox", message)
                )
                moment += draw(10, 15)
            took = moment - now + draw(1, 4)
            pod.storms[None, "sandbox", "other"] += times
            pod.faults.add(("retry_storm", "network"))
        return now + pod.spend(None, "sandbox", "sandbox", "kubernetes", took)

    def _pull(self, pod: Pod, name: str, now: float) -> float | None:
        """Pull a container's image; when it was there, or none if it never came."""
        draw, image = self.random.uniform, f"{REGISTRY}/{name}:1"
        turn = Turn(name, image)
        pod.turns.append(turn)
        plot = self.random.random()
        if plot < 0.2:
            text = f'Container image "{image}" already present on machine'
            pod.events.append(KubeEvent(now, now, 1, "Pulled", text, name))
            turn.present_at = now
            return now
        began = now
        pod.events.append(KubeEvent(now, now, 1, "Pulling", f'Pulling image "{image}"', name))
        if plot < 0.35 and name != SIDECAR:
            now = self._pull_fails(pod, turn, now, plot < 0.22)
            if plot < 0.22:
                # It is deleted while it still tries.
                now += draw(30, 200)
                pod.spend(name, "image_pull", "image_pull", "events", now - began)
                self._end(pod, now, "failed")
                return None
        waited = draw(1, 40) if plot > 0.8 else draw(0, 0.05)
        took = draw(0.5, 90)
        now += waited + took
        whole = f"{took + waited:.3f}s including waiting"
        text = (
            f'Successfully pulled image "{image}" in {took:.3f}s ({whole}). '
            f"Image size: {round(took * 9e6)} bytes."
        )
        pod.events.append(KubeEvent(now, now, 1, "Pulled", text, name))
        pod.spend(name, "image_pull", "image_pull", "events", now - began)
        return now

    def _pull_fails(self, pod: Pod, turn: Turn, now: float, is_final: bool) -> float:
        draw, random = self.random.uniform, self.random
        said = random.choice(sorted(PULL_ERRORS))
        owner, error_class = PULL_ERRORS[said]
        image = turn.image
        message = (
            f'Failed to pull image "{image}": failed to pull and unpack image "{image}": '
            f'failed to resolve reference "{image}": {said}'
        )
        times = STORM + 2 if is_final else random.choice((1, 2, 3))
        began, first, backed = now, None, None
        for count in range(1, times + 1):
            now += draw(0.5, 3)
            first = first or now
            pod.events.append(KubeEvent(now, first, count, "Failed", message, turn.name))
            pod.events.append(
                KubeEvent(now, first, count, "Failed", "Error: ErrImagePull", turn.name)
            )
            now += draw(0.2, 1)
            text = f'Back-off pulling image "{image}"'
            backed = backed or now
            pod.events.append(KubeEvent(now, backed, count, "BackOff", text, turn.name))
            now += min(300, 10 * 2 ** (count - 1)) * draw(1, 1.2)
            pod.events.append(
                KubeEvent(now, began, count + 1, "Pulling", f'Pulling image "{image}"', turn.name)
            )
        pod.faults.add(("pull_failure", owner))
        if is_final:
            turn.waiting = ("ImagePullBackOff", text)
            pod.storms[turn.name, "image_pull", error_class] += times
            pod.faults.add(("retry_storm", owner))
        return now

    def _work(self, pod: Pod, pulled: float) -> None:
        """The init container fetches, the main container works, the sidecar keeps the output."""
        draw, random = self.random.uniform, self.random
        init = pod.turns[0]
        init.began = now = self._start(pod, init, "init", pulled)
        pod.statuses.append((now, "starting"))
        if random.random() < 0.08:
            # It crashes at once and is started again behind the kubelet's back-off.
            crashed = now + pod.spend(INIT, "init", "unexplained", "nothing", draw(0.3, 0.9))
            init.earlier, init.restarts = (now, crashed), 1
            now = crashed + pod.spend(INIT, "init", "retry", "kubernetes", draw(10, 12))
            init.began = now
            pod.faults.add(("failed_container", "ml_team"))
        port = 20_000 + pod.number % 20 * 2_000
        fetch = Fetch(random, pod, INIT, "init", now, port)
        init.ended = fetch.run(self._plots(), random.randint(1, 3))
        if pod.reads_as == "intern":
            pod.faults.add(("undeclared_principal", "identity"))
        if pod.project == "waiting" and pod.dataset == "set-other":
            pod.faults.add(("cross_project_read", "identity"))
        placed = self._pull(pod, MAIN, init.ended + draw(0.1, 0.5))
        if placed is None:
            return
        main = pod.turns[1]
        main.began = now = self._start(pod, main, "startup", placed)
        pod.statuses.append((now, "running"))
        sidecar = Turn(SIDECAR, f"{REGISTRY}/{SIDECAR}:1", now + 0.3)
        pod.turns.append(sidecar)
        text = f'Container image "{sidecar.image}" already present on machine'
        pod.events.append(KubeEvent(now + 0.1, now + 0.1, 1, "Pulled", text, SIDECAR))
        if pod.has_marks:
            now += pod.spend(MAIN, "startup", "unexplained", "nothing", draw(0.3, 0.8))
            resource = f"s3://example-datasets/more-{pod.number}"
            pod.marks.append(Mark(now, "dataset_download_started", resource))
            fetch = Fetch(random, pod, MAIN, "download", now, fetch.port + 500)
            now = fetch.run([random.choice(("plain", "throttled", "server_error"))], 2)
            pod.marks.append(Mark(now, "dataset_download_finished", resource))
        main.ended = now + pod.spend(MAIN, "compute", "working", "kubernetes", draw(300, 3_000))
        end = random.choice(ENDS)
        if end in {"import_error", "exit_code"}:
            main.exit_code = 1
            main.message = (
                "ModuleNotFoundError: No module named 'apex'" if end == "import_error" else None
            )
            pod.faults.add(
                ("failed_import" if end == "import_error" else "failed_container", "ml_team")
            )
        sidecar.ended = self._keep(pod, end, main.ended)
        pod.spend(
            SIDECAR, "compute", "working", "kubernetes", main.ended - (sidecar.began or 0)
        )  # fmt: skip
        self._end(pod, sidecar.ended, "failed" if main.exit_code else "succeeded")

    def _start(self, pod: Pod, turn: Turn, stage: str, now: float) -> float:
        """The kubelet makes and starts a container."""
        took = self.random.uniform(0.05, 0.4)
        if turn.present_at is not None:
            pod.spend(turn.name, stage, "unexplained", "nothing", took)
        return now + took

    def _plots(self) -> list[str]:
        """What goes wrong with a fetch: one thing, or two that are told apart."""
        first = self.random.choice(PLOTS)
        if self.random.random() >= 0.3:
            return [first]
        kind = next((kind for kind in ALIKE if first in kind), {first})
        return sorted([first, self.random.choice([p for p in PLOTS if p not in kind])])

    def _keep(self, pod: Pod, end: str, now: float) -> float:
        """The sidecar uploads, or does not; returns when it ends."""
        draw = self.random.uniform

        def spend(cause: str, told_by: str, seconds: float) -> None:
            nonlocal now
            for container in (MAIN, SIDECAR):
                pod.spend(container, "upload", cause, told_by, seconds)
            now += seconds

        def ask(operation: str, status: int = 200, error: str | None = None) -> None:
            took = draw(0.3, 8)
            size = round(took * 10_000_000)
            key = f"{pod.run}/model.pt"
            sent = 0 if status == 200 else 300
            pod.requests.append(
                Request(now, took, operation, pod.bucket, key, status, error, sent, size)
            )
            spend("denied" if status == 403 else "transfer", "storage_log", took)

        if end == "unlogged":
            pod.bucket = UNLOGGED
        spend("upload", "kubernetes", draw(1, 8))
        if end == "aborted":
            ask("REST.POST.UPLOADS")
            ask("REST.PUT.PART")
            ask("REST.DELETE.UPLOAD", 204)
        elif end == "failed_write":
            ask("REST.PUT.OBJECT", 403, "AccessDenied")
        elif end not in {"unproven", "unlogged", "import_error"}:
            ask("REST.PUT.OBJECT")
        if end == "deleted":
            spend("upload", "kubernetes", draw(2, 4))
            ask("REST.DELETE.OBJECT", 204)
        spend("upload", "kubernetes", draw(0.5, 3))
        pod.proof = {
            "proven": "proven", "exit_code": "proven", "unproven": "unproven",
            "unlogged": "not_observed", "import_error": None,
        }.get(end, "contradicted")  # fmt: skip
        if pod.proof in {"unproven", "contradicted"}:
            owner = "storage" if end == "failed_write" else "ml_team"
            pod.faults.add((f"output_{pod.proof}", owner))
        if end == "failed_write":
            pod.faults.add(("denied_storage", "storage"))
        return now

    def _end(self, pod: Pod, now: float, outcome: str) -> None:
        pod.outcome = outcome
        for turn in pod.turns:
            if turn.name == MAIN and turn.ended is not None:
                took = self.random.uniform(0.5, 3)
                now += pod.spend(MAIN, "teardown", "working", "kubernetes", took)
        pod.gone = now
        pod.statuses.append((now, outcome))
