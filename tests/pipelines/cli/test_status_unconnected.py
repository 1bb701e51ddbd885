"""What `podledger status` says of events in no connection."""

import json
from pathlib import Path

from pipelines.publication import Made, publish
from pipelines.settings import load_settings
from pipelines.storage import Lake
from schemas.registry import table_spec
from tests.pipelines.cli.command import podledger
from tests.pipelines.cli.small_catalogue import DAY, small_catalogue
from tests.transforms.frames import frame
from transforms.sql import SqlSession

TABLE = "unconnected_events"
ROWS = [
    {"unconnected_event_id": "1", "cluster": "alder", "reason": "dns", "event_count": 68},
    {
        "unconnected_event_id": "2", "cluster": "alder", "reason": "aggregated", "event_count": 2,
        "flow_count": 9, "verdict": "DROPPED",
    },
    {
        "unconnected_event_id": "3", "cluster": "alder", "reason": "aggregated", "event_count": 1,
        "flow_count": 5, "verdict": "FORWARDED",
    },
]  # fmt: skip


def test_events_in_no_connection_are_summed_by_reason(tmp_path: Path) -> None:
    path = small_catalogue(tmp_path)
    lake = Lake(load_settings(path).lake_path)
    with SqlSession() as session:
        session.register("rows", frame(TABLE, ROWS))
        publish(lake, session, table_spec(TABLE), "rows", DAY, "alder", Made("by hand", 1))
    told = json.loads(podledger("status", "--json", "--config", path).out)["unconnected"]
    assert told == [
        {"cluster": "alder", "reason": "aggregated", "events": 3, "flows": 14},
        {"cluster": "alder", "reason": "dns", "events": 68, "flows": None},
    ]
