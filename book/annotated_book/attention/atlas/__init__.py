"""Chapter 9, "An atlas of attention heads": its pictures and experiments."""

from annotated_book.attention.atlas.charts import ablation_chart, looks_and_matters_chart, roles_chart

__all__ = ["ablation_chart", "looks_and_matters_chart", "roles_chart"]
