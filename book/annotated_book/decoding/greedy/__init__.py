"""Chapter 23, "Greedy decoding": its pictures and experiments."""

from annotated_book.decoding.greedy.charts import cache_chart, cache_cost_chart, lost_chart, two_ways_chart
from annotated_book.decoding.greedy.exact import exact_search
from annotated_book.decoding.greedy.widget import StepPlayer, step_player

__all__ = [
    "StepPlayer",
    "cache_chart",
    "cache_cost_chart",
    "exact_search",
    "lost_chart",
    "step_player",
    "two_ways_chart",
]
