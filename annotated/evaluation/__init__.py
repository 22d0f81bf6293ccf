"""Evaluation: BLEU and chrF of a model's translations, perplexity of the references."""

from annotated.evaluation.bleu import BleuScore, bleu
from annotated.evaluation.corpus import Evaluation, evaluate
from annotated.evaluation.ngrams import bleu_of, bleu_statistics
from annotated.evaluation.paper_bleu import has_moses, paper_style_bleu, split_compounds
from annotated.evaluation.perplexity import Perplexity, perplexity
from annotated.evaluation.significance import Comparison, compare, resample
from annotated.evaluation.table import to_frame

__all__ = [
    "BleuScore",
    "Comparison",
    "Evaluation",
    "Perplexity",
    "bleu",
    "bleu_of",
    "bleu_statistics",
    "compare",
    "evaluate",
    "has_moses",
    "paper_style_bleu",
    "perplexity",
    "resample",
    "split_compounds",
    "to_frame",
]
