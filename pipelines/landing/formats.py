"""The parsers by name."""

from collections.abc import Iterator, MutableMapping
from functools import cache
from importlib import import_module

from transforms.staging.parser import Parser

MODULES = (
    "hubble",
    "coredns",
    "dns_collector",
    "s3_access_log",
    "polyaxon",
    "kubernetes",
    "kubernetes_audit",
    "event_exporter",
    "otel_k8sobjects",
    "kube_state_metrics",
    "otlp",
    "prometheus",
    "victoriametrics",
    "aws_vpc_flow_log",
    "gcp_vpc_flow_log",
    "azure_flow_log",
    "route53",
    "gcp_dns",
    "zeek_dns",
    "inspektor_gadget",
    "azure_dns",
    "netobserv",
    "zeek_conn",
    "antrea",
    "netflow_json",
    "proxy_access_log",
    "registry_access_log",
    "containerd",
    "cloudtrail",
    "gcs_usage",
    "gcs_audit",
    "azure_storage",
    "minio_audit",
    "ceph_rgw",
    "seaweedfs",
    "stage_marks",
    "aws_cur",
    "focus",
)


@cache
def format_names() -> tuple[str, ...]:
    """Names that `format` may have, besides `auto`."""
    return MODULES


class _Parsers(MutableMapping[str, Parser]):
    """All parsers by name; each is imported when it is first asked for.

    Importing all takes a fifth of a second, and most processes read files of few formats.
    """

    def __init__(self) -> None:
        """Start with none imported."""
        self._known: dict[str, Parser] = {}

    def __getitem__(self, name: str) -> Parser:
        """The parser of a format."""
        if name not in self._known:
            if name not in MODULES:
                raise KeyError(name)
            self._known[name] = import_module(f"transforms.staging.{name}").PARSER
        return self._known[name]

    def __setitem__(self, name: str, parser: Parser) -> None:
        """Put another parser in the place of one."""
        self._known[name] = parser

    def __delitem__(self, name: str) -> None:
        """Forget what was put in a place."""
        del self._known[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is such a format."""
        return name in MODULES

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(MODULES)

    def __len__(self) -> int:
        """How many there are."""
        return len(MODULES)

    def clear(self) -> None:
        """Forget all that were put in a place."""
        self._known.clear()


@cache
def parsers() -> MutableMapping[str, Parser]:
    """All parsers by name."""
    return _Parsers()


def expected_form(format_name: str, record_format: str) -> str | None:
    """What is expected in the place of a `record_format`; nothing where it is right.

    Args:
        format_name: A format; of `auto`, the form may be that of any format.
        record_format: The setting.
    """
    takers = {n: p.expected_form for n, p in parsers().items() if p.expected_form is not None}
    names = ", ".join(takers)
    if format_name == "auto":
        is_known = any(expected(record_format) is None for expected in takers.values())
        return None if is_known else f"a form of one of the formats {names}"
    expected = takers.get(format_name)
    if expected is None:
        return f"none, as {format_name} takes none; formats that do: {names}"
    return expected(record_format)


def formats_markdown() -> str:
    """The table of formats in README, from the parsers themselves."""
    lines = [
        "| format | one record is | tables filled | what it cannot tell | tested on lines |",
        "|---|---|---|---|---|",
    ]
    for parser in parsers().values():
        cells = (
            f"`{parser.name}` ({parser.title})",
            _sentence(parser.record),
            ", ".join(f"`{table}`" for table in parser.tables),
            _sentence(parser.cannot_tell),
            parser.tested_on,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
