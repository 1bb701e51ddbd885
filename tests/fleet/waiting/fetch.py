"""What a container does to fetch its data, and what goes wrong on the way."""

from random import Random

from tests.fleet.waiting.life import Lookup, Packet, Pod, Request

STORE = "example-datasets.s3.us-east-1.amazonaws.com"
STORE_ADDRESS = "192.0.2.10"
TOKENS = "sts.us-east-1.amazonaws.com"
TOKENS_ADDRESS = "192.0.2.20"
METADATA = "169.254.169.254"
SUFFIXES = ("ml.svc.cluster.local", "svc.cluster.local", "cluster.local")
DATA = "example-datasets"
STORM = 5
PLOTS = (
    "plain", "name_fails", "suffixes", "suffix_storm", "syn_retry", "refused", "no_reply",
    "dropped", "metadata", "tokens", "expired", "throttled", "server_error", "denied",
)  # fmt: skip
CLASSES = {
    "name_fails": ("resolve", "name_failure"),
    "refused": ("connect", "connection_failure"),
    "dropped": ("connect", "policy_drop"),
    "expired": ("object_access", "credentials"),
    "throttled": ("object_access", "throttled"),
    "server_error": ("object_access", "server_error"),
    "denied": ("object_access", "forbidden"),
}
OWNERS = {
    "name_fails": "network", "refused": "network", "dropped": "network", "expired": "identity",
    "throttled": "storage", "server_error": "storage", "denied": "storage",
}  # fmt: skip
ANSWERS = {
    "expired": (400, "ExpiredToken", "authenticate"),
    "throttled": (503, "SlowDown", "throttled"),
    "server_error": (500, "InternalError", "retry"),
    "denied": (403, "AccessDenied", "denied"),
}
ALIKE = (set(ANSWERS), {"refused", "no_reply", "dropped"}, {"suffixes", "suffix_storm"})
"""Of these one at a time: while one thing is denied, whatever else fails is part of that."""


class Fetch:
    """One container that fetches a data set.

    Args:
        random: Of all that is drawn.
        pod: Its pod.
        container: Its name.
        stage: The stage that it is in.
        now: When it begins.
        port: The first port that it connects from.
        pace: How many times as long each read takes.
        rate: Bytes a second of each read at pace 1; drawn where it is not given.
    """

    def __init__(
        self, random: Random, pod: Pod, container: str, stage: str, now: float, port: int,
        pace: float = 1.0, rate: int | None = None,
    ) -> None:  # fmt: skip
        self.random = random
        self.pod = pod
        self.container = container
        self.stage = stage
        self.now = now
        self.port = port
        self.pace = pace
        self.rate = rate

    def run(self, plots: list[str], reads: int) -> float:
        """Fetch with what goes wrong, and return when it was done."""
        self._idle(0.05, 0.4)
        for plot in plots:
            if plot in {"metadata", "tokens"}:
                self._credentials(plot)
        self._resolve(STORE, STORE_ADDRESS, plots)
        for plot in plots:
            if plot in {"refused", "no_reply", "dropped"}:
                self._connect_in_vain(plot)
        packets = self._connect(STORE_ADDRESS, "syn_retry" in plots)
        for plot in plots:
            if plot in ANSWERS:
                self._fail(plot, packets)
        for _ in range(reads):
            length = self.random.uniform(6, 60)
            took = length * self.pace
            size = self.random.randrange(1_000_000, 400_000_000)
            if self.rate is not None:
                size = round(length * self.rate)
            self._request(took, 200, None, size)
            count = max(8, round(took / 2))
            packets += [self.now + took * n / count for n in range(count + 1)]
            self._spend("transfer", "storage_log", took)
            self._idle(0.01, 0.1)
        self._idle(0.05, 0.3)
        self._tell(self.port, STORE_ADDRESS, packets, self.now)
        self.port += 1
        return self.now

    def _spend(self, cause: str, told_by: str, seconds: float) -> None:
        self.now += self.pod.spend(self.container, self.stage, cause, told_by, seconds)

    def _idle(self, least: float, most: float) -> None:
        self._spend("unexplained", "nothing", self.random.uniform(least, most))

    def _times(self, plot: str) -> int:
        """How often something fails: few times, or a storm of it."""
        count = self.random.choice((1, 2, 3, STORM + 1, STORM + 3))
        if count >= STORM:
            self.pod.storms[self.container, *CLASSES[plot]] += count
            self.pod.faults.add(("retry_storm", OWNERS[plot]))
        return count

    def _lookup(self, name: str, rcode: str, latency: float, address: str | None = None) -> None:
        self.pod.lookups.append(Lookup(self.now + latency, name, rcode, latency, address))
        self._spend("resolve", "dns", latency)

    def _resolve(self, name: str, address: str, plots: list[str]) -> None:
        draw = self.random.uniform
        if "name_fails" in plots:
            for _ in range(self._times("name_fails")):
                self._lookup(name, "SERVFAIL", draw(0.1, 2))
                self._spend("resolve", "dns", draw(1, 6))
        rounds = {"suffixes": 1, "suffix_storm": 25}
        for plot in plots:
            for _ in range(rounds.get(plot, 0)):
                for suffix in SUFFIXES:
                    self._lookup(f"{name}.{suffix}", "NXDOMAIN", draw(0.02, 0.5))
                if plot == "suffix_storm":
                    self._lookup(name, "NOERROR", draw(0.02, 0.3), address)
        self._lookup(name, "NOERROR", draw(0.005, 0.3), address)

    def _connect(self, peer: str, is_slow: bool, *, cause: str = "connect") -> list[float]:
        """Open a connection; the moments of its first packets and of the answer."""
        waits = (1.0, 2.0, 4.0)[: self.random.choice((1, 2, 3))] if is_slow else ()
        moments = [self.now]
        for pause in waits:
            moments.append(moments[-1] + pause)
        for moment in moments:
            self.pod.packets.append(Packet(moment, self.port, peer, self._port_of(peer), "SYN"))
        shaken = self.random.uniform(0.002, 0.2)
        answered = moments[-1] + shaken
        self.pod.packets.append(
            Packet(answered, self.port, peer, self._port_of(peer), "SYN_ACK", is_reply=True)
        )
        self._spend(cause, "flows", answered - self.now)
        return [answered + 0.0005]

    @staticmethod
    def _port_of(peer: str) -> int:
        return 80 if peer == METADATA else 443

    def _connect_in_vain(self, plot: str) -> None:
        draw = self.random.uniform
        times = 1 if plot == "no_reply" else self._times(plot)
        if plot == "dropped":
            self.pod.faults.add(("denied_network", "network"))
        for _ in range(times):
            packet = (self.port, STORE_ADDRESS, 443)
            if plot == "dropped":
                self.pod.packets.append(Packet(self.now, *packet, "SYN", is_dropped=True))
                self._spend("denied", "flows", draw(2, 12))
            elif plot == "refused":
                took = draw(0.001, 0.05)
                self.pod.packets.append(Packet(self.now, *packet, "SYN"))
                self.pod.packets.append(Packet(self.now + took, *packet, "RST", is_reply=True))
                self._spend("connect", "flows", took)
                self._spend("retry", "flows", draw(2, 12))
            else:
                # The client gives up after ten seconds, which nothing tells.
                for moment in (0, 1, 3, 7):
                    self.pod.packets.append(Packet(self.now + moment, *packet, "SYN"))
                self._spend("connect", "flows", 7)
                self._spend("connect", "nothing", 3)
                self._spend("retry", "flows", draw(2, 8))
            self.port += 1

    def _credentials(self, plot: str) -> None:
        """Ask the metadata service, or a token service by its name."""
        peer = METADATA
        if plot == "tokens":
            peer = TOKENS_ADDRESS
            self._lookup(TOKENS, "NOERROR", self.random.uniform(0.005, 0.3), peer)
        packets = self._connect(peer, self.random.random() < 0.3, cause="authenticate")
        for _ in range(self.random.randint(2, 6)):
            self._spend("authenticate", "flows", self.random.uniform(0.2, 4))
            packets.append(self.now - 0.0005)
        self._tell(self.port, peer, packets, self.now)
        self.port += 1

    def _fail(self, plot: str, packets: list[float]) -> None:
        """Ask and be refused, again and again."""
        status, error, cause = ANSWERS[plot]
        if plot in {"expired", "denied"}:
            self.pod.faults.add(("denied_storage", OWNERS[plot]))
        for _ in range(self._times(plot)):
            took = self.random.uniform(0.05, 0.4)
            self._request(took, status, error, None)
            packets += [self.now, self.now + took]
            # What is denied is denied from the request on, the rest from its answer.
            is_whole = cause in {"denied", "authenticate"}
            self._spend(cause if is_whole else "transfer", "storage_log", took)
            self._spend(cause, "storage_log", self.random.uniform(3, 25))

    def _request(self, took: float, status: int, error: str | None, size: int | None) -> None:
        key = f"{self.pod.folder}/part-{len(self.pod.requests):03d}.bin"
        sent = 300 if size is None else size
        self.pod.requests.append(
            Request(self.now, took, "REST.GET.OBJECT", DATA, key, status, error, sent, size)
        )

    def _tell(self, port: int, peer: str, moments: list[float], closed: float) -> None:
        """Packets of an open connection, to and fro, and its end."""
        for place, moment in enumerate(moments):
            packet = Packet(moment, port, peer, self._port_of(peer), "ACK", place % 2 == 1)
            self.pod.packets.append(packet)
        self.pod.packets.append(Packet(closed, port, peer, self._port_of(peer), "FIN"))
