"""Checks of ex26-2: does an evaluation look at the references?

Paper: sections 3.1, 6.1
"""

from typing import Any

from torch import Tensor

from annotated_grader import Case, Student, expect, graded

V = 9


class Setting:
    """A model as a table [V, V, V] (source token, last token, next token), sources, and references that differ."""

    def __init__(self, case: Case, ends: bool = False) -> None:
        self.table = 3 * case.normal(V, V, V)
        self.table[..., :3] = -20.0
        if ends:
            self.table[5, :, 2] = 20.0
        number = 3 + case.between(0, 2)
        self.sources = [case.integers(3, V, 4 + case.between(0, 3)).tolist() for _ in range(number)]
        self.references = [[3 + (t - 2) % (V - 3) for t in s[:-1]] for s in self.sources]

    def greedy(self, source: list[int], cap: int) -> list[int]:
        """Greedy decoding by the table."""
        written: list[int] = []
        last = 1
        for place in range(cap):
            if place >= len(source):
                break
            last = int(self.table[source[place], last].argmax())
            if last == 2:
                break
            written.append(last)
        return written


def says(student: Student, setting: Setting, kind: str, expected: bool, why: str) -> None:
    """What `spots` says about an evaluation."""
    arguments: tuple[str, Tensor, Any, Any] = (kind, setting.table, setting.sources, setting.references)
    got = student.given("spotter")(student.value("spots"), *arguments)
    expect.true(isinstance(got, bool), f"spots returned {got!r}; True or False is asked for")
    expect.true(got == expected, f"spots says {got} of an evaluation that {why}", references=setting.references)


@graded(points=2, levels=2, claim="A1")
def it_writes_on_its_own(student: Student, case: Case) -> None:
    """Each token is chosen after the tokens that the model itself wrote."""
    setting = Setting(case)
    got = student.given("runner")(student.value("translate"), setting.table, setting.sources, 20)
    expected = [setting.greedy(source, 20) for source in setting.sources]
    expect.equal([list(x) for x in got], expected, "the translations", sources=setting.sources)


@graded(points=2, levels=2)
def end_and_cap(student: Student, case: Case) -> None:
    """A sentence ends at 2, or at the cap, each sentence by itself."""
    setting, cap = Setting(case, ends=True), 3
    setting.sources[0] = [4, 5, 4, 6, 7]
    setting.sources[1] = [5, 6, 7]
    setting.sources[2] = [4, 6, 7, 8, 6, 7]
    got = student.given("runner")(student.value("translate"), setting.table, setting.sources, cap)
    expected = [setting.greedy(source, cap) for source in setting.sources]
    expect.equal([list(x) for x in got], expected, "the translations", sources=setting.sources, cap=cap)


@graded(points=2, levels=2, claim="A1")
def teacher_forcing_is_spotted(student: Student, case: Case) -> None:
    """Feeding the reference is spotted, and honest decoding is not accused."""
    says(student, Setting(case), "forced", True, "feeds the reference to the decoder")
    says(student, Setting(case), "honest", False, "decodes honestly")


@graded(points=2, levels=2)
def length_is_a_leak(student: Student, case: Case) -> None:
    """An evaluation that only takes the references' lengths is spotted too; one that counts them is not accused."""
    says(student, Setting(case), "length", True, "stops where the reference does")
    says(student, Setting(case), "number", False, "counts the references and nothing else")


@graded(points=2, levels=2)
def a_little_is_enough(student: Student, case: Case) -> None:
    """The first word of the reference, or one sentence out of many, is enough."""
    says(student, Setting(case), "first word", True, "begins with the reference's first word")
    says(student, Setting(case), "one sentence", True, "reads the reference of its last sentence")
    says(student, Setting(case), "honest", False, "decodes honestly")
