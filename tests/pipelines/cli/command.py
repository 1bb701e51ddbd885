"""Run `podledger` in this process, as a shell would."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from pipelines.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code and what it printed."""

    code: int
    out: str
    err: str


def podledger(*arguments: object) -> Ended:
    """Run one command; anything but an ordinary exit is an error of the test."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["podledger", *map(str, arguments)]
    code: object = None
    with patch.object(sys, "argv", argv), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    assert code is None or isinstance(code, int)
    return Ended(code or 0, out.getvalue(), err.getvalue())
