"""Chapter 29, "Constituency parsing": its pictures and experiments."""

from annotated.chapters.parsing.charts import (
    brackets_chart,
    caps_chart,
    lengths_chart,
    sizes_chart,
    table_4_chart,
)
from annotated.chapters.parsing.detail_charts import attachments_chart, labels_chart
from annotated.chapters.parsing.results import (
    SETS,
    attachment_table,
    detail_table,
    fault_table,
    score_table,
    silver_table,
)
from annotated.chapters.parsing.scores import GREEDY

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
