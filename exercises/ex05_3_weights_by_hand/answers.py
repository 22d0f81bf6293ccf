from fractions import Fraction

# %% right: fractions
weights = [1 / 8, 2 / 8, 5 / 8]
output = 12
weights_long = [1 / 30, 4 / 30, 25 / 30]
key_total = 5 / 8 + 1 / 3
ratio_d_k = 2
ratio_undivided = 2**64

# %% right: worked out in Python
e = [1, 2, 5]
weights = tuple(x / sum(e) for x in e)
output = sum(w * v for w, v in zip(weights, (0, 8, 16)))
weights_long = [x * x / sum(y * y for y in e) for x in e]
key_total = weights[-1] + 1 / len(e)
ratio_d_k = 256 ** (1 / 8)
ratio_undivided = 256.0**8

# %% wrong: not divided by the root
weights = [1 / 30, 4 / 30, 25 / 30]

# %% wrong: the sum of one query stays one | may be called: zero_query_reads_nothing
key_total = 5 / 8

# %% wrong: average of both
key_total = (5 / 8 + 1 / 3) / 2

# %% wrong: a longer query changes nothing | may be called: length_drops_out
weights_long = weights

# %% wrong: doubles the weights
weights_long = [1 / 15, 4 / 15, 10 / 15]

# %% wrong: linear in the scale
ratio_d_k = 256 / 8

# %% wrong: times eight
ratio_undivided = 256 * 8

# %% wrong: the largest value
output = 16
