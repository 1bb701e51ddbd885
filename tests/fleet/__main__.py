"""Write the fixtures: `python -m tests.fleet`.

Everything below `data/fixtures` is replaced except the README, which people write.
"""

import shutil
import sys
from pathlib import Path

from tests.fleet.build import all_files

FIXTURES = Path(__file__).resolve().parents[2] / "data" / "fixtures"
WRITTEN_BY_PEOPLE = {"README.md"}


def main() -> None:
    """Write all files anew."""
    for folder in ("exports", "expected"):
        shutil.rmtree(FIXTURES / folder, ignore_errors=True)
    files = all_files()
    for name, text in files.items():
        path = FIXTURES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    size = sum(len(text.encode()) for text in files.values())
    sys.stdout.write(f"{len(files)} files, {size:,} bytes\n")


if __name__ == "__main__":
    main()
