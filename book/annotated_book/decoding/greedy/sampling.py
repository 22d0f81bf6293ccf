"""Sampling: translations drawn token by token, with temperature, top-k and top-p."""

from __future__ import annotations

from typing import TypedDict

import torch
from torch import Tensor

from annotated.classroom import classroom_pairs
from annotated.config import BOS, EOS, PAD
from annotated.data import pad
from annotated.loading import load
from annotated.model import Transformer
from annotated.translator import Translator


class Narrowing(TypedDict, total=False):
    """How a draw is narrowed."""

    temperature: float
    top_k: int
    top_p: float


def narrowed(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
    """Probabilities `[..., V]` to draw from.

    Parameters
    ----------
    logits
        `[..., V]`.
    temperature
        Divides the logits: below 1 probable tokens become more probable, towards 0 the draw becomes greedy.
    top_k
        Only this many of the most probable tokens are kept; 0 keeps all.
    top_p
        Of these, only the fewest whose probabilities add up to this are kept.
    """
    p = (logits.double() / temperature).softmax(dim=-1)
    values, order = p.sort(dim=-1, descending=True, stable=True)
    if top_k:
        values[..., top_k:] = 0
    values = values / values.sum(-1, keepdim=True)
    if top_p < 1:
        values = values.masked_fill(values.cumsum(-1) - values >= top_p, 0)
    return torch.zeros_like(p).scatter(-1, order, values / values.sum(-1, keepdim=True))


@torch.no_grad()
def draw(model: Transformer, source: Tensor, *, longest: int = 40, **how: float) -> list[list[int]]:
    """One translation for each row of `source`, token by token from the narrowed probabilities."""
    memory = model.eval().encode(source)
    out = torch.full((source.size(0), 1), BOS)
    ended = torch.zeros(source.size(0), dtype=torch.bool)
    while not ended.all() and out.size(1) <= longest:
        logits = model.decode(out, memory, source)[:, -1]
        logits[:, [PAD, BOS]] = -torch.inf
        token = narrowed(logits, **how).multinomial(1).squeeze(1)  # type: ignore[arg-type]
        out = torch.cat([out, token.masked_fill(ended, EOS).unsqueeze(1)], dim=1)
        ended |= token == EOS
    return [ids[: ids.index(EOS)] if EOS in ids else ids for ids in out[:, 1:].tolist()]


WAYS: dict[str, Narrowing] = {
    "temperature 1": {},
    "temperature 0.7": {"temperature": 0.7},
    "temperature 0.3": {"temperature": 0.3},
    "top-k, k = 5": {"top_k": 5},
    "top-p, p = 0.9": {"top_p": 0.9},
}
"""The ways that are compared with greedy search."""


def run(sentences: int = 200) -> dict[str, object]:
    """For each way, how many of the test sentences a draw translates as the reference does, in each of three rounds."""
    torch.set_num_threads(1)
    loaded = load("classroom")
    pairs = [(p.source, p.target) for p in classroom_pairs("test", sentences)]
    source = pad([[*loaded.tokenizer.encode(text), EOS] for text, _ in pairs])
    greedy = Translator(loaded.model, loaded.tokenizer).translate([text for text, _ in pairs], beam_size=1)
    found = {"greedy": [_right(greedy, pairs)]}
    for name, how in WAYS.items():
        found[name] = []
        for seed in range(3):
            torch.manual_seed(seed)
            ids = draw(loaded.model, source, **how)
            found[name].append(_right([loaded.tokenizer.decode(one) for one in ids], pairs))
    return {"sentences": sentences, "right": found}


def _right(texts: list[str], pairs: list[tuple[str, str]]) -> int:
    return sum(text == target for text, (_, target) in zip(texts, pairs, strict=True))
