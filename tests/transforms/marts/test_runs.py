"""runs: which runs were active, and what is known of each attempt at the end of the day."""

from datetime import timedelta

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transforms.frames import DAY, at, checked, frame, show
from transforms.day import BuildDay
from transforms.marts.runs import TRANSFORM
from transforms.sql import SqlSession

RUN = "a" * 32
OTHER = "b" * 32
YESTERDAY = DAY - timedelta(days=1)
TABLES = {read.table for read in TRANSFORM.reads}


def built(*, is_final: bool = True, **tables) -> pl.DataFrame:
    with SqlSession(threads=1) as session:
        show(session, **{name: tables.get(name, []) for name in TABLES})
        return checked(
            session,
            "runs",
            TRANSFORM.build(session, BuildDay(DAY, "fleet", is_final=is_final)),
        )


def pod(uid: str, start: str, end: str | None, **more) -> dict:
    return {
        "cluster": "alder",
        "namespace": "ml",
        "pod_uid": uid,
        "pod_name": uid,
        "address": "10.0.0.1",
        "node": "n1",
        "start_at": at(start),
        "created_at": at(start),
        "end_at": at(end) if end else None,
        "run_uuid": RUN,
        "attempt": 1,
        "run_match_kind": "label",
    } | more


def version(**more) -> dict:
    return {
        "run_uuid": RUN,
        "view": "list",
        "observed_at": at("00:00", days=1),
        "updated_at": at("10:00"),
        "created_at": at("08:00"),
    } | more


def condition(status: str, when: str, ordinal: int = 0, *, days: int = 0) -> dict:
    return {
        "run_uuid": RUN,
        "status": status,
        "event_at": at(when, days=days),
        "ordinal": ordinal,
    }


def only(rows: pl.DataFrame) -> dict:
    assert rows.height == 1
    return rows.row(0, named=True)


def test_a_run_without_pods_has_one_row_with_a_null_attempt():
    row = only(built(run_versions=[version(name="sweep", kind="matrix", status="running")]))
    assert row["attempt"] is None
    assert (row["name"], row["kind"], row["outcome"]) == ("sweep", "matrix", "running")
    assert (row["pod_count"], row["pod_uids"], row["gpu_count"], row["pod_us"]) == (0, [], 0, 0)
    assert (row["cluster"], row["start_at"], row["run_match_kind"]) == (None, None, None)


def test_each_attempt_has_its_own_pods_times_and_gpus():
    rows = built(
        pod_intervals=[
            pod("p2", "10:00", "11:00", gpu_count=4, node="n2"),
            pod("p1", "10:00", "10:30", gpu_count=4),
            pod("p3", "12:00", None, gpu_count=1, attempt=2),
        ]
    )
    first, second = rows.iter_rows(named=True)
    assert (first["attempt"], first["pod_uids"], first["nodes"]) == (1, ["p1", "p2"], ["n1", "n2"])
    assert (first["start_at"], first["end_at"]) == (at("10:00"), at("11:00"))
    assert (first["pod_count"], first["gpu_count"]) == (2, 8)
    assert first["pod_us"] == 90 * 60 * 1_000_000
    assert (second["attempt"], second["end_at"]) == (2, None)
    assert second["pod_us"] == 12 * 3600 * 1_000_000


def test_two_addresses_of_a_pod_are_one_life():
    row = only(
        built(
            pod_intervals=[
                pod("p1", "10:00", "11:00"),
                pod("p1", "10:15", "11:15", address="2001:db8::1", created_at=at("10:00")),
            ]
        )
    )
    assert row["pod_us"] == 75 * 60 * 1_000_000
    assert row["end_at"] == at("11:15")
    assert row["pod_count"] == 1


def test_a_row_covers_the_life_up_to_the_day_over_all_earlier_days():
    start = at("22:00", days=-1)
    row = only(
        built(
            pod_intervals=[
                pod("p1", "22:00", None, start_at=start, created_at=start, date=YESTERDAY),
                pod("p1", "22:00", "01:00", start_at=start, created_at=start),
            ]
        )
    )
    assert (row["start_at"], row["end_at"]) == (start, at("01:00"))
    assert row["pod_us"] == 3 * 3600 * 1_000_000


def test_earlier_attempts_stay_in_the_row_set_of_an_active_run():
    start = at("20:00", days=-1)
    rows = built(
        pod_intervals=[
            pod(
                "p1", "20:00", None, start_at=start, created_at=start,
                end_at=at("21:00", days=-1), date=YESTERDAY,
            ),
            pod("p2", "02:00", "03:00", attempt=2),
        ]
    )  # fmt: skip
    assert rows["attempt"].to_list() == [1, 2]
    assert rows["end_at"].to_list() == [at("21:00", days=-1), at("03:00")]


def test_facts_of_list_and_detail_are_merged_per_fact():
    row = only(
        built(
            run_versions=[
                version(view="detail", project="vision", run_owner="acme", code_revision="9f1c2ab",
                        updated_at=at("09:00"), status="starting"),
                version(project="from-path", status="running", queue="gpu"),
            ]
        )
    )  # fmt: skip
    assert (row["project"], row["run_owner"], row["code_revision"]) == ("vision", "acme", "9f1c2ab")
    assert (row["status"], row["queue"]) == ("running", "gpu")


def test_the_project_of_an_annotation_goes_before_that_of_the_path():
    row = only(
        built(
            run_versions=[version(project="from-path")],
            pod_intervals=[pod("p1", "10:00", "11:00", project="annotated")],
        )
    )
    assert row["project"] == "annotated"


def test_the_later_word_of_conditions_and_versions_is_the_status():
    row = only(
        built(
            run_versions=[version(status="running", updated_at=at("10:00"))],
            run_statuses=[condition("running", "10:00"), condition("succeeded", "11:00", 1)],
        )
    )
    assert (row["status"], row["outcome"], row["is_final"]) == ("succeeded", "succeeded", True)


def test_nothing_that_happened_after_the_day_is_told():
    row = only(
        built(
            run_versions=[
                version(status="running", updated_at=at("10:00")),
                version(
                    status="succeeded", updated_at=at("03:00", days=1),
                    finished_at=at("03:00", days=1), observed_at=at("00:00", days=2),
                ),
            ],
            run_statuses=[
                condition("running", "10:00"),
                condition("succeeded", "03:00", 1, days=1),
            ],
        )
    )  # fmt: skip
    assert (row["status"], row["outcome"], row["is_final"]) == ("running", "running", False)


def test_an_end_in_the_day_that_was_only_listed_later_counts():
    row = only(
        built(
            run_versions=[
                version(
                    status="failed", updated_at=at("12:00"), finished_at=at("12:00"),
                    observed_at=at("00:00", days=3),
                )
            ]
        )
    )  # fmt: skip
    assert (row["status"], row["outcome"]) == ("failed", "failed")


def test_a_run_that_ended_before_the_day_or_began_after_it_is_not_active():
    rows = built(
        run_versions=[
            version(status="succeeded", updated_at=at("23:00", days=-1),
                    created_at=at("20:00", days=-1), finished_at=at("23:00", days=-1)),
            version(run_uuid=OTHER, created_at=at("01:00", days=1), updated_at=at("01:00", days=1),
                    status="running"),
        ]
    )  # fmt: skip
    assert rows.height == 0


def test_a_condition_of_the_day_makes_a_run_active():
    assert only(built(run_statuses=[condition("queued", "23:59:59")]))["outcome"] == "unknown"
    assert built(run_statuses=[condition("queued", "00:00", days=1)]).height == 0


def test_what_a_run_asked_of_storage_makes_it_active():
    row = only(built(object_transfers=[{"run_uuid": RUN}, {"run_uuid": None}]))
    assert (row["run_uuid"], row["attempt"], row["outcome"]) == (RUN, None, "unknown")
    assert built(object_transfers=[{"run_uuid": RUN, "date": YESTERDAY}]).height == 0


def test_a_resumed_run_is_open_again_though_its_first_finish_stands():
    row = only(
        built(
            run_versions=[
                version(status="compiled", finished_at=at("09:30"), updated_at=at("10:00"))
            ],
            run_statuses=[condition("stopped", "09:30"), condition("compiled", "10:00", 1)],
        )
    )
    assert (row["status"], row["outcome"], row["is_final"]) == ("compiled", "unknown", False)


def test_is_final_needs_the_end_of_the_run_of_its_pods_and_a_final_day():
    ended = [condition("succeeded", "11:00")]
    open_pod, ended_pod = pod("p1", "10:00", None), pod("p1", "10:00", "11:00")
    assert only(built(run_statuses=ended, pod_intervals=[ended_pod]))["is_final"]
    assert not only(built(run_statuses=ended, pod_intervals=[open_pod]))["is_final"]
    assert not only(built(run_statuses=[], pod_intervals=[ended_pod]))["is_final"]
    assert not only(built(run_statuses=ended, pod_intervals=[ended_pod], is_final=False))[
        "is_final"
    ]


def test_upstream_failed_is_failed_and_an_unknown_word_is_unknown():
    assert only(built(run_statuses=[condition("upstream_failed", "11:00")]))["outcome"] == "failed"
    assert only(built(run_statuses=[condition("dreaming", "11:00")]))["outcome"] == "unknown"


def test_digests_come_from_containers_and_from_pulls():
    state = {"cluster": "alder", "pod_uid": "p1", "image_digest": "sha256:2"}
    row = only(
        built(
            pod_intervals=[pod("p1", "10:00", "11:00")],
            container_states=[
                state,
                state,
                {"pod_uid": "p1", "image_digest": "sha256:1", "cluster": None},
                state | {"image_digest": "sha256:9", "started_at": at("00:00", days=1)},
                state | {"image_digest": "sha256:8", "pod_uid": "stranger"},
                state | {"image_digest": "sha256:7", "cluster": "birch"},
            ],
            image_pulls=[{"cluster": "alder", "pod_uid": "p1", "image_digest": "sha256:3"}],
        )
    )
    assert row["image_digests"] == ["sha256:1", "sha256:2", "sha256:3"]


def test_the_weakest_way_in_which_pods_are_known_is_shown():
    row = only(
        built(
            pod_intervals=[
                pod("p1", "10:00", "11:00"),
                pod("p2", "10:00", "11:00", run_match_kind="name"),
            ]
        )
    )
    assert row["run_match_kind"] == "name"


def test_an_open_row_of_an_older_day_speaks_up_to_the_end_of_that_day():
    start = at("22:00", days=-1)
    row = only(
        built(
            run_statuses=[condition("running", "10:00")],
            pod_intervals=[
                pod("p1", "22:00", None, start_at=start, created_at=start, date=YESTERDAY)
            ],
        )
    )
    assert row["pod_us"] == 2 * 3600 * 1_000_000
    assert row["end_at"] is None


def test_no_input_gives_no_rows():
    assert built().height == 0


@settings(max_examples=1)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_input_has_no_say(random):
    tables = {
        "run_versions": [
            version(run_uuid=f"{n % 5:032x}", name=f"v{n}", updated_at=at(f"{n % 3:02d}:00"),
                    record_id=f"r{n}", record_index=n, status="running")
            for n in range(20)
        ],
        "run_statuses": [
            condition(f"s{n}", "10:00", n % 2) | {"run_uuid": f"{n % 5:032x}", "record_id": f"r{n}"}
            for n in range(20)
        ],
        "pod_intervals": [
            pod(f"p{n}", f"{n:02d}:00", "22:00", run_uuid=f"{n % 5:032x}", attempt=n % 3 + 1)
            for n in range(20)
        ],
    }  # fmt: skip
    frames = {name: frame(name, rows, date_column=name == "pod_intervals") for name, rows in
              tables.items()}  # fmt: skip
    results = []
    for shuffle in (False, True):
        with SqlSession(threads=1) as session:
            show(session, **{name: [] for name in TABLES})
            for name, rows in frames.items():
                if shuffle:
                    order = list(range(rows.height))
                    random.shuffle(order)
                    session.register(name, rows[order])
                else:
                    session.register(name, rows)
            results.append(
                checked(session, "runs", TRANSFORM.build(session, BuildDay(DAY, "fleet")))
            )
    assert results[0].equals(results[1])


def test_gpus_are_unknown_where_those_of_one_pod_are():
    states = [
        pod("p1", "10:00", "10:30", gpu_count=4),
        pod("p2", "10:00", "11:00", gpu_count=None),
        pod("p3", "12:00", None, gpu_count=0, attempt=2),
    ]
    rows = built(pod_intervals=states, run_versions=[version()])
    assert dict(rows.select("attempt", "gpu_count").iter_rows()) == {1: None, 2: 0}


def test_a_run_carries_how_far_flows_observed_all_its_days() -> None:
    start = at("22:00", days=-1)
    pods = [
        pod("p1", "22:00", None, start_at=start, created_at=start, date=YESTERDAY),
        pod("p1", "22:00", "01:00", start_at=start, created_at=start),
        pod("p2", "02:00", "03:00", attempt=2),
    ]
    hour = 3600 * 1_000_000

    def said(source: str, covered: int, doubtful: int = 0, **more) -> dict:
        return {"cluster": "alder", "run_uuid": RUN, "source": source, "covered_us": covered,
                "doubtful_us": doubtful} | more  # fmt: skip

    def found(*days: dict) -> set[tuple]:
        rows = built(pod_intervals=pods, run_coverage_days=days)
        assert rows.height == 2
        return set(rows.select("expected_us", "covered_us", "empty_means").rows())

    # Two hours yesterday, one of each pod today.
    first, second = said("flows", 2 * hour, date=YESTERDAY), said("flows", 2 * hour)
    assert found(first, second, said("dns_lookups", 0)) == {
        (4 * hour, 4 * hour, "nothing_happened")
    }
    assert found(second) == {(4 * hour, 2 * hour, "partly_observed")}
    assert found(first, second | {"doubtful_us": 1}) == {(4 * hour, 4 * hour, "partly_observed")}
    assert found(said("flows", 4 * hour, run_uuid=OTHER)) == {(4 * hour, 0, "not_observed")}
