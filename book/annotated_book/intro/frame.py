"""Frame that the front page's panel shows first: a translation of the classroom model, made when the book is built.

The panel's script takes it over as it stands, so nothing moves in the page when the live model arrives. Elements and
classes are those of `book/annotated_book/viz/engine`.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape

import torch

from annotated.config import BOS, EOS
from annotated.data.tokenizer import Tokenizer
from annotated.decoding import greedy_decode
from annotated_book.viz.engine.script import page_translator

SENTENCE = "The grandmother opened the green school bag."
CAPTION = (
    "Lines: where the last layer looks in the English sentence (cross-attention, averaged over its heads) before it "
    "writes each token. The figure with each token is its probability. A word may be two tokens; </s> ends the "
    "sentence. Point at a German token to see its lines alone."
)
_ADD_NORM = tuple(f"encoder.*.add_norm_{n}" for n in (1, 2)) + tuple(f"decoder.*.add_norm_{n}" for n in (1, 2, 3))
SWITCHED = {
    "positions": ("source.positions", "target.positions"),
    "√d<sub>model</sub>": ("source.embedding", "target.embedding"),
    "causal mask": ("decoder.*.self_attention",),
    "residuals": _ADD_NORM,
    "layer norm": _ADD_NORM,
    "feed-forward": ("encoder.*.feed_forward", "decoder.*.feed_forward"),
}
"""The switches below the panel, and the boxes of figure 1 that each of them acts on."""


@cache
def front(sentence: str | None = None) -> str:
    """HTML of the panel `front` with everything written."""
    sentence = sentence or SENTENCE
    translator = page_translator()
    model, tokenizer = translator.model, translator.tokenizer
    source = [*tokenizer.encode(sentence), EOS]
    (hypothesis,) = greedy_decode(model, torch.tensor([source]))
    target = [*hypothesis.tokens, EOS]
    with torch.no_grad():
        logits, maps = model(torch.tensor([source]), torch.tensor([[BOS, *target[:-1]]]), return_attention=True)
    log_probabilities = logits[0].log_softmax(-1).gather(1, torch.tensor(target)[:, None])[:, 0]
    looks = maps.cross[-1][0].mean(0)  # [T, S], averaged over the heads of the last layer
    read = "".join(_token(tokenizer, token, i == 0) for i, token in enumerate(source))
    probabilities = log_probabilities.exp().tolist()
    written = "".join(
        _token(tokenizer, token, i == 0, p) for i, (token, p) in enumerate(zip(target, probabilities, strict=True))
    )
    rows = json.dumps([[round(weight, 3) for weight in row] for row in looks.tolist()])
    whole = percent(float(log_probabilities.sum().exp()))
    ticks = "".join(f'<label><input type="checkbox" checked disabled><span>{part}</span></label>' for part in SWITCHED)
    return (
        f'<div class="live-sentence"><label><span>English</span><input type="text" value="{escape(sentence)}" disabled>'
        '</label><select disabled aria-label="Examples"><option>an example …</option></select></div>'
        f'<div class="live-frame" data-looks="{rows}"><div class="live-tokens live-source">{read}</div>'
        f'<div class="live-tokens live-written">{written}</div>'
        f'<p class="live-caption">{escape(CAPTION)}</p></div>'
        f'<p class="live-status">Every part is on. Probability of the whole translation: {whole}.</p>'
        f'<fieldset class="live-switches"><legend>Parts that are on</legend>{ticks}</fieldset>'
    )


def _token(tokenizer: Tokenizer, token: int, first: bool, probability: float | None = None) -> str:
    text = tokenizer.decode([token])
    special = token == EOS
    classes = "live-token" + " live-begins" * (special or first or text.startswith(" ")) + " live-special" * special
    style = "" if probability is None else f' style="--p:{probability:.3f}"'
    below = "" if probability is None else f" <small>{percent(probability)}</small>"
    return f'<span class="{classes}"{style}><span>{escape("</s>" if special else text.strip())}</span>{below}</span>'


def percent(p: float) -> str:
    """A probability as the panels write it."""
    return "100 %" if p >= 0.995 else "<1 %" if p < 0.01 else f"{int(100 * p + 0.5)} %"
