"""BLEU and chrF of whole corpora, by sacreBLEU, with the signatures that make the numbers comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotated.evaluation.tokenisers import tokeniser_of


@dataclass(frozen=True)
class BleuScore:
    """How translations compare with their references, in percent."""

    bleu: float
    chrf: float
    exact_match: float
    """Translations that are their reference, character for character."""
    sentences: int
    signature: str
    """How sacreBLEU computed BLEU; two scores with different signatures must not be compared."""
    chrf_signature: str
    detail: str
    """The n-gram precisions, brevity penalty and lengths behind BLEU."""


def bleu(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str | None = None, tokenized: bool = False
) -> BleuScore:
    """Score detokenised translations of a corpus against one reference each.

    Parameters
    ----------
    hypotheses, references
        Plain text, one for each sentence, in the same order.
    tokenize
        sacreBLEU's tokeniser; None for the one of the references' script (`tokenisers.tokeniser_of`): 13a, its default,
        where words are divided by spaces.
    tokenized
        Whether the text was tokenised in advance, on purpose: sacreBLEU then does not warn of it.

    Raises
    ------
    ValueError
        If the two differ in number, or there are none.

    Paper: section 6.1, Table 2
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} translations for {len(references)} references: one of each is needed")
    if not references:
        raise ValueError("there are no sentences to score")
    from sacrebleu.metrics import BLEU, CHRF  # here, because its import is slow

    metrics = BLEU(tokenize=tokenize or tokeniser_of(references), force=tokenized), CHRF()
    scores = [metric.corpus_score(list(hypotheses), [list(references)]) for metric in metrics]
    same = sum(h == r for h, r in zip(hypotheses, references, strict=True))
    return BleuScore(
        bleu=scores[0].score,
        chrf=scores[1].score,
        exact_match=100 * same / len(references),
        sentences=len(references),
        signature=str(metrics[0].get_signature()),
        chrf_signature=str(metrics[1].get_signature()),
        detail=str(scores[0]),
    )
