"""Where the time went."""

from datetime import timedelta
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY
from tests.transforms.marts.wait_oracle import Attempt, Pod, Stage, paint
from tests.transforms.marts.wait_rows import build, moment, seconds_of, tables_of, uid

HOUR = 3_600


def drawn_pod(random: Random, number: int, base: int) -> Pod:
    """A pod of some minutes in which many things are tried at once."""
    pod = Pod(number, random.choice((0, 1, 8)))
    edges = [base]
    for _ in range(8):
        edges.append(edges[-1] + random.randint(20, 150))
    names = [
        (None, "scheduling"), (None, "sandbox"), ("init", "init"), ("main", "image_pull"),
        ("main", "startup"), ("main", "download"), ("main", "compute"), ("main", "upload"),
    ]  # fmt: skip
    pod.stages = [
        Stage(container, stage, edges[place], edges[place + 1])
        for place, (container, stage) in enumerate(names)
    ]
    for _ in range(random.randint(5, 40)):
        pod.attempts.append(drawn_attempt(random, edges[0], edges[-1]))
    return pod


def drawn_attempt(random: Random, start: int, end: int) -> Attempt:
    begin = random.randint(start, end - 1)
    last = begin + random.choice((0, 1, 1, 3, 10, 60))
    kind = random.choice(("request", "request", "connection", "lookup"))
    if kind == "request":
        outcome = random.choice(("ok", "ok", "ok", "denied", "credentials", "throttled", "failed"))
        return Attempt(kind, random.choice(("s3://a", "s3://b")), begin, last, outcome)
    if kind == "lookup":
        outcome = random.choice(("ok", "ok", "failed"))
        return Attempt(kind, f"dns://{random.choice('xy')}.example.com", begin, last, outcome)
    outcome = random.choice(("ok", "ok", "denied", "failed"))
    host = random.choice("pq")
    events = {begin, last}
    if outcome == "ok":
        events |= {last + random.choice((1, 4, 5, 6, 30)) for _ in range(3)}
    gate = outcome == "ok" and random.random() < 0.2
    name = f"dns://{'gate' if gate else host}.example.com:443"
    return Attempt(kind, name, begin, last, outcome, tuple(sorted(events)), is_gate=gate)


def check(pods: list[Pod]) -> pl.DataFrame:
    table = build(**tables_of(pods))
    for pod in pods:
        assert seconds_of(table, pod) == paint(pod, 0, 86_400)
    return table


def check_tiles(table: pl.DataFrame, pods: list[Pod]) -> None:
    """Parts of a stage follow each other from its start to its end; the GPUs are counted once."""
    for pod in pods:
        rows = table.filter(pl.col("pod_uid") == uid(pod))
        for place, stage in enumerate(pod.stages):
            parts = rows.filter(stage_id=f"{pod.number}/{place}").sort("start_at")
            ends = [*parts["end_at"].to_list(), None]
            assert parts["start_at"].to_list() == [moment(stage.start), *ends[:-2]]
            assert ends[-2] == moment(stage.end)
            assert parts["duration_us"].sum() == (stage.end - stage.start) * 1_000_000
        bound = pod.stages[1].start
        assert rows["gpu_us"].sum() == pod.gpus * (pod.stages[-1].end - bound) * 1_000_000


@settings(max_examples=1, deadline=None)
@given(st.integers(0, 2**32))
def test_each_second_has_the_cause_that_goes_before_the_others(seed: int) -> None:
    random = Random(seed)
    pods = [drawn_pod(random, number, random.randint(0, 20) * HOUR) for number in range(25)]
    check_tiles(check(pods), pods)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32))
def test_each_second_has_its_cause_in_many_more_days(seed: int) -> None:
    test_each_second_has_the_cause_that_goes_before_the_others.hypothesis.inner_test(seed)


def across_midnight(random: Random, number: int) -> Pod:
    """A pod that goes on trying the same few things from before to behind midnight."""
    pod = Pod(number, 2)
    start, middle, end = 85_000, 86_400 + random.randint(-600, 600), 87_800
    pod.stages = [
        Stage(None, "sandbox", start - 60, start),
        Stage("init", "init", start, middle),
        Stage("main", "download", middle, end),
    ]
    for kind, resource in (("request", "s3://a"), ("lookup", "dns://x.example.com"),
                           ("connection", "dns://p.example.com:443")):  # fmt: skip
        now = start
        while now < end:
            outcomes = {
                "request": ("ok", "denied", "credentials", "throttled", "failed"),
                "lookup": ("ok", "failed"),
                "connection": ("ok", "denied", "failed"),
            }[kind]
            last = now + random.randint(1, 90)
            if kind == "lookup" and now < 86_400 <= last:
                # A log tells of a look-up when it is answered, which is another day.
                now = 86_400
                continue
            outcome = random.choice(outcomes) if now < end - 300 else "ok"
            events = (now, last, last + 3, last + 20)[: 4 if outcome == "ok" else 2]
            pod.attempts.append(Attempt(kind, resource, now, last, outcome, events))
            now = last + random.randint(1, 100)
    return pod


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 2**32))
def test_two_days_are_one_pass_cut_at_midnight(seed: int) -> None:
    random = Random(seed)
    pods = [across_midnight(random, number) for number in range(12)]
    shift = 6 * HOUR
    whole = build(**tables_of([earlier(pod, shift) for pod in pods]))
    next_day = DAY + timedelta(days=1)
    first = build(**tables_of(pods))
    second = build(next_day, **tables_of(pods, (DAY, next_day)))
    assert first["end_at"].max() == moment(86_400) == second["start_at"].min()
    for pod in pods:
        one = {
            (container, t + shift): told for (container, t), told in seconds_of(whole, pod).items()
        }
        assert seconds_of(first, pod) | seconds_of(second, pod) == one
    for column in ("duration_us", "gpu_us"):
        assert first[column].sum() + second[column].sum() == whole[column].sum()


def test_what_is_asked_for_shortly_before_midnight_connects_up_to_it() -> None:
    host = "dns://p.example.com:443"
    late, early = Pod(1, 0), Pod(2, 0)
    late.attempts = [Attempt("connection", host, 86_393, 86_419, "ok", (86_393, 86_419, 86_430))]
    early.attempts = [Attempt("connection", host, 86_050, 87_000, "ok", (86_050, 87_000))]
    for pod in (late, early):
        pod.stages = [Stage("init", "init", 86_000, 87_500)]
    shown = build(**tables_of([late, early])).sort("pod_uid", "start_at")
    assert shown.select("cause", "seconds", "resource_id").rows() == [
        ("unexplained", 393.0, None),
        ("connect", 7.0, host),
        ("unexplained", 400.0, None),
    ]


def earlier(pod: Pod, seconds: int) -> Pod:
    moved = Pod(pod.number, pod.gpus)
    moved.stages = [
        Stage(s.container, s.stage, s.start - seconds, s.end - seconds) for s in pod.stages
    ]
    moved.attempts = [
        Attempt(
            a.kind, a.resource, a.begin - seconds, a.end - seconds, a.outcome,
            tuple(e - seconds for e in a.events), a.is_gate,
        )
        for a in pod.attempts
    ]  # fmt: skip
    return moved


def test_the_parts_carry_their_evidence_bytes_and_gpus_once() -> None:
    pod = Pod(1, 2)
    pod.stages = [
        Stage(None, "scheduling", 0, 60),
        Stage(None, "sandbox", 60, 65),
        Stage("init", "init", 65, 185),
        Stage("main", "compute", 185, 500),
        Stage("main", "upload", 500, 530),
        Stage("main", "teardown", 530, 533),
        # Beside the main container: no GPU stands to its account.
        Stage("sidecar", "compute", 190, 500),
        Stage("sidecar", "upload", 500, 530),
    ]
    pod.attempts = [
        Attempt("request", "s3://a", 70, 90, "ok"),
        Attempt("request", "s3://a", 100, 101, "throttled"),
        Attempt("request", "s3://a", 110, 111, "ok"),
        # Traffic beside computing is no wait.
        Attempt("request", "s3://a", 300, 320, "ok"),
    ]
    table = build(**tables_of([pod])).sort("container", "start_at", nulls_last=False)
    shown = table.select(
        "container", "cause", "seconds", "gpu_seconds", "transferred_bytes", "first_error"
    ).rows()
    assert shown == [
        (None, "placement", 60.0, 0.0, None, None),
        (None, "sandbox", 5.0, 10.0, None, None),
        ("init", "unexplained", 5.0, 10.0, None, None),
        ("init", "transfer", 20.0, 40.0, 10, None),
        ("init", "unexplained", 10.0, 20.0, None, None),
        ("init", "transfer", 1.0, 2.0, None, None),
        ("init", "throttled", 9.0, 18.0, None, "503"),
        ("init", "transfer", 1.0, 2.0, 10, None),
        ("init", "unexplained", 74.0, 148.0, None, None),
        ("main", "working", 315.0, 630.0, None, None),
        ("main", "upload", 30.0, 60.0, None, None),
        ("main", "working", 3.0, 6.0, None, None),
        ("sidecar", "working", 310.0, 0.0, None, None),
        ("sidecar", "upload", 30.0, 0.0, None, None),
    ]
    # 10 bytes in 20 s, a refusal, and 10 bytes in 1 s.
    assert table.filter(cause="transfer")["bytes_per_second"].to_list() == [0.5, None, 10.0]
    assert table.filter(pl.col("cause") != "transfer")["bytes_per_second"].null_count() == 11
    evidence = table.filter(cause="throttled").select(
        "resource_id", "match_kind", "container_kind", "sources", "evidence_ids"
    )
    assert evidence.rows() == [
        ("s3://a", "address_window", "none", ["object_requests"], ["1/s3://a"])
    ]
    assert table.filter(cause="placement")["evidence_ids"].to_list() == [["1/0"]]


def test_gates_authenticate_and_what_a_log_tells_of_is_not_told_twice() -> None:
    pod = Pod(1, 1)
    pod.stages = [Stage("init", "init", 0, 100)]
    pod.attempts = [
        Attempt("connection", "dns://auth.example.com:443", 10, 11, "ok", (10, 11, 14)),
        Attempt("connection", "dns://data.s3.example.com:443", 20, 21, "ok", (20, 21, 25, 30)),
        # Idle for longer than 5 s: the connection is open, and no wait.
        Attempt("connection", "dns://hub.example.com:443", 40, 41, "ok", (40, 41, 44, 50, 53)),
    ]
    shared = {
        "cluster": "alder", "operation": "connect", "date": DAY, "pod_uids": [], "sources": [],
        "run_uuid": f"{1:032x}", "match_kind_counts": [], "name_kind_counts": [],
    }  # fmt: skip
    kinds = [
        shared | {"resource_id": "dns://auth.example.com:443", "endpoint_kind": "auth"},
        shared | {"resource_id": "dns://data.s3.example.com:443", "accounted_in": "s3://data"},
    ]
    tables = tables_of([pod]) | {"run_dependency_days": kinds}
    tables["connections"] = [c | {"run_uuid": f"{1:032x}"} for c in tables["connections"]]
    table = build(**tables).sort("start_at")
    assert table.filter(pl.col("cause") != "unexplained").select(
        "cause", "start_at", "end_at", "resource_id"
    ).rows() == [
        ("authenticate", moment(10), moment(14), "dns://auth.example.com:443"),
        ("connect", moment(20), moment(21), "dns://data.s3.example.com:443"),
        ("connect", moment(40), moment(41), "dns://hub.example.com:443"),
        ("transfer", moment(41), moment(44), "dns://hub.example.com:443"),
        ("transfer", moment(50), moment(53), "dns://hub.example.com:443"),
    ]


def test_what_is_never_answered_lasts_to_its_last_packet_and_then_is_tried_again() -> None:
    pod = Pod(1, 1)
    pod.stages = [Stage("init", "init", 0, 1_000)]
    pod.attempts = [
        Attempt("connection", "dns://p.example.com:443", 10, 17, "ok", (10, 11, 13, 17)),
        Attempt("connection", "dns://p.example.com:443", 40, 41, "ok", (40, 41)),
        # One packet alone may be a loss of the export.
        Attempt("connection", "dns://q.example.com:443", 100, 100, "ok", (100,)),
    ]
    tables = tables_of([pod])
    unanswered = {"has_reply": False, "end_at": None, "close_reason": None}
    first, second, third = tables["connections"]
    tables["connections"] = [
        first | unanswered | {"attempt_count": 4}, second, third | unanswered,
    ]  # fmt: skip
    asked = {"source_address": "10.0.1.7", "destination_address": "192.0.2.9"}
    ports = {"source_port": 1_024, "destination_port": 443}
    tables["flows"] = [
        {**flow, **asked, **ports, "tcp_flags": "SYN"} if place < 4 else flow
        for place, flow in enumerate(tables["flows"])
    ]
    table = build(**tables).sort("start_at").filter(pl.col("cause") != "unexplained")
    assert table.select("cause", "start_at", "end_at", "first_error").rows() == [
        ("connect", moment(10), moment(17), "no reply"),
        ("retry", moment(17), moment(40), "no reply"),
        ("connect", moment(40), moment(41), None),
    ]


def test_what_no_certain_container_did_while_the_pod_uploads_is_the_sidecars_too() -> None:
    pod = Pod(1, 1)
    pod.stages = [
        Stage("main", "compute", 0, 100),
        Stage("main", "upload", 100, 130),
        Stage("sidecar", "compute", 0, 100),
        Stage("sidecar", "upload", 100, 130),
    ]
    pod.attempts = [Attempt("request", "s3://a", 101, 110, "ok")]
    table = build(**tables_of([pod])).filter(cause="transfer").sort("container")
    assert table.select("container", "start_at", "end_at").rows() == [
        ("main", moment(101), moment(110)), ("sidecar", moment(101), moment(110)),
    ]  # fmt: skip


def test_time_before_a_pod_and_between_attempts_is_of_the_run() -> None:
    shared = {"run_uuid": "a" * 32, "start_basis": "polyaxon", "end_basis": "polyaxon"}
    stages = [
        {"stage_id": "q", "stage": "queued", "start_at": moment(0), "end_at": moment(600)},
        {"stage_id": "r", "stage": "unknown", "reason": "Retry", "start_at": moment(900),
         "end_at": moment(910)},
        {"stage_id": "u", "stage": "unknown", "start_at": moment(910), "end_at": None},
    ]  # fmt: skip
    table = build(stages=[stage | shared for stage in stages]).sort("start_at")
    assert table.select("cause", "seconds", "gpu_us", "pod_uid").rows() == [
        ("placement", 600.0, 0, None),
        ("retry", 10.0, 0, None),
        ("unexplained", 86_400.0 - 910, 0, None),
    ]


def test_a_log_of_whole_seconds_leaves_a_request_anywhere_within_its_own() -> None:
    pod = Pod(1, 1)
    pod.stages = [Stage("init", "init", 0, 100)]
    pod.attempts = [
        Attempt("lookup", "dns://a.example.com", 9, 10, "ok"),
        Attempt("connection", "dns://a.example.com:443", 10, 11, "ok", (10, 11)),
        # Told as 10, 15 and 16 s; the second begins a second later than the first may have ended.
        Attempt("request", "s3://a", 10, 15, "ok"),
        Attempt("request", "s3://a", 15, 16, "throttled"),
        Attempt("request", "s3://a", 16, 20, "ok"),
        # Two at once for a second and more do not follow each other.
        Attempt("request", "s3://a", 40, 50, "ok"),
        Attempt("request", "s3://a", 45, 55, "ok"),
    ]
    tables = tables_of([pod])
    half, tenth = timedelta(seconds=0.5), timedelta(seconds=0.1)
    tables["dns_lookups"][0]["event_at"] += tenth
    for flow in tables["flows"]:
        # Asked for at 10.1 s and answered at 10.5 s.
        is_reply = flow["source_address"] == "192.0.2.9"
        flow["event_at"] = moment(10) + (half if is_reply else tenth)
    for connection in tables["connections"]:
        connection |= {"start_at": moment(10) + tenth, "end_at": moment(10) + half}
    table = build(**tables).sort("start_at").select("cause", "start_at", "end_at")
    assert table.rows() == [
        ("unexplained", moment(0), moment(9) + tenth),
        ("resolve", moment(9) + tenth, moment(10) + tenth),
        ("connect", moment(10) + tenth, moment(10) + half),
        # 5 s each from 10.5 and, throttled at once, 1 s; then 4 s from 16.5 on.
        ("transfer", moment(10) + half, moment(20) + half),
        ("unexplained", moment(20) + half, moment(40)),
        ("transfer", moment(40), moment(55)),
        ("unexplained", moment(55), moment(100)),
    ]


def test_bytes_of_a_request_stand_where_it_ended() -> None:
    pod = Pod(1, 1)
    pod.stages = [Stage("init", "init", 0, 11)]
    pod.attempts = [
        Attempt("connection", "dns://a.example.com:443", 10, 11, "ok", (10, 11)),
        Attempt("request", "s3://a", 10, 11, "ok"),
    ]
    tables = tables_of([pod])
    answered = moment(10) + timedelta(seconds=0.9)
    tables["object_requests"][0]["duration_seconds"] = 0.2
    for flow in tables["flows"]:
        flow["event_at"] = min(flow["event_at"], answered)
    table = build(**tables).sort("start_at").filter(pl.col("cause") != "unexplained")
    assert table.select("cause", "seconds", "transferred_bytes").rows() == [
        ("connect", 0.9, None),
        # The stage, too, may have ended up to a second later than it says.
        ("transfer", 0.1, 10),
    ]  # fmt: skip


def test_of_a_pod_with_unknown_gpus_only_what_has_none_is_zero() -> None:
    pod = Pod(1, 1)
    pod.stages = [
        Stage(None, "scheduling", 0, 60), Stage(None, "sandbox", 60, 65),
        Stage("main", "compute", 65, 100), Stage("sidecar", "compute", 65, 100),
    ]  # fmt: skip
    tables = tables_of([pod])
    tables["pod_intervals"] = [row | {"gpu_count": None} for row in tables["pod_intervals"]]
    table = build(**tables).sort("container", "start_at", nulls_last=False)
    assert table["gpu_us"].to_list() == [0, None, None, 0]


def test_a_part_carries_how_far_what_shows_its_cause_observed_the_run() -> None:
    pod = Pod(1, 2)
    pod.stages = [
        Stage(None, "scheduling", 0, 60), Stage("init", "init", 60, 200),
        Stage("main", "compute", 200, 500),
    ]  # fmt: skip
    pod.attempts = [
        Attempt("lookup", "dns://a.example.com", 70, 80, "ok"),
        Attempt("request", "s3://a", 100, 120, "ok"),
    ]
    facts = [
        {"cluster": "alder", "run_uuid": f"{1:032x}", "source": source, "expected_us": 500,
         "covered_us": covered, "empty_means": means}
        for source, covered, means in (
            ("flows", 400, "partly_observed"), ("dns_lookups", 0, "not_observed"),
            ("object_requests:a", 500, "nothing_happened"),
        )
    ]  # fmt: skip
    table = build(**tables_of([pod]) | {"run_coverage_days": facts})
    found = set(table.select("cause", "expected_us", "covered_us", "empty_means").rows())
    assert found == {
        ("placement", None, None, None),
        ("resolve", 500, 0, "not_observed"),
        ("transfer", 500, 500, "nothing_happened"),
        ("unexplained", 500, 400, "partly_observed"),
        ("working", None, None, None),
    }
