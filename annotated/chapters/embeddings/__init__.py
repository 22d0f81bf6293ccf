"""Chapter 13, "Embeddings, shared three ways": its pictures and experiments."""

from annotated.chapters.embeddings.charts import balance_chart, direction_chart
from annotated.chapters.embeddings.widget import neighbour_explorer

__all__ = ["balance_chart", "direction_chart", "neighbour_explorer"]
