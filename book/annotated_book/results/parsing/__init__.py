"""Chapter 29, "Constituency parsing": its pictures and experiments."""

from annotated_book.results.parsing.charts import (
    brackets_chart,
    caps_chart,
    lengths_chart,
    sizes_chart,
    table_4_chart,
)
from annotated_book.results.parsing.detail_charts import attachments_chart, labels_chart
from annotated_book.results.parsing.results import (
    SETS,
    attachment_table,
    detail_table,
    fault_table,
    score_table,
    silver_table,
)
from annotated_book.results.parsing.scores import GREEDY

__all__ = [
    "GREEDY",
    "SETS",
    "attachment_table",
    "attachments_chart",
    "brackets_chart",
    "caps_chart",
    "detail_table",
    "fault_table",
    "labels_chart",
    "lengths_chart",
    "score_table",
    "silver_table",
    "sizes_chart",
    "table_4_chart",
]
