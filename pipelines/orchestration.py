"""Run the Dagster jobs in this process: the front door of the command line.

It runs the same assets as the schedule and leaves the same history in DAGSTER_HOME.
"""

import datetime as dt
import logging
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from pipelines.errors import PodledgerError
from pipelines.run import Workspace, tables_side_by_side

if TYPE_CHECKING:
    import dagster as dg

HOME = "DAGSTER_HOME"
INSTANCE_FILE = Path(__file__).parents[1] / "dagster.yaml"
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@contextmanager
def instance_of(workspace: Workspace) -> Iterator["dg.DagsterInstance"]:
    """The Dagster instance of DAGSTER_HOME, else of `.dagster` beside the lake or catalogue.

    Raises:
        PodledgerError: Dagster cannot keep its history in that folder.
    """
    import dagster as dg  # noqa: PLC0415  half a second that reading commands need not pay
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415  Dagster's own dependency

    home = Path(os.environ.get(HOME) or workspace.settings.history_path).resolve()
    if set("?%*[") & set(str(home)):
        # Dagster makes a URL and a glob of the path without quoting it, and would not find its
        # settings there, in which telemetry is off.
        message = f"{HOME} {home}: expected a folder without ? % * [ in its path; set {HOME}"
        raise PodledgerError(message)
    home.mkdir(parents=True, exist_ok=True)
    target = home / "dagster.yaml"
    if not target.exists() and INSTANCE_FILE.exists():
        shutil.copyfile(INSTANCE_FILE, target)
    before = os.environ.get(HOME)
    os.environ[HOME] = str(home)
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    try:
        with _prepared_once(), dg.DagsterInstance.get() as instance:
            yield instance
    except DBAPIError as error:
        message = (
            f"Dagster's history in {home}: {error.orig}; expected a folder that can be written; "
            "what was published stays, and a rerun finishes the work"
        )
        raise PodledgerError(message) from None
    finally:
        if before is None:
            del os.environ[HOME]
        else:
            os.environ[HOME] = before


@contextmanager
def _prepared_once() -> Iterator[None]:
    """Have Dagster prepare its access to one file of its history once, not for each event.

    It makes a new engine of SQLAlchemy each time, which knows none of the statements that the last
    one made ready; connections are still opened and closed for each.
    """
    from dagster._core.storage.event_log.sqlite import sqlite_event_log  # noqa: PLC0415
    from dagster._core.storage.runs.sqlite import sqlite_run_storage  # noqa: PLC0415

    modules: tuple[Any, ...] = (sqlite_event_log, sqlite_run_storage)
    before = [module.create_engine for module in modules]
    made: dict[str, Any] = {}
    make = before[0]

    def kept(url: str, **options: object) -> object:
        if url not in made:
            made[url] = make(url, **options)
        return made[url]

    for module in modules:
        module.create_engine = kept
    try:
        yield
    finally:
        for module, old in zip(modules, before, strict=True):
            module.create_engine = old


def run_job(workspace: Workspace, instance: "dg.DagsterInstance", job: str, day: dt.date) -> None:
    """Run `land` or `build` for one day; its tables are built side by side where memory allows.

    Call it under the lake's lock.

    Raises:
        PodledgerError: The error that stopped it, as a person should read it.
        KeyboardInterrupt: A person or the system stopped it.
    """
    import dagster as dg  # noqa: PLC0415  half a second that reading commands need not pay

    from pipelines.assets.tables import BY_COMMAND  # noqa: PLC0415  imports dagster
    from pipelines.definitions import BUILD, build_definitions  # noqa: PLC0415  imports dagster

    workspace.failed.clear()
    workspace.restating.clear()
    definition = build_definitions().resolve_job_def(job)
    with warnings.catch_warnings():
        # Dagster's own use of libraries warns; ours is covered by the tests.
        warnings.simplefilter("ignore")
        try:
            with tables_side_by_side(workspace, day) if job == BUILD else nullcontext():
                definition.execute_in_process(
                    partition_key=day.isoformat(),
                    instance=instance,
                    resources={"workspace": workspace},
                    run_config=QUIET,
                    tags={BY_COMMAND: "build"},
                    raise_on_error=True,
                )
        except dg.DagsterExecutionInterruptedError:
            raise KeyboardInterrupt from None
        except dg.DagsterExecutionStepExecutionError as error:
            # What a person can act on stands in the error of the step, not in the wrapper.
            if isinstance(error.user_exception, PodledgerError | OSError | duckdb.Error):
                raise error.user_exception from None
            raise
