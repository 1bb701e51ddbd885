"""Whether the files that the settings name can be used: all that cannot are told at once."""

from collections.abc import Callable
from pathlib import Path

import duckdb

from pipelines.catalog import is_current, open_catalog, require_replaceable
from pipelines.errors import Clean, LakeWriteError, SettingsError
from pipelines.finality import BUILT
from pipelines.reference.catalogue import load_endpoints
from pipelines.reference.prices import load_prices
from pipelines.settings import Settings
from pipelines.storage import Lake


def require_usable(settings_file: Path, settings: Settings) -> None:
    """See that the redaction key and all reference files can be read and are right.

    Raises:
        SettingsError: Names each that cannot be used, with the reason and what was expected.
    """
    stated = settings.reference
    readers: dict[str, Callable[[], object]] = {
        "redaction_key_file": lambda: settings.key_hash,
        "reference.endpoints": lambda: (
            stated.endpoints and load_endpoints(settings.resolve(stated.endpoints))
        ),
        "reference.prices": lambda: stated.prices and load_prices(settings.resolve(stated.prices)),
        "reference.address_ranges": lambda: settings.address_ranges,
        "reference.nat_addresses": lambda: settings.nat_addresses,
    }
    problems = []
    for key, read in readers.items():
        try:
            read()
        except SettingsError as error:
            text = str(error).removeprefix(f"{key}: ")
            problems.append("\n".join(f"  {line}" for line in f"{key}: {text}".splitlines()))
    if problems:
        count = f": {len(problems)} kind(s) of files that it names cannot be used\n"
        raise SettingsError(str(settings_file), Clean(count + "\n".join(problems)))


def catalogue_problem(settings: Settings, lake: Lake) -> str | None:
    """Why people do not read what is published; none if they do, or nothing is published yet."""
    path = settings.catalog_path
    if not lake.days(BUILT):
        return None
    try:
        require_replaceable(path)
    except LakeWriteError as error:
        return str(error)
    if not path.exists():
        return "absent; podledger build writes it"
    try:
        open_catalog(path).close()
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        return f"cannot be opened: {reason}; podledger build writes it anew"
    if not is_current(lake, path):
        return "older than what is published; podledger build writes it anew"
    return None
