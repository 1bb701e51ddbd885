"""What all tests share: the folder of real samples, hypothesis's settings, no terminal."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# A terminal's width or colours in the caller's environment change what commands print.
for told in ("COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
    os.environ.pop(told, None)

# Publication waits for the disk at each rename, and tests publish thousands of files.
IN_MEMORY = Path("/dev/shm")
if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > 6_000_000_000:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))

SAMPLES = Path(__file__).parents[2] / "shared" / "samples"

settings.register_profile("default", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("default")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests on real sample lines where the folder of samples is absent."""
    if SAMPLES.is_dir():
        return
    chosen = [item for item in items if item.get_closest_marker("samples") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of real sample lines."""
    return SAMPLES
