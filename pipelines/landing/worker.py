"""What a process that parses has loaded before its first batch.

A server of processes imports this once and forks each of them, see `land`. Nothing else imports it,
as pandas is out of reach from then on.
"""

import gc

from pipelines.landing.start import leave_out_pandas

# What is imported stays: the collector need not look at it, now or in the processes, into which
# looking would copy its pages.
gc.disable()
leave_out_pandas()

from pipelines.landing import parsing  # noqa: E402, F401  loaded without pandas

gc.freeze()
gc.enable()
