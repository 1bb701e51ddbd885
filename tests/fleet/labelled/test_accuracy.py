"""A small labelled fleet is attributed within the bounds, and careless ways are not.

`make accuracy` measures fleets of a million events.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fleet.labelled.bounds import Measure, measures
from tests.fleet.labelled.build import Fleet, make_fleet
from tests.fleet.labelled.scenarios import GAPS, Scenarios
from tests.fleet.labelled.score import MEASURED, Scorer
from tests.pipelines.plain_build import build_all

EVENTS = 35_000


def built(folder: Path, scenarios: Scenarios) -> tuple[Fleet, Scorer]:
    fleet = make_fleet(folder, 7, scenarios, EVENTS, nodes=4, slots=6)
    fleet.truth.write(folder / "truth")
    build_all(fleet.settings, tables=tuple(MEASURED.values()))
    return fleet, Scorer(folder / "lake", folder / "truth", fleet.events)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Fleet, Scorer]:
    """A fleet in which everything goes wrong."""
    return built(tmp_path_factory.mktemp("labelled"), Scenarios())


@pytest.fixture
def scorer(whole: tuple[Fleet, Scorer]) -> Iterator[Scorer]:
    """Its score, in which a test may replace the view of what was built."""
    scorer = whole[1]
    yield scorer
    scorer.db.execute("CREATE OR REPLACE VIEW built_connections AS FROM original")
    scorer.db.execute("CREATE OR REPLACE VIEW built_increments AS FROM original_increments")
    scorer.db.execute("CREATE OR REPLACE VIEW built_coverage AS FROM original_coverage")
    scorer.db.execute("CREATE OR REPLACE VIEW built_pods AS FROM original_pods")
    scorer.pair()


@pytest.fixture(autouse=True)
def _original(whole: tuple[Fleet, Scorer]) -> None:
    whole[1].db.execute("CREATE TABLE IF NOT EXISTS original AS FROM built_connections")
    whole[1].db.execute("CREATE TABLE IF NOT EXISTS original_increments AS FROM built_increments")
    whole[1].db.execute("CREATE TABLE IF NOT EXISTS original_coverage AS FROM built_coverage")
    whole[1].db.execute("CREATE TABLE IF NOT EXISTS original_pods AS FROM built_pods")


def broken(scorer: Scorer) -> set[str]:
    return {found.title for found in measures(scorer.score()) if not found.is_met}


def test_every_bound_is_kept(whole: tuple[Fleet, Scorer]) -> None:
    fleet, scorer = whole
    score = scorer.score()
    assert fleet.events > EVENTS * 0.8
    assert min(score.determined, score.names, score.named_peers, score.runs, score.gaps) > 5
    assert min(score.containers, score.crowded, score.counted_determined) > 5
    assert min(score.sent_determined, score.aggregated, score.masked) > 5
    assert [found for found in measures(score) if not found.is_met] == []


def test_every_rung_of_the_ladder_is_used(whole: tuple[Fleet, Scorer]) -> None:
    rungs = {(side, rung) for side, rung, _, _, _ in whole[1].rungs()}
    assert rungs >= {
        ("client", "uid"), ("client", "name_window"), ("client", "address_window"),
        ("client", "conflict"), ("client", "node"), ("client", "none"),
        ("server", "uid"), ("server", "name_window"), ("server", "address_window"),
        ("storage", "session_arn"), ("storage", "address_window"), ("storage", "app_id"),
        ("storage", "shared_address"),
    }  # fmt: skip


def test_containers_of_all_roles_act(whole: tuple[Fleet, Scorer]) -> None:
    run = whole[1].db.execute
    acted = "SELECT DISTINCT container_kind, container FROM acting WHERE containers > 0"
    assert set(run(acted).fetchall()) >= {
        ("only_running", "main"), ("only_running", "fetch"), ("several", "main"),
        ("several", "polyaxon-sidecar"), ("several", "debugger"),
    }  # fmt: skip
    # What a node and its runtime do is no container's.
    nodes = "SELECT DISTINCT container_kind, built_container FROM pairs WHERE kind = 'pull'"
    assert run(nodes).fetchall() == [("none", None)]


@pytest.mark.slow
def test_no_gap_is_found_where_none_is(tmp_path: Path) -> None:
    _, scorer = built(tmp_path, Scenarios().without(*GAPS))
    score = scorer.score()
    assert (score.gaps, score.false_gap_us) == (0, 0)
    assert [found for found in measures(score) if not found.is_met] == []


# -- careless ways -------------------------------------------------------------------------------


def replaced(scorer: Scorer, columns: str) -> set[str]:
    """Bounds that break if columns of the connections are made otherwise."""
    scorer.db.execute(
        f"CREATE OR REPLACE VIEW built_connections AS SELECT b.* REPLACE ({columns}) "
        "FROM original AS b"
    )
    scorer.pair()
    return broken(scorer)


def test_an_address_without_time_names_wrong_pods(scorer: Scorer, whole: tuple[Fleet, Scorer]):
    lake = whole[0].settings.parent / "lake"
    scorer.db.execute(
        "CREATE OR REPLACE TABLE last_holder AS SELECT cluster, address, "
        "ARG_MAX(pod_uid, start_at) AS pod_uid FROM read_parquet($files) GROUP BY ALL",
        {"files": str(lake / "pod_intervals" / "*" / "*.parquet")},
    )
    careless = (
        "(SELECT h.pod_uid FROM last_holder AS h WHERE h.cluster = b.cluster"
        " AND h.address = b.initiator_address) AS initiator_pod_uid"
    )
    assert {"ends with another pod", "determined ends that are named"} <= replaced(scorer, careless)


def test_the_last_name_of_an_address_is_wrong(scorer: Scorer, whole: tuple[Fleet, Scorer]):
    lake = whole[0].settings.parent / "lake"
    scorer.db.execute(
        "CREATE OR REPLACE TABLE last_name AS SELECT cluster, address, "
        "ARG_MAX(name, first_answer_at) AS name FROM read_parquet($files) GROUP BY ALL",
        {"files": str(lake / "name_bindings" / "*" / "*.parquet")},
    )
    careless = (
        "(SELECT n.name FROM last_name AS n WHERE n.cluster = b.cluster"
        " AND n.address = b.responder_address) AS peer_name"
    )
    # On bigger fleets pods have several names of one address, and each of those gets a winner.
    assert {"peers with another name", "own and only name found"} <= replaced(scorer, careless)


def test_the_main_container_is_not_all_that_acts(scorer: Scorer) -> None:
    careless = "COALESCE(b.container, 'main') AS container"
    assert replaced(scorer, careless) >= {"another container", "winners among containers"}


def test_the_last_pod_of_a_name_is_wrong_for_counters(scorer: Scorer) -> None:
    scorer.db.execute(
        "CREATE OR REPLACE VIEW built_increments AS SELECT * REPLACE ("
        "LAST_VALUE(pod_uid) OVER (PARTITION BY cluster, pod_name ORDER BY end_at "
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS pod_uid"
        ") FROM original_increments"
    )
    scorer.pair()
    assert "counters with another pod" in broken(scorer)


@pytest.mark.parametrize(
    "careless",
    [
        # A run for pods that have none, such as cleaners.
        "COALESCE(run_uuid, LPAD(SUBSTR(MD5(pod_uid), 1, 8), 32, '0')) AS run_uuid",
        "CASE WHEN run_match_kind = 'label' THEN run_uuid END AS run_uuid",
        "CASE WHEN attempt IS NOT NULL THEN 1 END AS attempt",
    ],
)
def test_every_rung_cleaner_and_attempt_counts_for_the_runs_of_pods(
    scorer: Scorer, careless: str
) -> None:
    scorer.db.execute(
        f"CREATE OR REPLACE VIEW built_pods AS SELECT * REPLACE ({careless}) FROM original_pods"
    )
    scorer.pair()
    assert broken(scorer) == {"exported pods without their run and attempt"}


def test_a_row_per_vantage_doubles_connections(scorer: Scorer) -> None:
    scorer.db.execute(
        "CREATE OR REPLACE VIEW built_connections AS FROM original UNION ALL "
        "SELECT * REPLACE (connection_id || '/server' AS connection_id) FROM original "
        "WHERE responder_pod_uid IS NOT NULL"
    )
    scorer.pair()
    assert broken(scorer) == {"rows that double a connection"}


@pytest.mark.parametrize("status", ["masked", "missing", "lossy"])
def test_what_is_not_told_event_by_event_is_no_coverage(scorer: Scorer, status: str) -> None:
    scorer.db.execute(
        "CREATE OR REPLACE VIEW built_coverage AS SELECT * REPLACE ("
        f"CASE WHEN status = '{status}' THEN 'covered' ELSE status END AS status"
        ") FROM original_coverage"
    )
    assert broken(scorer) == {"injected gaps that were missed"}


def test_counts_of_what_is_told_in_another_way_are_the_fleets(whole: tuple[Fleet, Scorer]) -> None:
    run = whole[1].db.execute
    counted = "SELECT SUM(flow_count) FROM built_unconnected WHERE reason = 'aggregated'"
    masked = """
        SELECT SUM(masked_count) FROM built_coverage
        WHERE node IN (SELECT node FROM truth_gaps WHERE kind = 'masked')
    """
    lost = "SELECT SUM(lost) FROM truth_gaps WHERE kind = $kind"
    for kind, built_sum in (("aggregated", counted), ("masked", masked)):
        assert run(built_sum).fetchall() == run(lost, {"kind": kind}).fetchall()


def test_a_measure_is_judged_by_its_share() -> None:
    most = Measure("x", 1, 10_000, 0.0001)
    assert most.is_met
    assert not replace(most, part=2).is_met
    least = Measure("x", 995, 1_000, 0.995, is_least=True)
    assert least.is_met
    assert not replace(least, part=994).is_met
    assert replace(least, part=0, whole=0).is_met
    assert replace(most, part=0, whole=0).is_met
