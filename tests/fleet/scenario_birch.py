"""What the runs of cluster birch do: an older cluster, whose network volumes the cloud logs."""

from collections.abc import Sequence

from tests.fleet.clock import at, seconds
from tests.fleet.names import bucket_answers, bucket_host
from tests.fleet.places import B1, B2, DATASETS, LEXICON, MODELS
from tests.fleet.story import Story
from tests.fleet.world import Connection, Declaration, FlowRecord, Node, Pod

IMAGE = "registry.example.com/speech/asr:5"
CLIP_BYTES = 8_388_608
VOICE_BYTES = 62_914_560
INIT_LEXICON = (
    "polyaxon initializer path --connection-name=datasets-s3 --connection-kind=s3 "
    f"--path-from={LEXICON} --path-to=/plx-context/artifacts/lexicon"
)
LABEL_SERVICE = ("speech", "label-service")
LABEL_ADDRESS = "10.96.0.20"


def play(story: Story) -> None:
    """Play all runs of the cluster in the order of their submission."""
    _scratch_pods(story)
    service = _label_service(story)
    _asr_train(story)
    _asr_batch(story)
    _asr_eval(story, service)
    _tts_finetune(story)
    _node_traffic(story)


def volumes(
    story: Story,
    connection: Connection,
    pod: Pod,
    pieces: Sequence[tuple[float, float, int, int]],
) -> None:
    """Log a connection's bytes as the cloud does: (offset, seconds, received, sent) per record."""
    base = connection.start.replace(microsecond=0)
    for offset, lasts, received, sent in pieces:
        for direction, count in (("receive", received), ("transmit", sent)):
            story.fleet.flow_records.append(
                FlowRecord(
                    node=pod.node,
                    pod=pod,
                    local_address=connection.client_address,
                    peer_address=connection.server_address,
                    local_port=connection.client_port,
                    peer_port=connection.server_port,
                    transport=connection.transport,
                    direction=direction,
                    start=base + seconds(offset),
                    end=base + seconds(offset + lasts),
                    packets=max(1, count // 1_300),
                    bytes=count,
                )
            )


def _scratch_pods(story: Story) -> None:
    """Play scratch-1 and scratch-2, pods of no run: nobody saw the first one end."""
    for name, created, watched_end in (
        ("scratch-1", "10 03:00:00", None),
        ("scratch-2", "10 04:00:00", "10 04:20:00"),
    ):
        pod = story.plain_pod(
            name,
            B1,
            "10.30.1.71",
            at(created),
            namespace="tools",
            app="scratch",
            image="registry.example.com/tools/shell:1",
            owner=("", ""),
            watched=True,
            end=None if watched_end is None else at(watched_end),
            deleted=None if watched_end is None else at(watched_end) + seconds(4),
        )
        visit = story.visit(pod, "pypi.example.org", at(created) + seconds(120), 3.0)
        volumes(story, visit, pod, [(0, 3, 20_011, 1_501)])


def _label_service(story: Story) -> Pod:
    """Play label-service: a service with an IPv4 and an IPv6 address, alive at the end."""
    run = story.run(
        "label-service",
        project="speech",
        created=at("10 05:00:00.100000"),
        started=at("10 05:00:02.000000"),
        kind="service",
        runtime="service",
        status="running",
        user="lin",
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run,
        B2,
        ("10.30.2.40", "2001:db8:30:2::40"),
        at("10 05:00:01"),
        0,
        image=IMAGE,
        image_bytes=612_000_111,
        name=f"plx-operation-{run.uuid}-7c6d5b4f9-q8r2t",
        owner_kind="ReplicaSet",
        namespace="speech",
        stays_open=True,
        watched=False,
        gpus=0,
    )
    story.visit(pod, "v6.example.com", at("10 05:30:00"), 5.0, family="AAAA")
    return pod


def _asr_train(story: Story) -> None:
    """Play asr-train: a CNAME chain of three names, and a dataset of its own region."""
    run = story.run(
        "asr-train",
        project="speech",
        created=at("10 06:00:00.600000"),
        started=at("10 06:00:02.000000"),
        finished=at("10 06:36:00.000000"),
        user="lin",
        inputs={"epochs": 3},
    )
    story.ordinary_conditions(run)
    run.declares.append(Declaration(LEXICON, "read"))
    pod = story.job_pod(
        run,
        B1,
        "10.30.1.31",
        at("10 06:00:01"),
        2_100,
        image=IMAGE,
        image_bytes=612_000_111,
        namespace="speech",
        init_arguments=[INIT_LEXICON],
    )
    voices = story.visit(pod, "voices.example.org", at("10 06:02:00"), 30.0, ticks=(12.0,))
    volumes(story, voices, pod, [(0, 30, 4_194_307, 65_537)])
    host = bucket_host(DATASETS, "eu-west-1")
    bucket = story.visit(
        pod, host, at("10 06:05:00"), 420.0, answers=bucket_answers(host, 110), ticks=(200.0,)
    )
    volumes(
        story,
        bucket,
        pod,
        [
            (0, 60, 17_000_003, 30_011),
            (60, 60, 9_000_001, 20_003),
            (240, 180, 700_007, 10_009),
        ],
    )
    for index in range(3):
        story.request(
            pod,
            DATASETS,
            f"common-speech/clips-{index:02d}.tar",
            at(f"10 06:05:0{index + 1}"),
            sent=CLIP_BYTES,
            size=CLIP_BYTES,
            milliseconds=9_000,
        )
    story.request(
        pod,
        DATASETS,
        "common-speech/lexicon/words.txt",
        at("10 06:06:00"),
        sent=524_299,
        size=524_299,
        milliseconds=80,
    )


def _asr_batch(story: Story) -> None:
    """Play asr-batch: it gets asr-train's address in the minute in which that pod ends."""
    run = story.run(
        "asr-batch",
        project="speech",
        created=at("10 06:35:38.000000"),
        started=at("10 06:35:40.000000"),
        finished=at("10 06:50:50.000000"),
        user="lin",
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run,
        B1,
        "10.30.1.31",
        at("10 06:35:52"),
        840,
        image=IMAGE,
        namespace="speech",
        pull_seconds=9,
    )
    visit = story.visit(pod, "mirror.example.com", at("10 06:37:00"), 15.0)
    volumes(story, visit, pod, [(0, 15, 900_001, 4_001)])


def _asr_eval(story: Story, service: Pod) -> None:
    """Play asr-eval: two names on one address, and a call through a service address."""
    run = story.run(
        "asr-eval",
        project="speech",
        created=at("10 07:00:00.350000"),
        started=at("10 07:00:02.000000"),
        finished=at("10 07:26:00.000000"),
        user="lin",
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run,
        B2,
        "10.30.2.51",
        at("10 07:00:01"),
        1_500,
        image=IMAGE,
        namespace="speech",
        pull_seconds=9,
    )
    story.ask(pod, "cdn-a.example.com", at("10 07:02:00"))
    story.ask(pod, "cdn-b.example.com", at("10 07:02:01"))
    shared = story.connect(pod, None, "203.0.113.80", 443, at("10 07:02:02"), 20.0)
    shared.name_kind = "ambiguous"
    shared.candidate_names = ("cdn-a.example.com", "cdn-b.example.com")
    volumes(story, shared, pod, [(0, 20, 2_000_003, 9_001)])
    call = story.connect(pod, None, LABEL_ADDRESS, 8080, at("10 07:10:00"), 6.0)
    call.service = LABEL_SERVICE
    call.name = None
    call.name_kind = "kube_service"
    assert service.run is not None


def _tts_finetune(story: Story) -> None:
    """Play tts-finetune: one model of another region read twice, clips that asr-train had read."""
    run = story.run(
        "tts-finetune",
        project="speech",
        created=at("11 10:00:00.250000"),
        started=at("11 10:00:02.000000"),
        finished=at("11 10:31:00.000000"),
        user="lin",
    )
    story.ordinary_conditions(run)
    pod = story.job_pod(
        run,
        B1,
        "10.30.1.61",
        at("11 10:00:01"),
        1_800,
        image=IMAGE,
        namespace="speech",
        pull_seconds=9,
    )
    host = bucket_host(MODELS, "us-east-1")
    for time, octet in (("11 10:02:00", 120), ("11 10:14:00", 121)):
        visit = story.visit(pod, host, at(time), 70.0, answers=bucket_answers(host, octet))
        volumes(story, visit, pod, [(0, 70, 63_100_007, 40_009)])
        story.request(
            pod,
            MODELS,
            "base/tts-voice.bin",
            at(time) + seconds(1),
            sent=VOICE_BYTES,
            size=VOICE_BYTES,
            milliseconds=61_000,
        )
    near = bucket_host(DATASETS, "eu-west-1")
    clips = story.visit(pod, near, at("11 10:20:00"), 20.0, answers=bucket_answers(near, 122))
    volumes(story, clips, pod, [(0, 20, 8_400_011, 7_001)])
    story.request(
        pod,
        DATASETS,
        "common-speech/clips-00.tar",
        at("11 10:20:01"),
        sent=CLIP_BYTES,
        size=CLIP_BYTES,
        milliseconds=4_000,
    )


def _node_traffic(story: Story) -> None:
    """Log what the nodes themselves moved: image layers from a registry, no pod's traffic."""
    plan: tuple[tuple[Node, str, int], ...] = ((B1, "11 10:00:12", 88_000_003),)
    for node, time, count in plan:
        story.fleet.flow_records.append(
            FlowRecord(
                node=node,
                pod=None,
                local_address=node.address,
                peer_address="192.0.2.150",
                local_port=41_874,
                peer_port=443,
                transport="TCP",
                direction="receive",
                start=at(time),
                end=at(time) + seconds(40),
                packets=61_001,
                bytes=count,
            )
        )
