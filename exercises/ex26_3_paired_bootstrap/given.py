"""A score from sums."""


def ratio():
    """A function from sums (right, all, length of the reference) to a score in percent, smoothed as for few counts."""

    def score(sums):
        right, total, length = (float(x) for x in sums)
        return 100 * (right / (total + 9)) ** 2 * min(1.0, total / length)

    return score
