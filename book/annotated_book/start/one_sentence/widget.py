"""A widget: figure 1, drawn anew, in which every box shows the tensor that leaves it for a real sentence.

Tensors travel as one byte a number, exact to half a per cent of the largest, which keeps a page small.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets
from torch import Tensor

from annotated.analysis.tracing import Trace, trace
from annotated.config import ModelConfig
from annotated.translator import Translator
from annotated_book.viz.figure_one.about import about_machine
from annotated_book.viz.figure_one.boxes import BOXES, Box
from annotated_book.viz.figure_one.drawing import drawing
from annotated_book.viz.javascript import KIT, esm

_HERE = Path(__file__).parent
_BEST = 6  # tokens listed of each distribution
_BINS = 28  # of the histogram of logits


class Architecture(anywidget.AnyWidget):
    """The widget; `architecture` makes one from a translator and some sentences.

    `sentence`, `box`, `layer` (from 1) and `step` (from 0) say what the reader has chosen, and may be set from
    Python in a live notebook.
    """

    _esm = esm(_HERE / "widget.js")
    _css = KIT / "figure_one" / "machine.css"
    data = traitlets.Bytes().tag(sync=True)
    sentences = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    boxes = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    drawing = traitlets.Unicode().tag(sync=True)
    sizes = traitlets.Dict().tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    box = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def show(self, translator: Translator, texts: Sequence[str]) -> None:
        """Trace these sentences instead, in a live notebook."""
        data, sentences = _packed(translator, texts)
        with self.hold_sync():
            self.data, self.sentences = data, sentences
            self.sentence = 0
            self.step = min(self.step, len(sentences[0]["next"]) - 1)


def architecture(
    translator: Translator,
    texts: Sequence[str],
    *,
    box: str = "decoder.*.cross_attention",
    layer: int = 1,
    step: int = 0,
) -> Architecture:
    """Figure 1 with the tensors of some sentences, which the model translates itself.

    Parameters
    ----------
    translator
        Its model must be post-norm, as the figure is.
    texts
        Sentences to choose from.
    box, layer, step
        What to show first: the name of a box as in `Trace` with * for the layer, the layer from 1, and the number
        of tokens that have been written.

    Raises
    ------
    ValueError
        If there is no text, or no such box, layer or step; and as `annotated.analysis.tracing.trace`.
    """
    if isinstance(texts, str) or not texts:
        raise ValueError("give a list of at least one sentence")
    config = translator.model.config
    data, sentences = _packed(translator, texts)
    if box not in (known.name for known in BOXES):
        raise ValueError(f"there is no box {box!r}; there are {', '.join(known.name for known in BOXES)}")
    if not 1 <= layer <= _layers(config) or not 0 <= step < len(sentences[0]["next"]):
        raise ValueError(f"there is no layer {layer} (from 1) or no step {step} (from 0) in the first sentence")
    about = about_machine(config)
    return Architecture(
        data=data, sentences=sentences, **about, drawing=drawing({}, _layers(config)), box=box, layer=layer, step=step
    )


class Twin:
    """HTML for a page, and a sentence for a terminal."""

    def __init__(self, markup: str, text: str) -> None:
        self.markup, self.text = markup, text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.markup


def architecture_twin(traced: Trace, config: ModelConfig) -> Twin:
    """The drawing without a script: every box with the shape of its tensor for one sentence.

    The widget hides it where it can run.
    """
    shapes = {box.name: _numbers(box, traced, config) for box in BOXES}
    middle = len(traced.next_tokens) // 2
    so_far = "".join(traced.target_tokens[1 : middle + 1]).replace("▁", " ").strip()
    words = (so_far, traced.next_tokens[middle].lstrip("▁"))
    figure = drawing(shapes, _layers(config), words)
    caption = "The Transformer, after figure 1, with the shapes of one sentence."
    markup = f'<figure class="architecture architecture-twin">{figure}<figcaption>{caption}</figcaption></figure>'
    return Twin(markup, caption)


def _layers(config: ModelConfig) -> int:
    return min(config.num_encoder_layers, config.num_decoder_layers)


def _numbers(box: Box, traced: Trace, config: ModelConfig) -> str:
    """The shape in numbers: '10 × 128'."""
    sizes = {"S": len(traced.source_ids), "T": len(traced.target_ids), "D": config.d_model, "V": config.vocab_size}
    return " × ".join(f"{sizes[letter]:,}" for letter in box.shape.strip("[]").split(", "))


def _packed(translator: Translator, texts: Sequence[str]) -> tuple[bytes, list[dict[str, Any]]]:
    """All tensors of all sentences one after another, and where each begins."""
    chunks: list[bytes] = []
    sentences = []
    start = 0
    for text in texts:
        traced = trace(translator, text)
        tensors: dict[str, list[Any]] = {}
        for name, values in traced.boxes.items():
            if name not in ("linear", "softmax"):
                chunk, entry = _bytes(values)
                tensors[name] = [start, *entry]
                chunks.append(chunk)
                start += len(chunk)
        maps = {}
        for name, weights in traced.maps.items():
            chunk = (weights * 255).round().byte().cpu().numpy().tobytes()
            maps[name] = [start, *weights.shape]
            chunks.append(chunk)
            start += len(chunk)
        sentences.append(_words(traced) | {"tensors": tensors, "maps": maps} | _distributions(traced, translator))
    return b"".join(chunks), sentences


def _bytes(values: Tensor) -> tuple[bytes, list[Any]]:
    """A matrix as bytes around 128; then rows, columns, scale, smallest and largest number, what is shown darkest."""
    array = values.detach().cpu().float().numpy().astype(np.float64)
    scale = float(np.abs(array).max()) or 1.0
    chunk = (np.round(array / scale * 127) + 128).astype(np.uint8).tobytes()
    dark = float(np.quantile(np.abs(array), 0.985)) / scale  # a few large numbers would leave the others invisible
    numbers = (scale, float(array.min()), float(array.max()), dark)
    return chunk, [*array.shape, *(round(number, 4) for number in numbers)]


def _words(traced: Trace) -> dict[str, Any]:
    return {
        "source": traced.source_tokens,
        "target": traced.target_tokens,
        "next": traced.next_tokens,
        "sourceIds": traced.source_ids,
        "targetIds": traced.target_ids,
        "text": "".join(traced.source_tokens[:-1]).replace("▁", " ").strip(),
    }


def _distributions(traced: Trace, translator: Translator) -> dict[str, Any]:
    """Of each step: the most probable tokens, and a histogram of all logits."""
    logits, p = traced.boxes["linear"].cpu(), traced.boxes["softmax"].cpu()
    best = p.topk(_BEST, dim=-1)
    low, high = float(logits.min()), float(logits.max())
    steps = []
    for t in range(len(logits)):
        counts = np.histogram(logits[t].numpy(), bins=_BINS, range=(low, high))[0]
        ids = best.indices[t].tolist()
        names = translator.tokenizer.tokens(ids)
        top = [[n, round(float(p[t, i]), 4), round(float(logits[t, i]), 2)] for n, i in zip(names, ids, strict=True)]
        steps.append({"top": top, "counts": counts.tolist()})
    return {"steps": steps, "range": [round(low, 2), round(high, 2)]}
