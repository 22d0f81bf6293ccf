"""Counts as straight lines, so that the search for a vocabulary is examined apart from the formula."""


def lines(slopes, rests):
    """predict(row, vocab_size) with these slopes and rests, by row."""
    return lambda row, vocab_size: slopes[row] * vocab_size + rests[row]
