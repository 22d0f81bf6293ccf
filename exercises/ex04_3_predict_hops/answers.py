# %% right: numbers on paper
hops = {
    "self-attention": 1, "recurrent": 69, "touching": 18, "touching, centred": 35, "dilated": 3, "restricted": 8,
}
sequential = {"self-attention": "O(1)", "recurrent": "O(n)", "convolutional": "O(1)", "restricted": "O(1)"}
farthest, decoder_runs = 125, 71


# %% right: by formula
weg = 70 - 1
hops = dict(recurrent=weg, touching=-(-weg // 4), dilated=3, restricted=-(-weg // 9))
hops["self-attention"] = 1
hops["touching, centred"] = -(-weg // 2)
sequential = {k: "o( 1 )".replace(" ", "") for k in ("self-attention", "convolutional", "restricted")}
sequential["recurrent"] = "O(N)"
farthest = 1 + 4 * (1 + 5 + 25)
decoder_runs = 70 + 1


# %% wrong: a window of k moves by k | may be called: reach_is_the_width
hops = hops | {"touching": 14}


# %% wrong: one step for each position | may be called: positions_instead_of_steps
hops = hops | {"recurrent": 70}


# %% wrong: centred kernels reach as far to the left as the others | may be called: centred_like_backward
hops = hops | {"touching, centred": 18}


# %% wrong: a fourth dilated layer, for the powers of five up to seventy
hops = hops | {"dilated": 4}


# %% wrong: a convolution is sequential
sequential = sequential | {"convolutional": "O(n/k)"}


# %% wrong: forgets the end token
decoder_runs = 70


# %% wrong: forgets the position itself
farthest = 124
