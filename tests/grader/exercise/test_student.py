"""What a check can do with an answer, through the interpreter that runs in the sandbox too."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from annotated_grader.exercise.student import Handle, LocalStudent
from annotated_grader.sandbox.interpreter import AnswerError

CODE = """
import torch
from torch import nn

answer = 42
words = ["a", "b"]

def square(x):
    return x ** 2, {"half": x / 2}

def spoil(x):
    x.zero_()
    return x

def fails(x):
    y = x + 1
    raise KeyError("no such thing")

def adder(n):
    return lambda x: x + n

def use(f, x):
    return f(f(x))

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.again = self.linear
        self.drop = nn.Dropout(0.5)
        self.width = width

    def forward(self, x):
        return self.drop(self.linear(x))

    def twice(self, x):
        return self.forward(self.forward(x))
"""


@pytest.fixture
def student() -> LocalStudent:
    return LocalStudent.of_code(CODE, given="def doubled(by):\n    return lambda x: by * x\n")


def test_functions_values_and_transcript(student: LocalStudent) -> None:
    x = torch.tensor([3.0])
    squared, rest = student.call("square", x)
    assert squared.item() == 9 and rest["half"].item() == 1.5
    assert student.value("answer") == 42 and student.value("words") == ["a", "b"]
    assert len(student.transcript) == 3


def test_an_answer_changes_copies_only(student: LocalStudent) -> None:
    x = torch.ones(2)
    assert student.call("spoil", x).tolist() == [0, 0]
    assert x.tolist() == [1, 1]


def test_gradients_of_functions(student: LocalStudent) -> None:
    x, pull = torch.tensor([1.0, 3.0]), torch.tensor([10.0, 1.0])
    assert student.gradient("square", x, cotangent=pull, output=0).tolist() == [20.0, 6.0]
    (half,) = student.gradient("square", x, wrt=(0,), output=0)
    assert half.tolist() == [2.0, 6.0]
    with pytest.raises(AnswerError, match="no gradient"):
        LocalStudent.of_code("def f(x):\n    return x.detach() * 2").gradient("f", x)


def test_modules_by_handle(student: LocalStudent) -> None:
    layer = student.construct("Layer", 2)
    ours = nn.Linear(2, 2)
    layer.load({f"{name}.{key}": value for name in ("linear", "again") for key, value in ours.state_dict().items()})
    layer.train(False)
    x = torch.tensor([[1.0, -2.0]])
    assert torch.allclose(layer(x), ours(x))
    assert torch.allclose(layer.method("twice", x), ours(ours(x)))
    assert set(layer.parameters()) == {"linear.weight", "linear.bias"}  # the shared one once
    assert layer.attribute("width") == 2
    (dx,), named = layer.gradient(x, wrt=0)
    assert torch.allclose(dx, ours.weight.sum(0, keepdim=True)) and torch.allclose(named["linear.bias"], torch.ones(2))


def test_functions_and_given_objects_travel_by_handle(student: LocalStudent) -> None:
    plus = student.call("adder", 5)
    assert isinstance(plus, Handle) and plus(2) == 7
    assert student.call("use", plus, 1) == 11
    assert student.call("use", student.given("doubled", 3), 2) == 18


def test_errors_name_the_line_of_the_answer(student: LocalStudent) -> None:
    with pytest.raises(AnswerError) as error:
        student.call("fails", 1)
    assert error.value.kinds[:2] == ("KeyError", "LookupError")
    assert error.value.where == 'line 17: raise KeyError("no such thing")'
    with pytest.raises(AnswerError, match="there is no `missing` yet"):
        student.call("missing")
    with pytest.raises(AnswerError, match="SyntaxError"):
        LocalStudent.of_code("def f(:\n")


def test_plots_come_as_their_data() -> None:
    code = """
import altair as alt
import pandas as pd
chart = alt.Chart(pd.DataFrame({"n": [1, 2], "cost": [3.0, 4.0]})).mark_line().encode(x="n", y="cost", tooltip=["n"])
"""
    plot = LocalStudent.of_code(code).value("chart")
    assert plot["mark"] == "line" and plot["encoding"] == {"x": "n", "y": "cost"}
    assert plot["rows"] == [{"n": 1, "cost": 3.0}, {"n": 2, "cost": 4.0}]


def test_the_line_that_failed_is_the_answers_own_even_where_it_calls_the_grading() -> None:
    code = "from annotated_grader.exercise.exercise import parse\n\ndef f(folder):\n    return parse('no', folder)\n"
    with pytest.raises(AnswerError, match="front matter") as caught:
        LocalStudent.of_code(code).call("f", "here")
    assert caught.value.where == "line 4: return parse('no', folder)"
