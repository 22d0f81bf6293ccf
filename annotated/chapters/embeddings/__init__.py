"""Chapter 13, "Embeddings, shared three ways": its pictures and experiments."""

from annotated.chapters.embeddings.charts import balance_chart, direction_chart, neighbour_chart, tying_chart

__all__ = ["balance_chart", "direction_chart", "neighbour_chart", "tying_chart"]
