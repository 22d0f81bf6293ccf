"""What the output matrix reads, for three nouns, two of them alike: decoder outputs in one plane, trained with and without smoothing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from annotated.data import TokenStore, evaluation_batches
from annotated.loading import load
from annotated.model import Transformer
from annotated_book.training.label_smoothing.experiment import PAIRS, sentences, store, train

STRENGTHS = (0.0, 0.1)
TOKENS = ("▁Mutter", "▁Großmutter", "▁Abend")
TESTED, SHOWN = 3000, 60
"""Validation sentences, and at most so many dots for each token."""


@torch.no_grad()
def outputs(model: Transformer, data: TokenStore, wanted: list[int]) -> list[Tensor]:
    """For each of some tokens, the decoder's outputs `[N, D]` where that token is the right one, by teacher forcing."""
    kept: list[Tensor] = []
    hook = model.decoder.register_forward_hook(lambda _m, _i, output: kept.append(output))
    found: list[list[Tensor]] = [[] for _ in wanted]
    try:
        for batch in evaluation_batches(data, 2000):
            kept.clear()
            model(batch.source, batch.target_in)
            for rows, token in zip(found, wanted, strict=True):
                rows.append(kept[0][batch.target_out == token])
    finally:
        hook.remove()
    return [torch.cat(rows) for rows in found]


def plane(rows: Tensor) -> Tensor:
    """Two directions `[D, 2]` of length 1, at right angles, of the plane through three points `[3, D]`."""
    first = rows[1] - rows[0]
    second = rows[2] - rows[0]
    first = first / first.norm()
    second = second - (second @ first) * first
    return torch.stack([first, second / second.norm()], dim=1)


def measured(clusters: list[Tensor], rows: Tensor) -> dict[str, Any]:
    """Where each cluster lies in the plane through its tokens' rows, and how tight it is.

    Returns
    -------
    dict
        'dots': for each token, [x, y] of some of its outputs. 'spread': the mean distance of an output to the mean of
        its cluster, divided by the mean distance between the means of two clusters, in all dimensions.
    """
    axes = plane(rows)
    means = torch.stack([cluster.mean(0) for cluster in clusters])
    middle = means.mean(0)
    within = torch.cat([(cluster - mean).norm(dim=1) for cluster, mean in zip(clusters, means, strict=True)]).mean()
    between = torch.pdist(means).mean()
    dots = [[[round(x, 3) for x in dot] for dot in ((c[:SHOWN] - middle) @ axes).tolist()] for c in clusters]
    return {"dots": dots, "spread": round(float(within / between), 4), "counts": [len(c) for c in clusters]}


def run() -> dict[str, Any]:
    """Each strength with two seeds; the dots of the first."""
    torch.set_num_threads(1)
    encode = load("classroom").tokenizer
    wanted = [encode.tokens(list(range(2000))).index(token) for token in TOKENS]
    data, tested = store(sentences("train", PAIRS["many"])), store(sentences("valid", TESTED))
    found = []
    for seed in range(2):
        for strength in STRENGTHS:
            model = train(data, strength, seed)
            clusters = outputs(model, tested, wanted)
            one = measured(clusters, model.output_weight.detach()[wanted])
            found.append({"smoothing": strength, "seed": seed, **one})
    return {"tokens": [token.removeprefix("▁") for token in TOKENS], "tested": TESTED, "runs": found}
