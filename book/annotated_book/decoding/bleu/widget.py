"""Highlighter of the n-grams that two texts share, and the BLEU that follows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anywidget
import traitlets

from annotated_book.viz.javascript import esm

_HERE = Path(__file__).parent
TOKENIZERS = ("13a", "none", "intl", "char", "quotes", "compounds", "paper")
"""sacreBLEU's, by its own names; 13a after 'quotes' are made plain; 13a with 'compounds' split; 'paper' is both."""


class NgramHighlighter(anywidget.AnyWidget):
    """The widget; `ngram_highlighter` makes one.

    `hypothesis` and `reference` are the texts shown, which the reader may edit; `tokenizer` is one of `TOKENIZERS`,
    and `n` the length of the n-grams listed.
    """

    _esm = esm(_HERE / "widget.js")
    _css = _HERE / "widget.css"
    examples = traitlets.List(trait=traitlets.Dict()).tag(sync=True)
    hypothesis = traitlets.Unicode().tag(sync=True)
    reference = traitlets.Unicode().tag(sync=True)
    tokenizer = traitlets.Enum(list(TOKENIZERS), default_value="13a").tag(sync=True)
    n = traitlets.Int(2, min=1, max=4).tag(sync=True)


def ngram_highlighter(
    examples: Mapping[str, tuple[str, str]], *, tokenizer: str = "13a", n: int = 2
) -> NgramHighlighter:
    """A translation and its reference side by side, with the n-grams they share and the BLEU that follows, live.

    Parameters
    ----------
    examples
        Pairs (translation, reference) by title; the first is shown first.
    tokenizer, n
        What to show first.

    Raises
    ------
    ValueError
        If there is no example, no such tokeniser, or `n` is not 1..4.
    """
    if not examples:
        raise ValueError("there must be at least one example")
    if tokenizer not in TOKENIZERS or n not in range(1, 5):
        raise ValueError(f"tokenizer must be one of {', '.join(TOKENIZERS)}, and n from 1 to 4")
    rows = [{"title": title, "hypothesis": h, "reference": r} for title, (h, r) in examples.items()]
    first = {name: rows[0][name] for name in ("hypothesis", "reference")}
    return NgramHighlighter(examples=rows, **first, tokenizer=tokenizer, n=n)
