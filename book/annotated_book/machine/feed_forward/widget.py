"""A widget for the hidden units of feed-forward networks: where each is active, and what its value row promotes.

Everything travels as two bytes a number, so that a page can hold every unit of a small model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import torch
import traitlets
from torch import Tensor

from annotated.analysis.feed_forward import Activity
from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
_PROMOTED = 6
_TALLIED = 4


class NeuronExplorer(anywidget.AnyWidget):
    """The widget; `neuron_explorer` makes one. `layer` and `unit` are what is shown, from 0."""

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    layers = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    units = traitlets.Int().tag(sync=True)
    top = traitlets.Int().tag(sync=True)
    sentences = traitlets.List(trait=traitlets.List()).tag(sync=True)
    next_tokens = traitlets.List(trait=traitlets.List()).tag(sync=True)
    vocabulary = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    places = traitlets.Bytes().tag(sync=True)
    strengths = traitlets.Bytes().tag(sync=True)
    names = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    tallies = traitlets.Bytes().tag(sync=True)
    promoted = traitlets.Bytes().tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    unit = traitlets.Int(0).tag(sync=True)


def neuron_explorer(
    activity: Activity,
    *,
    values: Tensor | None = None,
    vocabulary: list[str] | None = None,
    top: int = 6,
    layer: int = 0,
    unit: int = 0,
) -> NeuronExplorer:
    """All hidden units of a stack, to leaf through: the strongest contexts of each, and all its activity by token.

    Parameters
    ----------
    activity
        As `annotated.analysis.feed_forward.activity` returns it.
    values
        What each unit's value row gives every entry of the vocabulary, `[L, F, V]`; None leaves it out. With it,
        contexts end at the token that was read, the token that came next follows an arrow, and all active positions
        are counted by it.
    vocabulary
        The V tokens; needed with `values`.
    top
        Contexts to keep of each unit, each from another sentence.
    layer, unit
        What to show first, from 0.

    Raises
    ------
    ValueError
        If there is no such layer or unit, the sentences hold too many tokens, or `values` do not fit.
    """
    hidden = activity.hidden
    layers, tokens, units = hidden.shape
    if tokens >= 2**16:
        raise ValueError(f"{tokens} tokens are more than the {2**16 - 1} that the widget can number")
    if not (0 <= layer < layers and 0 <= unit < units):
        raise ValueError(f"there is no layer {layer}, unit {unit} (counted from 0) in {layers} layers of {units} units")
    best, strengths = _strongest(activity, top)
    names, tallies = _tallies(activity, activity.tokens if values is None else activity.next_tokens)
    more: dict[str, Any] = {}
    if values is not None:
        if vocabulary is None or values.shape != (layers, units, len(vocabulary)):
            raise ValueError(f"values must be [{layers}, {units}, V] with a vocabulary of V tokens")
        promoted = values.topk(_PROMOTED, dim=-1).indices.numpy()
        more = {"promoted": _bytes(promoted), "vocabulary": vocabulary, "next_tokens": activity.next_tokens}
    return NeuronExplorer(
        layers=[f"layer {i + 1}" for i in range(layers)],
        units=units,
        top=top,
        sentences=activity.tokens,
        places=_bytes(best),
        strengths=_bytes(np.where(strengths > 0, (strengths * 100).clip(1, 2**16 - 1), 0)),  # rounded once
        names=names,
        tallies=_bytes(tallies),
        layer=layer,
        unit=unit,
        **more,
    )


def _tallies(activity: Activity, tokens: list[list[str]]) -> tuple[list[str], Any]:
    """The distinct tokens; and for each unit `[L, F, 9]`: active positions, then token and count, four times."""
    names = list(dict.fromkeys(token for sentence in tokens for token in sentence))
    number = {name: i for i, name in enumerate(names)}
    kinds = torch.tensor([number[token] for sentence in tokens for token in sentence])
    one_hot = torch.nn.functional.one_hot(kinds, len(names)).float()  # [N, kinds]
    kept = min(_TALLIED, len(names))
    rows = []
    for hidden in activity.hidden:
        counts = (hidden > 0).float().t() @ one_hot  # [F, kinds]
        most = counts.topk(kept, dim=1)
        pairs = torch.stack([most.indices.float(), most.values], dim=-1)  # [F, kept, 2]
        padded = torch.nn.functional.pad(pairs, (0, 0, 0, _TALLIED - kept)).flatten(1)
        rows.append(torch.cat([counts.sum(1, keepdim=True), padded], dim=1))
    return names, torch.stack(rows).numpy()


def _strongest(activity: Activity, top: int) -> tuple[Any, Any]:
    """Places `[L, F, top]` at which each unit is most active, one per sentence, and how strongly."""
    hidden = activity.hidden
    layers, _, units = hidden.shape
    ends = np.cumsum([len(sentence) for sentence in activity.tokens])
    starts = ends - [len(sentence) for sentence in activity.tokens]
    per_sentence = [hidden[:, start:end].max(dim=1) for start, end in zip(starts, ends, strict=True)]
    peaks = np.stack([peak.values.numpy() for peak in per_sentence], axis=-1)  # [L, F, sentences]
    tokens = np.stack([p.indices.numpy() + start for p, start in zip(per_sentence, starts, strict=True)], axis=-1)
    order = np.argsort(-peaks, axis=-1, kind="stable")[..., :top]
    chosen, strengths = np.take_along_axis(tokens, order, -1), np.take_along_axis(peaks, order, -1)
    missing = top - chosen.shape[-1]
    if missing > 0:
        pad = ((0, 0), (0, 0), (0, missing))
        chosen, strengths = np.pad(chosen, pad), np.pad(strengths, pad)
    return chosen.reshape(layers, units, top), strengths.reshape(layers, units, top)


def _bytes(array: Any) -> bytes:
    return np.asarray(array).round().astype("<u2").tobytes()
