"""The two kinds of days."""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from pipelines.run import FIRST_DAY, days_between

if TYPE_CHECKING:
    from dagster._core.instance.types import DynamicPartitionsStore


class Days(dg.DailyPartitionsDefinition):
    """All days from FIRST_DAY to today.

    Each step asks for them once per table that it reads whole, and Dagster makes each of a thousand
    from a cron expression: a second of a build.
    """

    def get_partition_keys(
        self,
        current_time: dt.datetime | None = None,
        dynamic_partitions_store: "DynamicPartitionsStore | None" = None,
    ) -> Sequence[str]:
        """The days, oldest first."""
        with dg.partition_loading_context(current_time, dynamic_partitions_store):
            last = self.get_last_partition_key()
        if last is None:
            return []
        return [day.isoformat() for day in days_between(FIRST_DAY, dt.date.fromisoformat(last))]


landing_days = Days(start_date=FIRST_DAY.isoformat(), end_offset=1)
event_days = Days(start_date=FIRST_DAY.isoformat(), end_offset=1)
