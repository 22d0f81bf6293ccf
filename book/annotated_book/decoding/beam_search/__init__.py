"""Chapter 24, "Beam search": its pictures and experiments."""

from annotated_book.decoding.beam_search.charts import alpha_chart, beam_sizes_chart, search_tree_chart
from annotated_book.decoding.beam_search.diverse import diverse_beam_search
from annotated_book.decoding.beam_search.search_tree import record_search, search_tree
from annotated_book.decoding.beam_search.widget import BeamTree, beam_tree

__all__ = [
    "BeamTree",
    "alpha_chart",
    "beam_sizes_chart",
    "beam_tree",
    "diverse_beam_search",
    "record_search",
    "search_tree",
    "search_tree_chart",
]
