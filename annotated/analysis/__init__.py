"""Measurements on models: what their parts do, what they cost, and what they may not see.

Paper: section 4; figures 3-5
"""

from annotated.analysis.leaks import decoder_reach, leaked_weight, masked_by, reach
from annotated.analysis.scores import Call, attention_calls, attention_scores, call_scores
from annotated.analysis.tracing import Trace, trace

__all__ = [
    "Call",
    "attention_calls",
    "attention_scores",
    "call_scores",
    "decoder_reach",
    "leaked_weight",
    "masked_by",
    "reach",
    "Trace",
    "trace",
]
