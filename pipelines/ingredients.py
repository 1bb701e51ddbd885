"""What a file is made from, by kind: one digest decides whether it is stale, the kinds tell why.

Kinds are `logic` (version of the transform), `schema` (its columns), `day` (what is built before
the day, whether it is final), `settings.NAME`, `reference.NAME`, `deliveries`, `files` (what
landed), `readings` (how it was read: parser, redaction key, format and the like) and `tables` (what
it reads of intermediate tables and marts).
"""

from dataclasses import dataclass, field
from functools import lru_cache

from pipelines.publication import Made, digest
from schemas.table import TableSpec
from transforms.day import BuildDay

_DIGITS = 12
"""Digits of a kind's digest: it tells kinds apart and decides nothing."""
_SETTINGS = (
    "clusters", "look_back", "look_ahead", "final_after", "datasets", "buckets", "bucket_owners",
    "nat_addresses", "export_tables",
)  # fmt: skip
_SHOWN = {
    "settings.bucket_owners": "settings.buckets",
    "settings.export_tables": "settings.exports",
    "settings.nat_addresses": "reference.nat_addresses",
}
_WORDS = {
    "logic": "other tables or spans are read",
    "schema": "other columns or types",
    "day": "earlier days were built, or the day became final",
    "deliveries": "deliveries",
    "files": "files landed",
    "readings": "files read again under other settings, formats or parsers",
    "tables": "tables that it reads came out otherwise",
}
UNKNOWN = "made before causes were noted, or not known of this content"


@dataclass
class Ingredients:
    """Collects what a file is made from.

    Attributes:
        texts: All of it, in a fixed order.
        kinds: The same by kind.
    """

    texts: list[str] = field(default_factory=list)
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, *texts: str) -> None:
        """Add texts of a kind."""
        self.texts.extend(texts)
        self.kinds.setdefault(kind, []).extend(texts)

    def made(self, version: int, day: BuildDay | None) -> Made:
        """The digests.

        Args:
            version: Version of the transform.
            day: The day, with the settings that count; none where they do not.
        """
        kinds = {kind: digest(texts)[:_DIGITS] for kind, texts in self.kinds.items()}
        if day is not None:
            kinds |= _of_settings(*(getattr(day, name) for name in _SETTINGS))
            kinds["day"] = _short((day.built_days, day.is_final))
        return Made(digest(self.texts), version, kinds)


def schema_texts(spec: TableSpec) -> list[str]:
    """What of a table's columns makes files of another schema stale."""
    return [f"{c.name}:{c.dtype}:{c.nullable}" for c in spec.columns]


@lru_cache(maxsize=8)
def _of_settings(*values: object) -> dict[str, str]:
    """Digests of single settings: a build asks for those of one day again and again."""
    named = zip(_SETTINGS, values, strict=True)
    return {f"settings.{name}": _short(value) for name, value in named}


def _short(value: object) -> str:
    return digest([repr(value)])[:_DIGITS]


def causes(noted: Made | None, now: Made, table: str, *, of_final: bool = False) -> list[str]:
    """Why a file is stale, in words: what it was made from differs from what it would be made from.

    Args:
        noted: What was noted of the published file; none if nothing is known of it.
        now: What it would be made from.
        table: Its table.
        of_final: Leave out what is not worth telling of a final day: what came in later, and what
            it is made from of other tables, is told by file and day (`pipelines.late`).
    """
    if noted is None or not noted.kinds:
        return [UNKNOWN]
    kinds = {*noted.kinds, *now.kinds}
    found = {kind for kind in kinds if noted.kinds.get(kind) != now.kinds.get(kind)}
    if of_final:
        found -= {"day", "deliveries", "files", "tables"}
    if "files" in found:
        # What a new file brings is read for the first time.
        found.discard("readings")
    words = dict(_WORDS)
    if noted.version != now.version:
        words["logic"] = f"logic of {table}: version {noted.version}, now {now.version}"
    return [words.get(kind, _SHOWN.get(kind, kind)) for kind in sorted(found)] or (
        [] if of_final else [UNKNOWN]
    )
