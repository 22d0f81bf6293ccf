"""Chapter 11, "The feed-forward network as attention": its pictures and experiments."""

from annotated.chapters.feed_forward_as_attention.charts import memory_weights_chart

__all__ = ["memory_weights_chart"]
