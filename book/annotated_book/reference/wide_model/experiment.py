"""The wide model, the classroom model, one of real text: on test text of their own and on sentences of strangers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import sacrebleu

from annotated.analysis.real_text import real_pairs, run_folder
from annotated.classroom import classroom_pairs
from annotated.classroom.wide import wide_pairs
from annotated.loading import load
from annotated.translator import Translator
from annotated_book.reference.wide_model.copying import KINDS, copied
from annotated_book.reference.wide_model.strangers import HALVES, greedy, plain, scores, sentences

OWN, SEED = 1000, 7
"""Test sentences of a model's own text, and their seed, which is another than that of the training's own test text."""
TRAINED = 1_000_000
"""Pairs of the text with which the training of the wide model ended; an earlier one cannot be written any more."""
READ, READ_SEED, FIRST_READ = 300, 11, 1001
"""Sentences of the wide model's own test, without slips of the finger, that were read by hand; their first number."""
Pairs = list[tuple[str, str]]
MODELS: dict[str, tuple[str | None, Callable[[], Pairs]]] = {
    "classroom": ("classroom", lambda: [(p.source, p.target) for p in classroom_pairs("test", OWN, seed=SEED)]),
    "wide": ("classroom-wide", lambda: [(p.source, p.target) for p in wide_pairs("test", OWN, seed=SEED)]),
    "real text": (None, lambda: list(islice(real_pairs("test"), OWN))),
}
"""The models: where each is, None for that of `annotated.analysis.real_text`, and its own test text."""


def own_test(translator: Translator, pairs: Pairs) -> dict[str, Any]:
    """On a model's own test text: 'sentences', 'chrf', and 'exact', how many translations are the reference itself."""
    found = greedy(translator, [source for source, _ in pairs])
    references = [target for _, target in pairs]
    return {
        "sentences": len(pairs),
        "chrf": round(sacrebleu.corpus_chrf(found, [references]).score, 1),
        "exact": sum(text == reference for text, reference in zip(found, references, strict=True)),
    }


def never_trained(half: str, trained: set[str]) -> list[int]:
    """Which of a half, by their places, the wide model's training text does not have."""
    return [place for place, row in enumerate(sentences(half)) if plain(row["en"]) not in trained]


def names_copied(translator: Translator, trained: set[str]) -> dict[str, Any]:
    """How many names that no training sentence has are copied whole, by their kinds."""
    text = f" {'  '.join(trained)} "
    return {kind: copied(partial(greedy, translator), lambda name: f" {plain(name)} " in text, kind) for kind in KINDS}


def run() -> dict[str, Any]:
    """Translate with each of the models; what the wide one made of the strangers' sentences is recorded whole."""
    trained = {plain(pair.source) for pair in wide_pairs("train", TRAINED)}
    new = {half: never_trained(half, trained) for half in HALVES}
    found: dict[str, Any] = {"models": {}}
    for name, (place, pairs) in MODELS.items():
        translator = load(place or run_folder() / "model")
        halves = {half: greedy(translator, [row["en"] for row in sentences(half)]) for half in HALVES}
        found["models"][name] = {
            "parameters": translator.model.num_parameters(),
            "vocabulary": translator.tokenizer.vocab_size,
            "own": own_test(translator, pairs()),
            **{half: scores(texts, sentences(half)) for half, texts in halves.items()},
            **{
                f"{half}_new": scores([texts[i] for i in new[half]], [sentences(half)[i] for i in new[half]])
                for half, texts in halves.items()
            },
        }
        if name == "wide":
            found["translations"] = {
                half: {str(row["id"]): text for row, text in zip(sentences(half), texts, strict=True)}
                for half, texts in halves.items()
            }
            own = wide_pairs("test", READ, seed=READ_SEED, typed=False)
            texts = greedy(translator, [pair.source for pair in own])
            found["translations"]["own"] = {str(id): text for id, text in enumerate(texts, FIRST_READ)}
            found["names"] = names_copied(translator, trained)
            found["new"] = {half: [sentences(half)[i]["id"] for i in places] for half, places in new.items()}
    return found
