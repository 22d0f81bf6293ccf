"""Attention Is All You Need, annotated: its pictures."""

from annotated.chapters.intro.charts import writing_chart

__all__ = ["writing_chart"]
