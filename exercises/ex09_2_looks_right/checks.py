"""Checks of ex09-2: it looks right, and ablation says no.

Paper: sections 4 and 3.2.2
"""

from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from annotated_grader import Case, Handle, Student, expect, graded, remembered

ROLES = ("itself", "token before", "word it writes")


def table(case: Case) -> tuple[list[dict[str, Any]], dict[Any, float]]:
    """Made-up role scores and damages: every mixture of looks and damage occurs."""
    rows, damages = [], {}
    for i, (looks, missed) in enumerate(list(product((True, False), repeat=2)) * case.between(1, 2)):
        head = (case.choice(["cross", "encoder"]), i // 3, i % 3)
        damages[head] = float(case.uniform(1)) * 0.09 + (0.11 if missed else 0)
        # The rare role stands out most, the common one has most weight, and the third the largest margin above chance.
        drawn = case.uniform(3).tolist()
        high, low = (6 + 2 * drawn[0], 5.05 + drawn[1] / 2), (3.9 * drawn[0], 3 * drawn[1])
        ratios = (*(high if looks else low), 1.2 + drawn[2] / 10)
        for ratio, chance, j in zip(ratios, (0.03, 0.1, 0.5), case.permutation(3).tolist(), strict=True):
            row = {"role": ROLES[j], "score": ratio * chance, "chance": chance}
            rows.append({"kind": head[0], "layer": head[1], "head": head[2], **row})
    # By falling and by rising ratio in turn: neither the first role above the bar nor the last is always the best.
    rows.sort(key=lambda row: row["score"] / row["chance"], reverse=case.level % 2 == 0)
    return rows, damages


def is_head(value: Any) -> bool:
    """Whether this can be (kind, layer, head)."""
    return isinstance(value, list | tuple) and [type(part) for part in value] == [str, int, int]


def a_game(student: Student, case: Case, one: bool = False, harmful: bool = False) -> tuple[Handle, list[Any], Tensor]:
    """A damage function, its heads, and what each set of them costs.

    Head 0 is missed behind heads 1 and 2 together; with `one`, behind head 1, and less if another is silent, too. If it
    is `harmful`, a model without it is better, whatever else is silent.
    """
    n = 5 + (case.between(0, 1) if case.hidden else 0)
    heads = [("cross", int(i) // 4, int(i) % 4) for i in case.permutation(12)[:n]]
    alone = 0.01 + case.uniform(n) / 10
    alone[3] += 1  # missed badly, with or without head 0
    alone[0] -= float(harmful)
    values = torch.zeros(2**n)
    for number in range(2**n):
        inside = {i for i in range(n) if number >> i & 1}
        together = 0.5 * (inside >= {0, 1, 2}) + 0.02 * (inside >= {0, 4}) + 0.01 * (inside >= {0, 1, 4})
        if one:
            together = (0.5 - 0.1 * len(inside - {0, 1})) * (inside >= {0, 1})
        values[number] = sum(alone[i] for i in inside) + together
    return student.given("game", heads, values), heads, values


class Unfilled(TorchFunctionMode):
    """A model that is made to be read from a file draws no first numbers, which would be global random numbers."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "").endswith(("normal_", "uniform_")):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


class Classroom:
    """The classroom model, read once, and what is measured on forty sentences. `remembered` lets one thread at it."""

    loaded: Any = None

    @classmethod
    def model(cls) -> Any:
        """With its tokenizer."""
        import annotated

        with Unfilled():
            cls.loaded = cls.loaded or annotated.load("classroom")
        return cls.loaded

    @classmethod
    def corpus(cls, seed: int) -> Any:
        """Forty sentences."""
        from annotated.analysis.heads import HeadCorpus
        from annotated.classroom import classroom_pairs

        return HeadCorpus.of(classroom_pairs("test", 40, seed=seed), cls.model().tokenizer)


@remembered
def loss_without(seed: int, heads: frozenset[Any]) -> float:
    """Nats a token with these heads silenced."""
    from annotated.analysis.ablation import next_token_loss, silenced

    model, corpus = Classroom.model().model, Classroom.corpus(seed)
    with silenced(model, *heads):
        return next_token_loss(model, corpus)


@remembered
def roles(seed: int) -> dict[Any, tuple[float, float]]:
    """(kind, layer, head, role) to score and chance."""
    from annotated.analysis.heads import role_scores, score_table

    model, corpus = Classroom.model().model, Classroom.corpus(seed)
    with torch.no_grad():
        _, maps = model(corpus.source, corpus.target_in, return_attention=True)
    return score_table(role_scores(maps, corpus))


@graded(points=3, levels=2)
def those_who_look_right(student: Student, case: Case) -> None:
    """Suspects stand out in a role, compared with an even spread, and are not missed."""
    rows, damages = table(case)
    least, limit = (5, 0.1) if case.level == 0 else (4, 0.09 + float(case.uniform(1)) / 50)
    ratios = {(r["kind"], r["layer"], r["head"], r["role"]): r["score"] / r["chance"] for r in rows}
    # Then with a factor that nobody reaches, and with a limit under which everybody is: both numbers count.
    for factor, most in [(least, limit), (9, limit), (least, 0.3)][: 1 + 2 * case.level]:
        got = student.call("suspects", rows, damages, factor, most)
        expected = {}
        for head, lost in damages.items():
            role = max(ROLES, key=lambda role, head=head: ratios[(*head, role)])
            if lost < most and ratios[(*head, role)] >= factor:
                expected[head] = role
        expect.equal(got, expected, "the suspects", scores=rows, damages=damages, factor=factor, most=most)
    at_the_bounds = [
        {"kind": "cross", "layer": 0, "head": i, "role": "itself", "score": 2.5, "chance": 0.5} for i in (0, 1)
    ]
    costs = {("cross", 0, 0): 0.05, ("cross", 0, 1): 0.1}  # five times, and not less than a tenth: the defaults
    got = student.call("suspects", at_the_bounds, costs)
    expect.equal(got, {("cross", 0, 0): "itself"}, "the suspects at the bounds", scores=at_the_bounds, damages=costs)


@graded(points=2, levels=3)
def extra_damage(student: Student, case: Case) -> None:
    """What the head costs where others are silent already."""
    damage, heads, values = a_game(student, case)
    others = [int(i) + 1 for i in case.permutation(len(heads) - 1)[: 1 + case.level % 3]]
    number = sum(1 << i for i in others)
    expected = float(values[number | 1] - values[number])
    got = student.call("extra", damage, heads[0], [heads[i] for i in others])
    expect.number(got, expected, "the extra damage", atol=1e-4, head=heads[0], others=[heads[i] for i in others])


@graded(points=3, levels=2)
def best_group(student: Student, case: Case) -> None:
    """Accomplices are found even where each of them alone tells nothing."""
    for one, harmful in ((False, False), (True, False), (False, True))[: 1 + 2 * case.level]:
        damage, heads, values = a_game(student, case, one, harmful)
        order = [heads[int(i)] for i in case.permutation(len(heads))]
        got = student.call("accomplices", damage, heads[0], order)
        expect.true(isinstance(got, list | tuple | set), "expected a list of heads")
        singles = {h: float(values[1 << i]) for i, h in enumerate(heads)}
        found, wanted = sorted(tuple(h) for h in got), sorted(heads[1:2] if one else heads[1:3])
        expect.equal(found, wanted, "the accomplices", head=heads[0], heads=order, damage_alone=singles)


@graded(points=3, levels=1)
def in_the_classroom_model(student: Student, case: Case) -> None:
    """A head of the classroom model that looks right, is hardly missed alone, and badly behind others."""
    seed = 2 if case.hidden else 1
    head, role, others = (student.value(name) for name in ("my_head", "my_role", "my_others"))
    expect.true(is_head(head), "my_head: expected a tuple (kind, layer, head)")
    listed = isinstance(others, list | tuple | set) and all(is_head(h) for h in others)
    expect.true(listed, "my_others: expected a list of tuples (kind, layer, head)")
    head, others = tuple(head), frozenset(tuple(h) for h in others)
    expect.true(1 <= len(others) <= 2 and head not in others, "my_others: expected one or two other heads")
    expect.true((*head, role) in roles(seed), f"the classroom model has no head {head} with a role {role!r}")
    known = all((*h, "first token") in roles(seed) for h in others)
    expect.true(known, "my_others: the classroom model has no such head")
    score, chance = roles(seed)[(*head, role)]
    expect.true(score >= 5 * chance, f"{head} gives {score:.2f} to the role, an even spread {chance:.2f}")
    whole = loss_without(seed, frozenset())
    alone = loss_without(seed, frozenset([head])) - whole
    more = loss_without(seed, others | {head}) - loss_without(seed, others)
    expect.true(alone < 0.1, f"silencing {head} alone costs {alone:.3f} nats: ablation says yes")
    message = f"silencing {head} costs {alone:.3f} nats alone, and {more:.3f} behind the others"
    expect.true(more >= 0.2 and more >= 4 * alone, message)
