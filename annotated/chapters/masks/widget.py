"""A mask that the reader paints over real scores, and charts of what masks let through.

The widget's JavaScript runs in a live notebook (anywidget) and in the static pages of the book. It gets scores,
not weights: mask, fill and softmax are computed under the reader's hands.

Paper: sections 3.1, 3.2.3
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import anywidget
import numpy as np
import pandas as pd
import traitlets
from numpy.typing import ArrayLike

from annotated.config import SPECIAL_TOKENS
from annotated.model.transformer import AttentionMaps
from annotated.viz.javascript import esm
from annotated.viz.tables import array_table, curves_table
from annotated.viz.theme import BLUE, GREY, ORANGE, PALETTE, menu

_HERE = Path(__file__).parent
USES = ("encoder", "decoder", "cross")
FILLS = ("library", "-inf", "-1e9", "-1e-12")


class MaskPainter(anywidget.AnyWidget):
    """The widget; `mask_painter` makes one from a model's scores.

    `sentence`, `use` and `fill` are numbers into `sentences`, `USES` and `FILLS`; `padding` and `causal` say which
    ingredients are in the mask; `flipped` lists the cells [query, key] that the reader painted over; `query` and `key`
    are the cell that is pointed at. All of them may be set from Python in a live notebook.

    Paper: section 3.2.3
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    scores = traitlets.Bytes().tag(sync=True)
    sentences = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    use = traitlets.Int(1).tag(sync=True)
    fill = traitlets.Int(0).tag(sync=True)
    padding = traitlets.Bool(True).tag(sync=True)
    causal = traitlets.Bool(True).tag(sync=True)
    flipped = traitlets.List(trait=traitlets.List()).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)


def mask_painter(
    scores: AttentionMaps,
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    *,
    layer: int = 0,
    head: int = 0,
    sentence: int = 0,
    use: str = "decoder",
    padding: bool = True,
    causal: bool | None = None,
    fill: str = "library",
) -> MaskPainter:
    """Scores of one head for a batch of sentence pairs, under a mask that the reader makes.

    Parameters
    ----------
    scores
        Before the mask, as `annotated.analysis.scores.attention_scores` returns them: `[B, H, q, k]` for each layer.
    sources, targets
        B lists of tokens each, as the encoder and the decoder read them, padded to one length with '<pad>'.
    layer, head
        Whose scores, from 0.
    sentence, use, padding, causal, fill
        What is shown first; `use` is one of `USES` and `fill` one of `FILLS`; `causal` None is as the model has it.

    Raises
    ------
    ValueError
        If tokens and scores do not fit, or there is no such use or fill.

    Paper: sections 3.1, 3.2.3
    """
    if use not in USES or fill not in FILLS:
        raise ValueError(f"use must be one of {', '.join(USES)} and fill one of {', '.join(FILLS)}")
    chunks: list[bytes] = []
    sentences: list[dict[str, Any]] = []
    for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
        axes = {"encoder": (source, source), "decoder": (target, target), "cross": (target, source)}
        for name, (queries, keys) in axes.items():
            array = getattr(scores, name)[layer][number, head].detach().cpu().float().numpy()
            if array.shape != (len(queries), len(keys)):
                raise ValueError(
                    f"the {name} scores {list(array.shape)} do not fit {len(queries)} queries and {len(keys)} keys: "
                    "pad the tokens like the ids"
                )
            chunks.append(np.ascontiguousarray(array, dtype="<f4").tobytes())
        real = "".join(token for token in source if token not in SPECIAL_TOKENS).replace("▁", " ").strip()
        sentences.append({"label": real, "source": list(source), "target": list(target)})
    return MaskPainter(
        scores=b"".join(chunks),
        sentences=sentences,
        sentence=sentence,
        use=USES.index(use),
        fill=FILLS.index(fill),
        padding=padding,
        causal=use == "decoder" if causal is None else causal,
    )


def reach_chart(matrices: dict[str, ArrayLike], tokens: Sequence[str]) -> alt.LayerChart:
    """Which input each output of a decoder depends on, with a menu to compare decoders.

    Parameters
    ----------
    matrices
        `[T, T]` norms of d out_i / d in_j for each decoder, as `decoder_reach` returns them; shown
        as shares of their row. An exact zero is drawn as a dot.
    tokens
        The T tokens that the decoder reads.

    Raises
    ------
    ValueError
        If a matrix does not fit the tokens, or holds a negative number.

    Paper: section 3.1
    """
    tables = {name: _shares(name, matrix, len(tokens)) for name, matrix in matrices.items()}
    names = list(matrices)
    axis = {"labelExpr": f"{json.dumps(list(tokens))}[datum.value]", "labelOverlap": False}
    cells = (
        alt.Chart(pd.concat(tables, names=["which"]).reset_index("which"))
        .transform_filter("datum.which == which")
        .encode(
            x=alt.X("j:O", title="input position j", axis=alt.Axis(**axis, labelAngle=-60)),
            y=alt.Y("i:O", title="output position i", axis=alt.Axis(**axis)),
            tooltip=[
                alt.Tooltip("i:O", title="output"),
                alt.Tooltip("j:O", title="input"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    shade = alt.Opacity("share:Q", scale=alt.Scale(type="sqrt", domain=[0, 1], range=[0.08, 1]), legend=None)
    color = alt.condition("datum.j > datum.i", alt.value(ORANGE), alt.value(BLUE))
    return (
        alt.layer(
            cells.transform_filter("!datum.zero")
            .mark_rect(stroke=GREY, strokeWidth=0.3)
            .encode(opacity=shade, color=color),
            cells.transform_filter("datum.zero").mark_circle(size=9, color=GREY, opacity=1),
        )
        .add_params(menu("which", names, label="decoder"))
        .properties(
            width="container",
            height=24 * len(tokens),
            description=(
                "A square table of how strongly each output position of a decoder depends on each input position, with "
                f"a menu of {len(names)} decoders: {', '.join(names)}. Dots are exact zeros. With the causal mask "
                "everything above the diagonal is a dot; without it every cell is filled."
            ),
        )
    )


def _shares(name: str, matrix: ArrayLike, length: int) -> pd.DataFrame:
    """Each norm as a share of its row, and whether it is exactly zero."""
    array = np.asarray(matrix, dtype=np.float64)
    if array.shape != (length, length) or array.min() < 0:
        raise ValueError(f"'{name}' must hold [{length}, {length}] norms, not {list(array.shape)}")
    table = array_table(array / array.sum(axis=1, keepdims=True), "share", i=range(length), j=range(length))
    return table.round(4).assign(zero=array.ravel() == 0)


def canary_chart(losses: dict[str, Sequence[float]], floor: float) -> alt.LayerChart:
    """The canary's loss at each position, a line for each way to mask, over the floor of what noise allows.

    Parameters
    ----------
    losses
        For each mask, the loss in nats at positions 1 to T.
    floor
        ln V: the loss of an honest model of V equally likely tokens.

    Paper: section 3.1
    """
    names = list(losses)
    table = curves_table(losses, "mask", "position", "loss", start=1).round({"loss": 4})
    base = alt.Chart(table).encode(
        x=alt.X("position:O", title="position in the target", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("loss:Q", title="loss (nats a token)", scale=alt.Scale(domain=[0, 3.2])),
        color=alt.Color("mask:N", sort=names, scale=alt.Scale(domain=names, range=list(PALETTE[: len(names)]))),
        tooltip=["mask:N", "position:O", alt.Tooltip("loss:Q", format=".3f")],
    )
    dash = alt.StrokeDash("mask:N", sort=names, scale=alt.Scale(domain=names))
    shape = alt.Shape("mask:N", sort=names, scale=alt.Scale(domain=names))
    line = alt.Chart(pd.DataFrame({"y": [floor], "text": ["ln 16: all that noise allows"]})).encode(y="y:Q")
    return alt.layer(
        line.mark_rule(strokeDash=[2, 3], color=GREY, strokeWidth=1.5),
        line.mark_text(align="left", dy=-14, x=6, fontSize=12).encode(text="text:N"),
        base.mark_line(strokeWidth=2).encode(strokeDash=dash),
        base.mark_point(filled=True, size=55, opacity=1).encode(shape=shape),
    ).properties(
        width="container",
        height=230,
        description=(
            f"Loss at each position for {len(names)} ways to mask: {', '.join(names)}. Honest masks stay at the dashed "
            f"floor of {floor:.2f} nats everywhere; masks that leak fall far below it, except at the last position, "
            "where there is no later token to copy from."
        ),
    )
