"""Table 1 by formula and by count: operations, steps that wait for each other, path lengths.

`annotated_book.why.table_1.timing` measures the same layers by the clock.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.utils.flop_counter import FlopCounterMode

from annotated.model import MultiHeadAttention, Recorded
from annotated_book.why.before_2017.recurrent import GRULayer
from annotated_book.why.table_1.convolutional import Convolution, SeparableConvolution
from annotated_book.why.table_1.restricted import RestrictedSelfAttention

Layer = Literal["self-attention", "restricted", "recurrent", "contiguous", "dilated", "separable"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
_PRODUCTS = {"MmBackward0", "AddmmBackward0", "BmmBackward0", "MvBackward0", "ConvolutionBackward0"}
_FUSED = "ScaledDotProduct"
"""How the name of attention in one kernel begins: inside are two products, one after the other."""


def operations(layer: Layer, n: int, d: int, k: int = 3, r: int = 33) -> dict[str, int]:
    """Multiplications (each with its addition) of one layer on one sequence, term by term.

    Parameters
    ----------
    layer
        'recurrent' is a gated recurrent unit; 'contiguous', 'dilated' and 'separable' are convolutions.
    n, d, k, r
        Length, width, kernel, neighbourhood.

    Returns
    -------
    dict
        The number of each term by its name; the first is the one that Table 1 keeps, here with its constant. Separable
        convolutions are not in the table: section 4 keeps both of their terms, of which the larger comes first.

    Paper: section 4, Table 1
    """
    nd, nd2 = n * d, n * d * d
    if layer == "self-attention":
        return {
            "scores and mixture, 2n²d": 2 * n * nd,
            "projections, 4nd²": 4 * nd2,
        }
    if layer == "restricted":
        return {
            "scores and mixture, 2rnd": 2 * r * nd,
            "projections, 4nd²": 4 * nd2,
        }
    if layer == "recurrent":
        return {
            "from the state, 3nd²": 3 * nd2,
            "from the input, 3nd²": 3 * nd2,
        }
    if layer == "separable":
        return {
            "between channels, nd²": nd2,
            "between positions, knd": k * nd,
        }
    return {"one product, knd²": k * nd2}


def printed(layer: Layer, n: int, d: int, k: int = 3, r: int = 33) -> int:
    """The formula that Table 1 prints for a layer, without the constants that O hides; arguments as in `operations`.

    A separable convolution is not in the table: its formula is that of section 4.
    """
    nd, nd2 = n * d, n * d * d
    formulas = {"self-attention": n * nd, "restricted": r * nd, "recurrent": nd2, "separable": k * nd + nd2}
    return formulas.get(layer, k * nd2)


def path_length(layer: Layer, n: int, k: int = 3, r: int = 33, *, centred: bool = False) -> int:
    """Hops from position 1 to position n: layers of a stack, or steps of one recurrent layer.

    Parameters
    ----------
    layer, n, k, r
        As in `operations`; the layers of the dilated stack have dilations 1, k, k² and so on.
    centred
        Kernels and neighbourhoods lie around their position and reach half their size to each side. As a rule here
        they look back, as a decoder's must, and reach their whole size.

    Raises
    ------
    ValueError
        For a centred dilated stack: near the ends of a sequence some positions never meet in it.

    Paper: section 4, Table 1
    """
    if layer in ("self-attention", "recurrent"):
        return 1 if layer == "self-attention" else n - 1
    if layer == "dilated":
        _refuse_centred(centred)
        return next(hops for hops in range(n) if k**hops >= n)
    size = r if layer == "restricted" else k
    return math.ceil((n - 1) / (size // 2 if centred else size - 1))


def _refuse_centred(centred: bool) -> None:
    if centred:
        raise ValueError("a centred dilated stack has no path between some positions near the ends")


def build(
    layer: Layer, d: int, *, k: int = 3, r: int = 33, heads: int = 8, depth: int = 0, centred: bool = False
) -> nn.Module:
    """One layer, ready for `apply`; `depth` is its place in a stack, which a dilated convolution must know."""
    if layer == "self-attention":
        return MultiHeadAttention(d, heads)
    if layer == "restricted":
        return RestrictedSelfAttention(d, heads, r, causal=not centred)
    if layer == "recurrent":
        return GRULayer(d, d)
    if layer == "separable":
        return SeparableConvolution(d, k, causal=not centred)
    return Convolution(d, k, dilation=k**depth if layer == "dilated" else 1, causal=not centred)


def apply(module: nn.Module, x: Tensor) -> Tensor:
    """The output `[B, S, D]` of a layer from `build`; attention goes the way that equation 1 is written."""
    if isinstance(module, MultiHeadAttention):
        return module(x, x, x, Recorded())
    output = module(x)
    return output[0] if isinstance(output, tuple) else output


def counted(layer: Layer, n: int, d: int, k: int = 3, r: int = 33) -> int:
    """The same number as `operations` sums to, counted by PyTorch while the layer runs.

    PyTorch counts a multiplication and an addition as two; softmax, gates and other work on single elements not at all.
    """
    module, x = build(layer, d, k=k, r=r), torch.zeros(1, n, d)
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        apply(module, x)
    return counter.get_total_flops() // 2


def longest_chain(output: Tensor) -> int:
    """Matrix products that must wait for one another: the longest chain of them in the graph that autograd recorded.

    With unlimited hardware all else could be done side by side, so this is the least number of steps in sequence.
    """
    longest: dict[object, int] = {}
    waiting = [output.grad_fn]
    while waiting:  # depth first; a node is finished once all that it depends on is
        node = waiting[-1]
        before = [b for b, _ in node.next_functions if b is not None] if node is not None else []
        unseen = [b for b in before if b not in longest]
        if unseen:
            waiting.extend(unseen)
            continue
        name = "" if node is None else node.name()
        here = 2 if name.startswith(_FUSED) else int(name in _PRODUCTS)
        longest[waiting.pop()] = here + max((longest[b] for b in before), default=0)
    return longest[output.grad_fn]


def waiting_products(layer: Layer, n: int, d: int = 8, k: int = 3, r: int = 33) -> int:
    """The `longest_chain` of one layer on a sequence of n positions."""
    x = torch.zeros(1, n, d, requires_grad=True)
    return longest_chain(apply(build(layer, d, k=k, r=r, heads=2), x))


def spread(layer: Layer, n: int, k: int = 3, r: int = 33, *, centred: bool = False) -> list[list[bool]]:
    """Which positions depend on position 1 after 0, 1, 2 ... hops, until position n does.

    Measured on real layers with random weights: position 1 is moved a little, and its derivative is carried forward
    (`torch.autograd.forward_ad`). A hop is a layer. In a recurrent layer it is one step, taken at all positions at
    once: each computes its state from the state that its left neighbour had a moment ago.

    Returns
    -------
    list
        For each number of hops, n truth values.
    """
    _refuse_centred(centred and layer == "dilated")
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1, n, 8, generator=generator, dtype=torch.double)
    moved = torch.zeros_like(x)
    moved[:, 0] = 1.0
    recurrent = build(layer, 8).double() if layer == "recurrent" else None
    found: list[list[bool]] = []
    with torch.no_grad(), forward_ad.dual_level():
        x = forward_ad.make_dual(x, moved)
        states = x if recurrent is None else _step_everywhere(recurrent, x, torch.zeros_like(x))
        while True:
            derivative = forward_ad.unpack_dual(states).tangent
            found.append((derivative[0].abs().amax(dim=-1) > 0).tolist())
            if found[-1][-1]:
                return found
            if recurrent is None:
                module = build(layer, 8, k=k, r=r, heads=2, depth=len(found) - 1, centred=centred).double()
                states = apply(module, states)
            else:
                states = _step_everywhere(recurrent, x, states)


def _step_everywhere(layer: nn.Module, x: Tensor, states: Tensor) -> Tensor:
    """One step of a recurrent layer at all positions `[1, n, D]` at once, each from its left neighbour's state."""
    assert isinstance(layer, GRULayer)
    left = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], dim=1)
    return layer.step(layer.from_input(x), (left,))[0]


def hops_needed(layer: Layer, n: int, k: int = 3, r: int = 33, *, centred: bool = False) -> int:
    """The least number of hops after which position n depends on position 1, found by trying."""
    return len(spread(layer, n, k, r, centred=centred)) - 1
