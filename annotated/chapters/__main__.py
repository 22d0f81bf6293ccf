"""`python -m annotated.chapters [NAME ...]`: list the experiments of the chapters, or make their records again."""

from __future__ import annotations

import importlib
import sys

from annotated.chapters.record import experiment_module, make, record_names


def main(arguments: list[str]) -> int:
    """Run the named experiments one after the other; list them if none is named."""
    names = record_names()
    if not arguments or any(name not in names for name in arguments):
        print("usage: python -m annotated.chapters NAME ...\n")
        for name in names:
            module = importlib.import_module(experiment_module(name))
            print(f"  {name:30} {(module.__doc__ or '').splitlines()[0]}")
        return 2 if arguments else 0
    for name in arguments:
        path = make(name, importlib.import_module(experiment_module(name)).run)
        print(f"recorded in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
