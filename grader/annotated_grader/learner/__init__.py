"""Learner: checks of an answer in a notebook or a terminal, hints, and the record of progress."""
