"""Chapter 20, "Adam and the warm-up": its pictures and experiments."""

from annotated_book.training.warm_up.adam_charts import first_updates_chart, memory_chart
from annotated_book.training.warm_up.charts import warm_up_chart
from annotated_book.training.warm_up.schedule_charts import schedule_chart, slip_chart

__all__ = ["first_updates_chart", "memory_chart", "schedule_chart", "slip_chart", "warm_up_chart"]
