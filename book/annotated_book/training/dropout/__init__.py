"""Chapter 21, "Dropout": its pictures and experiments."""

from annotated_book.training.dropout.charts import dropout_chart, regularisation_chart
from annotated_book.training.dropout.curve_charts import dropout_curves_chart, switches_chart
from annotated_book.training.dropout.site_charts import dropout_sites_chart

__all__ = [
    "dropout_chart",
    "dropout_curves_chart",
    "dropout_sites_chart",
    "regularisation_chart",
    "switches_chart",
]
