"""Chapter 21, "Dropout, all of it": its pictures and experiments."""

from annotated.chapters.dropout.charts import dropout_chart, dropout_curves_chart, regularisation_chart
from annotated.chapters.dropout.site_charts import dropout_sites_chart

__all__ = ["dropout_chart", "dropout_curves_chart", "dropout_sites_chart", "regularisation_chart"]
