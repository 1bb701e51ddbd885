"""The two kinds of days."""

import dagster as dg

from pipelines.run import FIRST_DAY

landing_days = dg.DailyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), end_offset=1)
event_days = dg.DailyPartitionsDefinition(start_date=FIRST_DAY.isoformat(), end_offset=1)
