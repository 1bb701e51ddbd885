r"""Tell of many names at once which of them hold nothing that redaction could take out.

A name is plain where no rule of redaction can match: it has no sign with which an escape begins, no
blank, `=` or `:` (without which no value of a named secret and no userinfo stands in a text), and
no shape of a token. Shapes are those of redaction itself, taken wider: behind the anchor, any text
that is as long as a token is at least.
"""

import re
from functools import cache

import polars as pl

from transforms.secret_patterns import Rule, shape_rules

_CHARACTERS = r"^[0-9A-Za-z._/,@()!-]*$"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"^(?:{_BYTE}\.){{3}}{_BYTE}$"
_COUNT = re.compile(r"\{(\d+)")
_NEED_OTHER_CHARACTERS = frozenset(
    {
        "asic", "bearer", "-u", "-user", "identified by", "accesskey", "access_key", "access-key",
        "wandb", "-----begin", "://", ":AA", "Q~",
    }
)  # fmt: skip
"""Anchors of shapes that hold a blank, `=`, `:` or `~`, too."""


@cache
def _shapes() -> str:
    """One pattern for all shapes of tokens, in the dialect of the engine's regular expressions."""
    rules = [r for r in shape_rules() if r.anchor not in _NEED_OTHER_CHARACTERS]
    whole = "|".join(_wider(rule) for rule in rules if rule.bounded)
    inside = "|".join(_wider(rule) for rule in rules if not rule.bounded)
    return f"(?i:(?:^|[^0-9A-Za-z])(?:{whole})|(?:{inside}))"


def _wider(rule: Rule) -> str:
    count = _COUNT.search(rule.pattern.pattern, len(rule.anchor))
    anchor = re.escape(rule.anchor).replace(r"\-", "-")
    return f"{anchor}[!-~]{{{count[1] if count else 1}}}"


def are_plain(names: pl.Series) -> pl.Series:
    """Which names `redact_name` surely leaves as they are; null where a name is."""
    return names.str.contains(_CHARACTERS) & ~names.str.contains(_shapes())


def are_canonical_ipv4(addresses: pl.Series) -> pl.Series:
    """Which texts are IPv4 addresses as they are stored; null where a text is."""
    return addresses.str.contains(_IPV4)
