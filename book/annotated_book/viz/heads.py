"""A widget that shows every attention map of sentence pairs: all layers, all heads, all three uses.

The same JavaScript runs in a live notebook (anywidget) and in the static pages of the book. Weights travel as
one byte each, which is exact to a fifth of a per cent and keeps a page small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from annotated.model.transformer import AttentionMaps
from annotated.runs.validation_callbacks import SentenceHeads, as_bytes
from annotated_book.viz.attention_map import check_weights
from annotated_book.viz.javascript import KIT, esm

_LABELS = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}


class AttentionHeads(anywidget.AnyWidget):
    """The widget; `attention_heads` and `attention_atlas` make one from a model's maps.

    `sentence`, `use`, `layer`, `head`, `query` and `key` say what the reader has chosen, counted from 0, and `view`
    is 'matrix' or 'arcs'; all may be set from Python in a live notebook. `notes[use][layer * heads + head]` is a
    line of text about a head.
    """

    _esm = esm(KIT / "heads.js")
    _css = KIT / "heads.css"
    weights = traitlets.Bytes().tag(sync=True)
    sentences = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    notes = traitlets.List(trait=traitlets.List()).tag(sync=True)
    view = traitlets.Enum(["matrix", "arcs"], default_value="matrix").tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    use = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    query = traitlets.Int(0).tag(sync=True)
    key = traitlets.Int(0).tag(sync=True)

    @property
    def uses(self) -> list[dict[str, Any]]:
        """The three kinds of attention of the sentence shown: layers, heads, queries, keys, gold."""
        return list(self.sentences[self.sentence]["uses"])


class SentenceMaps(NamedTuple):
    """What `attention_atlas` needs of one sentence pair; the fields are the parameters of `attention_heads`."""

    title: str
    source_tokens: Sequence[str]
    target_tokens: Sequence[str]
    next_tokens: Sequence[str] | None = None
    gold: Sequence[tuple[int, int]] = ()


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

    Paper: figures 3-5
    """
    one = SentenceMaps("", source_tokens, target_tokens, next_tokens, gold)
    uses, chunk = _uses(maps, sentence, one)
    return AttentionHeads(weights=chunk, sentences=[{"title": "", "uses": uses}], **_chosen(uses, use, layer, head))


def attention_atlas(
    maps: AttentionMaps,
    sentences: Sequence[SentenceMaps],
    *,
    notes: Mapping[tuple[str, int, int], str] | None = None,
    sentence: int = 0,
    use: str = "cross",
    layer: int = 0,
    head: int = 0,
) -> AttentionHeads:
    """All attention maps of many sentence pairs, to choose from, to enlarge, and to draw as arcs.

    Parameters
    ----------
    maps
        Of a batch, as `model(source, target_in, return_attention=True)` returns them.
    sentences
        One for each row of the batch.
    notes
        A line of text about a head, by (use, layer, head).
    sentence, use, layer, head
        The map to show first.

    Raises
    ------
    ValueError
        As `attention_heads`; if there is no such sentence; if there are more or fewer sentences than rows in the batch.
    """
    if len(sentences) != len(maps.cross[0]):
        raise ValueError(f"{len(sentences)} sentences do not fit maps of {len(maps.cross[0])}")
    if not 0 <= sentence < len(sentences):
        raise ValueError(f"there is no sentence {sentence} (counted from 0)")
    shown: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    for n, one in enumerate(sentences):
        uses, chunk = _uses(maps, n, one)
        shown.append({"title": one.title, "uses": uses})
        chunks.append(chunk)
    known = notes or {}
    lines = [
        [known.get((name, i, h), "") for i in range(u["layers"]) for h in range(u["heads"])]
        for name, u in zip(_LABELS, shown[0]["uses"], strict=True)
    ]
    chosen = _chosen(shown[0]["uses"], use, layer, head)
    return AttentionHeads(weights=b"".join(chunks), sentences=shown, notes=lines, sentence=sentence, **chosen)


def _chosen(uses: list[dict[str, Any]], use: str, layer: int, head: int) -> dict[str, int]:
    """The traits that show a map first."""
    if use not in _LABELS:
        raise ValueError(f"there is no attention {use!r}; there are {', '.join(_LABELS)}")
    number = list(_LABELS).index(use)
    if not (0 <= layer < uses[number]["layers"] and 0 <= head < uses[number]["heads"]):
        raise ValueError(f"there is no layer {layer}, head {head} (counted from 0) in the {use} attention")
    return {"use": number, "layer": layer, "head": head}


def kept_heads(sentences: Sequence[SentenceHeads], titles: Sequence[str]) -> tuple[list[dict[str, Any]], bytes]:
    """The traits `sentences` and `weights` of the widget, for heads that a training run has kept.

    Parameters
    ----------
    sentences
        As `annotated.runs.validation_callbacks.read_heads` gives them.
    titles
        What the menu calls each.

    Raises
    ------
    ValueError
        If there are more or fewer titles than sentences.
    """
    shown: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    for title, one in zip(titles, sentences, strict=True):
        axes = _axes(one.source_tokens, ["<s>", *one.target_tokens][: len(one.target_tokens)], one.target_tokens)
        uses = [_described(name, getattr(one, name), axes[name]) for name in _LABELS]
        shown.append({"title": title, "uses": uses})
        chunks += [getattr(one, name).tobytes() for name in _LABELS]
    return shown, b"".join(chunks)


def _axes(
    source: Sequence[str], read: Sequence[str], then: Sequence[str] | None
) -> dict[str, tuple[list[str], list[str]]]:
    """Names of queries and keys, by use; a query of the decoder has read one token and is about to write the next."""
    steps = list(read) if then is None else [f"{now} → {later}" for now, later in zip(read, then, strict=True)]
    return {"encoder": (list(source), list(source)), "decoder": (steps, list(read)), "cross": (steps, list(source))}


def _described(
    name: str, weights: NDArray[Any], axes: tuple[list[str], list[str]], gold: Sequence[tuple[int, int]] = ()
) -> dict[str, Any]:
    queries, keys = axes
    marks = [[int(q), int(k)] for q, k in gold] if name == "cross" else []
    if any(not (0 <= q < len(queries) and 0 <= k < len(keys)) for q, k in marks):
        raise ValueError("gold names a row or a column that the cross-attention maps do not have")
    layers, heads = weights.shape[:2]
    return {"label": _LABELS[name], "layers": layers, "heads": heads, "queries": queries, "keys": keys, "gold": marks}


def _uses(maps: AttentionMaps, sentence: int, one: SentenceMaps) -> tuple[list[dict[str, Any]], bytes]:
    """The three kinds of attention of one sentence, and their weights, a byte each."""
    read = list(one.target_tokens)
    if one.next_tokens is not None and len(one.next_tokens) != len(read):
        raise ValueError(
            f"{len(one.next_tokens)} next tokens do not fit {len(read)} target tokens: bos is read, eos is next"
        )
    uses: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    for name, axes in _axes(one.source_tokens, read, one.next_tokens).items():
        array = _stack(getattr(maps, name), sentence, *axes)
        chunks.append(as_bytes(array).tobytes())
        uses.append(_described(name, array, axes, one.gold))
    return uses, b"".join(chunks)


def _stack(layers: Sequence[Any], sentence: int, queries: list[str], keys: list[str]) -> NDArray[np.float64]:
    """The maps `[L, H, q, k]` of one sentence without padding, checked."""
    array = np.stack([np.asarray(layer[sentence].detach().cpu().float(), dtype=np.float64) for layer in layers])
    if array.shape[-2] < len(queries) or array.shape[-1] < len(keys):
        raise ValueError(f"{len(queries)} queries and {len(keys)} keys do not fit maps of {list(array.shape[-2:])}")
    if array[..., : len(queries), len(keys) :].any():
        raise ValueError(f"there is attention to keys after the last of {len(keys)} tokens: tokens are missing")
    return check_weights(array[..., : len(queries), : len(keys)], queries, keys)
