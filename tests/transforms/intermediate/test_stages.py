"""What runs, pods and containers did when."""

from collections.abc import Callable, Generator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.transforms.frames import DAY, at
from tests.transforms.intermediate.stage_rows import (
    RUN,
    Rows,
    build,
    build_all,
    container,
    event,
    mark,
    next_day,
    of_files,
    pod_state,
    pull,
    spans,
    status,
)

MAIN = "polyaxon-main"
WHOLE: dict[str, Rows] = {
    "pod_states": [
        pod_state("10:09", sandbox_ready_at=at("10:00:40")),
        pod_state(
            "11:00:10",
            phase="Succeeded",
            sandbox_ended_at=at("11:00:05"),
            last_finished_at=at("11:00:03"),
        ),
    ],
    "container_states": [
        container(
            "init-data", "init", "terminated", "11:00:10",
            started_at=at("10:01:05"), finished_at=at("10:02:00"), exit_code=0, reason="Completed",
        ),
        container(
            MAIN, "main", "terminated", "11:00:10",
            started_at=at("10:04:03"), finished_at=at("10:59:30"), exit_code=0, reason="Completed",
        ),
        container(
            "polyaxon-sidecar", "sidecar", "terminated", "11:00:10",
            started_at=at("10:04:10"), finished_at=at("11:00:03"), exit_code=0, reason="Completed",
        ),
    ],
    "kube_event_states": [
        *pull("init-data", "10:00:41", "10:01:05", "4s", "24s"),
        *pull(MAIN, "10:02:01", "10:04:01", "2m0s", "2m0s"),
        *pull("polyaxon-sidecar", "10:04:04", "10:04:10", "6s", "6s"),
    ],
}  # fmt: skip


SCENARIOS: dict[str, dict[str, Rows]] = {}
Story = Generator[Any, Any, None]


def staged(story: Callable[[], Story]) -> Callable[[dict[str, pl.DataFrame]], None]:
    """Make a test of a story that yields what is staged, or a list of that, and gets its stages.

    All of a module are built together, since a build costs a second whatever it holds.
    """
    running = story()
    wanted = next(running)
    name = story.__name__
    several = wanted if isinstance(wanted, list) else [wanted]
    for number, scenario in enumerate(several):
        SCENARIOS[f"{name} {number}"] = scenario

    def test(told: dict[str, pl.DataFrame]) -> None:
        found = [told[f"{name} {number}"] for number in range(len(several))]
        with pytest.raises(StopIteration):
            running.send(found if isinstance(wanted, list) else found[0])

    test.__name__ = name
    return test


@pytest.fixture(scope="module")
def told() -> dict[str, pl.DataFrame]:
    """Stages of all stories on the test day."""
    return build_all(SCENARIOS)


@staged
def test_a_pod_with_all_its_evidence_is_told_from_creation_to_teardown() -> Story:
    stages = yield WHOLE
    assert spans(stages, "start_basis", "end_basis") == [
        ("scheduling", at("10:00"), at("10:00:30"), "created", "condition"),
        # The pull begins within the second behind the condition: the earlier stage has it.
        ("sandbox", at("10:00:30"), at("10:00:41"), "condition", "event"),
    ]
    assert spans(stages, "step", "end_basis", container="init-data") == [
        ("image_pull", at("10:00:41"), at("10:01:01"), "node_queue", "event"),
        ("image_pull", at("10:01:01"), at("10:01:05"), "pulling", "event"),
        # One second later the main container has its turn.
        ("init", at("10:01:05"), at("10:02:01"), None, "event"),
    ]
    assert spans(stages, "step", "start_basis", "end_basis", container=MAIN) == [
        ("image_pull", at("10:02:01"), at("10:04:01"), "pulling", "event", "event"),
        ("startup", at("10:04:01"), at("10:04:03"), None, "event", "terminated"),
        ("compute", at("10:04:03"), at("10:59:30"), None, "terminated", "terminated"),
        ("upload", at("10:59:30"), at("11:00:03"), None, "terminated", "terminated"),
        ("teardown", at("11:00:03"), at("11:00:05"), None, "terminated", "condition"),
    ]
    assert spans(stages, container="polyaxon-sidecar") == [
        ("image_pull", at("10:04:04"), at("10:04:10")),
        ("compute", at("10:04:10"), at("10:59:30")),
        ("upload", at("10:59:30"), at("11:00:03")),
    ]
    assert stages["run_uuid"].unique().to_list() == [RUN]
    assert stages["attempt"].unique().to_list() == [1]
    image = stages.filter(container=MAIN, stage="image_pull")["resource_id"].to_list()
    assert image == [f"oci://registry.example.com/{MAIN}:1"]


@staged
def test_each_init_container_pulls_and_runs_in_its_turn() -> Story:
    code, data = (
        container(
            f"init-{name}", "init", "terminated", "11:00", ordinal=place, exit_code=0,
            reason="Completed", started_at=at(start), finished_at=at(end),
        )
        for place, (name, start, end) in enumerate(
            (("code", "10:00:45", "10:01:10"), ("data", "10:01:32", "10:02:00"))
        )
    )  # fmt: skip
    present = 'Container image "registry.example.com/init-code:1" already present on machine'
    stages = yield WHOLE | {
        "container_states": [code, data, *WHOLE["container_states"][1:]],
        "kube_event_states": [
            event("Pulled", present, "10:00:44", container="init-code"),
            *pull("init-data", "10:01:11", "10:01:31", "5s", "20s"),
            *pull(MAIN, "10:02:01", "10:04:01", "2m0s", "2m0s"),
        ],
    }
    assert spans(stages, "start_basis", container="init-code") == [
        # It was there: no part of the second to its start is a pull's.
        ("init", at("10:00:44"), at("10:00:45"), "event"),
        ("init", at("10:00:45"), at("10:01:11"), "terminated"),
    ]
    assert spans(stages, "step", container="init-data") == [
        ("image_pull", at("10:01:11"), at("10:01:26"), "node_queue"),
        # A second that the kubelet cut off is the earlier stage's.
        ("image_pull", at("10:01:26"), at("10:01:32"), "pulling"),
        ("init", at("10:01:32"), at("10:02:01"), None),
    ]
    assert spans(stages, container=MAIN)[0] == ("image_pull", at("10:02:01"), at("10:04:01"))


@staged
def test_replicas_have_stages_of_their_own_and_the_run_waits_for_none_of_them() -> Story:
    def worker(letter: str, index: str, created: str, ended: str, address: str) -> Any:
        uid = f"{letter * 8}-0000-0000-0000-00000000000{letter}"
        of_pod = {"pod_uid": uid, "pod_name": f"worker-{index}"}
        state = pod_state(
            "12:00", created_at=at(created), scheduled_at=at(created), start_time_at=at(created),
            addresses=[address], phase="Failed", last_finished_at=at(ended),
            sandbox_ended_at=at(ended), replica_type="worker", replica_index=index, **of_pod,
        )  # fmt: skip
        main = container(
            "pytorch", "main", "terminated", "12:00", started_at=at(created) + timedelta(minutes=1),
            finished_at=at(ended), exit_code=1, reason="Error", **of_pod,
        )  # fmt: skip
        return state, main

    pods = (
        worker("a", "0", "10:00", "11:30", "10.0.0.1"),
        worker("b", "1", "10:00", "10:20", "10.0.0.2"),
        # The second worker is tried again while the first goes on.
        worker("c", "1", "10:25", "11:30", "10.0.0.3"),
    )
    stages = yield [
        {
            "pod_states": [state for state, _ in chosen],
            "container_states": [main for _, main in chosen],
            "run_statuses": [status("created", "09:59", 0), status("running", "10:02", 1)],
        }
        for chosen in ([pods[0]], pods)
    ]
    alone, together = stages
    assert spans(alone, container="pytorch") == [("compute", at("10:01"), at("11:30"))]
    found = together.sort("pod_name", "attempt", "start_at").select(
        pl.col("pod_name").str.slice(0, 8), "attempt", "container", "stage", "start_at", "end_at"
    )
    assert found.rows() == [
        (None, 1, None, "admission", at("09:59"), at("10:00")),
        ("worker-0", 1, None, "unknown", at("10:00"), at("10:01")),
        ("worker-0", 1, "pytorch", "compute", at("10:01"), at("11:30")),
        ("worker-1", 1, None, "unknown", at("10:00"), at("10:01")),
        ("worker-1", 1, "pytorch", "compute", at("10:01"), at("10:20")),
        ("worker-1", 2, None, "unknown", at("10:25"), at("10:26")),
        ("worker-1", 2, "pytorch", "compute", at("10:26"), at("11:30")),
    ]


FORMS = [
    ("Successfully pulled {}", None, None),
    ("Successfully pulled {} in 2m0.5s", None, None),
    ("Successfully pulled {} in 30s (2m0s including waiting)", "pulling", "10:03:31"),
    (
        "Successfully pulled {} in 30s (2m0s including waiting). Image size: 7 bytes.",
        "pulling",
        "10:03:31",
    ),
]


@staged
def test_forms_of_pulled_tell_the_queue_apart_only_where_they_state_it() -> Story:
    image = f'image "registry.example.com/{MAIN}:1"'
    began = event("Pulling", f"Pulling {image}", "10:02:01", container=MAIN)
    events = [
        [began, event("Pulled", message.format(image), "10:04:01", container=MAIN)]
        for message, _, _ in FORMS
    ]
    found = yield [WHOLE | {"kube_event_states": e} for e in events]
    for stages, (_, step, queued) in zip(found, FORMS, strict=True):
        pulls = [s for s in spans(stages, "step", container=MAIN) if s[0] == "image_pull"]
        if queued is None:
            assert pulls == [("image_pull", at("10:02:01"), at("10:04:01"), step)]
        else:
            assert pulls == [
                ("image_pull", at("10:02:01"), at(queued), "node_queue"),
                ("image_pull", at(queued), at("10:04:01"), step),
            ]


@staged
def test_an_image_that_was_present_is_no_stage() -> Story:
    said = f'Container image "registry.example.com/{MAIN}:1" already present on machine'
    forms = [said, f"{said} and can be accessed by the pod"]
    found = yield [
        WHOLE | {"kube_event_states": [event("Pulled", form, "10:04:03", container=MAIN)]}
        for form in forms
    ]
    for stages in found:
        assert "image_pull" not in stages["stage"]
        # Between the init container's end and this nothing is told of: the main container's turn.
        assert spans(stages, container=MAIN)[:2] == [
            ("unknown", at("10:02:00"), at("10:04:03")),
            ("compute", at("10:04:03"), at("10:59:30")),
        ]


@staged
def test_a_pull_that_fails_backs_off_until_its_last_attempt() -> Story:
    image = f'image "registry.example.com/{MAIN}:1"'
    events = [
        event("Pulling", f"Pulling {image}", "10:02:01", "10:03:41", count=4, container=MAIN),
        event(
            "Failed", f"Failed to pull {image}: 429 Too Many Requests", "10:02:06", "10:03:00",
            count=3, container=MAIN,
        ),
        event("BackOff", f"Back-off pulling {image}", "10:02:07", "10:03:20", count=5,
              container=MAIN),
        event(
            "Pulled", f"Successfully pulled {image} in 15s (20s including waiting)", "10:04:01",
            container=MAIN,
        ),
    ]  # fmt: skip
    stages = yield WHOLE | {"kube_event_states": events}
    pulls = [s for s in spans(stages, "step", container=MAIN) if s[0] == "image_pull"]
    assert pulls == [
        ("image_pull", at("10:02:01"), at("10:02:06"), "pulling"),
        ("image_pull", at("10:02:06"), at("10:03:41"), "back_off"),
        ("image_pull", at("10:03:41"), at("10:03:46"), "node_queue"),
        ("image_pull", at("10:03:46"), at("10:04:01"), "pulling"),
    ]
    failed = stages.filter(container=MAIN, step="back_off")
    assert failed["message"].to_list() == ["429 Too Many Requests"]
    assert failed["event_count"].to_list() == [3]


@staged
def test_scheduling_has_the_schedulers_reason_and_volumes_what_failed_to_mount() -> Story:
    said = "0/9 nodes are available: 9 Insufficient nvidia.com/gpu."
    unmounted = 'MountVolume.SetUp failed for volume "data": rpc error'
    events = [
        event("FailedScheduling", said, "10:00:01", "10:00:20", count=3, event_uid="s"),
        event("FailedMount", unmounted, "10:00:35", "10:00:50", count=4),
        event("FailedCreatePodSandBox", "failed to set up network", "10:00:55", "10:01:10",
              count=2),
        *pull(MAIN, "10:01:20", "10:04:01", "2m0s", "2m0s"),
    ]  # fmt: skip
    mains = [c for c in WHOLE["container_states"] if c["container"] == MAIN]
    states = [pod_state("10:09"), WHOLE["pod_states"][1]]
    stages = yield {
        "pod_states": states,
        "container_states": mains,
        "kube_event_states": events,
    }
    assert spans(stages, "reason", "event_count") == [
        ("scheduling", at("10:00"), at("10:00:30"), "FailedScheduling", 3),
        ("volume_mount", at("10:00:30"), at("10:00:50"), "FailedMount", 4),
        # Mounted at some time between the last failure and the first sandbox.
        ("unknown", at("10:00:50"), at("10:00:55"), None, None),
        ("sandbox", at("10:00:55"), at("10:01:20"), "FailedCreatePodSandBox", 2),
    ]
    assert stages.filter(stage="scheduling")["message"].to_list() == [said]


@staged
def test_what_ends_in_the_second_in_which_it_began_waits_to_be_started_again() -> Story:
    crashed = {"last_started_at": at("10:05"), "last_finished_at": at("10:05"),
               "last_exit_code": 1, "last_reason": "Error"}  # fmt: skip
    mains = [
        container(
            MAIN, "main", "terminated", "11:00", restart_count=1, started_at=at("10:05:12"),
            finished_at=at("10:50"), exit_code=0, **crashed,
        ),
    ]  # fmt: skip
    stages = yield {"pod_states": WHOLE["pod_states"], "container_states": mains}
    assert spans(stages, "step", "reason", container=MAIN)[:2] == [
        ("startup", at("10:05"), at("10:05:12"), "back_off", "Error"),
        ("compute", at("10:05:12"), at("10:50"), None, None),
    ]


@staged
def test_devices_that_are_not_prepared_keep_the_sandbox_waiting() -> Story:
    said = "Failed to prepare dynamic resources: NodePrepareResources: rpc error"
    events = [
        event("FailedPrepareDynamicResources", said, "10:00:31", "10:01", count=3),
        *pull(MAIN, "10:01:20", "10:04:01", "2m0s", "2m0s"),
    ]
    mains = [c for c in WHOLE["container_states"] if c["container"] == MAIN]
    stages = yield {
        "pod_states": [pod_state("10:09"), WHOLE["pod_states"][1]],
        "container_states": mains,
        "kube_event_states": events,
    }
    assert spans(stages, "reason", "event_count")[1] == (
        "sandbox", at("10:00:30"), at("10:01:20"), "FailedPrepareDynamicResources", 3,
    )  # fmt: skip


@staged
def test_a_gated_pod_is_not_scheduled_yet() -> Story:
    gate = {
        "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
        "message": "Scheduling is blocked", "transition_at": at("10:00"),
    }  # fmt: skip
    nothing = {"scheduled_at": None, "start_time_at": None, "addresses": None, "node": None}
    states = [
        pod_state("10:20", conditions=[gate], phase="Pending", **nothing),
        pod_state("10:40", scheduled_at=at("10:30")),
    ]
    said = "0/9 nodes are available"
    events = [event("FailedScheduling", said, "10:21")]
    stages = yield {"pod_states": states, "kube_event_states": events}
    assert spans(stages)[:3] == [
        ("admission", at("10:00"), at("10:20")),
        ("unknown", at("10:20"), at("10:21")),
        ("scheduling", at("10:21"), at("10:30")),
    ]


@staged
def test_marks_cut_the_main_containers_time() -> Story:
    marks = [
        mark("package_install", "start", "10:04:10"),
        mark("package_install", "end", "10:04:40"),
        mark("dataset_download", "start", "10:05"),
        mark("dataset_download", "end", "10:15", resource="s3://lake/set", bytes=7),
        # An end that states how long it took.
        mark("model_download", "end", "10:20", elapsed_seconds=120.0),
        mark("first_batch", "point", "10:21"),
        mark("checkpoint_save", "start", "10:30"),
        mark("checkpoint_save", "end", "10:31"),
        mark("checkpoint_upload", "start", "10:31"),
        mark("checkpoint_upload", "end", "10:33"),
    ]
    stages = yield WHOLE | {"stage_marks": marks}
    found = spans(stages, "start_basis", "resource_id", container=MAIN)
    assert found[2:-2] == [
        ("startup", at("10:04:03"), at("10:05"), "terminated", None),
        ("download", at("10:05"), at("10:15"), "mark", "s3://lake/set"),
        ("startup", at("10:15"), at("10:18"), "mark", None),
        ("download", at("10:18"), at("10:20"), "mark", None),
        ("startup", at("10:20"), at("10:21"), "mark", None),
        ("compute", at("10:21"), at("10:31"), "mark", None),
        ("upload", at("10:31"), at("10:33"), "mark", None),
        ("compute", at("10:33"), at("10:59:30"), "mark", None),
    ]


@staged
def test_an_activity_that_never_ended_is_known_to_its_last_mark_only() -> Story:
    marks = [
        mark("hub_download", "start", "10:05"),
        mark("hub_download", "point", "10:07", outcome="retry"),
        mark("training", "start", "10:10"),
    ]
    stages = yield WHOLE | {"stage_marks": marks}
    assert spans(stages, container=MAIN)[2:6] == [
        ("startup", at("10:04:03"), at("10:05")),
        ("download", at("10:05"), at("10:07")),
        ("unknown", at("10:07"), at("10:10")),
        ("compute", at("10:10"), at("10:59:30")),
    ]


@staged
def test_a_session_in_a_jobs_container_is_told_from_what_the_job_itself_does() -> Story:
    marks = [mark("terminal_session", "end", "10:20", elapsed_seconds=300.0)]
    own = [
        mark("dataset_download", "start", "10:14"),
        mark("dataset_download", "end", "10:16"),
        mark("model_download", "start", "10:17"),
        mark("model_download", "end", "10:18"),
    ]
    alone, beside = yield [WHOLE | {"stage_marks": told} for told in (marks, [*marks, *own])]
    assert spans(alone, container=MAIN)[2:5] == [
        ("compute", at("10:04:03"), at("10:15")),
        ("interactive", at("10:15"), at("10:20")),
        ("compute", at("10:20"), at("10:59:30")),
    ]
    assert spans(beside, container=MAIN)[3:8] == [
        ("download", at("10:14"), at("10:16")),
        ("interactive", at("10:16"), at("10:17")),
        ("download", at("10:17"), at("10:18")),
        ("interactive", at("10:18"), at("10:20")),
        ("compute", at("10:20"), at("10:59:30")),
    ]


@staged
def test_a_service_is_interactive_whatever_it_loads() -> Story:
    service = {"cluster": "alder", "run_uuid": RUN, "kind": "service", "view": "detail"}
    stages = yield WHOLE | {"run_versions": [service]}
    assert spans(stages, container=MAIN)[2] == ("interactive", at("10:04:03"), at("10:59:30"))


@staged
def test_a_container_that_is_started_again_waits_in_startup() -> Story:
    mains = [
        container(
            MAIN, "main", "running", "10:20", restart_count=1, started_at=at("10:10"),
            last_started_at=at("10:04:03"), last_finished_at=at("10:08"), last_exit_code=1,
            last_reason="Error",
        ),
        container(
            MAIN, "main", "terminated", "11:00", restart_count=1, started_at=at("10:10"),
            finished_at=at("10:59:30"), exit_code=137, reason="OOMKilled",
        ),
    ]  # fmt: skip
    stages = yield WHOLE | {"container_states": mains}
    assert spans(stages, "step", "reason", "restart_count", container=MAIN)[1:4] == [
        ("startup", at("10:04:01"), at("10:04:03"), None, None, 0),
        ("compute", at("10:04:03"), at("10:08"), None, "Error", 0),
        ("startup", at("10:08"), at("10:10"), "back_off", "Error", 1),
    ]
    assert spans(stages, "reason", container=MAIN)[4] == (
        "compute", at("10:10"), at("10:59:30"), "OOMKilled",
    )  # fmt: skip


@staged
def test_the_end_of_a_pod_that_vanished_is_a_range() -> Story:
    states = [pod_state("10:09", sandbox_ready_at=at("10:00:40"))]
    mains = [container(MAIN, "main", "running", "10:09", started_at=at("10:04:03"))]
    stages = yield {"pod_states": states, "container_states": mains}
    (last,) = spans(stages, "end_basis", "end_earliest_at", "end_latest_at", container=MAIN)
    assert last == ("compute", at("10:04:03"), at("10:09"), "last_seen", at("10:09"), None)


DELETED = {
    "deletion_at": at("10:57"), "is_deleted": True, "observed_at": at("10:57"),
    "watch_event": "DELETED",
}  # fmt: skip
KILLED = event("Killing", "Stopping container", "10:56", container=MAIN)
PROOFS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "10:09", "last_seen"),
    ({"run_statuses": [status("succeeded", "10:58", 5)]}, "10:58", "polyaxon"),
    ({"pod_states": [DELETED]}, "10:57", "deletion"),
    (
        {"kube_event_states": [KILLED], "run_statuses": [status("stopped", "10:58", 5)]},
        "10:56",
        "event",
    ),
]


@staged
def test_the_best_proof_of_an_end_counts() -> Story:
    seen = pod_state("10:09", sandbox_ready_at=at("10:00:40"))
    mains = [container(MAIN, "main", "running", "10:09", started_at=at("10:04:03"))]
    found = yield [
        proof
        | {
            "pod_states": [seen, *(seen | change for change in proof.get("pod_states", []))],
            "container_states": mains,
        }
        for proof, _, _ in PROOFS
    ]
    for stages, (_, end, basis) in zip(found, PROOFS, strict=True):
        ends = [(s[2], s[3]) for s in spans(stages, "end_basis", container=MAIN)]
        assert ends[0] == (at(end), basis)


SUBMITTED = [
    status("created", "09:50", 0),
    status("compiled", "09:50:01", 1),
    status("queued", "09:50:02", 2),
    status("scheduled", "09:58", 3),
    # The operator's times come late, and `running` proves nothing where pods are known.
    status("starting", "10:00:02", 4),
    status("warning", "10:03", 5),
    status("running", "10:05", 6),
    status("succeeded", "11:00:07", 7),
]


def before_pods(stages: pl.DataFrame) -> list[tuple[Any, ...]]:
    return (
        stages.filter(pl.col("pod_uid").is_null())
        .sort("start_at")
        .select("stage", "start_at", "end_at", "attempt", "end_basis")
        .rows()
    )


@staged
def test_a_run_waits_for_admission_and_in_its_queue_before_its_pod() -> Story:
    stages = yield WHOLE | {"run_statuses": SUBMITTED}
    assert before_pods(stages) == [
        ("admission", at("09:50"), at("09:50:01"), 1, "polyaxon"),
        ("admission", at("09:50:01"), at("09:50:02"), 1, "polyaxon"),
        ("queued", at("09:50:02"), at("09:58"), 1, "polyaxon"),
        ("admission", at("09:58"), at("10:00"), 1, "created"),
    ]


@staged
def test_a_resumed_run_is_submitted_again_and_a_retry_is_not() -> Story:
    second = "bbbbbbbb-0000-0000-0000-00000000000b"
    later = {"pod_uid": second, "pod_name": "train-2", "addresses": ["10.0.0.2"]}
    states = [
        *WHOLE["pod_states"],
        pod_state("12:30", created_at=at("12:05"), scheduled_at=at("12:05:02"),
                  start_time_at=at("12:05:02"), **later),
    ]  # fmt: skip
    resumed = [*SUBMITTED, status("resuming", "12:00", 8), status("queued", "12:01", 9)]
    twice = WHOLE | {"pod_states": states}
    stages, retried = yield [
        twice | {"run_statuses": resumed},
        twice | {"run_statuses": SUBMITTED},
    ]
    assert before_pods(stages)[4:] == [
        ("admission", at("12:00"), at("12:01"), 2, "polyaxon"),
        ("queued", at("12:01"), at("12:05"), 2, "created"),
    ]
    (gap,) = before_pods(retried)[4:]
    assert gap == ("unknown", at("11:00:05"), at("12:05"), 2, "created")


@pytest.mark.slow
def test_a_run_without_a_known_pod_is_the_fleets_and_has_polyaxons_word() -> None:
    stages = build(cluster="fleet", run_statuses=SUBMITTED)
    assert before_pods(stages)[2:] == [
        ("queued", at("09:50:02"), at("09:58"), None, "polyaxon"),
        ("admission", at("09:58"), at("10:00:02"), None, "polyaxon"),
        ("admission", at("10:00:02"), at("10:05"), None, "polyaxon"),
        ("compute", at("10:05"), at("11:00:07"), None, "polyaxon"),
    ]
    assert stages["cluster"].null_count() == stages.height
    # A cluster has nothing to say of it.
    assert build(run_statuses=SUBMITTED).is_empty()


def test_what_crosses_midnight_has_one_id_and_says_nothing_later() -> None:
    states = [
        pod_state("23:00", sandbox_ready_at=at("10:00:40")),
        pod_state("01:10", days=1, phase="Failed", last_finished_at=at("01:00", days=1)),
    ]
    mains = [
        container(MAIN, "main", "running", "23:00", started_at=at("10:04:03")),
        container(
            MAIN, "main", "terminated", "01:10", days=1, started_at=at("10:04:03"),
            finished_at=at("01:00", days=1), exit_code=1, reason="Error",
        ),
    ]  # fmt: skip
    first = build(pod_states=states, container_states=mains).filter(stage="compute")
    second = build(next_day(), pod_states=states, container_states=mains).filter(stage="compute")
    shown = ("start_at", "end_at", "end_basis", "reason")
    assert first.select(shown).rows() == [(at("10:04:03"), None, "open", None)]
    assert second.select(shown).rows() == [
        (at("10:04:03"), at("01:00", days=1), "terminated", "Error")
    ]
    assert first["stage_id"].to_list() == second["stage_id"].to_list()


@pytest.mark.slow
def test_what_the_look_back_no_longer_reaches_is_as_the_day_before_said() -> None:
    started = at("10:04:03", days=-5)
    states = [pod_state("23:30", created_at=at("10:00", days=-5), sandbox_ready_at=started)]
    mains = [container(MAIN, "main", "running", "23:30", started_at=started)]
    downloaded = {
        "cluster": "alder", "run_uuid": RUN, "pod_uid": states[0]["pod_uid"], "container": MAIN,
        "container_role": "main", "stage": "download", "start_at": at("10:09", days=-5),
        "start_earliest_at": at("10:09", days=-5), "start_latest_at": at("10:09", days=-5),
        "start_basis": "mark", "end_basis": "open", "date": DAY - timedelta(days=1),
    }  # fmt: skip
    stages = build(pod_states=states, container_states=mains, before=[downloaded])
    assert spans(stages, "start_basis", container=MAIN) == [
        ("download", at("10:09", days=-5), at("23:30"), "mark")
    ]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.samples
def test_real_pods_of_a_small_cluster(samples: Path) -> None:
    stages = of_files(
        samples / "kubernetes",
        "k3s_bundle_2025_pods_default.json",
        "k3s_bundle_2025_events_default.json",
        day=date(2025, 9, 11),
    )

    def of(pod: str, name: str | None = None) -> list[tuple[Any, ...]]:
        chosen = stages.filter(pl.col("pod_name").str.starts_with(pod))
        found = spans(chosen, "end_basis", container=name)
        return [
            (s, a.strftime("%T.%f")[:12], b and b.strftime("%T.%f")[:12], basis)
            for s, a, b, basis in found
        ]

    # Bound in the second of its creation; the condition says 20:50:23, the container ran at 22.
    assert of("cpu-intensive-app-7bcfc5d944-9479r") == []
    assert of("cpu-intensive-app-7bcfc5d944-9479r", "cpu-burner") == [
        ("image_pull", "20:50:21.000", "20:50:22.000", "event"),
        ("compute", "20:50:22.000", None, "open"),
    ]
    # No node has a processor for it, as its condition says.
    assert of("cpu-intensive-app-7bcfc5d944-hw2vc") == [
        ("scheduling", "20:50:21.000", None, "open")
    ]
    waiting = stages.filter(pl.col("pod_name") == "cpu-intensive-app-7bcfc5d944-hw2vc")
    assert waiting["message"][0].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert of("cpu-intensive-app-7bcfc5d944-n79rt") == [
        ("scheduling", "20:50:21.000", None, "open")
    ]
    # Pulled by 20:50:19, started at 20:50:20: the second is the earlier stage's.
    for name in ("4vnq4", "xsvn8"):
        assert of(f"memory-hungry-app-59c695fbfb-{name}", "memory-hog") == [
            ("image_pull", "20:50:18.000", "20:50:20.000", "terminated"),
            ("compute", "20:50:20.000", None, "open"),
        ]
    assert stages["pod_name"].n_unique() == 6
    # Ends again and again: of six runs the states keep one, and the pulls of three more are known.
    assert of("backend-api") == [("sandbox", "20:50:19.000", "20:50:20.000", "condition")]
    assert of("backend-api", "api-server") == [
        ("unknown", "20:50:20.000", "20:50:21.692", "event"),
        ("image_pull", "20:50:21.692", "20:50:22.000", "event"),
        ("unknown", "20:50:22.000", "20:50:39.615", "event"),
        ("image_pull", "20:50:39.615", "20:50:40.000", "event"),
        ("unknown", "20:50:40.000", "20:51:12.675", "event"),
        ("image_pull", "20:51:12.675", "20:51:13.000", "event"),
        ("unknown", "20:51:13.000", "20:51:55.675", "event"),
        ("image_pull", "20:51:55.675", "20:51:56.000", "event"),
        ("unknown", "20:51:56.000", "20:53:26.000", "event"),
        ("image_pull", "20:53:26.000", "20:53:27.000", "event"),
        ("startup", "20:53:27.000", None, "open"),
    ]
    assert stages.filter(stage="startup")["reason"].to_list() == ["CrashLoopBackOff"]


@pytest.mark.samples
@pytest.mark.slow
def test_a_real_image_that_no_registry_has_and_a_pod_that_no_node_can_take(samples: Path) -> None:
    stages = of_files(
        samples / "kubernetes",
        "troubleshoot_pods_message-image-pull-fail.json",
        "troubleshoot_events_message-image-pull-fail.json",
        "troubleshoot_pods_message-oomkill-pod.json",
        "troubleshoot_pods_message-pending-pod-resources.json",
        day=date(2023, 7, 11),
    )
    shown = stages.select("pod_name", "stage", "step", "start_at", "end_at", "event_count").rows()
    name, job, pending = (
        "no-image-deployment-849c4c4958-rxqmt",
        "oom-kill-job3-gbb89",
        "pending-pod-resources-5fddcf7688-djjfc",
    )
    assert sorted(shown, key=lambda s: (s[0], s[3])) == [
        (name, "sandbox", None, moment("2023-07-11T05:34:44"), moment("2023-07-11T05:34:45"), None),
        (name, "image_pull", "pulling", moment("2023-07-11T05:34:45"),
         moment("2023-07-11T05:34:46"), 4),
        (name, "image_pull", "back_off", moment("2023-07-11T05:34:46"), None, 4),
        # Ended in the second in which it started.
        (job, "image_pull", None, moment("2023-07-11T04:43:19"), moment("2023-07-11T04:43:25"),
         None),
        (pending, "scheduling", None, moment("2023-07-11T04:20:29"), None, 3),
    ]  # fmt: skip
    (reason,) = stages.filter(stage="scheduling")["message"].unique()
    assert reason.startswith("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")


@pytest.mark.samples
def test_a_real_pod_that_no_node_matches_waits_with_the_words_of_its_condition(
    samples: Path,
) -> None:
    stages = of_files(
        samples / "kubernetes", "troubleshoot_pods_message-pending-node-affinity.json",
        day=date(2023, 7, 7),
    )  # fmt: skip
    assert stages.select("stage", "start_at", "end_at", "reason").rows() == [
        ("scheduling", moment("2023-07-07T05:22:09"), None, "FailedScheduling")
    ]
    said = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    assert stages["message"][0].startswith(said)


@pytest.mark.samples
@pytest.mark.slow
def test_a_real_volume_that_never_mounts_over_two_days(samples: Path) -> None:
    files = (
        "troubleshoot_pods_message-container-creating-failed-mount.json",
        "troubleshoot_events_message-container-creating-failed-mount.json",
    )
    first = of_files(samples / "kubernetes", *files, day=date(2023, 7, 9))
    second = of_files(samples / "kubernetes", *files, day=date(2023, 7, 10))
    shown = ("stage", "start_at", "end_at", "reason", "event_count")
    start = moment("2023-07-09T23:53:09")
    # Both series of events began on the first day; how often by its end nobody says.
    assert first.select(shown).rows() == [("volume_mount", start, None, "FailedMount", 2)]
    assert second.filter(stage="volume_mount").select(shown).rows() == [
        ("volume_mount", start, moment("2023-07-10T05:43:47"), "FailedMount", 178 + 109)
    ]
    assert first["stage_id"][0] == second.filter(stage="volume_mount")["stage_id"][0]
