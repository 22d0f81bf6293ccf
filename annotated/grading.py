"""Grader's former place, for notebooks that learners have already: it is `annotated_grader` now."""

from annotated.moved import names_of

__getattr__ = names_of(__name__, "annotated_grader", "annotated-grader")
