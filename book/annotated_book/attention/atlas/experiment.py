"""Heads of the classroom model, switched off one at a time, and each layer with only one head left on."""

from __future__ import annotations

from typing import Any

import torch

from annotated.analysis.ablation import ablation, all_heads
from annotated.analysis.heads import HeadCorpus
from annotated.classroom import classroom_pairs
from annotated.loading import load
from annotated.translator import Translator

SENTENCES = 400


def run() -> dict[str, Any]:
    """Of the model that the package ships."""
    torch.set_num_threads(1)
    return without_heads(load("classroom"))


def without_heads(translator: Translator) -> dict[str, Any]:
    """The loss and the exact greedy translations of the whole model, without each head, and with one head a layer."""
    corpus = HeadCorpus.of(classroom_pairs("test", SENTENCES), translator.tokenizer)
    model = translator.model
    heads = all_heads(model)
    others = [[h for h in heads if h[:2] == kept[:2] and h != kept] for kept in heads]
    whole, *found = ablation(model, corpus, [[], *([head] for head in heads), *others])
    rows = [
        {
            "kind": kind,
            "layer": layer,
            "head": head,
            "loss": round(one["loss"], 5),
            "exact": one["exact"],
            "alone_loss": round(alone["loss"], 5),
            "alone_exact": alone["exact"],
        }
        for (kind, layer, head), one, alone in zip(heads, found[: len(heads)], found[len(heads) :], strict=True)
    ]
    return {"sentences": SENTENCES, "whole": whole, "heads": rows}
