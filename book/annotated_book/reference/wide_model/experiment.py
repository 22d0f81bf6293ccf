"""The wide model, the classroom model and the one of real text, on the same sentences of strangers and on their own."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from annotated.analysis.real_text import run_folder
from annotated.classroom.wide import wide_pairs
from annotated.loading import load
from annotated.translator import Translator
from annotated_book.reference.wide_model.strangers import HALVES, scores, sentences, translations

OWN, SEED = 2000, 7
"""Test sentences of the wide corpus, and their seed, which is another than that of the training's own test text."""
MODELS = {"classroom": "classroom", "wide": "classroom-wide", "real text": None}


def own_test(translator: Translator, count: int = OWN) -> list[dict[str, Any]]:
    """For each kind of sentence of the wide corpus' test split: how many, and how many are translated word for word."""
    pairs = list(wide_pairs("test", count, seed=SEED))
    found = translator.translate([pair.source for pair in pairs], beam_size=1)
    kinds: defaultdict[str, list[bool]] = defaultdict(list)
    for text, pair in zip(found, pairs, strict=True):
        kinds[pair.kind].append(str(text) == pair.target)
    return [{"kind": kind, "sentences": len(same), "exact": sum(same)} for kind, same in sorted(kinds.items())]


def run() -> dict[str, Any]:
    """Translate with each of the models; the one of real text needs `annotated.analysis.real_text`."""
    found: dict[str, Any] = {"models": {}}
    for name, place in MODELS.items():
        translator = load(place or run_folder() / "model")
        halves = {half: translations(translator, half) for half in HALVES}
        found["models"][name] = {
            "parameters": translator.model.num_parameters(),
            "vocabulary": translator.tokenizer.vocab_size,
            **{half: scores(texts, sentences(half)) for half, texts in halves.items()},
        }
        if name == "wide":
            found["translations"] = {
                half: {row["id"]: text for row, text in zip(sentences(half), texts, strict=True)}
                for half, texts in halves.items()
            }
            found["own"] = own_test(translator)
    return found
