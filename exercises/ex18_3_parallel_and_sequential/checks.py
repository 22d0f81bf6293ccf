"""Checks of ex18-3: logits slot by slot, and what they cost.

Paper: section 3.1
"""

import math
from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def parts(case: Case) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """The numbers of a decoder, and a batch; all sizes differ."""
    b, s, t, d, v = 2, case.between(3, 5), 3 + case.between(1, 3), 8, 11
    kind = torch.float64 if case.hidden else torch.float32
    numbers = {
        "table": case.normal(v, d, dtype=kind),
        "places": case.normal(9, d, dtype=kind),
        "last": case.normal(d, v, dtype=kind),
    }
    return numbers, case.integers(0, v, b, s), case.integers(0, v, b, t)


def slot_by_slot(numbers: dict[str, Tensor], source: Tensor, target_in: Tensor) -> Tensor:
    """The logits of each slot, from itself and the slots before it: in loops."""
    table, places, last = (numbers[name].double() for name in ("table", "places", "last"))
    rows = []
    for words, read in zip(source.tolist(), target_in.tolist(), strict=True):
        memory = sum(table[w] for w in words) / len(words)
        x = [table[token] + places[t] for t, token in enumerate(read)]
        for t in range(len(read)):
            powers = [math.exp(float(x[t] @ x[k]) / math.sqrt(len(x[t]))) for k in range(t + 1)]
            mixed = sum(p * x[k] for k, p in enumerate(powers)) / sum(powers)
            rows.append(torch.tanh(mixed + memory) @ last)
    return torch.stack(rows).reshape(*target_in.shape, -1)


def prefixes(student: Student, case: Case, masked: bool) -> None:
    """Ask for the logits of a decoder with a mask, or without one."""
    numbers, source, target_in = parts(case)
    got = student.call("from_prefixes", student.given("predict", **numbers, masked=masked), source, target_in)
    expected = slot_by_slot(numbers, source, target_in)  # the same for both: nothing lies behind the newest slot
    expect.close(got, expected, "from_prefixes(...)", atol=1e-4, source=source, target_in=target_in)


@graded(points=2, levels=2)
def prefixes_of_a_masked_decoder(student: Student, case: Case) -> None:
    """A decoder with the causal mask: the logits of each slot."""
    prefixes(student, case, masked=True)


@graded(points=2, levels=2, claim="C13")
def prefixes_of_an_unmasked_decoder(student: Student, case: Case) -> None:
    """A decoder without a mask must not get to see the future."""
    prefixes(student, case, masked=False)


@graded(points=3, levels=2, claim="C21")
def steps_with_a_state(student: Student, case: Case) -> None:
    """One token after another, with a state that is handed on."""
    numbers, source, target_in = parts(case)
    start = student.given("start", numbers["table"])
    got = student.call("from_steps", start, student.given("step", **numbers), source, target_in)
    expect.close(got, slot_by_slot(numbers, source, target_in), "from_steps(...)", atol=1e-4, source=source,
                 target_in=target_in)  # fmt: skip


def verdict(student: Student, case: Case, masked: bool, drift: float = 0.0) -> Any:
    """What the answer says about a decoder, as plain True or False."""
    numbers, source, target_in = parts(case)
    got = student.call("may_train_in_parallel", student.given("predict", **numbers, masked=masked, drift=drift),
                       source, target_in)  # fmt: skip
    answer = bool(got) if isinstance(got, Tensor) and got.numel() == 1 else got
    expect.true(isinstance(answer, bool), "may_train_in_parallel must return True or False", result=got)
    return answer


@graded(points=2, levels=2, claim="C13")
def licence(student: Student, case: Case) -> None:
    """A decoder with a mask may be trained in one pass; one without may not."""
    # Some processors compute both ways alike to the last bit; a drift of rounding's size makes all of them differ.
    found = [verdict(student, case, masked, drift=1e-6) for masked in (True, False)]
    expect.true(found[0], "a decoder with the causal mask was refused")
    expect.true(not found[1], "a decoder without a mask was let through")


@graded(points=1, levels=2)
def rounding_is_no_leak(student: Student, case: Case) -> None:
    """Logits that differ by rounding agree; those that differ by more do not."""
    found = [verdict(student, case, True, drift) for drift in (1e-6, 1e-2, -1e-2, 1e-4)]
    expect.true(found[0], "differences of about 0.00001 are rounding, and the decoder was refused")
    expect.true(not found[1], "differences of 0.01 and more are not rounding, and the decoder was let through")
    expect.true(not found[2], "differences of -0.01 and less are not rounding, and the decoder was let through")
    expect.true(not found[3], "differences of up to 0.0005 are not within 0.0001, and the decoder was let through")


@graded(points=2, levels=2, claim="C21")
def counts(student: Student, case: Case) -> None:
    """Passes and positions of the three ways."""
    n = case.between(4, 40)
    expected = {"parallel": [1, n], "steps": [n, n], "prefixes": [n, sum(range(1, n + 1))]}
    found = {way: student.call("work", n, way) for way in expected}
    for way, (passes, positions) in expected.items():
        got = found[way]
        fits = isinstance(got, tuple | list) and len(got) == 2
        expect.true(fits, "work must return (passes, positions)", result=got)
        expect.number(got[0], passes, f"passes of work({n}, '{way}')")
        expect.number(got[1], positions, f"positions of work({n}, '{way}')")
