"""What processes need not load when they start."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType

_PANDAS = "pandas"


class _Absent:
    """A finder that says of pandas what is said where it is not installed."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  what the import system asks
        target: ModuleType | None = None,  # noqa: ARG002  the same
    ) -> ModuleSpec | None:
        """Nothing of other modules.

        Raises:
            ModuleNotFoundError: Of pandas.
        """
        if name == _PANDAS:
            message = f"No module named '{_PANDAS}'"
            raise ModuleNotFoundError(message, name=name)
        return None


def leave_out_pandas() -> None:
    """Keep pandas out of a process of our own, for good.

    Nothing here uses it. Where other software brought it, pandera and Arrow load it all the same:
    a quarter of the time that a process takes to start.
    """
    if _PANDAS not in sys.modules:
        sys.meta_path.insert(0, _Absent())


@contextmanager
def without_main() -> Iterator[None]:
    """Let processes that are started here not run the main module of this one.

    Each would import the whole command line, of which parsing needs nothing.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
