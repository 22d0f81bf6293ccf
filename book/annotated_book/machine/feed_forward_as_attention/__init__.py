"""Chapter 11, "The feed-forward network as attention": its pictures and experiments."""

from annotated_book.machine.feed_forward_as_attention.charts import (
    agreement_chart,
    kept_chart,
    memory_weights_chart,
    spread,
    spread_chart,
)
from annotated_book.machine.feed_forward_as_attention.match_chart import match_chart

__all__ = ["agreement_chart", "kept_chart", "match_chart", "memory_weights_chart", "spread", "spread_chart"]
