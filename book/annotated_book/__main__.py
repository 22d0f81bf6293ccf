"""`python -m annotated_book [NAME ...] [--smoke]`: list the experiments of the chapters, or make their records.

With `--smoke` an experiment that has a small version runs that, and writes no record.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from annotated_book.record import experiment_module, make, record_names


def main(arguments: list[str]) -> int:
    """Run the named experiments one after the other; list them if none is named."""
    smoke = "--smoke" in arguments
    arguments = [name for name in arguments if name != "--smoke"]
    if not arguments or not all(map(is_experiment, arguments)):
        print("usage: python -m annotated_book NAME ... [--smoke]\n")
        for name in record_names():
            module = importlib.import_module(experiment_module(name))
            print(f"  {name:30} {(module.__doc__ or '').splitlines()[0]}")
        return 2 if arguments else 0
    for name in arguments:
        run: Callable[..., dict[str, Any]] = importlib.import_module(experiment_module(name)).run
        if not smoke:
            print(f"recorded in {make(name, run)}")
        elif "smoke" in inspect.signature(run).parameters:
            print(f"{name}: ran in small, with {', '.join(run(smoke=True))}; no record is written")
        else:
            print(f"{name} has no small version")
            return 2
    return 0


def is_experiment(name: str) -> bool:
    """Whether a module can make this record, be there one yet or not."""
    try:
        module = importlib.import_module(experiment_module(name))
    except (FileNotFoundError, ModuleNotFoundError):
        return False
    return callable(getattr(module, "run", None))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
