"""Pictures that can be moved: Altair charts for static pages and notebooks, and one widget for attention maps.

Every chart is made from data that is checked first, works without a kernel, and carries a description.
Importing this package chooses Altair's renderer (`use_renderer`) unless you have chosen one.
"""

from annotated.viz.attention import attention_chart, check_weights, query_chart, scaling_chart
from annotated.viz.heads import AttentionHeads, attention_heads
from annotated.viz.positions import offset_chart, positional_encoding_chart, rotation_chart
from annotated.viz.theme import book_renderer, slider, use_renderer

use_renderer()

__all__ = [
    "AttentionHeads",
    "attention_chart",
    "attention_heads",
    "book_renderer",
    "check_weights",
    "offset_chart",
    "positional_encoding_chart",
    "query_chart",
    "rotation_chart",
    "scaling_chart",
    "slider",
    "use_renderer",
]
