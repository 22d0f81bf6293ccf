"""Attention is what equation 1 and section 3.2.2 say, as its maps and the first attention show."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import torch
from torch import Tensor

from annotated.model import AttentionMaps
from annotated_grader.doctor.finding import Mistake
from annotated_grader.doctor.invariants.mistakes import QUERY_ROWS, TINY_FILL, WRONG_AXIS
from annotated_grader.doctor.invariants.positions import positions_are_added
from annotated_grader.doctor.invariants.registry import InvariantViolated, invariant, not_applicable, require
from annotated_grader.doctor.probe import CLOSE, Probe, dropout_of, of_size, relative_difference

SIXTEEN_BITS = Mistake(
    "The softmax is computed, or kept, in 16 bits: its rows no longer sum to one.", 5, mutant="softmax_in_16_bits"
)
ROUGH = 0.05
"""A row of 16-bit weights is hardly further from one."""
END_HIDDEN = Mistake("The mask of the source hides eos as well as padding.", 7, mutant="source_end_hidden")
AFTER_DROPOUT = Mistake("The maps are kept after dropout.", 21)
KINDS = ("encoder", "decoder", "cross")


def _maps(probe: Probe, source: Tensor, target: Tensor) -> AttentionMaps:
    with torch.no_grad():
        return probe.subject.attention(source, target)


@invariant(
    "attention-shape",
    Mistake("Queries and keys are exchanged: cross-attention asks from the source.", 6, "C18"),
    Mistake("The maps are averaged over the heads, or lack a layer.", 8, "C04"),
    paper="section 3.2.3",
    needs=("attention",),
)
def attention_shape(probe: Probe) -> str:
    """Maps are `[B, H, S, S]`, `[B, H, T, T]` and, for cross-attention, `[B, H, T, S]`."""
    maps = _maps(probe, probe.sources(6, 4), probe.targets_in(3, 5))
    expected = {"encoder": (6, 6), "decoder": (5, 5), "cross": (5, 6)}
    for kind in KINDS:
        layers = getattr(maps, kind)
        require(bool(layers), f"There are no {kind} maps.")
        for layer in layers:
            right = layer.dim() == 4 and layer.size(0) == 2 and tuple(layer.shape[2:]) == expected[kind]
            require(right, f"A {kind} map is {list(layer.shape)}; expected [2, H, *{list(expected[kind])}].")
    return f"{sum(len(layers) for layers in maps)} maps of {maps.cross[0].size(1)} heads, rows of queries."


@invariant(
    "attention-rows",
    Mistake("The softmax runs over the queries instead of the keys.", 5, "C09"),
    Mistake("The mask is applied after the softmax, and the row is not normalised again.", 7),
    Mistake("Scores are normalised over something else than this query's keys.", 5, "C10"),
    paper="section 3.2.1",
    needs=("attention",),
)
def attention_rows(probe: Probe) -> str:
    """Each row of weights is a distribution: nothing negative, sum one."""
    source, target = probe.sources(6, 4), probe.targets_in(5, 5)
    maps = _maps(probe, source, target)
    for kind in KINDS:
        for number, layer in enumerate(getattr(maps, kind), 1):
            _require_distributions(layer, f"{kind} layer {number}")
    return "All rows sum to one."


@invariant(
    "attention-before-dropout",
    AFTER_DROPOUT,
    paper="section 3.2.1",
    needs=("attention", "modules"),
)
def attention_before_dropout(probe: Probe) -> str:
    """In training too, rows of the maps sum to one."""
    source, target = probe.sources(6, 6), probe.targets_in(5, 5)
    with probe.training(), dropout_of(probe.modules(), 0.3):
        maps = _maps(probe, source, target)
    for kind in KINDS:
        for number, layer in enumerate(getattr(maps, kind), 1):
            _require_distributions(layer, f"{kind} layer {number} (training mode)")
    return "With dropout at work, all rows sum to one."


def _require_distributions(weights: Tensor, where: str) -> None:
    require(bool((weights >= 0).all()), f"In {where} some weights are negative or NaN.")
    worst = float((weights.sum(dim=-1) - 1).abs().max())
    said = f"In {where} a row of weights is off one by {worst:.2g}"
    for kind in (torch.bfloat16, torch.float16):
        if CLOSE <= worst < ROUGH and torch.equal(weights.to(kind).to(weights.dtype), weights):
            require(False, f"{said}, and every weight is a number of {str(kind).partition('.')[2]}.", SIXTEEN_BITS)
    require(worst < CLOSE, f"{said}.")


ROWS = replace(QUERY_ROWS, mutant="padding_masked_on_query_rows")
MASK_ASTRAY = Mistake("A mask is missing, off by one, or transposed.", 7, "C15")


@invariant(
    "attention-hidden",
    TINY_FILL,
    MASK_ASTRAY,
    QUERY_ROWS,
    paper="section 3.2.3",
    needs=("attention",),
)
def attention_hidden(probe: Probe) -> str:
    """Weights of padded keys and of later target positions are exactly zero, at sizes that differ and at equal ones."""
    _examine_hidden(probe, probe.sources(6, 4), probe.targets_in(5, 3))  # all sizes differ
    heads = _maps(probe, probe.sources(2), probe.targets_in(2)).encoder[0].size(1)
    rows = max(2, min(heads, MOST_ROWS))  # as many sentences as heads, and sources as long as targets
    for lengths in ((6, 4), (4, 6)):
        source, target = ([*itertools.islice(itertools.cycle(x), rows)] for x in (lengths, lengths[::-1]))
        try:
            _examine_hidden(probe, probe.sources(*source), probe.targets_in(*target))
        except InvariantViolated as broken:
            said = f"{str(broken)[:-1]}, where sizes are equal: {rows} sentences of 6 source and 6 target tokens."
            raise InvariantViolated(said, WRONG_AXIS) from broken
    return "Hidden keys weigh exactly zero, the others more."


MOST_ROWS = 16


def _examine_hidden(probe: Probe, source: Tensor, target: Tensor) -> None:
    subject, maps = probe.subject, _maps(probe, source, target)
    real_source, real_target = source != subject.pad, target != subject.pad
    # Written out: the library's own mask may be what is examined.
    causal = torch.ones(target.size(1), target.size(1), dtype=torch.bool).tril()
    seen = {
        "encoder": real_source[:, None, :] & real_source[:, :, None],
        "decoder": (real_target[:, None, :] & causal) & real_target[:, :, None],
        "cross": real_source[:, None, :] & real_target[:, :, None],
    }
    rows = {"encoder": real_source, "decoder": real_target, "cross": real_target}
    for kind in KINDS:
        # Rows of padded queries belong to no token: they may hold anything.
        hidden = (~seen[kind] & rows[kind][:, :, None])[:, None]
        for number, layer in enumerate(getattr(maps, kind), 1):
            if layer.shape[-2:] != hidden.shape[-2:]:
                not_applicable(f"the {kind} maps are of other queries or keys, which is a failure of attention-shape")
            where = f"{kind} layer {number}"
            share = float(layer.masked_fill(~hidden, 0.0).abs().max())
            if share > 0 and kind == "encoder" and _rows_are_hidden(layer, real_source):
                require(False, f"In {where} a hidden key has weight {share:.2g}, and rows of padding are empty.", ROWS)
            require(share == 0.0, f"In {where} a hidden key has weight {share:.2g}.")
            _require_seen(layer, seen[kind], source == subject.eos, where)


def _rows_are_hidden(layer: Tensor, real: Tensor) -> bool:
    """Whether rows of padded queries hold nothing, or the same for every key."""
    padded = layer.transpose(1, 2)[~real]
    return bool(padded.numel()) and bool((padded == padded[..., :1]).all())


def _require_seen(layer: Tensor, seen: Tensor, ends: Tensor, where: str) -> None:
    # A mask hides a key from all heads; in one head a weight may be too small for a number.
    unseen = (layer == 0).all(1) & seen
    if bool(unseen.any()):
        only_ends = not where.startswith("decoder") and not bool((unseen & ~ends[:, None, :]).any())
        what = "eos" if only_ends else "a key that may be seen"
        require(False, f"In {where} {what} has weight zero.", END_HIDDEN if only_ends else MASK_ASTRAY)


BY_D_K = Mistake("Scores are divided by d_k, not by its root.", 5, "C08")
UNDIVIDED = Mistake("Scores are not divided at all, or by the root of d_model.", 5, "C10")
BY_LENGTH = Mistake("Scores get a factor that is not of d_k alone, such as one of the number of keys.", 5)


def _factor_mistakes(slope: float, factor: float, d_k: int, d_model: int) -> tuple[Mistake, ...]:
    """What a factor is that is not 1 / sqrt(d_k); nothing if it is, and something else is wrong."""
    known = {1 / d_k: BY_D_K, 1.0: UNDIVIDED, d_model**-0.5: UNDIVIDED}
    for wrong, mistake in known.items():
        if math.isclose(slope, wrong, rel_tol=0.01):
            return (mistake,)
    return () if math.isclose(slope, factor, rel_tol=0.01) else (BY_LENGTH,)


@invariant(
    "attention-scale",
    BY_D_K,
    UNDIVIDED,
    Mistake("The query meets the values instead of the keys.", 5, "C11"),
    paper="section 3.2.1, equation 1",
    needs=("first_attention",),
)
def attention_scale(probe: Probe) -> str:
    """First attention: weights = softmax(q k / sqrt(d_k)), by equation 1; relative positions may add to the scores."""
    # d_k is often 8: at another length, a factor of the number of keys is not that of d_k.
    return [_examine_scale(probe, length) for length in (8, 5)][0]


def _examine_scale(probe: Probe, length: int) -> str:
    with torch.no_grad():
        first = probe.subject.first_attention(probe.sources(length, length))
    claimed, d_k = probe.subject.claims.attention_scale, first.q.size(-1)
    factor = d_k**-0.5 if claimed is None else claimed
    products, logs = first.q @ first.k.transpose(-2, -1), first.weights.clamp_min(1e-30).log()
    bias: Tensor | float = 0.0
    if not positions_are_added(probe):
        # What the distance of two tokens adds to their score is the same in both sentences, and their mean shows it.
        bias = (logs - factor * products).mean(dim=0, keepdim=True)
        products, logs = (x - x.mean(dim=0, keepdim=True) for x in (products, logs))
    scores = factor * (first.q @ first.k.transpose(-2, -1)) + bias
    difference = float((scores.softmax(dim=-1) - first.weights).abs().max())
    # Differences of log-weights in a row are differences of scores: their slope is the factor that was used.
    centred = products - products.mean(dim=-1, keepdim=True)
    slope = float((centred * (logs - logs.mean(dim=-1, keepdim=True))).sum() / centred.square().sum())
    expected = f"1 / sqrt({d_k}) is {factor:.4g}" if claimed is None else f"claimed is {factor:.4g}"
    said = f"The factor on q k is {slope:.4g}; {expected}"
    explained = float(((slope * (first.q @ first.k.transpose(-2, -1)) + bias).softmax(-1) - first.weights).abs().max())
    # With bias, its mean holds a share of a wrong factor: then the factor alone is judged.
    is_factor = claimed is None and (explained < 10 * probe.close or not isinstance(bias, float))
    because = _factor_mistakes(slope, factor, d_k, first.x.size(-1)) if is_factor else ()
    require(difference < probe.close, f"{said}; weights differ from equation 1 by {difference:.2g}.", *because)
    return f"{said}."


@invariant(
    "heads-read-whole-input",
    Mistake("The input is cut into slices and each head projects its own, as in a grouped convolution.", 8, "C07"),
    Mistake("Heads are split by a reshape without the transpose, which mixes positions.", 8),
    paper="section 3.2.2",
    needs=("first_attention", "modules"),
)
def heads_read_whole_input(probe: Probe) -> str:
    """First attention: q, k, v of each head depend on all of their position's input, and on no other position."""
    with torch.enable_grad():
        first = probe.subject.first_attention(probe.sources(5))
        if not first.x.requires_grad or not first.q.requires_grad:
            require(False, "q does not hang on the input of the attention.")
        for name, part in (("query", first.q), ("key", first.k), ("value", first.v)):
            for head in range(part.size(1)):
                factors = torch.randn(part.size(-1), generator=probe.generator)
                line = (part[0, head, 2] * factors).sum()
                (gradient,) = torch.autograd.grad(line, first.x, retain_graph=True)
                own = gradient[0, 2]
                gradient = gradient.clone()
                gradient[0, 2] = 0
                elsewhere = float(gradient.abs().max())
                require(elsewhere == 0, f"The {name} of head {head + 1} at position 3 reads other positions.")
                share = float((own != 0).float().mean())
                require(share > 0.95, f"The {name} of head {head + 1} reads {share:.0%} of its input vector.")
    return "Each head's query, key and value read all of their own input vector and nothing else."


@invariant(
    "heads-are-concatenated",
    Mistake("The heads' outputs are averaged or summed.", 8, "C04"),
    Mistake("The output projection is missing, or is left out because the width fits already.", 8, "C06"),
    Mistake("Heads are joined by a reshape without the transpose, which mixes positions.", 8),
    Mistake("Something else than the values is summed with the weights.", 5, "C11"),
    paper="section 3.2.2",
    needs=("first_attention",),
)
def heads_are_concatenated(probe: Probe) -> str:
    """First attention: output = Concat(weights v of each head) W_O."""
    with torch.no_grad():
        first = probe.subject.first_attention(probe.sources(6, 6))
        joined = (first.weights.float() @ first.v.float()).transpose(1, 2).flatten(2)
        expected = joined @ first.w_o.float().T
        expected = expected if first.b_o is None else expected + first.b_o
    difference = relative_difference(first.output, expected)
    require(difference <= probe.close, f"The output differs from Concat(heads) W_O by {of_size(difference, 'its')}.")
    return f"The output differs from Concat(heads) W_O by {of_size(difference)}."


@invariant(
    "heads-differ",
    Mistake("All heads share one head's projections, and are one head, copied.", 8, "C04"),
    Mistake("Keys are made with the queries' projection, so that scores are symmetric.", 6, "C48"),
    paper="section 3.2.2",
    needs=("first_attention",),
)
def heads_differ(probe: Probe) -> str:
    """First attention: no two heads have the same queries, and no queries are keys, no keys values.

    Heads may share keys and values in groups, as in grouped-query and multi-query attention.
    """
    with torch.no_grad():
        first = probe.subject.first_attention(probe.sources(6))
    parts = {"queries": first.q[0], "keys": first.k[0], "values": first.v[0]}
    vectors = [(f"{name} of head {head + 1}", part) for name, heads in parts.items() for head, part in enumerate(heads)]
    for (name, one), (other_name, other) in itertools.combinations(vectors, 2):
        kind = name.split()[0]
        if kind != "queries" and other_name.startswith(kind):
            continue
        same = one.shape == other.shape and relative_difference(one, other) <= CLOSE
        require(not same, f"The {name} and the {other_name} are the same.")
    return f"The queries of {len(first.q[0])} heads differ; none are keys, and no keys are values."
