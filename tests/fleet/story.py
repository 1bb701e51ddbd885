"""The verbs of the scenario: start a pod, visit a host, read an object.

Each verb adds facts to the fleet and keeps them consistent with each other: a visit asks the
resolver first, a read has a connection to the bucket's host beside it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tests.fleet import draw, names
from tests.fleet.clock import seconds
from tests.fleet.world import (
    Answer,
    Cluster,
    Condition,
    Connection,
    Container,
    Fleet,
    FlowEvent,
    Lookup,
    Node,
    ObjectRequest,
    Pod,
    Pull,
    Run,
)

ACCOUNT = "111122223333"
OWNER = "acme"
INIT_IMAGE = "polyaxon/polyaxon-init:2.18.0"
SIDECAR_IMAGE = "polyaxon/polyaxon-sidecar:2.18.0"
AGENT = (
    "Boto3/1.35.20 md/Botocore#1.35.20 ua/2.0 os/linux#6.1.0 md/arch#x86_64 "
    "lang/python#3.11.7 md/pyimpl#CPython"
)


def digest_of(image: str) -> str:
    """Return the digest of an image's manifest."""
    return "sha256:" + draw.hex_digits(64, "image", image)


class Story:
    """Writes the fleet's truth, one event at a time."""

    def __init__(self) -> None:
        """Start with an empty fleet."""
        self.fleet = Fleet()
        self._attempts: dict[tuple[str, tuple[str, int] | None], int] = {}
        self._searched: set[str] = set()

    # -- what exists -------------------------------------------------------------------------

    def run(
        self,
        name: str,
        *,
        project: str,
        created: datetime,
        kind: str = "job",
        runtime: str = "job",
        status: str = "succeeded",
        started: datetime | None = None,
        finished: datetime | None = None,
        cluster: Cluster | None = None,
        user: str = "ada",
        parent: Run | None = None,
        queue: str | None = None,
        tags: Sequence[str] = (),
        inputs: dict[str, object] | None = None,
        outputs: dict[str, object] | None = None,
    ) -> Run:
        """Submit a run."""
        run = Run(
            uuid=draw.run_uuid(project, name),
            name=name,
            project=project,
            owner=OWNER,
            user=user,
            kind=kind,
            runtime=runtime,
            status=status,
            created=created,
            started=started,
            finished=finished,
            cluster=cluster,
            parent=parent,
            queue=queue,
            tags=list(tags),
            inputs=inputs or {},
            outputs=outputs,
        )
        self.fleet.runs.append(run)
        return run

    def conditions(self, run: Run, *steps: tuple[str, str, str, datetime]) -> None:
        """Record status conditions as (type, reason, message, time)."""
        run.conditions += [Condition(*step) for step in steps]

    def ordinary_conditions(self, run: Run) -> None:
        """Record the conditions of a run that started and ended without trouble."""
        self.conditions(
            run,
            ("created", "OperationServiceInit", "Run is created", run.created),
            ("compiled", "SchedulerPrepare", "Run is compiled", run.created + seconds(0.4)),
            ("queued", "AgentController", "Run is queued", run.created + seconds(0.6)),
            ("scheduled", "AgentController", "Operation is scheduled", run.created + seconds(0.8)),
        )
        if run.started is not None:
            self.conditions(
                run,
                ("starting", "OperatorController", "Operation is starting", run.started),
                (
                    "running",
                    "OperatorController",
                    "Operation is running",
                    run.started + seconds(25),
                ),
            )
        if run.finished is not None:
            message = f"Operation has {run.status}"
            self.conditions(run, (run.status, "OperatorController", message, run.finished))

    def job_pod(
        self,
        run: Run,
        node: Node,
        addresses: str | Sequence[str],
        created: datetime,
        main_seconds: float,
        *,
        image: str,
        image_bytes: int | None = None,
        pull_seconds: int = 14,
        main_name: str = "polyaxon-main",
        name: str | None = None,
        owner_kind: str = "Job",
        replica: tuple[str, int] | None = None,
        dns_proxy: bool = False,
        exit_code: int = 0,
        environment: dict[str, str] | None = None,
        init_arguments: Sequence[str] = (),
        namespace: str = "ml",
        gpus: int = 1,
        stays_open: bool = False,
        watched: bool = True,
        deleted: bool = True,
    ) -> Pod:
        """Start a pod of a run: init container, image pull, main container, upload, teardown."""
        cluster = self.fleet.clusters[node.cluster]
        operation = f"plx-operation-{run.uuid}"
        pod_name = name or f"{operation}-{draw.suffix(5, run.uuid, created)}"
        ready = created + timedelta(seconds=3)
        init_end = created + timedelta(seconds=8)
        main_start = created + timedelta(seconds=10 + pull_seconds)
        main_end = None if stays_open else main_start + seconds(main_seconds)
        side_end = None if main_end is None else main_end + timedelta(seconds=20)
        torn = None if side_end is None else side_end + timedelta(seconds=2)
        gone = None if torn is None or not deleted else torn + timedelta(seconds=3)
        instance = {"POLYAXON_RUN_INSTANCE": f"{OWNER}.{run.project}.runs.{run.uuid}"}
        key = (run.uuid, replica)
        self._attempts[key] = self._attempts.get(key, 0) + 1
        pull = Pull(
            start=created + timedelta(seconds=9),
            end=created + timedelta(seconds=9 + pull_seconds),
            image_bytes=image_bytes,
            was_present=image_bytes is None,
        )
        containers = [
            Container(
                name="polyaxon-init-auth",
                role="init",
                image=INIT_IMAGE,
                digest=digest_of(INIT_IMAGE),
                start=created + timedelta(seconds=6),
                end=init_end,
                environment=dict(instance),
                arguments=list(init_arguments),
            ),
            Container(
                name=main_name,
                role="main",
                image=image,
                digest=digest_of(image),
                start=main_start,
                end=main_end,
                pull=pull,
                exit_code=exit_code,
                environment={**instance, **(environment or {})},
                gpus=gpus,
            ),
            Container(
                name="polyaxon-sidecar",
                role="main",
                image=SIDECAR_IMAGE,
                digest=digest_of(SIDECAR_IMAGE),
                start=main_start,
                end=side_end,
                environment=dict(instance),
            ),
        ]
        pod = Pod(
            cluster=cluster,
            node=node,
            namespace=namespace,
            name=pod_name,
            uid=draw.uuid4("pod", run.uuid, pod_name, created),
            addresses=(addresses,) if isinstance(addresses, str) else tuple(addresses),
            created=created,
            start_time=created + timedelta(seconds=1),
            sandbox_ready=ready,
            torn_down=torn,
            deleted=gone,
            owner_kind=owner_kind,
            owner_name=pod_name.rsplit("-", 1)[0] if owner_kind == "ReplicaSet" else operation,
            service_account="plx-runs",
            labels=self._run_labels(run, replica),
            annotations={
                "operation.polyaxon.com/name": run.name,
                "operation.polyaxon.com/owner": run.owner,
                "operation.polyaxon.com/project": run.project,
                "operation.polyaxon.com/kind": run.kind,
            },
            containers=containers,
            run=run,
            replica=replica,
            attempt=self._attempts[key],
            dns_proxy=dns_proxy,
            watched=watched,
        )
        run.pods.append(pod)
        run.cluster = cluster
        self.fleet.pods.append(pod)
        return pod

    def _run_labels(self, run: Run, replica: tuple[str, int] | None) -> dict[str, str]:
        component = {
            "job": "polyaxon-jobs",
            "service": "polyaxon-services",
            "pytorchjob": "polyaxon-pytorch-jobs",
        }[run.runtime]
        labels = {
            "app.kubernetes.io/component": component,
            "app.kubernetes.io/instance": run.uuid,
            "app.kubernetes.io/managed-by": "polyaxon",
            "app.kubernetes.io/name": run.name,
            "app.kubernetes.io/part-of": "polyaxon-runs",
            "operation.polyaxon.com/uuid": run.uuid,
        }
        if replica is not None:
            labels["training.kubeflow.org/job-name"] = f"plx-operation-{run.uuid}"
            labels["training.kubeflow.org/replica-index"] = str(replica[1])
            labels["training.kubeflow.org/replica-type"] = replica[0]
        return labels

    def plain_pod(
        self,
        name: str,
        node: Node,
        addresses: str | Sequence[str],
        created: datetime,
        *,
        namespace: str,
        app: str,
        image: str,
        end: datetime | None = None,
        deleted: datetime | None = None,
        owner: tuple[str, str] = ("DaemonSet", ""),
        host_network: bool = False,
        watched: bool = False,
        dns_proxy: bool = False,
        environment: dict[str, str] | None = None,
    ) -> Pod:
        """Start a pod that no run owns."""
        cluster = self.fleet.clusters[node.cluster]
        start = created + timedelta(seconds=5)
        pod = Pod(
            cluster=cluster,
            node=node,
            namespace=namespace,
            name=name,
            uid=draw.uuid4("pod", node.cluster, name, created),
            addresses=(addresses,) if isinstance(addresses, str) else tuple(addresses),
            created=created,
            start_time=created + timedelta(seconds=1),
            sandbox_ready=created + timedelta(seconds=3),
            torn_down=None if end is None else end + timedelta(seconds=2),
            deleted=deleted,
            owner_kind=owner[0],
            owner_name=owner[1] or app,
            service_account=app,
            labels={"app": app},
            containers=[
                Container(
                    name=app,
                    role="main",
                    image=image,
                    digest=digest_of(image),
                    start=start,
                    end=end,
                    environment=environment or {},
                )
            ],
            host_network=host_network,
            watched=watched,
            dns_proxy=dns_proxy,
        )
        self.fleet.pods.append(pod)
        return pod

    # -- what happens ------------------------------------------------------------------------

    def ask(
        self,
        pod: Pod,
        host: str,
        time: datetime,
        answers: Sequence[Answer] | None = None,
        *,
        family: str = "A",
    ) -> list[Answer]:
        """Ask the resolver for a host; a pod's first question goes through its search suffixes.

        Later questions end in a dot and ask for one family, to keep the exports small.
        """
        known = list(answers) if answers is not None else names.HOSTS.get(host, [])
        search = [
            f"{pod.namespace}.svc.cluster.local",
            "svc.cluster.local",
            "cluster.local",
            "ec2.internal"
            if pod.cluster.region == "us-east-1"
            else f"{pod.cluster.region}.compute.internal",
        ]
        port = draw.between(33000, 60000, "dns", pod.uid, host, time)
        searched = self._searched
        step = 0
        for suffix in search if host.count(".") < 5 and pod.uid not in searched else []:
            self._lookup(pod, time + seconds(0.0021 * step), port, host, suffix, family, [])
            step += 1
        self._lookup(pod, time + seconds(0.0021 * step), port, host, "", family, known)
        if pod.uid not in searched:
            other = "AAAA" if family == "A" else "A"
            later = time + seconds(0.0021 * step + 0.0004)
            self._lookup(pod, later, port, host, "", other, [], rcode="NOERROR")
        searched.add(pod.uid)
        return known

    def _lookup(
        self,
        pod: Pod,
        time: datetime,
        port: int,
        host: str,
        suffix: str,
        type_: str,
        answers: list[Answer],
        rcode: str | None = None,
    ) -> None:
        asked = f"{host}.{suffix}" if suffix else host
        code = rcode or ("NOERROR" if answers else "NXDOMAIN")
        self.fleet.lookups.append(
            Lookup(
                pod=pod,
                time=time,
                port=port,
                query=host,
                type=type_,
                rcode=code,
                answers=answers,
                latency_micros=draw.between(180, 1400, "latency", asked, type_, time),
                by_proxy=pod.dns_proxy,
                asked_as=asked,
            )
        )

    def visit(
        self,
        pod: Pod,
        host: str,
        start: datetime,
        lasts: float,
        *,
        port: int = 443,
        ticks: Sequence[float] = (),
        answers: Sequence[Answer] | None = None,
        asked_before: float = 0.5,
        received: int = 0,
        sent: int = 0,
        http: Sequence[dict[str, object]] = (),
        name_kind: str | None = None,
        family: str = "A",
    ) -> Connection:
        """Resolve a host and talk to it."""
        known = self.ask(pod, host, start - seconds(asked_before), answers, family=family)
        address = known[-1].data
        connection = self.connect(
            pod, None, address, port, start, lasts, ticks=ticks, http=http, family=family
        )
        connection.name = host
        if name_kind is not None:
            connection.name_kind = name_kind
        elif http:
            connection.name_kind = "http_host"
        elif pod.dns_proxy or pod.cluster.name == "birch":
            connection.name_kind = "dns_pod"
        else:
            connection.name_kind = "dns_time"
        if pod.dns_proxy:
            connection.flow_names = (host,)
        connection.received_bytes = received
        connection.sent_bytes = sent
        return connection

    def connect(
        self,
        client: Pod,
        server: Pod | None,
        address: str,
        port: int,
        start: datetime,
        lasts: float,
        *,
        transport: str = "TCP",
        ticks: Sequence[float] = (),
        http: Sequence[dict[str, object]] = (),
        family: str = "A",
    ) -> Connection:
        """Open a connection, exchange something at each tick, close it."""
        client_port = draw.between(32768, 60999, "port", client.uid, address, port, start)
        local = client.addresses[1] if family == "AAAA" else client.address
        connection = Connection(
            cluster=client.cluster,
            transport=transport,
            client=client,
            client_node=client.node,
            client_address=local,
            client_port=client_port,
            server=server,
            server_address=address,
            server_port=port,
            start=start,
            end=None,
            events=[],
        )
        end = start + seconds(lasts)
        is_tcp = transport == "TCP"
        entry = "TO_PROXY" if http else "TO_STACK"
        plan: list[tuple[float, bool, tuple[str, ...]]] = [
            (0.0, False, ("SYN",)),
            (0.0021, True, ("SYN", "ACK")),
            (0.0023, False, ("ACK",)),
            (0.0041, False, ("PSH", "ACK")),
            (0.0098, True, ("PSH", "ACK")),
        ]
        for tick in ticks:
            plan += [(tick, False, ("PSH", "ACK")), (tick + 0.0031, True, ("PSH", "ACK"))]
        plan += [(lasts - 0.0017, False, ("FIN", "ACK")), (lasts, True, ("FIN", "ACK"))]
        for offset, is_reply, flags in plan:
            time = end if offset == lasts else start + seconds(offset)
            shown = flags if is_tcp else ()
            if not is_tcp and flags[0] in {"FIN", "ACK"} and offset not in (0.0, lasts):
                continue
            reason = "REPLY" if is_reply else ("NEW" if offset == 0.0 else "ESTABLISHED")
            self._packet(connection, time, is_reply, shown, reason, entry)
        if http:
            verdict = FlowEvent(
                start - seconds(0.00004), client.node, False, ("SYN",), "", None, "verdict"
            )
            connection.events.insert(0, verdict)
            for index, exchange in enumerate(http):
                asked = start + seconds(0.0045 + 0.2 * index)
                connection.events += [
                    FlowEvent(asked, client.node, False, (), "", None, "l7_request", exchange),
                    FlowEvent(
                        asked + seconds(0.0401),
                        client.node,
                        True,
                        (),
                        "",
                        None,
                        "l7_response",
                        exchange,
                    ),
                ]
        connection.events.sort(key=lambda event: event.time)
        connection.start = connection.events[0].time
        connection.end = connection.events[-1].time
        self.fleet.connections.append(connection)
        return connection

    def _packet(
        self,
        connection: Connection,
        time: datetime,
        is_reply: bool,
        flags: tuple[str, ...],
        reason: str,
        entry: str,
    ) -> None:
        """Report one packet at each trace point that would see it under medium aggregation."""
        server = connection.server
        near = connection.client_node
        if server is None:
            point = "TO_ENDPOINT" if is_reply else entry
            connection.events.append(FlowEvent(time, near, is_reply, flags, point, reason))
        elif server.node == near:
            connection.events.append(FlowEvent(time, near, is_reply, flags, "TO_ENDPOINT", reason))
        elif is_reply:
            sent = FlowEvent(time - seconds(0.0004), server.node, True, flags, "TO_STACK", reason)
            connection.events += [
                sent,
                FlowEvent(time, near, True, flags, "TO_ENDPOINT", reason),
            ]
        else:
            arrived = FlowEvent(
                time + seconds(0.0004), server.node, False, flags, "TO_ENDPOINT", reason
            )
            connection.events += [
                FlowEvent(time, near, False, flags, "TO_STACK", reason),
                arrived,
            ]

    def deny(
        self,
        client: Pod,
        address: str,
        port: int,
        tries: Sequence[datetime],
        *,
        reason: str,
        policy: str | None,
        name: str | None,
        name_kind: str,
    ) -> Connection:
        """Try to open a connection that a network policy drops, once per given time."""
        connection = Connection(
            cluster=client.cluster,
            transport="TCP",
            client=client,
            client_node=client.node,
            client_address=client.address,
            client_port=draw.between(32768, 60999, "port", client.uid, address, port, tries[0]),
            server=None,
            server_address=address,
            server_port=port,
            start=tries[0],
            end=None,
            events=[],
            verdict="DROPPED",
            drop_reason=reason,
            policy=policy,
            name=name,
            name_kind=name_kind,
            attempts=len(tries),
        )
        for time in tries:
            for kind, late in (("verdict_denied", 0.0), ("drop", 0.00003)):
                event = FlowEvent(
                    time + seconds(late), client.node, False, ("SYN",), "", None, kind
                )
                connection.events.append(event)
        connection.end = connection.events[-1].time
        if client.dns_proxy and name is not None:
            connection.flow_names = (name,)
        self.fleet.connections.append(connection)
        return connection

    def probe(self, pod: Pod, port: int, time: datetime) -> Connection:
        """Let the kubelet probe a pod of its own node; no run ever asked for this traffic."""
        client_port = draw.between(32768, 60999, "probe", pod.uid, time)
        connection = Connection(
            cluster=pod.cluster,
            transport="TCP",
            client=None,
            client_node=pod.node,
            client_address=pod.node.address,
            client_port=client_port,
            server=pod,
            server_address=pod.address,
            server_port=port,
            start=time,
            end=time + seconds(0.004),
            events=[
                FlowEvent(time, pod.node, False, ("SYN",), "TO_ENDPOINT", "NEW"),
                FlowEvent(
                    time + seconds(0.004), pod.node, True, ("FIN", "ACK"), "TO_STACK", "REPLY"
                ),
            ],
            is_counted=False,
        )
        self.fleet.connections.append(connection)
        return connection

    def request(
        self,
        pod: Pod | None,
        bucket: str,
        key: str,
        time: datetime,
        *,
        operation: str = "read",
        method: str = "REST.GET.OBJECT",
        status: int = 200,
        error: str | None = None,
        sent: int | None = None,
        size: int | None = None,
        milliseconds: int = 900,
        version: str | None = None,
        address: str | None = None,
        session: str | None = None,
        role: str = "ml-runs",
        agent: str = AGENT,
        match_kind: str = "address_window",
        run: Run | None = None,
        query: str = "",
        referer: str = "-",
        signed_in_query: bool = False,
        late: bool = False,
    ) -> ObjectRequest:
        """Send one request to object storage."""
        client = address or (pod.address if pod is not None else "-")
        seed = pod.uid if pod is not None else client
        default = f"botocore-session-{draw.between(1_773_100_000, 1_773_190_000, 'session', seed)}"
        name = session or default
        entry = ObjectRequest(
            bucket=bucket,
            key=key,
            version=version,
            operation=operation,
            method=method,
            time=time,
            status=status,
            error=error,
            sent_bytes=sent,
            object_bytes=size,
            milliseconds=milliseconds,
            client_address=client,
            principal=f"arn:aws:sts::{ACCOUNT}:assumed-role/{role}/{name}",
            user_agent=agent,
            pod=pod,
            run=run if run is not None else (pod.run if pod is not None else None),
            match_kind=match_kind,
            query=query,
            referer=referer,
            signed_in_query=signed_in_query,
            late=late,
        )
        self.fleet.requests.append(entry)
        return entry
