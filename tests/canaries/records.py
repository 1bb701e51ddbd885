"""What the planted exports share: their day, ids, and how records become lines."""

import json
from typing import Any

Json = dict[str, Any]

DAY = "2026-03-10"
RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "fedcba9876543210fedcba9876543210"
POD_UID = "0a1b2c3d-0000-4000-8000-00000000000{}"


def lines(*records: Json | str) -> str:
    """Records as lines."""
    return "".join(
        f"{r if isinstance(r, str) else json.dumps(r, separators=(',', ':'))}\n" for r in records
    )
