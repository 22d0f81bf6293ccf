"""Mask painter: a mask that the reader paints over real scores.

The widget's JavaScript runs in a live notebook (anywidget) and in the static pages of the book. It gets scores,
not weights: mask, fill and softmax are computed under the reader's hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets

from annotated.config import SPECIAL_TOKENS
from annotated.model.transformer import AttentionMaps
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
USES = ("encoder", "decoder", "cross")
FILLS = ("library", "-inf", "-1e9", "-1e-12")


class MaskPainter(anywidget.AnyWidget):
    """The widget; `mask_painter` makes one from a model's scores.

    `sentence`, `use` and `fill` are numbers into `sentences`, `USES` and `FILLS`; `padding` and `causal` say which
    ingredients are in the mask; `flipped` lists the cells [query, key] that the reader painted over; `query` and `key`
    are the cell that is pointed at. All of them may be set from Python in a live notebook.
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
