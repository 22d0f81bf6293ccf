"""`python -m annotated.experiments [NAME ...]`: list the experiments, or make their records again."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import annotated.experiments as package
from annotated.experiments.record import make

NAMES = sorted(
    m.name
    for m in pkgutil.iter_modules(package.__path__)
    if m.name not in {"__main__", "real_text", "record", "uncertain"}
)


def main(arguments: list[str]) -> int:
    """Run the named experiments one after the other; list them if none is named."""
    if not arguments or any(name not in NAMES for name in arguments):
        print("usage: python -m annotated.experiments NAME ...\n")
        for name in NAMES:
            module = importlib.import_module(f"annotated.experiments.{name}")
            print(f"  {name:28} {(module.__doc__ or '').splitlines()[0]}")
        return 2 if arguments else 0
    for name in arguments:
        path = make(name, importlib.import_module(f"annotated.experiments.{name}").run)
        print(f"recorded in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
