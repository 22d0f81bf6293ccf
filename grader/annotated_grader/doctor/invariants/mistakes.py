"""Mistakes that invariants of several themes point to, in the same words, so that a report says them once."""

from __future__ import annotations

from annotated_grader.doctor.finding import Mistake

TINY_FILL = Mistake(
    "Hidden scores are filled with a number too near zero, such as -1e-12, which a softmax takes for zero.", 7, "C01"
)
QUERY_ROWS = Mistake("The padding mask hides rows of padded queries instead of columns of padded keys.", 7)
WRONG_AXIS = Mistake(
    "A mask lacks an axis, or is made from another sequence: it fits only where two sizes are equal, and hides the "
    "wrong tokens there.",
    7,
)
ALONG_BATCH = Mistake(
    "Positions are counted along the batch: each sentence gets one position, the number of its row.",
    14,
    mutant="positions_along_batch",
)
