"""Chapter 19, "Label smoothing": its pictures and experiments."""

from annotated_book.training.label_smoothing.calibration_charts import reliability_chart, strength_chart
from annotated_book.training.label_smoothing.charts import smoothing_chart

__all__ = ["reliability_chart", "smoothing_chart", "strength_chart"]
