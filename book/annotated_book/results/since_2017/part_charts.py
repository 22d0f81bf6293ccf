"""Charts of single parts: rotary scores, a gate, normalised queries, orthogonal steps, and schedules."""

from __future__ import annotations

import math
from collections.abc import Mapping

import altair as alt
import pandas as pd
import torch
from torch import Tensor

from annotated.model import sinusoidal_encoding
from annotated_book.results.since_2017.muon import COEFFICIENTS
from annotated_book.results.since_2017.rotary import turned
from annotated_book.viz.channels import colour_by, x_axis, y_axis
from annotated_book.viz.end_labels import in_lines, name_bars, name_lines
from annotated_book.viz.forms import rule_at, titled
from annotated_book.viz.parameters import slider, steps
from annotated_book.viz.theme import BLUE, GREEN, GREY, ORANGE

STARTS = (0, 5, 10, 20, 50, 100, 200)
FACTORS = (1, 2, 4, 8, 16, 32)
_OFFSETS = range(-12, 13)
_ADDED, _TURNED = "sinusoids added", "RoPE"


def rotary_scores(start: int, width: int = 16, seed: int = 3) -> dict[str, list[float]]:
    """Scores of one query at place `start` + 12 with one key at 25 places around it, for both kinds of positions."""
    draw = torch.Generator().manual_seed(seed)
    q, k = torch.randn(2, width, generator=draw)
    w_q, w_k = torch.randn(2, width, width, generator=draw) / width**0.5
    table = sinusoidal_encoding(max(STARTS) + 25, width)
    here, keys = table[start + 12], table[start : start + 25]
    added = (keys + k) @ w_k.T @ (w_q @ (here + q))
    rotated = (turned(k.expand(25, 1, -1), keys) * turned(q[None, None], here[None])).sum((1, 2))
    return {_ADDED: (added / width**0.5).tolist(), _TURNED: (rotated / width**0.5).tolist()}


def rotary_chart() -> alt.LayerChart:
    """The score over the offset, wherever the text begins: a slider moves it."""
    places = [rotary_scores(start) for start in STARTS]
    rows = [
        {"start": number, "offset": offset, "score": round(score, 4), "kind": kind}
        for number, place in enumerate(places)
        for kind, scores in place.items()
        for offset, score in zip(_OFFSETS, scores, strict=True)
    ]
    colour = colour_by("kind:N", [_ADDED, _TURNED], [ORANGE, BLUE])
    every = [score for place in places for scores in place.values() for score in scores]
    ends = [math.floor(min(every)), math.ceil(max(every))]  # of all places, so that only a curve moves
    score = y_axis("score:Q", domain=ends, nice=False)
    offset = x_axis("offset:Q", "place of the key less place of the query", nice=False)
    base = alt.Chart(pd.DataFrame(rows)).transform_filter("datum.start == begin").encode(offset, score, colour)
    return titled(
        alt.layer(base.mark_line(point=True), name_lines(base, "kind", words={_ADDED: "sinusoids\nadded"})),
        steps("begin", STARTS, label="place of the first key"),
        height=220,
        title="A rotary score sees the offset alone; with sinusoids added it changes with the place",
        description="Score of one query with one key over the offset of their places, from −12 to 12. With RoPE the "
        "curve is the same wherever the text begins; with sinusoids added it changes.",
    )


def gate_chart() -> alt.LayerChart:
    """ReLU, swish and a gated product over one number; a slider sets what the gate multiplies."""
    z = pd.DataFrame({"z": [n / 10 for n in range(-50, 51)]})
    names = {
        "ReLU": ("max(0, datum.z)", ORANGE),
        "swish": ("datum.z / (1 + exp(-datum.z))", GREY),
        "swish(z) u": ("u * datum.z / (1 + exp(-datum.z))", BLUE),
    }
    base = _formulas(z, names, "y").encode(
        x_axis("z:Q", "z, the number in the gate", nice=False),
        y_axis("y:Q", "output", domain=[-10, 10]),  # twice 5, for every u
        colour_by("name:N", names, [colour for _, colour in names.values()]),
    )
    return titled(
        alt.layer(base.mark_line(), name_lines(base, "name")),
        slider("u", 1.5, -2, 2, 0.1, label="u, the other product"),
        height=220,
        title="A gate lets another number through, or holds it back, or turns its sign",
        description="ReLU, swish, and swish times a number u that a slider sets from −2 to 2, over z from −5 to 5.",
    )


def _formulas(table: pd.DataFrame, names: Mapping[str, tuple[str, str]], value: str) -> alt.Chart:
    """A value of each formula, an expression of Vega, for each row of a table; fields `name` and the value's."""
    found = alt.Chart(table).transform_calculate(**{name: formula for name, (formula, _) in names.items()})
    return found.transform_fold(list(names), ["name", value])


def longest_weights(factor: float) -> dict[str, Tensor]:
    """Weights of six keys for one query that is `factor` times as long, without and with QK-norm; d_k is 16."""
    draw = torch.Generator().manual_seed(1)
    q, k = torch.randn(16, generator=draw) * factor, torch.randn(6, 16, generator=draw)
    normed_q, normed_k = (4 * x / x.norm(dim=-1, keepdim=True) for x in (q, k))
    return {"without": (k @ q / 4).softmax(0), "QK-norm": (normed_k @ normed_q / 4).softmax(0)}


def qk_norm_chart() -> alt.LayerChart:
    """Attention weights of six keys as the query grows longer, without and with QK-norm."""
    rows = [
        {"factor": number, "key": key + 1, "weight": round(weight, 4), "kind": kind}
        for number, factor in enumerate(FACTORS)
        for kind, weights in longest_weights(factor).items()
        for key, weight in enumerate(weights.tolist())
    ]
    kinds = ["without", "QK-norm"]
    base = (
        alt.Chart(pd.DataFrame(rows))
        .transform_filter("datum.factor == factor")
        .encode(
            x_axis("key:O", "key", labelAngle=0),
            y_axis("weight:Q", "weight", domain=[0, 1]),
            colour_by("kind:N", kinds, [ORANGE, BLUE]),
        )
    )
    return titled(
        alt.layer(base.mark_bar().encode(xOffset=alt.XOffset("kind:N", sort=kinds)), *name_bars(base, "kind", kinds)),
        steps("factor", FACTORS, 4, label="length of the query, times"),
        height=220,
        title="A longer query saturates the softmax, unless it is normalised",
        description="Attention weights of six keys, without and with QK-norm, as a slider makes the query up to 32 "
        "times as long. With QK-norm they stay; without it two keys take all.",
    )


def newton_schulz_curve(value: float, count: int) -> float:
    """A singular value after so many steps."""
    a, b, c = COEFFICIENTS
    for _ in range(count):
        value = a * value + b * value**3 + c * value**5
    return value


def newton_schulz_chart() -> alt.LayerChart:
    """Where each singular value between 0 and 1 is after some steps, which a slider chooses."""
    rows = [
        {"steps": count, "before": n / 200, "after": round(newton_schulz_curve(n / 200, count), 4)}
        for count in range(8)
        for n in range(201)
    ]
    curve = (
        alt.Chart(pd.DataFrame(rows))
        .transform_filter("datum.steps == count")
        .mark_line(color=BLUE, clip=True)
        .encode(
            alt.X("before:Q", title="singular value before"), y_axis("after:Q", "singular value after", domain=[0, 1.3])
        )
    )
    return titled(
        alt.layer(rule_at(alt.Y("after:Q"), 1.0, color=GREY, strokeDash=[4, 3]), curve),
        slider("count", 5, 0, 7, label="steps"),
        height=220,
        title="Newton and Schulz's steps bring the singular values near 1, the smallest ones last",
        description="Singular values after 0 to 7 steps of Newton and Schulz, over those before. After five steps "
        "those from 0.002 to 1 lie between 0.68 and 1.21.",
    )


def schedules_chart(warmup: int = 100, updates: int = 1000) -> alt.LayerChart:
    """The three schedules as shares of the highest rate; sliders set where the cosine ends and how long WSD decays."""
    grid = [*range(1, warmup, max(1, warmup // 20)), *range(warmup, updates + 1, max(1, updates // 150))]
    rise = f"datum.update / {warmup}"
    done = f"(datum.update - {warmup}) / {updates - warmup}"
    names = {
        "equation 3": (f"sqrt({warmup} / datum.update)", ORANGE),
        "cosine": (f"last + (1 - last) * (1 + cos(PI * {done})) / 2", GREEN),
        "warm-up, stable, decay": (f"min(1, ({updates} - datum.update + 1) / (decay * {updates}))", BLUE),
    }
    names = {name: (f"datum.update < {warmup} ? {rise} : {way}", colour) for name, (way, colour) in names.items()}
    base = _formulas(pd.DataFrame({"update": grid}), names, "share").encode(
        x_axis("update:Q", "update", nice=False),
        alt.Y("share:Q", title="share of the highest rate"),
        colour_by("name:N", names, [colour for _, colour in names.values()]),
    )
    return titled(
        alt.layer(base.mark_line(strokeWidth=2), name_lines(base, "name", words=in_lines(names, 9))),
        slider("last", 0.1, 0, 0.5, 0.05, label="the cosine ends at"),
        slider("decay", 0.2, 0.05, 1, 0.05, label="share of updates in the decay"),
        height=240,
        title="One warm-up and one highest rate, and three ways down",
        description=f"Learning rates over {updates:,} updates as shares of the highest: equation 3, a cosine, and "
        "warm-up, stable, decay. Sliders set where the cosine ends and how long the last decay is.",
    )
