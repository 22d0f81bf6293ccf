"""Chapter 13, "Embeddings, shared three ways": its pictures and experiments."""

from annotated_book.machine.embeddings.charts import balance_chart, direction_chart
from annotated_book.machine.embeddings.widget import neighbour_explorer

__all__ = ["balance_chart", "direction_chart", "neighbour_explorer"]
