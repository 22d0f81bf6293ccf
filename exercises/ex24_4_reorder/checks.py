"""Checks of ex24-4: what belongs to a hypothesis moves with it.

Paper: sections 3.1, 6.1
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


class Step:
    """A state and one step of it, with sizes that all differ."""

    def __init__(self, case: Case, batch: int) -> None:
        self.batch, self.k = batch, 4 + case.between(0, 1)
        self.written, self.layers = 5 + case.between(0, 1), 2
        rows = batch * self.k
        shape = (rows, 7, self.written, 8 + case.between(0, 3))
        self.state = {
            "tokens": case.integers(3, 50, rows, self.written),
            "log_probability": -case.uniform(rows) * 9,
            "finished": (torch.arange(rows) % self.k == self.k - 1) | (torch.arange(rows) % self.k == self.k - 3),
            "keys": [case.normal(*shape) for _ in range(self.layers)],
            "values": [case.normal(*shape) for _ in range(self.layers)],
            "memory": case.normal(batch, 11, 13),
        }
        # The first two places continue one hypothesis, which is not the first and has finished; the last place
        # continues the first, which has not, and ends now.
        self.parents = torch.tensor([[self.k - 1, self.k - 1, *range(self.k - 3, -1, -1)]]).repeat(batch, 1)
        self.tokens = case.integers(3, 50, batch, self.k)
        self.tokens[:, -1] = 2
        self.log_probability = -case.uniform(batch, self.k) * 9

    def ask(self, student: Student) -> dict[str, Any]:
        """The answer's new state."""
        got = student.call("advance", self.state, self.parents, self.tokens, self.log_probability)
        expect.true(isinstance(got, dict), f"advance returned {type(got).__name__}; a dictionary is asked for")
        missing = sorted(set(self.state) - set(got))
        expect.true(not missing, f"the new state has no {', '.join(missing)}")
        return got

    def origins(self) -> list[int]:
        """For each row of the new state, the row of the old one that it continues."""
        return [b * self.k + p for b in range(self.batch) for p in self.parents[b].tolist()]

    def moved(self, tensor: Tensor) -> Tensor:
        """The rows of a tensor, one by one."""
        return torch.stack([tensor[r] for r in self.origins()])

    def shown(self) -> dict[str, Any]:
        """What a learner needs to see."""
        return {"parents": self.parents, "beam_size": self.k}


@graded(points=2, levels=2)
def tokens_and_scores(student: Student, case: Case) -> None:
    """Each row holds its parent's tokens, the new one behind them, and the new log-probability."""
    step = Step(case, 1)
    got = step.ask(student)
    expected = torch.cat((step.moved(step.state["tokens"]), step.tokens.view(-1, 1)), dim=1)
    expect.equal(got["tokens"], expected, "the tokens", tokens=step.tokens, **step.shown())
    expect.close(got["log_probability"], step.log_probability.view(-1), "the log-probabilities", **step.shown())


@graded(points=3, levels=2)
def the_cache_moves(student: Student, case: Case) -> None:
    """The keys and values of every layer are those of the parents."""
    step = Step(case, 1)
    got = step.ask(student)
    for name in ("keys", "values"):
        expect.true(
            len(got[name]) == step.layers, f"there are {len(got[name])} {name}; one for each layer is asked for"
        )
        for layer, tensor in enumerate(step.state[name]):
            expect.close(got[name][layer], step.moved(tensor), f"the {name} of layer {layer + 1}", **step.shown())


@graded(points=2, levels=2)
def flags_move(student: Student, case: Case) -> None:
    """A hypothesis is finished if its parent was, or if it has ended now."""
    step = Step(case, 1)
    expected = step.moved(step.state["finished"]) | (step.tokens.view(-1) == 2)
    got = step.ask(student)["finished"]
    before = step.state["finished"]
    expect.equal(got, expected, "the flags", finished=before, tokens=step.tokens, **step.shown())


@graded(points=2, levels=2)
def sentences_stay_apart(student: Student, case: Case) -> None:
    """In a batch, parents are counted inside their sentence, and the encoder's output stays one for each sentence."""
    step = Step(case, 3)
    row = torch.arange(3 * step.k)
    step.state["finished"] = (row + row // step.k) % 2 == 0  # other ones in each sentence
    got = step.ask(student)
    expected = torch.cat((step.moved(step.state["tokens"]), step.tokens.view(-1, 1)), dim=1)
    expect.equal(got["tokens"], expected, "the tokens of three sentences", tokens=step.tokens, **step.shown())
    expect.close(got["memory"], step.state["memory"], "the memory", **step.shown())
    flags = step.moved(step.state["finished"]) | (step.tokens.view(-1) == 2)
    expect.equal(
        got["finished"], flags, "the flags of three sentences", finished=step.state["finished"], **step.shown()
    )
    for name in ("keys", "values"):
        for layer, tensor in enumerate(step.state[name]):
            what = f"the {name} of layer {layer + 1} of three sentences"
            expect.close(got[name][layer], step.moved(tensor), what, **step.shown())


@graded(points=1)
def the_old_state_stays(student: Student, case: Case) -> None:
    """Two steps from one state give the same twice."""
    step = Step(case, 1)
    arguments = (step.state, step.parents, step.tokens, step.log_probability)
    first, second = student.given("twice")(student.value("advance"), *arguments)
    expected = torch.cat((step.moved(step.state["tokens"]), step.tokens.view(-1, 1)), dim=1)
    again = "after the same step from the same state, once more"
    expect.equal(first["tokens"], expected, "the tokens after a step", **step.shown())
    expect.equal(second["tokens"], expected, f"the tokens {again}", **step.shown())
    for name in ("log_probability", "finished", "memory"):
        expect.equal(second[name], first[name], f"{name} {again}", **step.shown())
    for name in ("keys", "values"):
        for layer, (one, other) in enumerate(zip(first[name], second[name], strict=True), start=1):
            expect.equal(other, one, f"the {name} of layer {layer} {again}", **step.shown())
