"""Chapter 3, "Before 2017": its pictures and experiments."""

from annotated_book.why.before_2017.charts import alignment_chart, length_chart, timeline_chart
from annotated_book.why.before_2017.scores import AdditiveScore, DotScore, GeneralScore
from annotated_book.why.before_2017.timeline import TIMELINE
from annotated_book.why.before_2017.training_charts import learning_chart, place_chart
from annotated_book.why.before_2017.waiting_chart import waiting_chart

__all__ = [
    "AdditiveScore",
    "DotScore",
    "GeneralScore",
    "TIMELINE",
    "alignment_chart",
    "learning_chart",
    "length_chart",
    "place_chart",
    "timeline_chart",
    "waiting_chart",
]
