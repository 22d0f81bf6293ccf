"""Chapter 2, "Sequence transduction": its pictures and experiments."""

from annotated_book.why.transduction.charts import (
    end_chart,
    factors_chart,
    lengths_chart,
    running_sum_chart,
    unroll_chart,
)

__all__ = ["end_chart", "factors_chart", "lengths_chart", "running_sum_chart", "unroll_chart"]
