"""Chapter 4, "Table 1, measured": its pictures and experiments."""

from annotated_book.why.table_1.charts import cost_chart, terms_chart
from annotated_book.why.table_1.restricted import RestrictedSelfAttention
from annotated_book.why.table_1.time_charts import paths_chart, time_chart

__all__ = ["RestrictedSelfAttention", "cost_chart", "paths_chart", "terms_chart", "time_chart"]
