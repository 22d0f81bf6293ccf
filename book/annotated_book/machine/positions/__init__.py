"""Chapter 14, "Positional encoding": its pictures and experiments."""

from annotated_book.machine.positions.charts import offset_chart, positional_encoding_chart, rotation_chart
from annotated_book.machine.positions.clock_charts import clock_hands_chart, layout_chart
from annotated_book.machine.positions.comparison_charts import (
    comparison_chart,
    extrapolation_chart,
    position_scores_chart,
    start_chart,
)
from annotated_book.machine.positions.rotation import RotationWall, rotation_wall

__all__ = [
    "RotationWall",
    "clock_hands_chart",
    "comparison_chart",
    "extrapolation_chart",
    "layout_chart",
    "offset_chart",
    "position_scores_chart",
    "positional_encoding_chart",
    "rotation_chart",
    "rotation_wall",
    "start_chart",
]
