"""A bank of known-wrong Transformers: each is this library with one mistake, which can be switched on and off.

What the doctor is examined with: it must find every one of them. And a collection to learn from: most of the mistakes
were really made, some by famous code, and nearly all of them train without an error message.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from annotated.config import ModelConfig
from annotated.model import Transformer
from annotated_grader.doctor.adapters.ours import OurSubject
from annotated_grader.doctor.mutants import (
    attention,
    decoding,
    evaluation,
    layers,
    mask_shapes,
    masks,
    positions,
    targets,
    training,
)
from annotated_grader.doctor.mutants.patching import Mutant, Patches
from annotated_grader.doctor.subject import Subject

__all__ = ["MUTANTS", "Mutant", "find", "healthy", "subject", "switched_on", "table"]

THEMES = {
    "masks": masks,
    "masks of the wrong shape": mask_shapes,
    "attention": attention,
    "positions": positions,
    "layers": layers,
    "targets": targets,
    "training": training,
    "decoding": decoding,
    "evaluation": evaluation,
}

MUTANTS: tuple[Mutant, ...] = tuple(mutant for theme in THEMES.values() for mutant in theme.BANK.mutants)
"""All of them, by theme."""

SMALL = ModelConfig(
    vocab_size=8,
    d_model=16,
    d_ff=32,
    num_heads=2,
    d_k=8,
    d_v=8,
    num_encoder_layers=2,
    num_decoder_layers=2,
    attention_dropout=0.1,
)
"""The model that the mistakes are made in: the smallest that has everything twice. Dropout on attention weights is not
the paper's; it is there for the mistakes that can be made with it."""

SEED = 206
"""Of its weights: chosen because its greedy outputs vary, and some of them end before the cap. Most new models write
one token for ever, and a search that goes wrong at the end of a sentence never gets there."""

_on: list[str] = []


def find(id: str) -> Mutant:
    """The mutant of that name.

    Raises
    ------
    ValueError
        If there is none; the message lists the names.
    """
    for mutant in MUTANTS:
        if mutant.id == id:
            return mutant
    raise ValueError(f"there is no mutant {id!r}; there are {', '.join(mutant.id for mutant in MUTANTS)}")


@contextmanager
def switched_on(id: str) -> Iterator[Mutant]:
    """Inside, this library makes one known mistake; afterwards it is right again, also after an error.

    One mistake at a time: switching on the one that is on already changes nothing. Mistakes in how a model is built
    are made only by models that are built inside; so use `subject`, which does both. Not for several threads.

    Raises
    ------
    ValueError
        If there is no such mutant.
    RuntimeError
        If another one is switched on.
    """
    mutant = find(id)
    if _on and _on != [id]:
        raise RuntimeError(f"{_on[0]} is switched on: switch it off before {id}")
    if _on:
        yield mutant
        return
    _on.append(id)
    try:
        with Patches() as patches:
            mutant.apply(patches)
            yield mutant
    finally:
        _on.clear()


def healthy() -> OurSubject:
    """The small model without a mistake, as the doctor sees it."""
    return _built(OurSubject)


def subject(id: str) -> Subject:
    """The small model with one mistake, as the doctor sees it: built with it, and whatever is asked of it has it.

    Each question switches the mistake on and off. An examination, which asks thousands, is faster inside `switched_on`.

    Raises
    ------
    ValueError
        If there is no such mutant.
    """
    mutant = find(id)
    capabilities = {
        name: _with_mistake(getattr(OurSubject, name), mutant.id)
        for name, capability in vars(OurSubject).items()
        if callable(capability) and not name.startswith("_")
    }
    with switched_on(mutant.id):
        return _built(type("MutantSubject", (OurSubject,), capabilities), name=f"mutant {mutant.id}")


def _built(kind: type[OurSubject], **options: Any) -> OurSubject:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        return kind(Transformer(SMALL).eval(), **options)


def _with_mistake(capability: Any, id: str) -> Any:
    @functools.wraps(capability)
    def asked(self: Subject, *args: Any, **options: Any) -> Any:
        with switched_on(id):
            return capability(self, *args, **options)

    return asked


def table() -> list[dict[str, str]]:
    """One row for each mutant: theme, id, claim, sentence, source, and the invariants that it fails."""
    return [
        {
            "theme": theme,
            "id": mutant.id,
            "claim": mutant.claim,
            "sentence": mutant.sentence,
            "source": mutant.source,
            "killed_by": ", ".join(mutant.killed_by),
        }
        for theme, module in THEMES.items()
        for mutant in module.BANK.mutants
    ]
