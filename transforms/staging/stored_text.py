"""Texts of exports as they are stored: redacted, bounded, null where empty."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from transforms.redaction import redact, redact_within

TEXT_LIMIT = 4_096
"""Characters of a free text that are kept; Kubernetes cuts event messages at 1,024 and termination
messages at 4,096."""
NAME_LIMIT = 1_024
"""Characters of a name that are kept; object names have at most 253, images a few hundred."""

_MASK = "***"
_PROBE = "0probe0probe0"


@lru_cache(maxsize=4_096)
def free_text(text: str | None) -> str | None:
    """Redact and bound a message or another free text; null where it is empty.

    Its size bounds the work, and no secret is cut beyond recognition and still shown.
    """
    return redact_within(text, TEXT_LIMIT, prose=True) if text else None


@lru_cache(maxsize=16_384)
def name_text(text: str | None) -> str | None:
    """Redact and bound a name that identifies something; null where it is empty."""
    return redact_within(text, NAME_LIMIT, prose=False) if text else None


def pairs(values: Mapping[str, Any] | None) -> list[dict[str, str | None]] | None:
    """Write a mapping as pairs sorted by name; values redacted, also by what their name says.

    Numbers, booleans, lists and objects become compact JSON; null stays null.

    Returns:
        The pairs, or null where there are none.
    """
    if not values:
        return None
    return [
        {"name": name_text(name) or "", "value": _pair_value(name, values[name])}
        for name in sorted(values)
    ]


def _pair_value(name: str, value: object) -> str | None:
    if value is None:
        return None
    if is_secret_name(name):
        return _MASK
    if isinstance(value, str):
        return free_text(value) or ""
    return free_text(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


@lru_cache(maxsize=4_096)
def is_secret_name(name: str) -> bool:
    """Whether the name of a value says that the value is a credential (`db_password`)."""
    pair = f'"{name[:256]}": "{_PROBE}"'
    return _PROBE not in redact(pair)
