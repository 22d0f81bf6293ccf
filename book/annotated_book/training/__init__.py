"""Training: section 5, from subwords to a first run."""
