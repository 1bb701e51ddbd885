"""The two kinds of days."""

import dagster as dg

FIRST_DAY = "2024-01-01"
"""No day before this one can be landed or built by Dagster."""

landing_days = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, end_offset=1)
event_days = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, end_offset=1)
