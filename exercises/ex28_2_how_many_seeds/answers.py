# %% right: counted up
from math import sqrt


def critical(comparisons=1, level=0.05):
    return -NORMAL.inv_cdf(level / comparisons / 2)


def power(difference, deviation, seeds, comparisons=1, level=0.05):
    mittel = NormalDist(abs(difference), sqrt(deviation**2 / seeds + deviation**2 / seeds))
    grenze = critical(comparisons, level) * mittel.stdev
    return 1 - mittel.cdf(grenze)


def seeds_needed(difference, deviation, chance, comparisons=1, level=0.05):
    n = 1
    while power(difference, deviation, n, comparisons, level) < chance:
        n += 1
    return n


def smallest_difference(deviation, seeds, chance, comparisons=1, level=0.05):
    unten, oben = 0.0, 100 * deviation
    for _ in range(100):
        mitte = (unten + oben) / 2
        if power(mitte, deviation, seeds, comparisons, level) < chance:
            unten = mitte
        else:
            oben = mitte
    return oben


# %% right: formulas
def critical(comparisons=1, level=0.05):
    return NORMAL.inv_cdf(1 - 0.5 * level / comparisons)


def power(difference, deviation, seeds, comparisons=1, level=0.05):
    shift = abs(difference) / deviation * (seeds / 2) ** 0.5
    return 1 - NORMAL.cdf(critical(comparisons, level) - shift)


def seeds_needed(difference, deviation, chance, comparisons=1, level=0.05):
    z = critical(comparisons, level) - NORMAL.inv_cdf(1 - chance)
    exact = 2 * z * z * deviation * deviation / difference**2
    return int(exact) + (exact > int(exact))


def smallest_difference(deviation, seeds, chance, comparisons=1, level=0.05):
    z = critical(comparisons, level) - NORMAL.inv_cdf(1 - chance)
    return z * deviation * (2 / seeds) ** 0.5


# %% wrong: one side | may be called: one_sided
def critical(comparisons=1, level=0.05):
    return NORMAL.inv_cdf(1 - level / comparisons)


# %% wrong: Sidak's rule
def critical(comparisons=1, level=0.05):
    each = 1 - (1 - level) ** (1 / comparisons)
    return NORMAL.inv_cdf(1 - each / 2)


# %% wrong: one comparison | may be called: every_comparison_the_only_one
def critical(comparisons=1, level=0.05):
    return NORMAL.inv_cdf(1 - level / 2)


# %% wrong: noise of one mean | may be called: one_group
def power(difference, deviation, seeds, comparisons=1, level=0.05):
    return NORMAL.cdf(abs(difference) / (deviation / sqrt(seeds)) - critical(comparisons, level))


# %% wrong: both tails | may be called: wrong_sign_counts
def power(difference, deviation, seeds, comparisons=1, level=0.05):
    error, z = deviation * sqrt(2 / seeds), critical(comparisons, level)
    return 1 - NORMAL.cdf(z - difference / error) + NORMAL.cdf(-z - difference / error)


# %% wrong: rounds to the nearest
def seeds_needed(difference, deviation, chance, comparisons=1, level=0.05):
    z = critical(comparisons, level) + NORMAL.inv_cdf(chance)
    return round(2 * (z * deviation / difference) ** 2)


# %% wrong: one too many
def seeds_needed(difference, deviation, chance, comparisons=1, level=0.05):
    z = critical(comparisons, level) + NORMAL.inv_cdf(chance)
    return int(2 * (z * deviation / difference) ** 2) + 2


# %% wrong: the difference is the critical one
def seeds_needed(difference, deviation, chance, comparisons=1, level=0.05):
    z = critical(comparisons, level)
    return math.ceil(2 * (z * deviation / difference) ** 2)


# %% wrong: the critical difference
def smallest_difference(deviation, seeds, chance, comparisons=1, level=0.05):
    return critical(comparisons, level) * deviation * sqrt(2 / seeds)


# %% wrong: seeds are forgotten | may be called: difference_of_one_seed
def smallest_difference(deviation, seeds, chance, comparisons=1, level=0.05):
    return (critical(comparisons, level) + NORMAL.inv_cdf(chance)) * deviation * sqrt(2)
