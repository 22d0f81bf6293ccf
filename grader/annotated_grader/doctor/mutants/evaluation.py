"""Wrong evaluation: what BLEU counts, and of what."""

from __future__ import annotations

import dataclasses
import math
import re
import statistics
from collections.abc import Sequence
from typing import Any

import torch

from annotated.data.batch import collate_ids
from annotated.evaluation.bleu import BleuScore, bleu
from annotated.evaluation.corpus import evaluate
from annotated_grader.doctor.mutants.patching import Bank, Patches

BANK = Bank()


def _bleu_of(patches: Patches, make: Any) -> None:
    patches.function(bleu, make)


@BANK.mutant(
    "BLEU counts n-grams of characters.", "bleu-words", "bleu-corpus", claim="A1", source="hyunwoongko/transformer"
)
def bleu_of_characters(patches: Patches) -> None:
    def make(original: Any) -> Any:
        return lambda hypotheses, references, **_: original(hypotheses, references, tokenize="char")

    _bleu_of(patches, make)


@BANK.mutant(
    "BLEU is the mean of the sentences' BLEU scores.", "bleu-corpus", claim="A1", source="hyunwoongko/transformer"
)
def bleu_averaged_over_sentences(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def mean(hypotheses: Sequence[str], references: Sequence[str], **options: Any) -> BleuScore:
            each = [original([h], [r], **options).bleu for h, r in zip(hypotheses, references, strict=True)]
            return dataclasses.replace(original(hypotheses, references, **options), bleu=statistics.fmean(each))

        return mean

    _bleu_of(patches, make)


@BANK.mutant("BLEU is computed on lower-cased text.", "bleu-words")
def bleu_of_lower_case(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def lower(hypotheses: Sequence[str], references: Sequence[str], **options: Any) -> BleuScore:
            return original([h.lower() for h in hypotheses], [r.lower() for r in references], **options)

        return lower

    _bleu_of(patches, make)


@BANK.mutant(
    "Hypotheses and references change places in BLEU, which punishes length in place of brevity.", "bleu-corpus"
)
def bleu_sides_swapped(patches: Patches) -> None:
    _bleu_of(
        patches, lambda original: lambda hypotheses, references, **options: original(references, hypotheses, **options)
    )


@BANK.mutant("BLEU has no brevity penalty.", "bleu-corpus")
def bleu_without_brevity_penalty(patches: Patches) -> None:
    def make(original: Any) -> Any:
        def without(hypotheses: Sequence[str], references: Sequence[str], **options: Any) -> BleuScore:
            found = original(hypotheses, references, **options)
            words = {side: int(count) for side, count in re.findall(r"(hyp|ref)_len = (\d+)", found.detail)}
            brevity = math.exp(min(0.0, 1 - words["ref"] / words["hyp"]))
            return dataclasses.replace(found, bleu=found.bleu / brevity)

        return without

    _bleu_of(patches, make)


@BANK.mutant(
    "BLEU is of the most probable token after each word of the reference, not of translations.",
    "bleu-of-translations",
    claim="A1",
    source="hyunwoongko/transformer",
)
def bleu_teacher_forced(patches: Patches) -> None:
    class TeacherForced:
        """Says what the model thinks comes next, with the reference before its eyes."""

        def __init__(self, translator: Any, pairs: Sequence[tuple[str, str]]) -> None:
            self.model, self.tokenizer, self.pairs = translator.model, translator.tokenizer, pairs

        def translate(self, texts: Sequence[str], **options: Any) -> list[str]:
            encode = self.tokenizer.encode
            batch = collate_ids([(encode(source), encode(reference)) for source, reference in self.pairs])
            with torch.no_grad():
                best = self.model(batch.source, batch.target_in).argmax(dim=-1).tolist()
            lengths = batch.target_lengths
            return [self.tokenizer.decode(ids[: n - 1]) for ids, n in zip(best, lengths, strict=True)]

    def make(original: Any) -> Any:
        return lambda translator, pairs, **options: original(TeacherForced(translator, pairs), pairs, **options)

    patches.function(evaluate, make)
