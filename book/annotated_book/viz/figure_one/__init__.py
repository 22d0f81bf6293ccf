"""Figure 1, drawn once: the whole machine of chapter 1, the small one in every chapter's margin, and its tensors."""

from annotated_book.viz.figure_one.boxes import BOXES, Box, code_of
from annotated_book.viz.figure_one.drawing import drawing
from annotated_book.viz.figure_one.small import small_drawing

__all__ = ["BOXES", "Box", "code_of", "drawing", "small_drawing"]
