"""A widget that shows every attention map of one sentence pair: all layers, all heads, all three uses.

The same JavaScript runs in a live notebook (anywidget) and in the static pages of the book. Weights travel as
one byte each, which is exact to a fifth of a per cent and keeps a page small.

Paper: section 3.2.3
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from annotated.model.transformer import AttentionMaps
from annotated.viz.attention import check_weights

_HERE = Path(__file__).parent
_LABELS = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}


class AttentionHeads(anywidget.AnyWidget):
    """The widget; `attention_heads` makes one from a model's maps.

    `use`, `layer`, `head`, `query` and `key` say what the reader has chosen, counted from 0, and may be set from
    Python in a live notebook.

    Paper: section 3.2.3
    """

    _esm = _HERE / "heads.js"
    _css = _HERE / "heads.css"
    weights = traitlets.Bytes().tag(sync=True)
    uses = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    use = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)


def attention_heads(
    maps: AttentionMaps,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    *,
    next_tokens: Sequence[str] | None = None,
    sentence: int = 0,
    gold: Sequence[tuple[int, int]] = (),
    use: str = "cross",
    layer: int = 0,
    head: int = 0,
) -> AttentionHeads:
    """All attention maps of one sentence pair, to choose from and to enlarge.

    Parameters
    ----------
    maps
        As `model(source, target_in, return_attention=True)` returns them.
    source_tokens
        The S tokens that the encoder read, eos included; padding after them is cut off.
    target_tokens
        The T tokens that the decoder read: bos first, so that row t is the query that read `target_tokens[t]`.
    next_tokens
        The T tokens that the decoder is about to write at those positions, shown beside those it read.
    sentence
        Which sentence of the batch.
    gold
        Pairs (row t, column s) of the cross-attention maps to outline: where an alignment says it should look.
    use, layer, head
        The map to show first: 'encoder', 'decoder' or 'cross', and which, from 0.

    Raises
    ------
    ValueError
        As `check_weights`; if `next_tokens` does not fit `target_tokens`; if there is no such use, layer or head.

    Paper: section 3.2.3
    """
    read = list(target_tokens)
    if next_tokens is not None:
        if len(next_tokens) != len(read):
            raise ValueError(
                f"{len(next_tokens)} next tokens do not fit {len(read)} target tokens: bos is read, eos is next"
            )
        read = [f"{now} → {then}" for now, then in zip(read, next_tokens, strict=True)]
    source = list(source_tokens)
    axes = {"encoder": (source, source), "decoder": (read, list(target_tokens)), "cross": (read, source)}
    if use not in axes:
        raise ValueError(f"there is no attention {use!r}; there are {', '.join(axes)}")
    uses: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    for name, (queries, keys) in axes.items():
        array = _stack(getattr(maps, name), sentence, queries, keys)
        chunks.append((array * 255).round().clip(0, 255).astype(np.uint8).tobytes())
        layers, heads = array.shape[:2]
        marks = [[int(q), int(k)] for q, k in gold] if name == "cross" else []
        if any(not (0 <= q < len(queries) and 0 <= k < len(keys)) for q, k in marks):
            raise ValueError("gold names a row or a column that the cross-attention maps do not have")
        uses.append(
            {"label": _LABELS[name], "layers": layers, "heads": heads, "queries": queries, "keys": keys, "gold": marks}
        )
    chosen = list(axes).index(use)
    if not (0 <= layer < uses[chosen]["layers"] and 0 <= head < uses[chosen]["heads"]):
        raise ValueError(f"there is no layer {layer}, head {head} (counted from 0) in the {use} attention")
    return AttentionHeads(weights=b"".join(chunks), uses=uses, use=chosen, layer=layer, head=head)


def _stack(layers: Sequence[Any], sentence: int, queries: list[str], keys: list[str]) -> NDArray[np.float64]:
    """The maps `[L, H, q, k]` of one sentence without padding, checked."""
    array = np.stack([np.asarray(layer[sentence].detach().cpu().float(), dtype=np.float64) for layer in layers])
    if array.shape[-2] < len(queries) or array.shape[-1] < len(keys):
        raise ValueError(f"{len(queries)} queries and {len(keys)} keys do not fit maps of {list(array.shape[-2:])}")
    if array[..., : len(queries), len(keys) :].any():
        raise ValueError(f"there is attention to keys after the last of {len(keys)} tokens: tokens are missing")
    return check_weights(array[..., : len(queries), : len(keys)], queries, keys)
