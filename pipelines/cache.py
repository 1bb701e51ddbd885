"""The what-if of caches over the lake's published days."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from pipelines.build import engine_memory, show_files
from pipelines.errors import PodledgerError
from pipelines.remote_lake import open_lake
from pipelines.settings import Settings
from schemas.registry import table_spec
from transforms.marts.cache_replay import Policy
from transforms.marts.cache_study import Placement, Study, study
from transforms.sql import SqlSession

READS = ("object_transfers", "repeat_transfers", "run_dependency_days")


class WhatIf(NamedTuple):
    """A study and the days that it lacks.

    Attributes:
        study: The study.
        missing: Days of the range that are not built.
        missing_warm_up: Days of the warm-up that are not built.
    """

    study: Study
    missing: list[dt.date]
    missing_warm_up: list[dt.date]


def what_if(
    settings: Settings,
    first: dt.date,
    last: dt.date,
    warm_up: dt.timedelta,
    *,
    placements: Sequence[Placement],
    policies: Sequence[Policy],
    capacities: Sequence[int],
) -> WhatIf:
    """Replay the reads of a range of built days through caches.

    Args:
        settings: Settings.
        first: First day that counts.
        last: Last day that counts.
        warm_up: How long before it the warm caches begin.
        placements: Where caches stand.
        policies: What they drop first.
        capacities: Bytes of each cache; none for parts of what the fullest place read.

    Raises:
        PodledgerError: No day of the range is built.
    """
    lake = open_lake(settings)
    begin = max(first, dt.date.min + warm_up) - warm_up
    asked = [begin + dt.timedelta(days=n) for n in range((last - begin).days + 1)]
    built = set(lake.days(READS[0]))
    missing = [day for day in asked if day not in built]
    if all(day in missing for day in asked if day >= first):
        message = f"--from {first} --to {last}: no day of it is built; expected built days"
        raise PodledgerError(message)
    with SqlSession(
        threads=settings.workers,
        memory_limit=engine_memory(settings),
        temp_directory=settings.temp_path,
    ) as session:
        for name in READS:
            files = [(day, path) for day in asked for path in lake.files(name, day)]
            show_files(session, table_spec(name), files)
        found = study(
            session, first, last, warm_up,
            placements=placements, policies=policies, capacities=capacities,
        )  # fmt: skip
    return WhatIf(found, [d for d in missing if d >= first], [d for d in missing if d < first])
