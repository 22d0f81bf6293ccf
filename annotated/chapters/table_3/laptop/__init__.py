"""Rows of Table 3 on a reader's own machine: the classroom's text, minutes a run, any row and any number of seeds."""
