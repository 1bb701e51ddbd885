"""What the runs of cluster alder do, one function per run."""

from tests.fleet import draw, secrets
from tests.fleet.clock import at, seconds
from tests.fleet.names import bucket_answers, bucket_host
from tests.fleet.places import A1, A2, A3, B2, CHECKPOINTS, DATASETS, MODELS, NAT
from tests.fleet.story import AGENT, Story
from tests.fleet.world import Condition, Connection, Declaration, Pod, Reading

BAD_IMAGE = "registry.example.com/ml/train:no-such-tag"
TRAIN_IMAGE = "registry.example.com/ml/train:1.4.2"
CODE = "git+https://git.example.com/acme/train.git@9f1c2ab"
SHARD_BYTES = 24_117_248
INDEX_BYTES = 918_233
WEIGHTS_BYTES = 104_857_600
CHECKPOINT_BYTES = 52_428_811


def play(story: Story) -> None:
    """Play all runs of the cluster in the order of their submission."""
    _training_job(story)
    _notebook(story)
    _sweep(story)
    _distributed_job(story)
    _failed_pull(story)
    _debug_shell(story)
    _report_job(story)
    _resumed_run(story)
    _denied_run(story)
    _evaluation(story)


def open_bucket(
    story: Story,
    pod: Pod,
    bucket: str,
    region: str,
    time: str,
    lasts: float,
    octet: int,
    ticks: tuple[float, ...] = (),
) -> Connection:
    """Connect a pod to a bucket's host; each visit gets another address of the pool."""
    host = bucket_host(bucket, region)
    return story.visit(pod, host, at(time), lasts, ticks=ticks, answers=bucket_answers(host, octet))


def _training_job(story: Story) -> None:
    """Play train-resnet: code from git, a model, a whole dataset, three checkpoints."""
    run = story.run(
        "train-resnet",
        project="vision",
        created=at("10 08:00:00.120000"),
        started=at("10 08:00:02.500000"),
        finished=at("10 08:31:10.250000"),
        queue="gpu-agent/l4",
        tags=("nightly", "resnet"),
        inputs={"lr": 0.001, "dataset": "imagenet-mini"},
        outputs={"loss": 0.41},
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run,
        A1,
        "10.20.1.31",
        at("10 08:00:01"),
        1800,
        image=TRAIN_IMAGE,
        image_bytes=812_345_678,
        dns_proxy=True,
        gpus=2,
        environment={"DB_PASSWORD": secrets.POD_ENVIRONMENT, "HF_HOME": "/cache/hf"},
    )
    run.declares.append(Declaration(CODE, "clone"))
    story.visit(pod, "huggingface.co", at("10 08:01:00"), 2.5)
    story.visit(pod, "cas-bridge.xethub.hf.co", at("10 08:01:03"), 41.0, ticks=(5.5, 20.0, 40.0))
    story.visit(
        pod,
        "mirror.example.com",
        at("10 08:02:00"),
        3.0,
        port=80,
        http=(
            {
                "method": "GET",
                "path": f"/simple/torch/?token={secrets.HTTP_QUERY_TOKEN}",
                "code": 200,
                "host": "mirror.example.com",
            },
            {
                "method": "GET",
                "path": "/simple/unknown-package/",
                "code": 502,
                "host": "mirror.example.com",
            },
        ),
    )
    open_bucket(story, pod, DATASETS, "eu-west-1", "10 08:03:00", 95.0, 10, (10.0, 60.0))
    for index in range(3):
        story.request(
            pod,
            DATASETS,
            f"imagenet-mini/train/shard-{index:04d}.tar",
            at(f"10 08:03:0{index + 1}"),
            sent=SHARD_BYTES + index,
            size=SHARD_BYTES + index,
            milliseconds=20_150 + index,
            version=f"v{index}.EXAMPLEversion",
        )
    story.request(
        pod,
        DATASETS,
        "imagenet-mini/labels.json",
        at("10 08:02:59"),
        operation="head",
        method="REST.HEAD.OBJECT",
        sent=None,
        size=INDEX_BYTES,
        milliseconds=12,
    )
    story.request(
        pod,
        DATASETS,
        "imagenet-mini/missing.json",
        at("10 08:04:30"),
        status=404,
        error="NoSuchKey",
        sent=272,
        size=None,
        milliseconds=9,
        query=f"?AWSAccessKeyId={secrets.STATIC_ACCESS_KEY}&Expires=1773133200",
    )
    for index, minute in enumerate((10, 20, 30)):
        open_bucket(story, pod, CHECKPOINTS, "us-east-1", f"10 08:{minute}:00", 9.0, 20 + index)
        story.request(
            pod,
            CHECKPOINTS,
            f"train-resnet/step-{index + 1:03d}.pt",
            at(f"10 08:{minute}:01"),
            operation="write",
            method="REST.PUT.OBJECT",
            sent=None,
            size=CHECKPOINT_BYTES + index,
            milliseconds=5_200,
        )
    _readings(story, pod)


def _readings(story: Story, pod: Pod) -> None:
    """Let the collector read the pod's counters each minute, with everything that goes wrong.

    The counter restarts at 08:12:10, nothing is read between 08:18:40 and 08:27:40, and the reading
    of 08:29:40 is stale: a little below the one before it, which is no restart.
    """
    started = pod.sandbox_ready - seconds(0.75)
    received = {3: 48_234_511, 4: 26_000_173, 5: 1_900_003}
    receive = transmit = 0
    for minute in range(1, 31):
        time = at(f"10 08:{minute:02d}:40")
        if minute == 12:
            receive, transmit, started = 700_001, 9_007, at("10 08:12:10")
        else:
            receive += received.get(minute, 40_961 + minute)
            transmit += 5_120 + 7 * minute if minute % 10 else 53_000_271
        if 18 < minute < 27:
            continue
        stale = 4_096 if minute == 29 else 0
        reading = Reading(
            pod, time, started, receive - 2 * 40_990 - stale if stale else receive, transmit
        )
        story.fleet.readings.append(reading)


def _steady_readings(story: Story, pod: Pod, first: str, count: int) -> None:
    """Let the collector read a pod's counters each minute without any trouble."""
    receive = transmit = 0
    started = pod.sandbox_ready - seconds(0.5)
    for index in range(count):
        time = at(first) + seconds(60 * index)
        receive += draw.between(20_000, 9_000_000, "receive", pod.uid, index)
        transmit += draw.between(10_000, 900_000, "transmit", pod.uid, index)
        story.fleet.readings.append(Reading(pod, time, started, receive, transmit))


def _notebook(story: Story) -> None:
    """Play notebook: a service over both days; on the second its node's flows are missing."""
    run = story.run(
        "notebook",
        project="nlp",
        created=at("10 09:00:00.300000"),
        started=at("10 09:00:02.100000"),
        finished=at("11 18:00:40.600000"),
        kind="service",
        runtime="service",
        status="stopped",
        user="grace",
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run,
        A3,
        "10.20.2.41",
        at("10 09:00:01"),
        32 * 3600 + 3600 - 20,
        image="registry.example.com/ml/notebook:2.0",
        name=f"plx-operation-{run.uuid}-6d9f7c8b5-k4mzq",
        owner_kind="ReplicaSet",
        dns_proxy=True,
        environment={"POLYAXON_SANDBOX_TOKEN": secrets.POD_SANDBOX_TOKEN},
    )
    story.visit(pod, "metrics.example.com", at("10 09:05:00"), 12.0)
    story.visit(pod, "github.com", at("10 21:50:00"), 4.5)
    story.visit(pod, "tracking.example.com", at("10 23:40:00"), 900.0, ticks=(600.0,))
    remembered = story.connect(pod, None, "192.0.2.77", 443, at("10 13:00:00"), 8.0)
    remembered.name = "papers.example.org"
    remembered.name_kind = "flow_names"
    remembered.flow_names = ("papers.example.org",)
    unnamed = story.connect(
        pod, None, "198.51.100.200", 4433, at("10 14:00:00"), 8.0, transport="UDP"
    )
    unnamed.name_kind = "none"


def _sweep(story: Story) -> None:
    """Play sweep-lr: four children read the same shards from a bucket of another region.

    Children 1 and 2 run on one node one after the other, 3 and 4 on others. Child 3 gets child 1's
    address in the same minute in which child 1 gave it back.
    """
    parent = story.run(
        "sweep-lr",
        project="vision",
        created=at("10 10:00:00.050000"),
        started=at("10 10:00:01.000000"),
        finished=at("10 10:50:00.000000"),
        kind="matrix",
        runtime="grid",
        inputs={"lr": None},
    )
    story.ordinary_conditions(parent)
    plan = (
        ("sweep-lr-1", A2, "10.20.1.132", "10 10:00:05", 500, 0.1),
        ("sweep-lr-2", A2, "10.20.1.133", "10 10:05:05", 600, 0.01),
        ("sweep-lr-3", A2, "10.20.1.132", "10 10:09:22", 600, 0.001),
        ("sweep-lr-4", A1, "10.20.1.34", "10 10:20:05", 600, 0.0001),
    )
    for index, (name, node, address, created, lasts, rate) in enumerate(plan):
        begin = at(created)
        run = story.run(
            name,
            project="vision",
            created=begin - seconds(1.25),
            started=begin + seconds(0.5),
            finished=begin + seconds(lasts + 47),
            parent=parent,
            inputs={"lr": rate},
            outputs={"accuracy": 0.70 + index / 100},
        )
        story.ordinary_conditions(run)
        pod = story.job_pod(
            run,
            node,
            address,
            begin,
            lasts,
            image=TRAIN_IMAGE,
            image_bytes=812_345_678 if index == 0 else None,
            pull_seconds=9 if index else 14,
            dns_proxy=node is A1,
        )
        read = begin + seconds(60)
        host = bucket_host(DATASETS, "eu-west-1")
        story.visit(pod, host, read, 30.0, ticks=(15.0,), answers=bucket_answers(host, 40 + index))
        for shard in range(2):
            story.request(
                pod,
                DATASETS,
                f"imagenet-mini/train/shard-{shard:04d}.tar",
                read + seconds(1 + shard),
                sent=SHARD_BYTES + shard,
                size=SHARD_BYTES + shard,
                milliseconds=11_000 + shard,
                version=f"v{shard}.EXAMPLEversion",
            )


def _distributed_job(story: Story) -> None:
    """Play ddp-llm: three replicas, one of which fails and returns under its name."""
    run = story.run(
        "ddp-llm",
        project="nlp",
        created=at("10 12:00:00.700000"),
        started=at("10 12:00:02.000000"),
        finished=at("10 12:41:10.000000"),
        runtime="pytorchjob",
        user="grace",
        queue="gpu-agent/l4",
    )
    story.ordinary_conditions(run)
    operation = f"plx-operation-{run.uuid}"
    image = "registry.example.com/ml/llm:7"

    def replica(
        kind: str, index: int, address: str, created: str, lasts: float, code: int, node_index: int
    ) -> Pod:
        return story.job_pod(
            run,
            (A1, A2, A3)[node_index],
            address,
            at(created),
            lasts,
            image=image,
            image_bytes=2_345_678_901 if code or kind == "master" else None,
            pull_seconds=30,
            main_name="pytorch",
            name=f"{operation}-{kind}-{index}",
            owner_kind="PyTorchJob",
            replica=(kind, index),
            exit_code=code,
            gpus=1,
        )

    master = replica("master", 0, "10.20.1.51", "10 12:00:03", 2_400, 0, 0)
    worker0 = replica("worker", 0, "10.20.1.152", "10 12:00:03", 2_400, 0, 1)
    failed = replica("worker", 1, "10.20.2.53", "10 12:00:04", 300, 1, 2)
    again = replica("worker", 1, "10.20.2.54", "10 12:07:00", 1_900, 0, 2)
    _steady_readings(story, master, "10 12:01:20", 20)
    for worker, start, lasts in (
        (worker0, "10 12:01:30", 2_250.0),
        (failed, "10 12:01:31", 200.0),
        (again, "10 12:08:30", 1_750.0),
    ):
        connection = story.connect(
            worker, master, master.address, 29500, at(start), lasts, ticks=(30.0, 120.0)
        )
        connection.name_kind = "none"
    story.visit(
        master,
        bucket_host(MODELS, "us-east-1"),
        at("10 12:02:00"),
        60.0,
        answers=bucket_answers(bucket_host(MODELS, "us-east-1"), 60),
    )
    part = WEIGHTS_BYTES // 4
    for index in range(4):
        story.request(
            master,
            MODELS,
            "base/llm-7b.safetensors",
            at(f"10 12:02:0{index + 1}"),
            status=206,
            sent=part,
            size=WEIGHTS_BYTES,
            milliseconds=9_000 + index,
        )
    story.request(
        master,
        MODELS,
        "base/llm-7b.safetensors",
        at("10 12:02:05"),
        status=503,
        error="SlowDown",
        sent=301,
        size=WEIGHTS_BYTES,
        milliseconds=40,
    )
    story.visit(
        worker0,
        bucket_host(MODELS, "us-east-1"),
        at("10 12:03:00"),
        60.0,
        answers=bucket_answers(bucket_host(MODELS, "us-east-1"), 61),
    )
    for index in range(6):
        story.request(
            worker0,
            MODELS,
            "base/llm-7b.safetensors",
            at(f"10 12:03:0{index + 1}"),
            status=206,
            sent=part,
            size=WEIGHTS_BYTES,
            milliseconds=9_100 + index,
        )


def _failed_pull(story: Story) -> None:
    """Play bad-image: the registry does not know the tag, so nothing ever runs."""
    run = story.run(
        "bad-image",
        project="vision",
        created=at("10 15:00:00.400000"),
        started=at("10 15:00:02.000000"),
        finished=at("10 15:20:30.000000"),
        status="stopped",
    )
    story.ordinary_conditions(run)
    run.conditions.insert(
        5,
        Condition(
            "warning",
            "ImagePullBackOff",
            f'Back-off pulling image "{BAD_IMAGE}"',
            at("10 15:00:31.000000"),
        ),
    )
    run.conditions = [step for step in run.conditions if step.type != "running"]
    pod = story.job_pod(
        run, A2, "10.20.1.161", at("10 15:00:01"), 0, image=BAD_IMAGE, stays_open=True
    )
    main, sidecar = pod.containers[1], pod.containers[2]
    main.start = sidecar.start = None
    main.waiting = (
        "ImagePullBackOff",
        f'Back-off pulling image "{BAD_IMAGE}"',
    )
    sidecar.waiting = ("PodInitializing", "")
    pull = main.pull
    assert pull is not None
    pull.was_present = False
    pull.end = None
    pull.back_offs = 4
    pull.error = (
        f'Failed to pull image "{BAD_IMAGE}": rpc error: code = NotFound '
        "desc = failed to resolve reference "
        f'"https://puller:{secrets.PULL_USERINFO}@registry.example.com/v2/ml/train:no-such-tag": '
        "not found"
    )
    pod.torn_down = at("10 15:20:28")
    pod.deleted = at("10 15:20:30")


def _debug_shell(story: Story) -> None:
    """Play debug-shell, a pod of no run.

    A pod of birch has its address too, so the bucket's log cannot say which of them read; a link
    that was signed for someone is used through NAT.
    """
    pod = story.plain_pod(
        "debug-shell",
        A1,
        "10.20.1.71",
        at("10 16:00:00"),
        namespace="tools",
        app="debug-shell",
        image="registry.example.com/tools/shell:1",
        end=at("10 16:30:00"),
        deleted=at("10 16:30:05"),
        owner=("", ""),
        watched=True,
    )
    story.visit(pod, "pypi.example.org", at("10 16:02:00"), 2.0)
    story.visit(pod, "pypi.example.com", at("10 16:08:00"), 6.0)
    namesake = story.plain_pod(
        "scratch-3",
        B2,
        pod.address,
        at("10 15:50:00"),
        namespace="tools",
        app="scratch",
        image="registry.example.com/tools/shell:1",
        end=at("10 16:40:00"),
        deleted=at("10 16:40:05"),
        owner=("", ""),
        watched=True,
    )
    shared = story.request(
        None,
        MODELS,
        "tools/shell-history.tar",
        at("10 16:12:00"),
        sent=1_048_579,
        size=1_048_579,
        milliseconds=310,
        role="tools",
        address=pod.address,
        match_kind="ambiguous",
    )
    shared.candidates = (pod, namesake)
    story.request(
        None,
        DATASETS,
        "imagenet-mini/train/shard-0000.tar",
        at("10 16:15:00"),
        sent=SHARD_BYTES,
        size=SHARD_BYTES,
        milliseconds=8_000,
        version="v0.EXAMPLEversion",
        address=NAT,
        session=secrets.PRESIGNED_ACCESS_KEY,
        match_kind="none",
        role="tools",
        agent="curl/8.5.0",
        query=(
            "?X-Amz-Algorithm=AWS4-HMAC-SHA256"
            f"&X-Amz-Credential={secrets.PRESIGNED_ACCESS_KEY}"
            "%2F20260310%2Feu-west-1%2Fs3%2Faws4_request"
            "&X-Amz-Date=20260310T161400Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host"
            f"&X-Amz-Security-Token={secrets.PRESIGNED_SECURITY_TOKEN}"
            f"&X-Amz-Signature={secrets.PRESIGNED_SIGNATURE}"
        ),
        referer=f"https://portal.example.com/share?sig={secrets.REFERER_SIGNATURE}",
        signed_in_query=True,
    )


def _report_job(story: Story) -> None:
    """Play usage-report: a finished pod of no run that still shows an address in use elsewhere."""
    story.plain_pod(
        "usage-report-29221440-x9v4t",
        A1,
        "10.20.1.81",
        at("10 02:00:00"),
        namespace="tools",
        app="usage-report",
        image="registry.example.com/tools/report:4",
        end=at("10 02:03:00"),
        owner=("Job", "usage-report-29221440"),
    )


def _resumed_run(story: Story) -> None:
    """Play resume-gpt: stopped before midnight, resumed over it under the same uuid.

    Its first pod has the address that usage-report's finished pod still shows.
    """
    run = story.run(
        "resume-gpt",
        project="nlp",
        created=at("10 22:00:00.800000"),
        started=at("10 22:00:02.000000"),
        finished=at("10 23:20:40.000000"),
        user="grace",
    )
    story.ordinary_conditions(run)
    story.conditions(
        run,
        ("resuming", "ResumeManager", "User requested resume", at("10 23:49:58.500000")),
        ("compiled", "SchedulerPrepare", "Run is compiled", at("10 23:49:59.000000")),
        ("queued", "AgentController", "Run is queued", at("10 23:49:59.200000")),
        ("scheduled", "AgentController", "Operation is scheduled", at("10 23:49:59.400000")),
        ("starting", "OperatorController", "Operation is starting", at("10 23:50:00.000000")),
        ("running", "OperatorController", "Operation is running", at("10 23:50:31.000000")),
        ("succeeded", "OperatorController", "Operation has succeeded", at("11 00:41:00.000000")),
    )
    image = "registry.example.com/ml/gpt:3"
    first = story.job_pod(
        run, A1, "10.20.1.81", at("10 22:00:01"), 4_760, image=image, image_bytes=934_567_890
    )
    second = story.job_pod(
        run,
        A2,
        "10.20.1.182",
        at("10 23:50:01"),
        3_000,
        image=image,
        image_bytes=934_567_890,
        pull_seconds=20,
    )
    for pod, time, octet in ((first, "10 22:02:00", 70), (second, "10 23:52:00", 71)):
        open_bucket(story, pod, MODELS, "us-east-1", time, 20.0, octet)
        story.request(
            pod,
            MODELS,
            "base/gpt-small.bin",
            at(time) + seconds(1),
            sent=31_457_280,
            size=31_457_280,
            milliseconds=14_000,
        )
    story.visit(second, "tracking.example.com", at("10 23:58:00"), 600.0, ticks=(100.0, 400.0))
    _steady_readings(story, second, "10 23:51:40", 20)


def _denied_run(story: Story) -> None:
    """Play denied-upload: a policy drops what the run tries to reach."""
    run = story.run(
        "denied-upload",
        project="vision",
        created=at("11 09:00:00.200000"),
        started=at("11 09:00:02.000000"),
        finished=at("11 09:12:30.000000"),
        status="failed",
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run,
        A1,
        "10.20.1.91",
        at("11 09:00:01"),
        700,
        image=TRAIN_IMAGE,
        dns_proxy=True,
        pull_seconds=9,
        exit_code=1,
    )
    story.ask(pod, "telemetry.example.org", at("11 09:02:00"))
    story.deny(
        pod,
        "192.0.2.66",
        443,
        (at("11 09:02:00.5"), at("11 09:02:07.5")),
        reason="POLICY_DENY",
        policy="deny-telemetry",
        name="telemetry.example.org",
        name_kind="dns_pod",
    )
    story.ask(pod, "collector.example.net", at("11 09:04:00"))
    story.deny(
        pod,
        "192.0.2.67",
        8443,
        (at("11 09:04:00.5"),),
        reason="POLICY_DENIED",
        policy=None,
        name="collector.example.net",
        name_kind="dns_pod",
    )
    story.visit(pod, "github.com", at("11 09:06:00"), 3.0)
    # It tries again until it gives up: five failures are a storm.
    for time in ("09:08:00", "09:08:10", "09:08:30", "09:09:10", "09:10:30"):
        story.request(
            pod,
            CHECKPOINTS,
            "denied-upload/step-001.pt",
            at(f"11 {time}"),
            operation="write",
            method="REST.PUT.OBJECT",
            status=403,
            error="AccessDenied",
            sent=243,
            size=None,
            milliseconds=11,
        )


def _evaluation(story: Story) -> None:
    """Play eval-nightly: its node delivered no Hubble file that day; storage still saw it."""
    run = story.run(
        "eval-nightly",
        project="nlp",
        created=at("11 13:00:00.900000"),
        started=at("11 13:00:02.000000"),
        finished=at("11 13:16:00.000000"),
        user="grace",
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run, A3, "10.20.2.61", at("11 13:00:01"), 900, image=TRAIN_IMAGE, image_bytes=812_345_678
    )
    story.visit(pod, "metrics.example.com", at("11 13:02:00"), 5.0)
    story.request(
        pod,
        MODELS,
        "base/gpt-small.bin",
        at("11 13:03:00"),
        sent=31_457_280,
        size=31_457_280,
        milliseconds=15_000,
    )
    story.request(
        None,
        MODELS,
        "base/gpt-small.bin",
        at("11 13:20:00"),
        sent=31_457_280,
        size=31_457_280,
        milliseconds=15_500,
        address=NAT,
        agent=f"{AGENT} app/{run.uuid}",
        match_kind="app_id",
        run=run,
        late=True,
    )
