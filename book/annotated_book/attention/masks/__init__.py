"""Chapter 7, "Masks": its pictures and experiments."""

from annotated_book.attention.masks.charts import noise_chart, reach_chart
from annotated_book.attention.masks.widget import MaskPainter, mask_painter

__all__ = ["MaskPainter", "noise_chart", "mask_painter", "reach_chart"]
