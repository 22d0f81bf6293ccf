"""Chapter 5, "Scaled dot-product attention": its pictures and experiments."""

from annotated_book.attention.scaled_dot_product.boxes import AttentionBoxes, attention_boxes
from annotated_book.attention.scaled_dot_product.saturation_charts import saturation_chart, scale_chart
from annotated_book.attention.scaled_dot_product.training_chart import training_chart

__all__ = ["AttentionBoxes", "attention_boxes", "saturation_chart", "scale_chart", "training_chart"]
