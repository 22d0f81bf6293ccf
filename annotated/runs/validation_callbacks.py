"""Validation callbacks: BLEU, translations and attention of a few sentences, computed during a training run.

Each is handed to `annotated.runs.train`, which calls it at every validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from annotated.config import DecodingConfig
from annotated.data.tokenizer import Tokenizer
from annotated.evaluation import bleu
from annotated.model import Transformer
from annotated.runs.attention_snapshots import EXTRA_TOKENS, MOST_TOKENS, SentenceHeads, as_bytes
from annotated.translator import OverlongSourceWarning, Translator


def validation_bleu(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> float:
    """BLEU of greedy translations, in percent: what `train(..., bleu=validation_bleu)` follows a training run by.

    Beam search would score a little higher and take several times as long.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverlongSourceWarning)
        translations = Translator(model, tokenizer).translate(
            [source for source, _ in pairs], beam_size=1, overlong="truncate"
        )
    return bleu(translations, [reference for _, reference in pairs]).bleu


def sample_translations(sentences: Sequence[str]) -> Callable[[Transformer, Tokenizer], list[tuple[str, str]]]:
    """What `train(..., samples=sample_translations(sentences))` writes into the log at each validation.

    Greedy search, so it takes a fraction of a second; it draws no random numbers, so the training is the same with it.
    """
    return _SampleTranslations(tuple(sentences))


@dataclass(frozen=True)
class _SampleTranslations:
    """Says what it translates, so that a run's README.md can name the whole command."""

    sentences: tuple[str, ...]

    def __call__(self, model: Transformer, tokenizer: Tokenizer) -> list[tuple[str, str]]:
        texts = list(self.sentences)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlongSourceWarning)
            found = Translator(model, tokenizer).translate(texts, beam_size=1, overlong="truncate")
        return list(zip(texts, found, strict=True))


def sample_heads(sentences: Sequence[str]) -> Callable[[Transformer, Tokenizer], list[SentenceHeads]]:
    """What `train(..., heads=sample_heads(sentences))` keeps at each validation: where all heads look.

    While each sentence is read and translated, by greedy search, by the model as it is at that moment. A sentence of
    more than `annotated.runs.attention_snapshots.MOST_TOKENS` tokens is left out; a longer translation is cut.
    """
    texts = list(sentences)

    def look(model: Transformer, tokenizer: Tokenizer) -> list[SentenceHeads]:
        config = DecodingConfig(beam_size=1, extra_tokens=EXTRA_TOKENS)
        translator = Translator(model, tokenizer, config)
        short = [
            text
            for text in texts
            if len(tokenizer.encode(text.strip())) < min(MOST_TOKENS, translator.max_source_tokens)
        ]
        found = [translator.attention(text) for text in short]
        return [
            SentenceHeads(
                one.source_tokens,
                one.target_tokens,
                *(as_bytes(torch.stack(list(maps)).float().cpu()) for maps in one.maps),
            )
            for one in found
        ]

    return look
