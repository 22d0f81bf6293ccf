"""Worker, the program inside the sandbox: it runs an answer's code, and does with it what the grader asks.

It stands alone, with `codec`, `interpreter`, `names`, `confine` and `seccomp` beside it. The grader's checks and
expected values never come here: a reply that lies is only a wrong result.
"""

from __future__ import annotations

import ast
import builtins
import io
import json
import linecache
import os
import platform
import struct
import sys
import tempfile
from importlib import import_module
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any

interpreter: Any = None  # imported by `main`, when the doors are shut
codec: Any = None
names: Any = None

KEPT_OUTPUT = 20_000
"""Characters of what an answer prints that are kept; the rest is dropped as it comes."""


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
        if len(self.kept) < KEPT_OUTPUT:
            self.kept += str(text)[: KEPT_OUTPUT - len(self.kept)]
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
            raise ModuleNotFoundError(message, name=name)
        place = os.path.join(self.folder, "__init__.py")
        return spec_from_file_location(name, place, submodule_search_locations=[self.folder])


def stand_in() -> ModuleType:
    """A module to be `annotated.grading`: a notebook's calls of `check` and the like do nothing."""
    module = ModuleType("annotated.grading")
    for name in ("answer", "check", "hint", "progress", "solution"):
        setattr(module, name, lambda *args, **kwargs: None)
    return module


def hide_library(folder: str) -> None:
    """Put the stand-in where the grading is imported from, and refuse the rest unless the exercise allows it."""
    sys.modules["annotated.grading"] = stand_in()
    sys.meta_path.insert(0, Library(folder))  # type: ignore[arg-type]
    if not folder:
        package = ModuleType("annotated")
        package.__path__ = []
        package.grading = sys.modules["annotated.grading"]  # type: ignore[attr-defined]
        package.__getattr__ = _no_attribute  # type: ignore[method-assign]
        sys.modules["annotated"] = package


def _no_attribute(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(f"this exercise is graded without the library: annotated.{name} cannot be imported")


class Worker:
    """One answer and its interpreter."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.interpreter = interpreter.Interpreter({"__name__": "answer", "__builtins__": builtins})
        self.failed: dict[str, Any] = {}

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
            return self._run_cell(operation["code"], operation.get("skip"))
        if kind == "given_code":
            return self.interpreter.load_given(operation["code"])
        if kind == "output":
            return self.output.kept
        name = operation.get("name")
        if kind in ("call", "construct", "value", "gradient", "has") and name in self.failed:
            raise self.failed[name]
        if kind == "has":
            if name in self.interpreter.namespace:
                return True
            raise interpreter.AnswerError(["NameError"], f"there is no `{name}` yet")
        return self.interpreter.perform(operation)

    def _run_cell(self, code: str, skip: list[str] | None) -> None:
        """Run one cell, or note why it is skipped. Lines are counted through all cells, as in the answer's source."""
        before = self.interpreter.source
        self.interpreter.source = before + code.rstrip("\n") + "\n"
        lines = self.interpreter.source.splitlines(True)
        linecache.cache[interpreter.ANSWER] = (len(self.interpreter.source), None, lines, interpreter.ANSWER)
        tree = None
        try:
            tree = ast.parse(code, interpreter.ANSWER)
            if skip:
                raise interpreter.AnswerError(skip[:1], skip[1])
            ast.increment_lineno(tree, before.count("\n"))
            exec(compile(tree, interpreter.ANSWER, "exec", dont_inherit=True), self.interpreter.namespace)
        except BaseException as error:
            explained = self._explain(error)
            for name in names.definitions(tree) if tree else names.names_in_text(code):
                if name not in self.interpreter.namespace:
                    self.failed[name] = explained
            raise explained from None
        for name in names.definitions(tree):
            self.failed.pop(name, None)

    def _explain(self, error: BaseException) -> Any:
        if isinstance(error, interpreter.AnswerError):
            return error
        try:
            return self.interpreter.explain(error)
        except BaseException:  # an error whose own text cannot be had
            return interpreter.AnswerError([type(error).__name__], "")


def _error(kinds: Any, message: str, where: str = "") -> bytes:
    return codec.encode(
        {"error": [str(kind)[:100] for kind in kinds][:20], "message": message[:2000], "where": where[:500]}
    )


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return ""


def main() -> None:
    """Shut the doors, say hello, and serve."""
    global interpreter, codec, names
    channel = Channel()
    settings = json.loads(channel.receive())  # not on the command line, which an answer can read
    hide_library(settings["library"])  # first, so that the files beside this one find each other and not the library
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    sys.path.extend(settings["paths"])
    confine = import_module("confine")
    confine.confine(settings)
    powers = confine.powers()
    interpreter, codec, names = import_module("interpreter"), import_module("codec"), import_module("names")
    torch = import_module("torch")
    sys.path.remove(here)
    torch.set_num_threads(1)
    tempfile.tempdir = settings["scratch"]
    os.chdir(settings["scratch"])
    visible = [path for path in settings["hidden"] if confine.can_open(path)]
    hello = {"python": platform.python_version(), "torch": torch.__version__, "powers": powers, "visible": visible}
    output = Output()
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = output  # type: ignore[assignment, misc]
    sys.stdin, sys.argv = io.StringIO(), ["answer"]
    worker = Worker(output)
    channel.silence_errors()
    channel.send(codec.encode(hello))
    while True:
        channel.send(worker.answer(channel.receive()))


if __name__ == "__main__":
    main()
