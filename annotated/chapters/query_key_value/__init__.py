"""Chapter 6, "Query, key, value": its pictures and experiments."""

from annotated.chapters.query_key_value.charts import CallSite, call_site_chart

__all__ = ["CallSite", "call_site_chart"]
