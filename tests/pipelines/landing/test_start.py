"""Processes start without what parsing needs nothing of."""

import os
import subprocess
import sys
from multiprocessing.spawn import get_preparation_data
from pathlib import Path
from types import ModuleType

from pipelines.landing.start import without_main

ROOT = Path(__file__).parents[3]


def run(code: str, folder: Path) -> str:
    """What a process prints that finds a pandas in a folder."""
    (folder / "pandas.py").write_text("LOADED = True\n", encoding="utf-8")
    path = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_process_that_parses_loads_no_pandas(tmp_path):
    code = """
import sys
import pipelines.landing.worker
import pyarrow
pyarrow.array([1])
print("pandas" in sys.modules, "pipelines.landing.parsing" in sys.modules)
"""
    assert run(code, tmp_path) == "False True"


def test_pandas_that_is_loaded_already_stays(tmp_path):
    code = """
import pandas
from pipelines.landing.start import leave_out_pandas
leave_out_pandas()
import pandas
print(pandas.LOADED)
"""
    assert run(code, tmp_path) == "True"


def test_a_process_does_not_run_the_main_module_of_the_one_that_starts_it(monkeypatch):
    main = ModuleType("__main__")
    main.__file__ = str(ROOT / "pipelines" / "cli" / "main.py")
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert get_preparation_data("a")["init_main_from_path"] == main.__file__
    with without_main():
        told = get_preparation_data("a").keys()
    assert not {"init_main_from_name", "init_main_from_path"} & told
    assert sys.modules["__main__"] is main
