"""Settings: `podledger.yaml`, read once, checked whole, with exact messages.

Credentials never stand here; they come from the standard AWS environment.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache, cached_property
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from pipelines.durations import LONGEST, parse_duration, parse_size
from pipelines.errors import Clean, SettingsError
from pipelines.landing.formats import expected_form, format_names
from pipelines.mirror import root_of
from pipelines.object_store import SCHEME
from pipelines.path_patterns import CLUSTER_NAME, PathPattern
from pipelines.reference.address_ranges import AddressRanges, load_address_ranges
from pipelines.reference.nat_addresses import load_nat_addresses
from pipelines.stated_file import NotReadError, read_stated
from schemas.table import FLEET
from transforms.day import ClusterFacts, LookBack
from transforms.redaction import KeyedHash, redact
from transforms.staging.parser import CounterFacts

ENVIRONMENT = "PODLEDGER_CONFIG"
DEFAULT_FILE = "podledger.yaml"
MAX_BYTES = 16_000_000
"""Bytes of a settings file at most."""
MAX_KEY_BYTES = 65_536
"""Bytes of a redaction key at most."""
LEAST_MEMORY = 1_500_000_000
"""A third of it is Python with its libraries, as much are rows on their way to a file."""

Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
Size = Annotated[int, BeforeValidator(parse_size)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


def _canonical(value: Any, parse: Callable[[str], object], expected: str) -> str:  # noqa: ANN401
    try:
        # A number would be read as an address, too.
        return str(parse(value if isinstance(value, str) else ""))
    except ValueError:
        message = f"expected {expected}"
        raise ValueError(message) from None


def _network(value: Any) -> str:  # noqa: ANN401  raw YAML
    return _canonical(value, ip_network, "a network without host bits, such as 10.0.0.0/20")


def _address(value: Any) -> str:  # noqa: ANN401  raw YAML
    return _canonical(value, ip_address, "an IPv4 or IPv6 address")


PlaceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9-]{0,62}$")]
"""Name or id of a zone, or name of a region."""


class Subnet(_Strict):
    """A network of a cluster, with the zone (id or name) and region in which it lies."""

    cidr: Annotated[str, BeforeValidator(_network)]
    """The network, such as `10.0.0.0/20`."""
    zone: PlaceName | None = None
    """Zone, by id or name, in which it lies."""
    region: PlaceName | None = None
    """Region in which it lies, where no zone says it."""


class Endpoint(_Strict):
    """A private endpoint of a cluster's network to a provider's service."""

    id: str = Field(pattern=r"^[A-Za-z0-9_/.-]{1,200}$")
    """The provider's id, as flow and access logs name it."""
    kind: Literal["gateway", "interface"]
    """`gateway` or `interface`: they are charged otherwise."""
    addresses: tuple[Annotated[str, BeforeValidator(_address)], ...] = ()
    """Its addresses in the cluster's network."""


class InPlace(str):
    """Says of an annotation what may stand in place of a mapping, for the list of settings."""

    __slots__ = ()


def _account(value: Any) -> Any:  # noqa: ANN401  raw YAML
    # YAML reads a bare account number as an integer and drops leading zeros.
    if isinstance(value, int):
        message = "expected text in quotes, so that leading zeros survive"
        raise ValueError(message)  # noqa: TRY004  pydantic collects ValueErrors
    return value


class ClusterSettings(_Strict):
    """One cluster."""

    cloud: Literal["aws", "azure", "gcp"] | None = None
    """Provider: `aws`, `azure` or `gcp`."""
    region: str | None = None
    """Region in which its nodes are."""
    account_id: str | None = None
    """Account or project that pays for it, in quotes."""
    zones: dict[PlaceName, PlaceName] = Field(default_factory=dict)
    """Zone names of the cluster's account by zone id: names differ between accounts."""
    subnets: tuple[Subnet, ...] = ()
    """Networks and where they lie."""
    endpoints: tuple[Endpoint, ...] = ()
    """Private endpoints to a provider's services."""

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        told = (
            ("subnets", "network", [subnet.cidr for subnet in self.subnets]),
            ("endpoints", "id", [endpoint.id for endpoint in self.endpoints]),
            ("endpoints", "address", [a for e in self.endpoints for a in e.addresses]),
            ("zones", "zone name", list(self.zones.values())),
        )
        for key, what, values in told:
            for value in values:
                if values.count(value) > 1:
                    message = f"{key}: {what} {value!r} stands twice; expected each once"
                    raise ValueError(message)
        return self

    @field_validator("account_id", mode="before")
    @classmethod
    def _account_is_text(cls, value: Any) -> Any:  # noqa: ANN401  raw YAML
        return _account(value)


class BucketSettings(_Strict):
    """Buckets of one pattern: their region, who owns them and who pays for what is read."""

    region: str | None = None
    """Region of the buckets; it may stand alone in place of the mapping."""
    account_id: str | None = None
    """Account that owns the buckets, in quotes."""
    requester_pays: bool = False
    """Whether who reads pays."""

    @model_validator(mode="before")
    @classmethod
    def _region_alone(cls, value: Any) -> Any:  # noqa: ANN401  raw YAML
        if isinstance(value, str):
            return {"region": value}
        if not isinstance(value, dict):
            message = "expected a region, or a mapping of region, account_id and requester_pays"
            raise ValueError(message)  # noqa: TRY004  pydantic collects ValueErrors
        return value

    @field_validator("account_id", mode="before")
    @classmethod
    def _account_is_text(cls, value: Any) -> Any:  # noqa: ANN401  raw YAML
        return _account(value)


class Expectation(_Strict):
    """What an export should deliver each landing day."""

    every: Literal["day", "hour"] = "day"
    """`day`: at least one file; `hour`: one for each hour and node."""
    by_hour_utc: int | None = Field(default=None, ge=0, le=23)
    """Hour of the day behind the landing day up to which it may come: until then nothing is
    missing."""
    nodes: int | None = Field(default=None, ge=1)
    """How many nodes deliver; else those that had a pod that day."""


class CounterSettings(_Strict):
    """What is known of an export's counters; values alone never say it."""

    bits: Literal[32, 64] = 64
    """Width after which counters begin at 0 again; 64 never do."""
    link_bits_per_second: int | None = Field(default=None, ge=1, le=10**15)
    """Speed of the fastest interface: no more can have moved."""
    expires_after: Duration | None = None
    """How long without growth before the exporter forgets a counter."""

    @field_validator("expires_after")
    @classmethod
    def _whole_seconds(cls, value: timedelta | None) -> timedelta | None:
        if value is not None and (value < timedelta(seconds=1) or value.microseconds):
            message = "expected whole seconds, at least one"
            raise ValueError(message)
        return value

    @property
    def facts(self) -> CounterFacts:
        """As parsers take them."""
        after = self.expires_after
        return CounterFacts(
            bits=None if self.bits == 64 else self.bits,
            link_bits_per_second=self.link_bits_per_second,
            expires_after=None if after is None else after // timedelta(seconds=1),
        )


class ExportSettings(_Strict):
    """One export: files of one format at one path pattern."""

    name: str = Field(min_length=1, max_length=100)
    """Name, by which deliveries and messages call it; unique."""
    format: str = "auto"
    """Parser, or `auto` to tell it from the content."""
    path: str = Field(min_length=1)
    """Where its files are: local or `s3://`, with `{cluster}`, `{node}`, `{project}`, `%Y %m %d
    %H` and globs."""
    clusters: tuple[str, ...] | None = Field(default=None, min_length=1)
    """Clusters whose files it holds; several need `{cluster}` in the path."""
    expect: Expectation | None = None
    """What should come each landing day; without it nothing is missing."""
    record_format: str | None = None
    """Form of the records where the format has several: header, log line, field list."""
    temporality: Literal["cumulative", "delta", "per_connection_total"] | None = None
    """What its numbers are where records do not say it."""
    region: str | None = None
    """Region of the buckets or of the log, where records do not say it."""
    counters: CounterSettings | None = None
    """What is known of its counters."""

    @field_validator("format")
    @classmethod
    def _known_format(cls, value: str) -> str:
        if value != "auto" and value not in format_names():
            message = f"expected auto or one of {', '.join(format_names())}"
            raise ValueError(message)
        return value

    @field_validator("record_format")
    @classmethod
    def _form_of_format(cls, value: str | None, info: ValidationInfo) -> str | None:
        name = info.data.get("format")
        expected = expected_form(name, value) if name is not None and value is not None else None
        if expected is not None:
            message = f"expected {expected}"
            raise ValueError(message)
        return value

    @field_validator("path")
    @classmethod
    def _good_pattern(cls, value: str) -> str:
        PathPattern.compile(value)
        return value

    @model_validator(mode="after")
    def _one_way_to_name_the_cluster(self) -> Self:
        if self.clusters is not None and len(self.clusters) != 1 and "{cluster}" not in self.path:
            message = "several clusters need {cluster} in the path"
            raise ValueError(message)
        return self


class Dataset(_Strict):
    """A dataset: an id and a glob over object ids such as `s3://bucket/prefix/*`."""

    id: str = Field(min_length=1)
    """Id, as people name it."""
    pattern: str = Field(min_length=1)
    """Glob over object ids, such as `s3://bucket/prefix/*`."""


class LookBackSettings(_Strict):
    """How far back each table reads; defaults are those of definitions.md 3."""

    connections: Duration = timedelta(days=1)
    """Connections that began before the day."""
    pods: Duration = timedelta(hours=36)
    """States of pods, nodes and runs: a pod last seen alive stays open for so long."""
    names: Duration = timedelta(days=1)
    """Look-ups that may name a connection."""
    counters: Duration = timedelta(days=1)
    """An earlier sample counts for so long; twice as much is read."""
    credentials: Duration = timedelta(days=1)
    """Credentials that pods were given before."""
    transfers: Duration = timedelta(days=1)
    """Reads of one object that began before the day."""
    repeats: Duration = timedelta(days=30)
    """Earlier transfers that a later one may repeat."""


class RangesFile(_Strict):
    """A provider's list of networks, with the day from which it holds if the file has no date."""

    path: str = Field(min_length=1)
    """File of networks as the provider publishes it."""
    valid_from: date | None = None
    """Day from which it holds, where the file has none."""


def _ranges_file(value: Any) -> Any:  # noqa: ANN401  raw YAML
    return {"path": value} if isinstance(value, str) else value


class ReferenceFiles(_Strict):
    """Reference files that extend or replace what is shipped."""

    endpoints: str | None = None
    """CSV of endpoint patterns that replaces or extends what is shipped."""
    prices: str | None = None
    """CSV of prices that replaces or extends what is shipped."""
    address_ranges: tuple[
        Annotated[RangesFile, BeforeValidator(_ranges_file), InPlace("text")], ...
    ] = ()
    """The providers' own lists of networks: paths, or mappings of path and valid_from."""
    nat_addresses: str | None = None
    """CSV of addresses that many pods share."""


class Retention(_Strict):
    """For how many days the lake keeps what it could build again only from the exports."""

    staging: int | None = Field(default=None, ge=1, le=LONGEST.days)
    """What exports said, by landing day."""
    intermediate: int | None = Field(default=None, ge=1, le=LONGEST.days)
    """What happened, by event day."""
    marts: int | None = Field(default=None, ge=1, le=LONGEST.days)
    """The answers, by event day; they are in no catalogue any more."""


def _retention(value: Any) -> Any:  # noqa: ANN401  raw YAML
    if value is None or isinstance(value, dict | Retention):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LONGEST.days:
        message = (
            f"expected a whole number of at least 1 and at most {LONGEST.days}, or a mapping of "
            "staging, intermediate, marts"
        )
        raise ValueError(message)
    return {"staging": value, "intermediate": value}


class Settings(_Strict):
    """All settings; paths are resolved against the folder of the settings file."""

    lake: str
    """Folder of the lake, or `s3://bucket/prefix`."""
    catalog: str
    """DuckDB file that people read; replaced as one file."""
    reports: str | None = None
    """Folder of reports; it has no effect, as no command writes any yet."""
    memory_limit: Size = 4_000_000_000
    """Memory that the processes may use together, such as `4GB`."""
    workers: int = Field(default=2, ge=1, le=256)
    """Processes and threads at work."""
    redaction_key_file: str | None = None
    """File of 16 or more random bytes that hashes access key ids; without it they become null."""
    final_after: Duration = timedelta(days=3)
    """How long after an hour its files are awaited; then its day is final."""
    retention_days: Annotated[
        Retention | None, BeforeValidator(_retention), InPlace("whole number of days")
    ] = None
    """Days after which `podledger prune` removes staging and intermediate files that no day to
    come reads; or a mapping by layer."""
    temp_directory: str | None = None
    """Folder in which engines spill what does not fit in memory; else in the lake."""
    manifests: str | None = None
    """Folder of a run's manifest, with `{run_uuid}` and, if wanted, `{project}` in it."""
    clusters: dict[str, ClusterSettings]
    """The clusters, by name."""
    exports: tuple[ExportSettings, ...]
    """The exports; a file that two match is read by the first."""
    datasets: tuple[Dataset, ...] = ()
    """Datasets: ids over patterns of object ids, in order."""
    buckets: dict[str, Annotated[BucketSettings, InPlace("text")]] = Field(default_factory=dict)
    """Buckets by name or pattern: their region, or a mapping."""
    reference: ReferenceFiles = ReferenceFiles()
    """Reference files that extend or replace what is shipped."""
    look_back: LookBackSettings = LookBackSettings()
    """How far back builds read."""
    look_ahead: Duration = timedelta(hours=1)
    """How far behind a day the next reading of bytes and coverage may lie."""
    _folder: Path = PrivateAttr(default_factory=Path)

    @field_validator("catalog", "reports", "temp_directory", "manifests", "redaction_key_file")
    @classmethod
    def _is_local(cls, value: str | None) -> str | None:
        if value is not None and (not value or "://" in value):
            message = "expected a local path; only exports and the lake may lie on s3://"
            raise ValueError(message)
        return value

    @field_validator("lake")
    @classmethod
    def _is_folder_or_prefix(cls, value: str) -> str:
        is_on_s3 = value.startswith(SCHEME)
        parts = value.removeprefix(SCHEME).split("/")
        if is_on_s3 and "@" in parts[0]:
            message = "expected s3://bucket/prefix, without credentials"
            raise ValueError(message)
        if is_on_s3 and len(parts) > 1 and not parts[-1]:
            del parts[-1]
        if not value or (is_on_s3 and {"", ".", ".."} & set(parts)) or "://" in "/".join(parts):
            message = "expected a local path or s3://bucket/prefix"
            raise ValueError(message)
        return SCHEME + "/".join(parts) if is_on_s3 else value

    @model_validator(mode="after")
    def _a_file_beside_the_lake(self) -> Self:
        if not self.lake.startswith(SCHEME) and Path(self.catalog) == Path(self.lake):
            message = f"catalog: {self.catalog!r} is the lake; expected a file of its own"
            raise ValueError(message)
        return self

    @field_validator("manifests")
    @classmethod
    def _one_folder_a_run(cls, value: str | None) -> str | None:
        fields = re.findall(r"\{[^}]*\}?", value or "")
        if value is not None and (
            "{run_uuid}" not in fields or set(fields) - {"{run_uuid}", "{project}"}
        ):
            message = "expected a folder with {run_uuid} and, if wanted, {project} in it"
            raise ValueError(message)
        return value

    @field_validator("memory_limit")
    @classmethod
    def _enough_memory(cls, value: int) -> int:
        if value < LEAST_MEMORY:
            message = f"expected at least {LEAST_MEMORY / 10**9:g}GB"
            raise ValueError(message)
        return value

    @field_validator("clusters")
    @classmethod
    def _cluster_names(cls, value: dict[str, ClusterSettings]) -> dict[str, ClusterSettings]:
        if not value:
            message = "expected at least one cluster"
            raise ValueError(message)
        for name in value:
            if name == FLEET or not CLUSTER_NAME.match(name) or not name.strip("."):
                message = f"expected [a-z0-9.-]{{1,63}} other than {FLEET!r}, got cluster {name!r}"
                raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _exports_agree(self) -> Self:
        names = [export.name for export in self.exports]
        for name in names:
            if names.count(name) > 1:
                message = f"exports: name {name!r} stands twice; expected unique names"
                raise ValueError(message)
        for export in self.exports:
            unknown = sorted(set(export.clusters or ()) - set(self.clusters))
            if unknown:
                message = (
                    f"exports.{export.name}.clusters: {unknown} are no clusters of the settings; "
                    f"expected some of {sorted(self.clusters)}"
                )
                raise ValueError(message)
        return self

    @property
    def remarks(self) -> tuple[str, ...]:
        """What no setting forbids, but hardly anyone means."""
        found: tuple[str, ...] = ()
        if self.reports is not None:
            found = ("reports: it has no effect, as no command writes reports; expected none",)
        return (*found, *self._remarks_on_exports())

    def _remarks_on_exports(self) -> tuple[str, ...]:
        if not self.exports:
            return (
                "exports: [] lists none, so that nothing is read; expected at least one export",
            )
        are_all = any(e.clusters is None and "{cluster}" in e.path for e in self.exports)
        named = {name for export in self.exports for name in export.clusters or ()}
        return tuple(
            f"clusters.{name}: no export names it or has {{cluster}} in its path, so that it gets "
            "no rows; expected it in an export"
            for name in self.clusters
            if not are_all and name not in named
        )

    def resolve(self, path: str) -> str:
        """A path as used: URLs as they are, relative paths against the settings file."""
        return path if "://" in path else str(self._folder / path)

    def pattern_of(self, export: ExportSettings) -> PathPattern:
        """Pattern of an export's path; a relative one begins at the settings file."""
        text = export.path if "://" in export.path else str(Path(export.path))
        return PathPattern.compile(text, self._folder.as_posix())

    @property
    def lake_path(self) -> Path:
        """Folder of the lake; of one on S3, of its local copy beside the catalogue."""
        if self.lake.startswith(SCHEME):
            return root_of(self.catalog_path.parent, self.lake)
        return Path(self.resolve(self.lake))

    @property
    def history_path(self) -> Path:
        """Folder of Dagster's history where DAGSTER_HOME names none: beside the lake."""
        beside = self.catalog_path if self.lake.startswith(SCHEME) else self.lake_path
        return beside.parent / ".dagster"

    @property
    def catalog_path(self) -> Path:
        """DuckDB file that people read."""
        return Path(self.resolve(self.catalog))

    @property
    def manifests_template(self) -> str | None:
        """Folder of a run's manifest, with fields for the run's own."""
        return None if self.manifests is None else self.resolve(self.manifests)

    @property
    def temp_path(self) -> Path | None:
        """Folder in which the engine spills."""
        return Path(self.resolve(self.temp_directory)) if self.temp_directory else None

    @cached_property
    def key_hash(self) -> KeyedHash:
        """Keyed hash of the redaction key file; without one, hashes are null.

        Raises:
            SettingsError: The file cannot be read or is empty.
        """
        if self.redaction_key_file is None:
            return KeyedHash(None)
        place = f"redaction_key_file: {self.redaction_key_file}"
        try:
            key = read_stated(self.resolve(self.redaction_key_file), MAX_KEY_BYTES).strip()
        except NotReadError as error:
            expected = f"expected a readable file of 16 to {MAX_KEY_BYTES} bytes"
            raise SettingsError(place, Clean(f": {error}; {expected}")) from None
        if len(key) < 16:
            raise SettingsError(place, Clean(f": {len(key)} bytes; expected at least 16"))
        return KeyedHash(key)

    @cached_property
    def nat_addresses(self) -> tuple[tuple[str, str | None], ...]:
        """Addresses that many pods share, each with its cluster if that is stated.

        Raises:
            SettingsError: The file cannot be read or a line is wrong.
        """
        path = self.reference.nat_addresses
        return load_nat_addresses(self.resolve(path), self.clusters) if path else ()

    @cached_property
    def address_ranges(self) -> AddressRanges:
        """The networks that providers publish.

        Raises:
            SettingsError: A file cannot be read or an entry is wrong.
        """
        files = self.reference.address_ranges
        return load_address_ranges([(self.resolve(f.path), f.valid_from) for f in files])

    @property
    def bucket_regions(self) -> tuple[tuple[str, str], ...]:
        """(pattern over bucket names, region) of the buckets whose region is stated."""
        return tuple((name, b.region) for name, b in self.buckets.items() if b.region is not None)

    @property
    def bucket_owners(self) -> tuple[tuple[str, str | None, bool], ...]:
        """(pattern, owning account, whether the requester pays) of the buckets that state it."""
        return tuple(
            (name, b.account_id, b.requester_pays)
            for name, b in self.buckets.items()
            if b.account_id is not None or b.requester_pays
        )

    @property
    def cluster_facts(self) -> tuple[ClusterFacts, ...]:
        """The clusters as transforms see them, by name."""
        return tuple(
            ClusterFacts(
                name,
                c.cloud,
                c.region,
                c.account_id,
                tuple(sorted(c.zones.items())),
                tuple((s.cidr, s.zone, s.region) for s in c.subnets),
                tuple((e.id, e.kind, e.addresses) for e in c.endpoints),
            )
            for name, c in sorted(self.clusters.items())
        )

    @property
    def look_backs(self) -> LookBack:
        """The look-backs as transforms see them."""
        return LookBack(**dict(self.look_back))


def find_settings_file(path: str | None) -> Path:
    """Choose the settings file: the argument, else PODLEDGER_CONFIG, else podledger.yaml."""
    return Path(path or os.environ.get(ENVIRONMENT) or DEFAULT_FILE)


_UNUSABLE = re.compile("[\x00\ud800-\udfff]")


class _Loader(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML would silently keep the last.

    So are texts with signs that no path and no UTF-8 holds: NUL and halves of surrogate pairs.
    """

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:  # noqa: ANN401
        """Construct a text that can be written and be a path."""
        text = super().construct_scalar(node)
        if _UNUSABLE.search(str(text)):
            problem = "a text holds NUL or half a surrogate pair"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return text

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:  # noqa: ANN401  as in yaml
        """Construct a mapping whose keys are all different."""
        lines: dict[str, int] = {}
        for key, _ in node.value:
            text, line = str(key.value), key.start_mark.line + 1
            if text in lines and text != "<<":
                problem = f"key {redact(text)[:80]!r} stands on line {lines[text]}, too"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            lines[text] = line
        return super().construct_mapping(node, deep)


def load_settings(path: Path) -> Settings:
    """Read and check a settings file.

    Raises:
        SettingsError: The file cannot be read, is no YAML mapping, or a key is wrong; the message
            has a line per wrong key with its value and what was expected.
    """
    try:
        text = read_stated(path, MAX_BYTES, any_kind=True).decode("utf-8")
    except (NotReadError, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, NotReadError) else "not UTF-8 text"
        expected = "expected a settings file (see README, `--config`)"
        raise SettingsError(str(path), Clean(f": {reason}; {expected}")) from None
    try:
        content = yaml.load(text, Loader=_Loader)  # noqa: S506  a SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise SettingsError(str(path), Clean(":"), _why_no_yaml(error)) from None
    if not isinstance(content, dict):
        found = f": expected a mapping of settings, got {type(content).__name__}"
        raise SettingsError(str(path), Clean(found))
    try:
        settings = Settings.model_validate(content)
    except ValidationError as error:
        raise _wrong(path, [_explain(e) for e in error.errors(include_url=False)]) from None
    settings._folder = path.resolve().parent  # noqa: SLF001  set once, here
    problems = list(_exports_in_the_lake(settings))
    if problems:
        raise _wrong(path, problems)
    return settings


def _wrong(path: Path, lines: Sequence[str]) -> SettingsError:
    """The error of wrong settings, each in a line without credentials."""
    listed = "\n".join(lines)
    return SettingsError(str(path), Clean(f": {len(lines)} wrong setting(s)\n{listed}"))


def _exports_in_the_lake(settings: Settings) -> Iterator[str]:
    """What is wrong with exports whose files lie where the lake's do: each would be taken for one.

    A pattern that begins above the lake is, too, where it matches names that the lake has.
    """
    is_on_s3 = settings.lake.startswith(SCHEME)
    lake = settings.lake if is_on_s3 else os.path.normpath(settings.lake_path)
    names = [f"{lake}/.layout.json", f"{lake}/flows/date=2026-03-10/{FLEET}-part.parquet"]
    names += [f"{lake}/flows/date=2026-03-10/{name}-part.parquet" for name in settings.clusters]
    for number, export in enumerate(settings.exports):
        pattern = settings.pattern_of(export)
        start = pattern.prefix if is_on_s3 else f"{os.path.normpath(pattern.prefix)}/"
        if start.startswith(f"{lake}/") or any(pattern.facts(name) for name in names):
            yield (
                f"  exports.{number}.path: {redact(repr(export.path))[:120]}: its files would lie "
                f"in the lake {redact(settings.lake)}; expected a path outside of it"
            )


def _why_no_yaml(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return " is no YAML: too deep"
    if isinstance(error, yaml.MarkedYAMLError):
        place = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        return f"{place} is no YAML: {error.problem}"
    if isinstance(error, yaml.reader.ReaderError):
        return f" is no YAML: {error.reason} (character {error.position + 1})"
    # A date or number that looks like one and is none, such as 2026-02-30.
    return f" holds a value that cannot be read: {error}"


_EXPECTED = {
    "string_type": "text",
    "string_too_short": "text of at least {min_length} character(s)",
    "string_too_long": "text of at most {max_length} characters",
    "string_pattern_mismatch": "text of the form {pattern}",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
    "too_short": "at least {min_length} item(s)",
    "date_type": "a day such as 2026-03-10",
    "date_parsing": "a day such as 2026-03-10",
    "date_from_datetime_parsing": "a day such as 2026-03-10",
    "date_from_datetime_inexact": "a day such as 2026-03-10",
}
"""What is expected, by the kind of a check that failed."""


def _expected(error: Any) -> str:  # noqa: ANN401  pydantic's error dict
    """What is expected in the place of a wrong value."""
    known = _EXPECTED.get(error["type"])
    if known is not None:
        return "expected " + known.format_map(error.get("ctx", {}))
    return redact(str(error["msg"]).removeprefix("Value error, "))


def _shown_key(part: object) -> str:
    """A key as it stands, or quoted where it could not be told from the message."""
    text = redact(str(part))
    return text if text.isprintable() and text.strip() == text != "" else repr(text[:80])


def _explain(error: Any) -> str:  # noqa: ANN401  pydantic's error dict
    key = ".".join(_shown_key(part) for part in error["loc"]) or "settings"
    expected = _expected(error)
    if error["type"] == "missing":
        return f"  {key}: missing; expected a value"
    if error["type"] == "extra_forbidden":
        return f"  {key}: unknown setting; `podledger dictionary --settings` lists those there are"
    value = error["input"]
    if not error["loc"] or isinstance(value, dict | list | tuple):
        return f"  {key}: {expected}"
    shown = redact(repr(value))
    if error["loc"][-1] not in _declared():
        # A name of the user's may say that its value is a secret.
        shown = redact(f"{key}: {shown}").removeprefix(f"{key}: ")
    return f"  {key}: {shown[:120]}: {expected}"


@cache
def _declared() -> frozenset[str]:
    """Names of all settings: of `credentials` among them the value is none."""
    return frozenset(name for model in _Strict.__subclasses__() for name in model.model_fields)
