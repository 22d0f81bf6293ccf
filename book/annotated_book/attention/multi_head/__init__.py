"""Chapter 8, "Multi-head attention": its pictures and experiments."""

from annotated_book.attention.multi_head.charts import (
    head_count_chart,
    one_head_chart,
    projection_chart,
    reads_chart,
    retrieval_chart,
)
from annotated_book.attention.multi_head.widget import SplitHeads, split_heads

__all__ = [
    "SplitHeads",
    "head_count_chart",
    "one_head_chart",
    "projection_chart",
    "reads_chart",
    "retrieval_chart",
    "split_heads",
]
