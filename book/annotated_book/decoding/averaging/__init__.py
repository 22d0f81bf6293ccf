"""Chapter 25, "Averaging and ensembles": its pictures and experiments."""

from annotated_book.decoding.averaging.charts import (
    averaged_noise_chart,
    last_k_chart,
    translated_line_chart,
    valley_and_mountain_chart,
    weight_line_chart,
)

__all__ = [
    "averaged_noise_chart",
    "last_k_chart",
    "translated_line_chart",
    "valley_and_mountain_chart",
    "weight_line_chart",
]
