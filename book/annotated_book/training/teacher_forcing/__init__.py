"""Chapter 18, "Teacher forcing": its pictures and experiments."""

from annotated_book.training.teacher_forcing.charts import loss_and_writing_chart, passes_chart, wrong_word_chart
from annotated_book.training.teacher_forcing.widget import TeacherForcingStepper, teacher_forcing_stepper

__all__ = [
    "TeacherForcingStepper",
    "loss_and_writing_chart",
    "passes_chart",
    "teacher_forcing_stepper",
    "wrong_word_chart",
]
