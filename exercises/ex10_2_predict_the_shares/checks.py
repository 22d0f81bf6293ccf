"""Checks of ex10-2: where the parameters are.

Paper: sections 3.2.2 and 3.3, Table 3
"""

from typing import Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from annotated_grader import Case, Student, expect, graded

SIZES = {"base": (512, 2048, 8), "big": (1024, 4096, 16)}


def network(d: int, d_ff: int) -> nn.Module:
    """The network as modules without memory."""
    return nn.Sequential(nn.Linear(d, d_ff, device="meta"), nn.ReLU(), nn.Linear(d_ff, d, device="meta"))


def attention(d: int, heads: int) -> nn.ModuleList:
    """W^Q, W^K and W^V of every head, and W^O."""
    narrow = [nn.Linear(d, d // heads, bias=False, device="meta") for _ in range(3 * heads)]
    return nn.ModuleList([*narrow, nn.Linear(d, d, bias=False, device="meta")])


def numbers(module: nn.Module, smallest_axes: int = 1) -> int:
    """Parameters with at least so many axes."""
    return sum(p.numel() for p in module.parameters() if p.ndim >= smallest_axes)


def counted(run: Any) -> int:
    """Multiplications of numbers in what runs."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2  # it counts an addition beside each multiplication


def scores_and_sums(n: int, d: int, heads: int) -> int:
    """For one query, in all heads together."""
    q, k = torch.empty(heads, 1, d // heads, device="meta"), torch.empty(heads, n, d // heads, device="meta")
    return counted(lambda: torch.bmm(torch.bmm(q, k.transpose(1, 2)), k))


def entry(student: Student, name: str, key: str) -> Any:
    """One number of an answer."""
    table = student.value(name)
    expect.true(isinstance(table, dict), f"{name}: expected the dictionary that was there, with numbers in it")
    return table.get(key)


def right(got: Any, expected: float, what: str, tolerance: float = 0.0) -> None:
    """This number, which is not told: to predict it is the task."""
    expect.true(isinstance(got, int | float) and not isinstance(got, bool), f"{what}: a number is needed")
    expect.true(abs(got - expected) <= tolerance, f"{what}: {got:,} is not it")


@graded(points=2, hidden=0, levels=1)
def network_parameters(student: Student, case: Case) -> None:
    """The feed-forward network of base and of big, biases included."""
    for name, (d, d_ff, _) in SIZES.items():
        right(entry(student, "ffn_parameters", name), numbers(network(d, d_ff)), f"parameters of the network, {name}")


@graded(points=2, hidden=0, levels=1)
def same_network_everywhere(student: Student, case: Case) -> None:
    """Longer sentences."""
    short, long = (entry(student, "ffn_parameters", key) for key in ("base", "base, 100 words"))
    right(short, 2e6, "parameters of the network, base", tolerance=1.2e6)
    right(long, short, "parameters of the network, base, 100 words")


@graded(points=2, hidden=0, levels=1)
def attention_block(student: Student, case: Case) -> None:
    """One attention of base and of big, all heads together."""
    for name, (d, _, heads) in SIZES.items():
        right(
            entry(student, "attention_parameters", name),
            numbers(attention(d, heads)),
            f"parameters of an attention, {name}",
        )


@graded(points=2, hidden=0, levels=1)
def shares(student: Student, case: Case) -> None:
    """The network's share of an encoder layer and of a decoder layer."""
    d, d_ff, heads = SIZES["base"]
    of_network, of_attention = numbers(network(d, d_ff), 2), numbers(attention(d, heads))
    for stack, attentions in (("encoder", 1), ("decoder", 2)):
        expected = of_network / (of_network + attentions * of_attention)
        right(entry(student, "ffn_share", stack), expected, f"share of the network, {stack} layer", 2e-3)


@graded(points=3, hidden=0, levels=1)
def work_for_one_token(student: Student, case: Case) -> None:
    """Multiplications in the network, in the projections, and in scores and sums."""
    d, d_ff, heads = SIZES["base"]
    x = torch.empty(1, d, device="meta")
    expected = {
        "network": counted(lambda: network(d, d_ff)(x)),
        "projections": counted(lambda: [w(x) for w in attention(d, heads)]),
        "scores and sums": scores_and_sums(50, d, heads),
    }
    for key, value in expected.items():
        right(entry(student, "multiplications", key), value, f"multiplications, {key}")


@graded(points=1, hidden=0, levels=1)
def lengths_that_balance(student: Student, case: Case) -> None:
    """The length at which attention multiplies as often as the network."""
    d, d_ff, heads = SIZES["base"]
    missing = counted(lambda: network(d, d_ff)(torch.empty(1, d, device="meta"))) - numbers(attention(d, heads))
    right(student.value("even_length"), missing // scores_and_sums(1, d, heads), "even_length")
