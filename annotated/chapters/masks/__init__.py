"""Chapter 7, "Sequence masks": its pictures and experiments."""

from annotated.chapters.masks.charts import canary_chart, reach_chart
from annotated.chapters.masks.widget import MaskPainter, mask_painter

__all__ = ["MaskPainter", "canary_chart", "mask_painter", "reach_chart"]
