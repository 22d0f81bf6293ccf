"""Chapter 5, "Scaled dot-product attention": its pictures and experiments."""

from annotated.chapters.scaled_dot_product.charts import one_query_chart
from annotated.chapters.scaled_dot_product.saturation_charts import saturation_chart, scale_chart

__all__ = ["one_query_chart", "saturation_chart", "scale_chart"]
