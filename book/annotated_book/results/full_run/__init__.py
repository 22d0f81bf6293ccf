"""Chapter 33, "The full WMT14 run": its pictures, its calculator and its experiments."""

from annotated_book.results.full_run.concentration import concentration_chart, spread, spreads
from annotated_book.results.full_run.widget import RunPlayback, run_playback

__all__ = ["RunPlayback", "concentration_chart", "run_playback", "spread", "spreads"]
