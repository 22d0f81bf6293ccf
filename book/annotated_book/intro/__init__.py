"""The front page: the first frame of its live panel, and the panel."""
