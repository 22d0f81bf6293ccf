"""Learner: checks of one's own answer in a notebook or a terminal, hints, and the record of progress."""
