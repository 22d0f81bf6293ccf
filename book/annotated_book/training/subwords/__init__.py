"""Chapter 16, "Subwords": its pictures and experiments."""

from annotated_book.training.subwords.charts import growth_chart, pair_chart, vocabulary_chart
from annotated_book.training.subwords.widget import MergeReplay, merge_replay

__all__ = ["MergeReplay", "growth_chart", "merge_replay", "pair_chart", "vocabulary_chart"]
