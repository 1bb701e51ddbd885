"""A small world in which it is known what each pod waited for: truth first, then what logs say.

Each pod starts an init container that fetches its data: it looks a name up, connects, reads, is
throttled, denied or fails, and tries again. The truth is the seconds that it spent on each cause.
The logs round as the real ones do: Kubernetes to whole seconds, storage logs too (durations to
milliseconds), name servers and flows not at all. Nothing of the product is imported.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

CLUSTER = "alder"
NODE = "node-a"
STORE = "192.0.2.10"
Rows = list[dict[str, Any]]


@dataclass
class Life:
    """One pod.

    Attributes:
        number: Its number.
        evidence: `full`, `no_storage_log` (flows still tell) or `none`.
        truth: Seconds by (container, stage, cause).
        storms: (error class, how many failures) of its storms.
    """

    number: int
    evidence: str
    truth: Counter[tuple[str | None, str, str]] = field(default_factory=Counter)
    storms: list[tuple[str, int]] = field(default_factory=list)

    @property
    def uid(self) -> str:
        """UID."""
        return f"dddddddd-0000-0000-0000-{self.number:012x}"

    @property
    def address(self) -> str:
        """Address."""
        return f"10.2.{self.number // 200}.{self.number % 200 + 1}"


class World:
    """Pods with their truth, and the exports that tell of them."""

    def __init__(self, seed: int, day: date, pods: int) -> None:
        """Let all pods live.

        Args:
            seed: Of all that is drawn.
            day: Their day.
            pods: How many.
        """
        self.random = Random(seed)
        self.start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        self.exports: dict[str, Rows] = {
            name: []
            for name in (
                "pod_states", "container_states", "kube_event_states", "object_requests",
                "dns_lookups", "flows",
            )
        }  # fmt: skip
        kinds = ("full", "full", "full", "no_storage_log", "none")
        self.pods = [Life(n, kinds[n % len(kinds)]) for n in range(pods)]
        for pod in self.pods:
            self._live(pod)

    def _at(self, second: float) -> datetime:
        return self.start + timedelta(microseconds=round(second * 1e6))

    def _whole(self, second: float) -> datetime:
        return self._at(int(second))

    def _live(self, pod: Life) -> None:
        draw = self.random.uniform
        made = 3_600 + pod.number * 37 + draw(0, 1)
        bound = made + draw(0.1, 40)
        ready = bound + draw(1, 6)
        pulled = ready + draw(3, 30)
        began = pulled + draw(0.05, 0.4)
        for stage, cause, seconds in (
            ("scheduling", "placement", bound - made),
            ("sandbox", "sandbox", ready - bound),
        ):
            pod.truth[None, stage, cause] += seconds
        pod.truth["init", "image_pull", "image_pull"] += pulled - ready
        fetched = self._fetch(pod, began)
        pulled_main = fetched + draw(0.1, 0.5)
        image = draw(10, 60)
        worked = pulled_main + image + draw(0.05, 0.4)
        done = worked + draw(600, 3_000)
        synced = done + draw(2, 20)
        gone = synced + draw(0.5, 3)
        pod.truth["main", "image_pull", "image_pull"] += image
        pod.truth["main", "compute", "working"] += done - worked
        pod.truth["main", "upload", "upload"] += synced - done
        pod.truth["main", "teardown", "working"] += gone - synced
        self._kubernetes(pod, (made, bound, ready, gone), {
            "init": (ready, pulled, began, fetched),
            "main": (pulled_main, pulled_main + image, worked, done),
            "sidecar": (worked, worked + 0.3, worked + 0.4, synced),
        })  # fmt: skip

    def _fetch(self, pod: Life, now: float) -> float:
        """What the init container does, from its start to its end."""
        draw, truth = self.random.uniform, pod.truth
        port = 40_000 + pod.number

        def spend(cause: str, seconds: float) -> float:
            truth["init", "init", cause] += seconds
            return now + seconds

        now = spend("unexplained", draw(0.1, 0.6))
        for _ in range(self.random.choice((0, 0, 1, 3))):
            self._lookup(pod, now, "SERVFAIL", 0.5)
            now = spend("resolve", 0.5 + draw(1, 4))
        latency = draw(0.02, 0.4)
        self._lookup(pod, now, "NOERROR", latency)
        now = spend("resolve", latency)
        opened = now
        shaken = draw(0.005, 0.2)
        now = spend("connect", shaken)
        packets = [opened, opened + shaken]
        plot = self.random.choice(("plain", "throttled", "denied", "failed", "storm", "few"))
        failures = {"throttled": 3, "denied": 2, "failed": 2, "storm": 7, "few": 4}.get(plot, 0)
        status, cause = {
            "throttled": (503, "throttled"), "failed": (500, "retry"), "denied": (403, "denied"),
        }.get(plot, (403, "denied"))  # fmt: skip
        if failures >= 5:
            pod.storms.append(("forbidden", failures))
        for place in range(failures):
            took = draw(0.05, 0.3)
            self._request(pod, now, took, status)
            packets += [now, now + took]
            # What is denied is denied from the first request on, the rest from its answer.
            now = spend("denied" if cause == "denied" else "transfer", took)
            now = spend(cause, draw(4, 25))
            if place % 2:
                packets.append(now - 0.01)
        for _ in range(self.random.randint(1, 3)):
            took = draw(8, 90)
            self._request(pod, now, took, 200)
            packets += [now + took * n / 40 for n in range(41)]
            now = spend("transfer", took)
            now = spend("unexplained", draw(0.01, 0.1))
        now = spend("unexplained", draw(0.05, 0.5))
        self._connection(pod, port, packets, now)
        return now

    def _lookup(self, pod: Life, asked: float, rcode: str, latency: float) -> None:
        if pod.evidence == "none":
            return
        self.exports["dns_lookups"].append(
            {
                "cluster": CLUSTER, "event_at": self._at(asked + latency), "rcode": rcode,
                "client_address": pod.address, "query_name": "store.example.com",
                "original_query_name": "store.example.com", "query_type": "A",
                "is_response": True, "latency_seconds": latency, "source_format": "coredns",
                "record_id": f"dns/{pod.number}/{asked}",
            }
        )  # fmt: skip

    def _request(self, pod: Life, began: float, took: float, status: int) -> None:
        if pod.evidence != "full":
            return
        self.exports["object_requests"].append(
            {
                "event_at": self._whole(began), "provider": "s3", "bucket": "data",
                "key": f"set/{pod.number}", "operation": "read", "status": status,
                "operation_name": "REST.GET.OBJECT", "response_bytes": 1_000,
                "object_size_bytes": 9_000 if status == 200 else None,
                "duration_seconds": round(took, 3), "client_address": pod.address,
                "source_format": "s3_access_log", "record_id": f"s3/{pod.number}/{began}",
            }
        )  # fmt: skip

    def _connection(self, pod: Life, port: int, packets: list[float], closed: float) -> None:
        if pod.evidence == "none":
            return
        flags = ["SYN", "SYN,ACK", *("PSH,ACK" for _ in packets[2:]), "FIN,ACK"]
        for place, (second, flag) in enumerate(zip([*packets, closed], flags, strict=True)):
            reply = place % 2 == 1 or flag == "SYN,ACK"
            ends = [(pod.address, port, 5_000), (STORE, 443, 2)]
            source, target = reversed(ends) if reply else ends
            self.exports["flows"].append(
                {
                    "cluster": CLUSTER, "node": NODE, "event_at": self._at(second),
                    "transport": "TCP", "tcp_flags": flag, "is_reply": reply,
                    "verdict": "FORWARDED", "direction": "EGRESS", "event_type": 4,
                    "source_address": source[0], "source_port": source[1],
                    "source_identity": source[2], "destination_address": target[0],
                    "destination_port": target[1], "destination_identity": target[2],
                    "record_id": f"flow/{pod.number}/{place}",
                }
            )  # fmt: skip

    def _kubernetes(
        self,
        pod: Life,
        moments: tuple[float, float, float, float],
        containers: dict[str, tuple[float, float, float, float]],
    ) -> None:
        made, bound, ready, gone = moments
        shared = {
            "cluster": CLUSTER, "namespace": "ml", "pod_name": f"pod-{pod.number}",
            "pod_uid": pod.uid, "node": NODE, "observed_at": self._at(gone + 5),
        }  # fmt: skip
        self.exports["pod_states"].append(
            shared
            | {
                "observed_basis": "record", "created_at": self._whole(made),
                "scheduled_at": self._whole(bound), "start_time_at": self._whole(bound),
                "sandbox_ready_at": self._whole(ready), "sandbox_ended_at": self._whole(gone),
                "addresses": [pod.address], "phase": "Succeeded", "gpu_count": 1,
                "last_finished_at": self._whole(containers["sidecar"][3]),
                "run_match_kind": "none", "record_id": f"pod/{pod.number}",
            }
        )  # fmt: skip
        for place, (name, (pulling, pulled, began, ended)) in enumerate(containers.items()):
            image = f"registry.example.com/{name}:1"
            self.exports["container_states"].append(
                shared
                | {
                    "container": name, "container_role": name, "ordinal": place,
                    "state": "terminated", "started_at": self._whole(began), "exit_code": 0,
                    "finished_at": self._whole(ended), "restart_count": 0, "image": image,
                    "reason": "Completed", "record_id": f"container/{pod.number}/{name}",
                }
            )  # fmt: skip
            took = f"{pulled - pulling:.3f}s"
            self._event(pod, name, "Pulling", f'Pulling image "{image}"', pulling)
            done = f'Successfully pulled image "{image}" in {took} ({took} including waiting).'
            self._event(pod, name, "Pulled", f"{done} Image size: 5 bytes.", pulled)

    def _event(self, pod: Life, container: str, reason: str, message: str, second: float) -> None:
        moment = self._whole(second)
        name = f"{pod.number}/{container}/{reason}"
        self.exports["kube_event_states"].append(
            {
                "cluster": CLUSTER, "namespace": "ml", "involved_kind": "Pod",
                "involved_name": f"pod-{pod.number}", "involved_uid": pod.uid, "node": NODE,
                "container": container, "reason": reason, "message": message,
                "first_at": moment, "last_at": moment, "event_at": moment,
                "observed_at": moment, "event_count": 1, "event_uid": name, "event_name": name,
                "record_id": name,
            }
        )  # fmt: skip
