# %% right: by formula
def netz(d, f):
    return d * f + f + f * d + d


ffn_parameters = {"base": netz(512, 2048), "base, 100 words": netz(512, 2048), "big": netz(1024, 4096)}
attention_parameters = {"base": 4 * 512**2, "big": 4 * 1024**2}
ffn_share = {"encoder": 8 / 12, "decoder": 8 / 16}
multiplications = {"network": 2 * 512 * 2048, "projections": 4 * 512 * 512, "scores and sums": 2 * 50 * 512}
even_length = 1024

# %% right: numbers
ffn_parameters = dict(zip(["base", "base, 100 words", "big"], [2_099_712, 2_099_712, 8_393_728]))
attention_parameters = {"base": 1_048_576, "big": 4_194_304}
ffn_share = {"encoder": 0.66667, "decoder": 0.5}
multiplications = {"network": 2097152, "projections": 1048576, "scores and sums": 51200}
even_length = (2097152 - 1048576) / 1024

# %% wrong: no biases | may be called: biases_left_out
ffn_parameters = {"base": 2 * 512 * 2048, "base, 100 words": 2 * 512 * 2048, "big": 2 * 1024 * 4096}

# %% wrong: each position has its own | may be called: network_for_each_position
ffn_parameters = ffn_parameters | {"base, 100 words": 2 * ffn_parameters["base"]}

# %% wrong: heads multiply the parameters
attention_parameters = {"base": 8 * 4 * 512**2, "big": 16 * 4 * 1024**2}

# %% wrong: the decoder as the encoder | may be called: one_attention_in_the_decoder
ffn_share = {"encoder": 2 / 3, "decoder": 2 / 3}

# %% wrong: scores only
multiplications = multiplications | {"scores and sums": 50 * 512}

# %% wrong: the whole sentence | may be called: work_of_the_sentence
multiplications = {k: 50 * v for k, v in multiplications.items()}

# %% wrong: additions count, too
multiplications = {k: 2 * v for k, v in multiplications.items()}

# %% wrong: forgets the projections | may be called: projections_forgotten
even_length = 2048
