"""Chapter 3, "Before 2017": its pictures and experiments."""

from annotated.chapters.before_2017.charts import alignment_chart, length_chart, probe_chart, timeline_chart
from annotated.chapters.before_2017.scores import AdditiveScore, DotScore, GeneralScore
from annotated.chapters.before_2017.timeline import TIMELINE

__all__ = [
    "AdditiveScore",
    "DotScore",
    "GeneralScore",
    "TIMELINE",
    "alignment_chart",
    "length_chart",
    "probe_chart",
    "timeline_chart",
]
