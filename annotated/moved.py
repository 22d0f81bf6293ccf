"""Names that have moved to a package of their own: notebooks that learners have already import them from here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def names_of(here: str, there: str, package: str) -> Callable[[str], Any]:
    """What a module is given as its `__getattr__`.

    Parameters
    ----------
    here, there
        Where the names were, and the module that has them now.
    package
        What to install for it.
    """

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {here!r} has no attribute {name!r}")
        try:
            return getattr(import_module(there), name)
        except ModuleNotFoundError as error:
            if not there.startswith(str(error.name)):
                raise
            raise ModuleNotFoundError(
                f"{here} is {there} now, in the package {package}, which is not installed: pip install its wheel (the "
                "book offers it beside the library's), or ./grader of a checkout",
                name=there,
            ) from None

    return find
