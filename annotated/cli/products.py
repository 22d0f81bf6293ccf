"""Commands of products that are packages of their own, found among what is installed.

Such a package names them in the group `annotated.commands` of its entry points. Each is a function that gives what tyro
reads: `Annotated[TheCommand, tyro.conf.subcommand("its-name")]`. Only these functions are imported here, and they need
no torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

GROUP = "annotated.commands"
PACKAGES = {
    "table3": ("annotated-book", "./book"),
    "exercise": ("annotated-grader", "./grader"),
    "doctor": ("annotated-grader", "./grader"),
}
"""The packages of commands that this project has, and their folders in a checkout, in the order of the help; those of
others come after them."""


def commands(wanted: str) -> Iterator[Any]:
    """The commands of all products that are installed.

    Parameters
    ----------
    wanted
        The first word of the command line.

    Raises
    ------
    ValueError
        If it is a command of a product that is not installed.
    """
    # A fiftieth of a second, and half as much again to look at every package: the library's own commands save both.
    from importlib.metadata import PackageNotFoundError, distribution, entry_points

    try:
        package, _ = PACKAGES.get(wanted, ("", ""))
        named = distribution(package).entry_points.select(group=GROUP) if package else entry_points(group=GROUP)
    except PackageNotFoundError:
        raise ValueError(
            f"the command {wanted} is in the package {package}, which is not installed: pip install its wheel (the "
            f"book offers it beside the library's), or {PACKAGES[wanted][1]} of a checkout"
        ) from None
    found = {entry.name: entry for entry in named}
    for name in [*(name for name in PACKAGES if name in found), *sorted(found.keys() - PACKAGES.keys())]:
        yield found[name].load()()
