"""Evaluation of a model on a test corpus: all that the paper's tables report, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from annotated.data.tokenizer import Tokenizer
from annotated.evaluation.bleu import BleuScore, bleu
from annotated.evaluation.perplexity import Perplexity, perplexity
from annotated.model import Transformer


class TranslatesText(Protocol):
    """What is evaluated; `annotated.Translator` is one."""

    model: Transformer
    tokenizer: Tokenizer

    def translate(
        self, texts: Sequence[str], *, overlong: Literal["error", "truncate"] = "error", **options: Any
    ) -> list[str]:
        """The best translation of each text."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of translations, perplexity of references, and the translations."""

    scores: BleuScore
    perplexity: Perplexity
    translations: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The numbers and signatures, flat, for JSON; without the translations."""
        p = self.perplexity
        measured = {"token_perplexity": p.per_token, "word_perplexity": p.per_word, "loss": p.loss}
        return {**asdict(self.scores), **measured, "tokens": p.tokens, "words": p.words}


def evaluate(
    translator: TranslatesText,
    pairs: Sequence[tuple[str, str]],
    *,
    overlong: Literal["error", "truncate"] = "error",
    tokenize: str | None = None,
    **options: Any,
) -> Evaluation:
    """Translate the sources of a corpus, and compare with its references.

    Parameters
    ----------
    pairs
        Texts (source, reference).
    overlong, **options
        As in `Translator.translate`.
    tokenize
        As in `bleu`.

    Paper: section 6
    """
    translations = translator.translate([source for source, _ in pairs], overlong=overlong, **options)
    scores = bleu(translations, [reference for _, reference in pairs], tokenize=tokenize)
    return Evaluation(scores, perplexity(translator.model, translator.tokenizer, pairs), translations)
