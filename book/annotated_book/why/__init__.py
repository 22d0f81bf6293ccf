"""Why: what transduction is, what stood before 2017, and what a layer costs."""
