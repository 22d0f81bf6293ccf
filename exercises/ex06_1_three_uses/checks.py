"""Checks of ex06-1: the three uses of attention.

Paper: section 3.2.3
"""

import torch
from torch import Tensor

from annotated_grader import Case, Handle, Student, expect, graded


def wired(query: Tensor, source: Tensor, mask: Tensor, maps: list[Tensor]) -> Tensor:
    """What attention must give, one query at a time, over the keys that it may see."""
    w_q, w_k, w_v = maps
    rows = torch.zeros(*query.shape[:2], w_v.size(1))
    for b in range(query.size(0)):
        for i in range(query.size(1)):
            seen = mask[b, min(i, mask.size(1) - 1)].nonzero()[:, 0]
            scores = (source[b, seen] @ w_k) @ (query[b, i] @ w_q) / w_q.size(1) ** 0.5
            shares = scores.exp()
            rows[b, i] = (shares / shares.sum()) @ (source[b, seen] @ w_v)
    return rows


def setting(student: Student, case: Case) -> tuple[Handle, list[Tensor]]:
    """The module that the answer gets, and its matrices."""
    width, d_k = 6, 4
    maps = [case.normal(width, d_k) / 2, case.normal(width, d_k) / 2, case.normal(width, width)]
    return student.given("attend", *maps), maps


def lengths(case: Case) -> tuple[int, int, int]:
    """B, S, T; on level 0 source and target are equally long, so that only values tell."""
    target = case.between(3, 4)
    return 2, target if case.level == 0 else 5 + case.between(0, 2), target


def padding(batch: int, keys: int) -> Tensor:
    """`[B, 1, S]`: the last sentence ends with two padded tokens."""
    mask = torch.ones(batch, 1, keys, dtype=torch.bool)
    mask[-1, :, -2:] = False
    return mask


@graded(points=2, levels=2, claim="C19")
def encoder_asks_itself(student: Student, case: Case) -> None:
    """In the encoder queries, keys and values are the layer's input, and padding is hidden."""
    attend, maps = setting(student, case)
    batch, source, _ = lengths(case)
    x, mask = case.normal(batch, source, 6), padding(batch, source)
    got = student.call("encoder_self", attend, x, mask)
    expect.close(got, wired(x, x, mask, maps), "encoder_self", atol=1e-4, x=x, source_mask=mask)
    expect.shape(student.gradient("encoder_self", attend, x, mask, wrt=1), x.shape, "the gradient of x", x=x)


@graded(points=2, levels=2, claim="C15")
def decoder_asks_itself(student: Student, case: Case) -> None:
    """In the decoder's self-attention the target asks the target, and its mask is used."""
    attend, maps = setting(student, case)
    batch, _, target = lengths(case)
    y = case.normal(batch, target, 6)
    mask = padding(batch, target) & torch.ones(target, target, dtype=torch.bool).tril()
    got = student.call("decoder_self", attend, y, mask)
    expect.close(got, wired(y, y, mask, maps), "decoder_self", atol=1e-4, y=y, target_mask=mask)
    expect.shape(student.gradient("decoder_self", attend, y, mask, wrt=1), y.shape, "the gradient of y", y=y)


@graded(points=2, levels=2, claim="C18")
def target_asks_the_source(student: Student, case: Case) -> None:
    """In cross-attention the target asks, and the memory gives both keys and values."""
    attend, maps = setting(student, case)
    batch, source, target = lengths(case)
    y, memory, mask = case.normal(batch, target, 6), case.normal(batch, source, 6), padding(batch, source)
    got = student.call("cross", attend, y, memory, mask)
    expect.close(got, wired(y, memory, mask, maps), "cross", atol=1e-4, y=y, memory=memory, source_mask=mask)
    slope = student.gradient("cross", attend, y, memory, mask, wrt=2)
    expect.shape(slope, memory.shape, "the gradient of the memory", memory=memory)


def ask(student: Student, case: Case, memory: Tensor, kinds: dict[str, tuple[Tensor, Tensor, Tensor]]) -> None:
    """Hand over calls in random order; `kinds` begins each name with the text that is expected."""
    names = [list(kinds)[i] for i in case.permutation(len(kinds)).tolist()]
    got = student.call("sort_calls", [kinds[name] for name in names], memory)
    fits = isinstance(got, list | tuple) and len(got) == len(names)
    expect.true(fits, f"sort_calls: expected a list of {len(names)} texts", result=got)
    for name, text in zip(names, got, strict=True):
        expect.text(text, name.split(":")[0], f"sort_calls: the call {name.partition(':')[2]!r}")


@graded(points=2, levels=2, claim="C19")
def right_calls_are_sorted(student: Student, case: Case) -> None:
    """Both uses of attention in a decoder are recognised, for unequal and for equal lengths."""
    batch, source, target = 1, 3 + case.between(2, 4), 3 + case.between(0, 1)
    for keys in (source, target):
        memory, y, z = case.normal(batch, keys, 4), case.normal(batch, target, 4), case.normal(batch, target, 4)
        calls = {
            "self:layer 1, self-attention": (y, y, y),
            "cross:layer 1, the target asks the memory": (z, memory, memory),
            "self:layer 2, self-attention": (z, z, z),
            "cross:layer 2, the target asks the memory": (y, memory, memory),
        }
        ask(student, case, memory, calls)


@graded(points=2, levels=2, claim="C18")
def wrong_calls_are_found(student: Student, case: Case) -> None:
    """Wrong wirings are found though every shape fits."""
    length = 3 + case.between(1, 3)
    memory, y, other = (case.normal(1, length, 4) for _ in range(3))
    near = memory.clone()
    near[:, -1] += 1.0
    calls = {
        "self:all three are the layer's input": (y, y, y),
        "cross:the target asks the memory": (y, memory, memory),
        "wrong:the source asks the target": (memory, y, y),
        "wrong:keys from the memory, values from the target": (y, memory, y),
        "wrong:keys from the target, values from the memory": (y, y, memory),
        "wrong:keys and values of some encoder layer before the last": (y, other, other),
        "wrong:the source asks the source, inside the decoder": (memory, memory, memory),
        "wrong:keys and values that differ from the memory in the last word": (y, near, near),
        "cross:a target that differs from the memory in the last word asks it": (near, memory, memory),
    }
    ask(student, case, memory, calls)
