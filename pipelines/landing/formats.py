"""The parsers by name."""

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
    "otlp",
    "aws_vpc_flow_log",
)


@cache
def format_names() -> tuple[str, ...]:
    """Names that `format` may have, besides `auto`."""
    return MODULES


@cache
def parsers() -> dict[str, Parser]:
    """All parsers by name."""
    return {name: import_module(f"transforms.staging.{name}").PARSER for name in MODULES}
