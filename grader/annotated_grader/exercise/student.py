"""Student: an answer as a check sees it, wherever the answer runs.

A check never touches the answer's objects. It names operations, and an interpreter carries them out: in this process
(`LocalStudent`, for notebooks), or in a sandbox (`instructor.remote.RemoteStudent`, for strangers' code).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from annotated_grader.sandbox.cells import answer_names
from annotated_grader.sandbox.codec import CodecError, Ref, copied
from annotated_grader.sandbox.interpreter import AnswerError, Interpreter


@dataclass(frozen=True)
class Raised:
    """An error of the answer's code, as a transcript notes it.

    Attributes
    ----------
    kind, message
        Of the error.
    own
        Whether the answer's own line raised it on purpose, with `raise` or `assert`; the message is then its own too.
    """

    kind: str
    message: str = ""
    own: bool = False


class Student(ABC):
    """An answer, seen from a check.

    Attributes
    ----------
    source
        The answer's code.
    transcript
        What the answer has given back since the current check began: values, and errors as `Raised`. Two answers
        with the same transcript behave alike.
    """

    def __init__(self, source: str = "") -> None:
        self.source = source
        self.transcript: list[Any] = []

    @abstractmethod
    def perform(self, operation: Mapping[str, Any]) -> Any:
        """Carry out one operation of `Interpreter`; raises `AnswerError` if the answer fails."""

    def own_random_numbers(self) -> AbstractContextManager[Any]:
        """A context in which checks run; what the answer draws globally in this process is put back behind it."""
        return nullcontext()

    def do(self, op: str, **operation: Any) -> Any:
        """Carry out an operation, note its outcome, and give its result with handles for what stays there."""
        try:
            result = self.perform({"op": op, **_to_refs(operation)})
        except AnswerError as error:
            own = error.where.partition(": ")[2].startswith(("raise ", "assert "))
            self.transcript.append(Raised(error.kinds[0], error.message, own))
            raise
        self.transcript.append(result)
        return _to_handles(result, self)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the answer's function `name`; a function or module that it gives back comes as a `Handle`."""
        return self.do("call", name=name, args=list(args), kwargs=kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        """Make an object of the answer's class `name`."""
        return self.do("construct", name=name, args=list(args), kwargs=kwargs)

    def value(self, name: str) -> Any:
        """What the answer has assigned to `name`."""
        return self.do("value", name=name)

    def given(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        """An object made by the exercise's `given.py` where the answer runs, to be passed to the answer."""
        return self.do("given", name=name, args=list(args), kwargs=kwargs)

    def gradient(
        self,
        name: str,
        *args: Any,
        wrt: int | Sequence[int] = 0,
        cotangent: Tensor | None = None,
        output: int | str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Pull a cotangent back through the answer's function.

        Parameters
        ----------
        wrt
            Which positional arguments; one number gives one tensor, several a tuple.
        cotangent
            Of the result's shape; ones by default.
        output
            Which part of the result, where it is a tuple or a dictionary.
        """
        places = [wrt] if isinstance(wrt, int) else list(wrt)
        inputs, _ = self.do(
            "gradient", name=name, args=list(args), kwargs=kwargs, wrt=places, cotangent=cotangent, output=output,
            parameters=False,
        )  # fmt: skip
        return inputs[0] if isinstance(wrt, int) else inputs


class LocalStudent(Student):
    """An answer in this process.

    Values are encoded and decoded as for a sandbox, so that an answer which changes its inputs changes copies only.

    Parameters
    ----------
    namespace
        The answer's names, such as a notebook's.
    source
        Its code.
    given
        The code of the exercise's `given.py`, if it has one.
    """

    def __init__(self, namespace: dict[str, Any], source: str = "", given: str = "") -> None:
        super().__init__(source)
        self.interpreter = Interpreter(namespace)
        if given:
            self.interpreter.load_given(given)

    @classmethod
    def of_code(cls, code: str, given: str = "") -> Self:
        """Run code that is trusted, such as a solution's; raises `AnswerError` if it fails."""
        student = cls(answer_names(), code, given)
        student.interpreter.load(code)
        return student

    def own_random_numbers(self) -> AbstractContextManager[Any]:
        """See `Student.own_random_numbers`: a notebook's own random numbers go on as they were."""
        return torch.random.fork_rng(devices=[])

    def perform(self, operation: Mapping[str, Any]) -> Any:
        """See `Student.perform`."""
        result = self.interpreter.perform(copied(operation))
        try:
            return copied(result)
        except CodecError as error:
            raise AnswerError(["TypeError"], str(error)) from None


class Handle:
    """An object that stays where the answer runs: a module, a function, an object of a class.

    Call it as if it were here; pass it to `Student.call` as an argument.
    """

    def __init__(self, student: Student, ref: Ref) -> None:
        self._student, self.ref = student, ref

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._student.do("apply", target=self, args=list(args), kwargs=kwargs)

    def __repr__(self) -> str:
        return f"<{self.ref.kind} of the answer>"

    def method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method."""
        return self._student.do("method", target=self, name=name, args=list(args), kwargs=kwargs)

    def attribute(self, name: str) -> Any:
        """Read an attribute."""
        return self._student.do("attribute", target=self, name=name)

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Load a module's state, strictly."""
        self._student.do("load_state", target=self, state=dict(state))

    def state(self) -> dict[str, Tensor]:
        """A module's state."""
        return self._student.do("state", target=self)

    def parameters(self) -> dict[str, Tensor]:
        """A module's parameters by name; one that is shared appears once."""
        return self._student.do("parameters", target=self)

    def train(self, mode: bool = True) -> None:
        """Put a module into training or evaluation mode."""
        self._student.do("train", target=self, mode=mode)

    def gradient(
        self,
        *args: Any,
        wrt: int | Sequence[int] = (),
        parameters: bool = True,
        cotangent: Tensor | None = None,
        output: int | str | None = None,
        **kwargs: Any,
    ) -> tuple[tuple[Tensor, ...], dict[str, Tensor]]:
        """Pull a cotangent back through the object: gradients of the inputs `wrt`, and of the parameters by name."""
        places = [wrt] if isinstance(wrt, int) else list(wrt)
        return self._student.do(
            "gradient", target=self, args=list(args), kwargs=kwargs, wrt=places, cotangent=cotangent, output=output,
            parameters=parameters,
        )  # fmt: skip


def _to_refs(value: Any) -> Any:
    if isinstance(value, Handle):
        return value.ref
    if isinstance(value, dict):
        return {key: _to_refs(part) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_to_refs(part) for part in value)
    return value


def _to_handles(value: Any, student: Student) -> Any:
    if isinstance(value, Ref):
        return Handle(student, value)
    if isinstance(value, dict):
        return {key: _to_handles(part, student) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_to_handles(part, student) for part in value)
    return value
