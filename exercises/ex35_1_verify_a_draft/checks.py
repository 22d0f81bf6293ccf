"""Checks of ex35-1: what a pass establishes, and whole translations beside greedy search.

Paper: section 3.1
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

EOS = 2


def best(logs: Tensor, prefix: list[int]) -> int:
    """The tables of given.py, here."""
    return int(logs[sum((i + 1) * x for i, x in enumerate(prefix)) % len(logs)].argmax())


def greedy(logs: Tensor, cap: int, prefix: list[int] | None = None) -> list[int]:
    """What greedy search writes, the end token included."""
    prefix = prefix or [1]
    if prefix[-1] == EOS or len(prefix) > cap:
        return prefix[1:]
    return greedy(logs, cap, [*prefix, best(logs, prefix)])


def passes_needed(logs: Tensor, wrong: Tensor, block: int, cap: int) -> int:
    """From which places on a run of right guesses begins, counted along greedy search's own text."""
    text, at, passes = greedy(logs, cap), 0, 0
    while at < len(text):
        run = 0
        while run < block and at + run < len(text) and not wrong[(at + run + 1) % len(wrong)]:
            run += 1
        at, passes = at + run + 1, passes + 1
    return passes


def tables(case: Case, cap: int) -> Tensor:
    """Random tables with which greedy search ends after a few tokens; they never want pad or bos."""
    for _ in range(300):
        logs = case.normal(41 + case.between(0, 9), 8 + case.between(0, 4))
        logs[:, :EOS] -= 50
        text = greedy(logs, cap)
        if text[-1] == EOS and 6 <= len(text) <= 16:
            break
    return logs


def tokens(case: Case, count: int) -> list[int]:
    """Different tokens, none of them special."""
    return [3 + int(x) for x in case.permutation(count + 4)[:count]]


def accepted(student: Student, guesses: list[int], choices: list[int], expected: list[int]) -> None:
    """One question to accept."""
    got: Any = student.call("accept", guesses, choices)
    expect.true(isinstance(got, list | tuple), "accept returns a list of tokens", result=got)
    expect.equal(list(got), expected, "the tokens of this pass", guesses=guesses, choices=choices)


def translated(student: Student, guess: Any, logs: Tensor, block: int, cap: int) -> tuple[Any, Any]:
    """What speculate gives back."""
    got: Any = student.call("speculate", student.given("model", logs), guess, block, cap)
    right = isinstance(got, tuple | list) and len(got) == 2
    expect.true(right, "expected (tokens, passes)", result=got)
    return list(got[0]), got[1]


@graded(points=2, levels=3)
def up_to_the_first_wrong_guess(student: Student, case: Case) -> None:
    """Right guesses are kept, the first wrong one is replaced, and the pass ends there."""
    k = 2 + case.level + case.between(0, 3)
    right = case.between(1, k - 1)
    row = tokens(case, 2 * k + 1)
    guesses, choices = row[:k], [*row[:right], *row[k : 2 * k + 1 - right]]
    accepted(student, guesses, choices, choices[: right + 1])


@graded(points=1, levels=2)
def agreement_after_a_wrong_guess(student: Student, case: Case) -> None:
    """Choices after a wrong guess answer another question, also where they agree with later guesses."""
    k = 3 + case.level + case.between(0, 2)
    row = tokens(case, k + 2)
    wrong = case.between(0, k - 2)
    guesses = row[:k]
    choices = [*guesses[:wrong], row[k], *guesses[wrong + 1 :], row[k + 1]]
    accepted(student, guesses, choices, choices[: wrong + 1])


@graded(points=2, levels=2)
def one_more_when_all_agree(student: Student, case: Case) -> None:
    """With k right guesses a pass writes k + 1 tokens; without a guess, one."""
    row = tokens(case, 3 + case.level + case.between(0, 3))
    accepted(student, row[:-1], row, row)
    accepted(student, [], row[:1], row[:1])


@graded(points=1, levels=2)
def nothing_after_the_end(student: Student, case: Case) -> None:
    """Where the model ends the sentence, guesses that go on are left out."""
    row = tokens(case, 5 + case.between(0, 2))
    end = 1 + case.between(0, 2)
    guesses = [*row[:end], EOS, *row[end + 1 :]]
    accepted(student, guesses, [*guesses, row[end]], [*row[:end], EOS])


@graded(points=3, levels=3)
def same_as_greedy(student: Student, case: Case) -> None:
    """Any draft, also one that is always wrong, leaves greedy search's text as it is."""
    logs, block = tables(case, 40), 1 + case.level + case.between(0, 2)
    text = greedy(logs, 40)
    always = case.level == 1
    wrong = torch.ones(5, dtype=torch.bool) if always else case.uniform(7 + case.between(0, 4)) < 0.4
    found, _ = translated(student, student.given("draft", logs, wrong), logs, block, 40)
    expect.equal(found, text[:-1], "the tokens", block=block, wrong_guesses=wrong)


@graded(points=2, levels=3)
def passes_of_the_model(student: Student, case: Case) -> None:
    """A pass for each run of right guesses and its correction."""
    logs, block = tables(case, 40), 2 + case.level + case.between(0, 2)
    wrong = torch.tensor([False] * (2 + case.level) + [True] + [False] * case.between(1, 3))
    found, passes = translated(student, student.given("draft", logs, wrong), logs, block, 40)
    expect.equal(found, greedy(logs, 40)[:-1], "the tokens", block=block, wrong_guesses=wrong)
    expect.equal(passes, passes_needed(logs, wrong, block, 40), "passes", block=block, wrong_guesses=wrong)
    found, passes = translated(student, student.given("silent"), logs, block, 40)
    expect.equal(passes, len(greedy(logs, 40)), "passes without any guess", block=block)


@graded(points=1, levels=2)
def the_cap_holds(student: Student, case: Case) -> None:
    """The cap cuts the text, also in the middle of a draft."""
    logs, block = tables(case, 40), 3 + case.between(0, 2)
    length, right = len(greedy(logs, 40)), torch.zeros(3, dtype=torch.bool)
    for cap in (length - 3 - case.level, length - 1, 1):
        for name, draft in (("right", student.given("draft", logs, right)), ("silent", student.given("silent"))):
            found, _ = translated(student, draft, logs, block, cap)
            expect.equal(found, greedy(logs, cap), f"the tokens with a draft that is {name}", cap=cap, block=block)
    found, _ = translated(student, student.given("silent"), logs, block, length)
    expect.equal(found, greedy(logs, 40)[:-1], "the tokens with a cap that the end token just meets", cap=length)
