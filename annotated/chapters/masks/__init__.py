"""Chapter 7, "Sequence masks": its pictures and experiments."""

from annotated.chapters.masks.widget import MaskPainter, canary_chart, mask_painter, reach_chart

__all__ = ["MaskPainter", "canary_chart", "mask_painter", "reach_chart"]
