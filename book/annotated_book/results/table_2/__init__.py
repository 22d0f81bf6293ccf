"""Chapter 27, "Table 2 and its costs": its pictures and experiments."""

from annotated_book.results.table_2.charts import bleu_flops_chart, run_price_chart

__all__ = ["bleu_flops_chart", "run_price_chart"]
