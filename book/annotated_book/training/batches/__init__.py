"""Chapter 17, "Batches by tokens": its pictures and experiments."""

from annotated_book.training.batches.charts import epochs_chart, noise_chart, pairs_per_batch_chart, waste_chart
from annotated_book.training.batches.example_chart import example_batches_chart
from annotated_book.training.batches.widget import PaddingTiles, padding_tiles

__all__ = [
    "PaddingTiles",
    "epochs_chart",
    "example_batches_chart",
    "noise_chart",
    "padding_tiles",
    "pairs_per_batch_chart",
    "waste_chart",
]
