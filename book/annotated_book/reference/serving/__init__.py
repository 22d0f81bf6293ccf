"""Page "Translation in production": its server in the page, and its chart of speed and memory."""

from annotated_book.reference.serving.charts import engines_chart

__all__ = ["engines_chart"]
