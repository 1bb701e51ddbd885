"""The `podledger` command: what there is, and how errors end."""

import os
import sys

import duckdb
import typer

from pipelines.cli.accept import accept
from pipelines.cli.build import build
from pipelines.cli.cache import cache
from pipelines.cli.check import check
from pipelines.cli.compare import compare
from pipelines.cli.demo import demo
from pipelines.cli.dictionary import dictionary
from pipelines.cli.explain import explain
from pipelines.cli.manifest import manifest
from pipelines.cli.output import errors, printable
from pipelines.cli.prune import prune
from pipelines.cli.query import query
from pipelines.cli.show import FURTHER, show
from pipelines.cli.status import status
from pipelines.errors import Clean, PodledgerError
from transforms.redaction import redact

app = typer.Typer(
    name="podledger",
    help="What ML runs on Kubernetes connect to, wait for, fetch again and pay for.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
INTERRUPTED = 130

for command in (
    demo,
    build,
    check,
    status,
    show,
    query,
    explain,
    dictionary,
    cache,
    manifest,
    accept,
    compare,
    prune,
):
    app.command(context_settings=FURTHER if command is show else None)(command)


def main() -> None:
    """Run a command; errors end it with a message and an exit code, never with a traceback."""
    try:
        app()
    except PodledgerError as error:
        # Redacted where it was made; once more would take words of ours for secrets.
        _stop(Clean(error), error.exit_code)
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        # Typer ends on Ctrl-C with this code, without a word.
        _stop(Clean("stopped; what was published stays, a rerun finishes the work"), INTERRUPTED)
    except duckdb.Error as error:
        # Such as an argument that is no UTF-8, a lake's file that is damaged, or too little memory.
        _stop(str(error).partition("\n")[0], 2)
    except BrokenPipeError:
        # Who reads has enough, such as `head`; what is left to print goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _stop(f"{where}{error.strerror or error}", 2)


def _stop(message: str, code: int) -> None:
    clean = message if isinstance(message, Clean) else redact(message)
    lines = [printable(line) for line in clean.splitlines()]
    errors.print("error: " + "\n".join(lines), markup=False, soft_wrap=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
