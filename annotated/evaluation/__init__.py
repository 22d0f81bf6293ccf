"""How good is a model? BLEU and chrF of its translations, perplexity of the references.

Paper: section 6
"""

from annotated.evaluation.bleu import BleuScore, bleu
from annotated.evaluation.corpus import Evaluation, evaluate
from annotated.evaluation.perplexity import Perplexity, perplexity

__all__ = ["BleuScore", "Evaluation", "Perplexity", "bleu", "evaluate", "perplexity"]
