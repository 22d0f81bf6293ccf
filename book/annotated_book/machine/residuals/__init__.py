"""Chapter 12, "Residuals and layer normalisation": its pictures and experiments."""

from annotated_book.machine.residuals.charts import gradient_chart, layer_norm_chart, stream_chart
from annotated_book.machine.residuals.curve_charts import placement_curves_chart, variant_curves_chart
from annotated_book.machine.residuals.placement_drawing import placement_drawing

__all__ = [
    "gradient_chart",
    "layer_norm_chart",
    "placement_curves_chart",
    "placement_drawing",
    "stream_chart",
    "variant_curves_chart",
]
