"""Interpreter of what a check asks of an answer: call this function, build that module, give me its gradient.

This file stands alone, like `codec`: the sandbox has both next to its worker. In a notebook the same class works
on the notebook's own names, so that an answer behaves alike in both places.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

try:
    from annotated_grader.sandbox.cells import ANSWER, CellRunner
    from annotated_grader.sandbox.codec import Ref
    from annotated_grader.sandbox.doors import shut_door
    from annotated_grader.sandbox.names import bound_by, names_in_text
    from annotated_grader.sandbox.plots import plot_data
except ImportError:  # inside the sandbox, where this file lies beside `codec`
    from cells import ANSWER, CellRunner  # type: ignore[no-redef,import-not-found]
    from codec import Ref  # type: ignore[no-redef,import-not-found]
    from doors import shut_door  # type: ignore[no-redef,import-not-found]
    from names import bound_by, names_in_text  # type: ignore[no-redef,import-not-found]
    from plots import plot_data  # type: ignore[no-redef,import-not-found]


class AnswerError(Exception):
    """The answer's own code failed.

    Attributes
    ----------
    kinds
        Names of the error's class and of its parents, the class first.
    where
        The line of the answer that failed, such as `line 3: return q @ k`, or empty.
    """

    def __init__(self, kinds: Sequence[str], message: str, where: str = "") -> None:
        super().__init__(f"{kinds[0]}: {message}" if message else kinds[0])
        self.kinds, self.message, self.where = tuple(kinds), message, where


class Interpreter:
    """An answer's names, and the objects that checks hold of it.

    Parameters
    ----------
    namespace
        The answer's names after its code has run.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.given: dict[str, Any] = {"__name__": "given"}
        self.objects: dict[int, Any] = {}
        self.failed: dict[str, AnswerError] = {}
        """Why a name is not there: the error of the statement that should have bound it."""
        self._runner = CellRunner(namespace)
        self._numbers = itertools.count(secrets.randbits(48))  # so that a process started anew never reuses a number

    def perform(self, operation: Mapping[str, Any]) -> Any:
        """Do what an operation says, and give back its result in values that `codec` can encode.

        Raises
        ------
        AnswerError
            If the answer's code fails, or lacks the name, or gives back what cannot be checked.
        """
        action: Callable[..., Any] = getattr(self, "_" + str(operation["op"]))
        rest = {key: self._resolve(value) for key, value in operation.items() if key != "op"}
        try:
            return self._keep(action(**rest))
        except AnswerError:
            raise
        except (Exception, SystemExit) as error:  # an interrupt is the learner's own wish to stop
            raise self.explain(error) from None

    def load(self, code: str) -> None:
        """Run an answer's code.

        Raises
        ------
        AnswerError
            If it fails.
        """
        linecache.cache[ANSWER] = (len(code), None, [line + "\n" for line in code.split("\n")], ANSWER)
        try:
            exec(compile(code, ANSWER, "exec", dont_inherit=True), self.namespace)
        except AnswerError:  # of a time limit
            raise
        except (Exception, SystemExit) as error:
            raise self.explain(error) from None

    def run_cell(self, code: str, skip: Sequence[str] | None = None, ends: bool = True) -> None:
        """Run one cell, each statement by itself: one that fails takes only what it should have bound.

        Lines are counted through all cells, as in the answer's source.

        Parameters
        ----------
        skip
            Kind and message of an error that stands for running it.
        ends
            Whether the code ends its cell, whose value `_` then is.

        Raises
        ------
        AnswerError
            The first error, after the other statements have run.
        """
        errors: list[AnswerError] = []
        try:
            tree = self._runner.parse(code)
        except (Exception, SystemExit) as error:
            self._fails(names_in_text(code), error, errors)
            raise errors[0] from None
        for node in tree.body:
            try:
                if skip:
                    raise AnswerError(skip[:1], skip[1])
                self._runner.run(node, ends and node is tree.body[-1])
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt) and not isinstance(node, ast.Raise):
                    raise  # the learner's own wish to stop
                self._fails(bound_by(node), error, errors)
        if errors:
            raise errors[0] from None

    def _fails(self, names: Iterable[str], error: BaseException, errors: list[AnswerError]) -> None:
        """Note an error, and whom it leaves without a value."""
        try:
            errors.append(error if isinstance(error, AnswerError) else self.explain(error))
        except Exception:  # an error whose own text cannot be had
            errors.append(AnswerError([type(error).__name__], ""))
        self.failed |= {name: errors[-1] for name in names if name not in self.namespace}

    def load_given(self, code: str) -> None:
        """Run the exercise's own `given.py`, whose objects checks pass to the answer."""
        exec(compile(code, "<given>", "exec", dont_inherit=True), self.given)

    def explain(self, error: BaseException) -> AnswerError:
        """An error of the answer's code, with the line of the answer that raised it."""
        kinds = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException)]
        where = _line_of(error)
        text = error.msg if isinstance(error, SyntaxError) else shut_door(error, where) or str(error)
        return AnswerError(kinds, text[:500], where)

    def _call(self, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        return self._named(name)(*args, **(kwargs or {}))

    def _construct(self, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        return self._hold(self._named(name)(*args, **(kwargs or {})))

    def _given(self, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        return self._hold(self.given[name](*args, **(kwargs or {})))

    def _has(self, name: str) -> bool:
        self._named(name)
        return True

    def _seed(self, number: int) -> None:
        # For accelerators that are not there, `torch.manual_seed` would write its whole stack down, again and again.
        accelerated = torch.cuda.is_available() or torch.backends.mps.is_available()
        (torch if accelerated else torch.default_generator).manual_seed(number)

    def _value(self, name: str) -> Any:
        return self._named(name)

    def _apply(self, target: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        return target(*args, **(kwargs or {}))

    def _method(self, target: Any, name: str, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        return getattr(target, name)(*args, **(kwargs or {}))

    def _attribute(self, target: Any, name: str) -> Any:
        return getattr(target, name)

    def _load_state(self, target: nn.Module, state: Mapping[str, Tensor]) -> None:
        target.load_state_dict(dict(state))

    def _state(self, target: nn.Module) -> dict[str, Tensor]:
        return dict(target.state_dict())

    def _parameters(self, target: nn.Module) -> dict[str, Tensor]:
        return dict(target.named_parameters())  # torch lists a shared tensor once

    def _train(self, target: nn.Module, mode: bool) -> None:
        target.train(mode)

    def _gradient(
        self,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        wrt: Sequence[int],
        cotangent: Tensor | None,
        output: int | str | None,
        parameters: bool,
        name: str | None = None,
        target: Any = None,
    ) -> Any:
        function = self._named(name) if name is not None else target
        inputs = [value.detach().clone().requires_grad_(True) if i in wrt else value for i, value in enumerate(args)]
        result = function(*inputs, **kwargs)
        result = result if output is None else result[output]
        if not isinstance(result, Tensor) or not result.requires_grad:
            raise AnswerError(["RuntimeError"], "the result is cut off from its inputs: no gradient flows back")
        named = dict(target.named_parameters()) if parameters else {}
        wanted = [inputs[i] for i in wrt] + list(named.values())
        cotangent = torch.ones_like(result) if cotangent is None else cotangent
        reached = [i for i, x in enumerate(wanted) if x.requires_grad]  # a frozen parameter has no gradient
        found = torch.autograd.grad(result, [wanted[i] for i in reached], cotangent, allow_unused=True)
        known = dict(zip(reached, found, strict=True))
        filled = [torch.zeros_like(x) if (g := known.get(i)) is None else g for i, x in enumerate(wanted)]
        return tuple(filled[: len(wrt)]), dict(zip(named, filled[len(wrt) :], strict=True))

    def _named(self, name: str) -> Any:
        if name not in self.namespace:
            raise self.failed.get(name) or AnswerError(["NameError"], f"there is no `{name}` yet")
        return self.namespace[name]

    def _hold(self, value: Any) -> Ref:
        number = next(self._numbers)
        self.objects[number] = value
        kind = "module" if isinstance(value, nn.Module) else "function" if callable(value) else "object"
        return Ref(number, kind)

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, Ref):
            if value.number not in self.objects:
                raise AnswerError(["ProcessDied"], "the process ended, and with it the object that was made before")
            return self.objects[value.number]
        if isinstance(value, dict):
            return {key: self._resolve(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self._resolve(part) for part in value)
        return value

    def _keep(self, value: Any, depth: int = 0) -> Any:
        """What cannot travel stays here and is named by a `Ref`; plots travel as their data."""
        if isinstance(value, Ref | Tensor | str) or depth > 40:
            return value
        if isinstance(value, Mapping):
            return {key: self._keep(part, depth + 1) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return (tuple if isinstance(value, tuple) else list)(self._keep(part, depth + 1) for part in value)
        if (plot := plot_data(value)) is not None:
            return plot
        return self._hold(value) if callable(value) and not isinstance(value, torch.dtype) else value


def _line_of(error: BaseException) -> str:
    """The deepest line that is neither ours nor a library's."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {(error.text or '').strip()}" if error.lineno else ""
    found, step = "", error.__traceback__
    while step is not None:
        file, number = step.tb_frame.f_code.co_filename, step.tb_lineno
        if not _is_library(file):
            line = linecache.getline(file, number, step.tb_frame.f_globals).strip()
            found = f"line {number}: {line}" if line else f"line {number}"
        step = step.tb_next
    return found


def _is_library(file: str) -> bool:
    ours = os.path.dirname(os.path.abspath(__file__))
    if "." in __name__:  # in the library, and not beside the worker: all of the grading
        ours = os.path.dirname(ours)
    inside = os.path.abspath(file).startswith((ours + os.sep, sys.base_prefix + os.sep))
    return file == "<given>" or "site-packages" in file or (inside and not file.startswith("<"))
