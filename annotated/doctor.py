"""Doctor's former place, for notebooks that readers have already: it is `annotated_grader.doctor` now."""

from annotated.moved import names_of

__getattr__ = names_of(__name__, "annotated_grader.doctor", "annotated-grader")
