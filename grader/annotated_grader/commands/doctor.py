"""`annotated doctor`."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from annotated.ownership import require_our_file
from annotated.storage import atomic_write

if TYPE_CHECKING:
    from annotated_grader.doctor import Report, Subject

KNOWN = ("ours", "torch", "marian")


@dataclass
class Doctor:
    """Examine an encoder-decoder: what every Transformer keeps, and the likely mistake where one does not.

    Exit status 0: nothing wrong was found. 1: something was. 2: there was nothing to examine.
    """

    target: tyro.conf.Positional[str | None] = None
    """'my_file.py:factory', a function that returns a model or an annotated_grader.doctor.Subject; or 'ours', 'torch'
    or 'marian' for a small new model of that kind; or 'classroom', a model folder, a checkpoint, a run."""
    json: Path | None = None
    """Write the report here as JSON; '-' prints it instead of the text. A file that is no such report stays."""
    html: Path | None = None
    """Write the report here as one page of HTML. A file that is no such page is never replaced."""
    book: str | None = None
    """Where the book is, an address or a folder as seen from that page: it links chapters and claims there. By default
    the book that was built in this checkout, if there is one."""
    passed: bool = False
    """List what holds, too, with what was measured."""
    only: tuple[str, ...] = ()
    """Examine only these invariants."""
    list: bool = False
    """List the invariants and what they need, and examine nothing."""
    mutant: str | None = None
    """Examine our own model with this known mistake in it."""

    def run(self) -> int:
        """Examine, report, and tell by the exit status."""
        import torch
        from rich.console import Console

        if self.list:
            return _list_invariants()
        if bool(self.target) == bool(self.mutant):
            raise ValueError(
                "say what to examine: my_file.py:factory, ours, torch, marian, classroom, or --mutant NAME"
            )
        from annotated_grader.doctor.report import is_report

        for file in (self.json, self.html):
            if file is not None and not file.parent.is_dir():
                raise FileNotFoundError(f"there is no folder {file.parent} to write {file.name} to")
            if file is not None and str(file) != "-":
                require_our_file(file, is_report)
        torch.manual_seed(0)  # new models are the same each time
        from annotated_grader.doctor.examine import examine

        subject = self._subject()
        messages = Console(stderr=True)
        with messages.status(f"examining {subject.name} ..."), self._mistake():
            report = examine(subject, self.only or None)
        self._write(report)
        return 0 if report.healthy else 1

    def _subject(self) -> Subject:
        if self.mutant is not None:
            from annotated_grader.doctor import mutants

            return mutants.subject(self.mutant)
        assert self.target is not None
        path, colon, factory = self.target.rpartition(":")
        if colon and path.endswith(".py"):
            return subject_from_file(Path(path), factory)
        if self.target.endswith(".py"):
            raise ValueError(f"{self.target}: say which function makes the model, too: {self.target}:factory")
        return _known(self.target)

    def _mistake(self) -> AbstractContextManager[Any]:
        """The known mistake, on for the whole examination; by itself the subject switches it for each question."""
        if self.mutant is None:
            return nullcontext()
        from annotated_grader.doctor import mutants

        return mutants.switched_on(self.mutant)

    def _write(self, report: Report) -> None:
        if self.html is not None:
            with atomic_write(self.html) as file:
                file.write(report.to_html(self.book))
        if self.json is not None and str(self.json) != "-":
            with atomic_write(self.json) as file:
                file.write(report.to_json())
        if str(self.json) == "-":
            print(report.to_json(), end="")
        else:
            report.print(passed=self.passed)


def command() -> Any:
    """`annotated doctor`, for the command line of the library."""
    return Annotated[Doctor, tyro.conf.subcommand("doctor")]


def _known(name: str) -> Subject:
    from annotated.loading import load
    from annotated.training import CheckpointError
    from annotated_grader.doctor import adapters

    try:
        if name in KNOWN:
            return getattr(adapters, f"small_{name}")()
        return adapters.OurSubject(load(name, "cpu").model, name)
    except (ImportError, CheckpointError) as error:  # status 1 would say that something is wrong with the model
        raise ValueError(str(error)) from error


def subject_from_file(path: Path, factory: str) -> Subject:
    """The subject that a function of a Python file makes.

    Parameters
    ----------
    path
        The file; it is run, with its folder first among the places where it may import from.
    factory
        Name of something in it that, called without arguments, returns what the doctor can examine; or of such an
        object itself.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be run, has nothing of that name, or makes nothing that can be examined.
    """
    from annotated_grader.doctor.adapters import subject_of

    found = _attribute(_run_file(path), path, factory)
    if isinstance(found, type) or (callable(found) and not hasattr(found, "modules")):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise ValueError(f"{path}:{factory}() raised {type(error).__name__}: {error}") from error
    try:
        return subject_of(found)
    except ValueError as error:
        raise ValueError(f"{path}:{factory}: {error}") from error


def _run_file(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    name = f"examined_{path.stem}"  # a name that hides no module of this program
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[name] = module  # dataclasses and pickle look for it there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module


def _attribute(module: Any, path: Path, name: str) -> Any:
    if hasattr(module, name):
        return getattr(module, name)
    own = [n for n, v in vars(module).items() if callable(v) and getattr(v, "__module__", None) == module.__name__]
    raise ValueError(f"{path} has no {name or 'factory without a name'}; it has {', '.join(own) or 'no functions'}")


def _list_invariants() -> int:
    from annotated_grader.doctor.invariants import INVARIANTS

    for invariant in INVARIANTS.values():
        needs = ", ".join(("logits", *invariant.needs, *(f"claim of {name}" for name in invariant.claims)))
        print(f"{invariant.id:<26}{invariant.title}\n{'':<26}needs {needs}")
    return 0
