"""Chapter 26, "BLEU": its pictures and experiments."""

from annotated.chapters.bleu.widget import (
    NgramHighlighter,
    bootstrap_chart,
    brevity_chart,
    ngram_highlighter,
    power_chart,
    rulers_chart,
)

__all__ = ["NgramHighlighter", "bootstrap_chart", "brevity_chart", "ngram_highlighter", "power_chart", "rulers_chart"]
