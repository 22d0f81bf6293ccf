"""Worker, the program inside the sandbox: it runs an answer's code, and does with it what the grader asks.

It stands alone, with `codec`, `interpreter` and what these need, `confine` and `seccomp` beside it. The grader's checks
and expected values never come here: a reply that lies is only a wrong result.
"""

from __future__ import annotations

import io
import json
import os
import platform
import struct
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
interpreter: Any = None  # imported by `main`, when the doors are shut
codec: Any = None
cells: Any = None


class Channel:
    """Messages from and to the grader, on descriptors that the answer's code is not told of."""

    def __init__(self) -> None:
        self._requests, self._replies = os.dup(0), os.dup(1)
        self._nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1):
            os.dup2(self._nowhere, standard)

    def silence_errors(self) -> None:
        """From now on what is written to standard error is lost as well; before, it explains a failing start."""
        os.dup2(self._nowhere, 2)
        os.close(self._nowhere)

    def receive(self) -> bytes:
        """The next request; the process ends when there can be none."""
        (length,) = struct.unpack(">I", self._read(4))
        return self._read(length)

    def send(self, data: bytes) -> None:
        """Send a reply."""
        view = memoryview(struct.pack(">I", len(data)) + data)
        while view:
            view = view[os.write(self._replies, view) :]

    def _read(self, count: int) -> bytes:
        parts = b""
        while len(parts) < count:
            part = os.read(self._requests, count - len(parts))
            if not part:
                os._exit(0)
            parts += part
        return parts


class Output(io.TextIOBase):
    """Standard output and error of an answer: the beginning is kept."""

    def __init__(self) -> None:
        self.kept = ""

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, text: str) -> int:
        """Keep what there is room for."""
        if len(self.kept) < cells.MOST_OUTPUT:
            self.kept += str(text)[: cells.MOST_OUTPUT - len(self.kept)]
        return len(text)

    def close(self) -> None:
        """Not closed by an answer."""


class Library:
    """An import hook that finds `annotated` in its folder, or says why it is not there.

    Parameters
    ----------
    folder
        The package; empty where an exercise is graded without it.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Answer for `annotated`; leave all else to the others."""
        if name.split(".")[0] != "annotated" or (self.folder and name != "annotated"):
            return None
        if not self.folder:
            message = f"this exercise is graded without the library: {name} cannot be imported"
            raise ModuleNotFoundError(message, name="annotated")  # with its own, importing a name hides this reason
        place = os.path.join(self.folder, "__init__.py")
        return spec_from_file_location(name, place, submodule_search_locations=[self.folder])


GRADER, FORMERLY = "annotated_grader", "annotated.grading"
"""What a notebook takes `check` and the like from; those that were handed out before it was a package of its own."""


def stand_in() -> ModuleType:
    """A module to be the grader: a notebook's calls of `check` and the like do nothing."""
    module = ModuleType(GRADER)
    for name in ("answer", "check", "hint", "progress", "solution"):
        setattr(module, name, lambda *args, **kwargs: None)
    return module


def hide_library(folder: str) -> None:
    """Put the stand-in where the grader is imported from, and refuse the rest unless the exercise allows it."""
    sys.modules[GRADER] = sys.modules[FORMERLY] = stand_in()
    sys.meta_path.insert(0, Library(folder))  # type: ignore[arg-type]
    if not folder:
        package = ModuleType("annotated")
        package.__path__ = []
        package.__spec__ = ModuleSpec("annotated", None, is_package=True)  # torch too asks whether modules can be found
        package.grading = sys.modules[FORMERLY]  # type: ignore[attr-defined]
        package.__getattr__ = _no_attribute  # type: ignore[method-assign]
        sys.modules["annotated"] = package


def _no_attribute(name: str) -> Any:
    # As for any attribute that is not there: torch.compile asks every module for some.
    raise AttributeError(f"this exercise is graded without the library: annotated.{name} cannot be imported")


class Worker:
    """One answer and its interpreter."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.interpreter = interpreter.Interpreter(cells.answer_names())

    def answer(self, request: bytes) -> bytes:
        """Do what a request says; the reply, which may be an error of the answer's code."""
        try:
            return codec.encode({"value": self._do(codec.decode(request))})
        except interpreter.AnswerError as error:
            return _error(error.kinds, error.message, error.where)
        except codec.CodecError as error:
            return _error(["TypeError"], str(error))
        except BaseException as error:  # also what an answer makes of BaseException
            return _error([type(error).__name__], _text_of(error))

    def _do(self, operation: dict[str, Any]) -> Any:
        kind = operation["op"]
        if kind == "cell":
            return self._cell(operation["code"], operation["skip"], operation["needed"], operation["ends"])
        if kind == "files":
            return _write(operation["files"])
        if kind == "given_code":
            return self.interpreter.load_given(operation["code"])
        if kind == "output":
            return self.output.kept
        return self.interpreter.perform(operation)

    def _cell(self, code: str, skip: list[str] | None, needed: bool, ends: bool) -> None:
        printed = self.output.kept
        try:
            self.interpreter.run_cell(code, skip, ends)
        finally:
            if not needed:
                self.output.kept = printed


def _write(files: dict[str, str]) -> None:
    """Lay modules of the student's own into the folder in which the answer runs."""
    for path, text in files.items():
        with suppress(OSError):  # of a name that is too long: the import says that it is not there
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def _error(kinds: Any, message: str, where: str = "") -> bytes:
    return codec.encode(
        {"error": [str(kind)[:100] for kind in kinds][:20], "message": message[:2000], "where": where[:500]}
    )


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return ""


def load_torch(paths: list[str]) -> None:
    """Import what serves an answer, which takes nearly all of a start, and leave the folder of this file."""
    global interpreter, codec, cells
    sys.path.extend(paths)
    interpreter, codec, cells = map(import_module, ("interpreter", "codec", "cells"))
    torch: Any = import_module("torch")
    import_module("doors").open_side_doors(torch)
    sys.path.remove(_HERE)
    for name in set(sys.modules) - {"__main__"}:
        if os.path.dirname(vars(sys.modules[name]).get("__file__") or "") == _HERE:
            del sys.modules[name]  # a student may have a module of this name
    torch.set_num_threads(1)


def lift_bounds() -> None:
    """Lift the bounds of the grader's process that started this one; `confine` sets an answer's own."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main() -> None:
    """Shut the doors, say hello, and serve."""
    lift_bounds()
    hide_library("")  # first, so that the files beside this one find each other and not the library
    sys.path.insert(0, _HERE)
    confine = import_module("confine")
    if sys.argv[1:2] == ["template"]:
        import_module("template").make_copies(int(sys.argv[2]), load_torch)  # what follows, only copies do
    channel = Channel()
    settings = json.loads(channel.receive())  # not on the command line, which an answer can read
    if settings["library"]:
        sys.meta_path.pop(0)
        del sys.modules["annotated"]
        hide_library(settings["library"])
    confine.confine(settings)
    powers = confine.powers()
    visible = [path for path in settings["hidden"] if confine.can_open(path)]
    hello = {"python": platform.python_version(), "powers": powers, "visible": visible}
    if settings["probe"]:
        return channel.send(json.dumps(hello).encode())
    if interpreter is None:
        load_torch(settings["paths"])
    tempfile.tempdir = settings["scratch"]
    os.chdir(settings["scratch"])
    sys.path.insert(0, "")  # as in a notebook: a module of the student's own comes before an installed one
    output = Output()
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = output  # type: ignore[assignment, misc]
    sys.stdin, sys.argv = io.StringIO(), ["answer"]
    worker = Worker(output)
    channel.silence_errors()
    channel.send(json.dumps({**hello, "torch": sys.modules["torch"].__version__}).encode())
    while True:
        channel.send(worker.answer(channel.receive()))


if __name__ == "__main__":
    main()
