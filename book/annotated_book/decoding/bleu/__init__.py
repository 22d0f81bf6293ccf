"""Chapter 26, "BLEU": its pictures and experiments."""

from annotated_book.decoding.bleu.charts import bootstrap_chart, brevity_chart, power_chart, settings_chart
from annotated_book.decoding.bleu.widget import NgramHighlighter, ngram_highlighter

__all__ = ["NgramHighlighter", "bootstrap_chart", "brevity_chart", "ngram_highlighter", "power_chart", "settings_chart"]
