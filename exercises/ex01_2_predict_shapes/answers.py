from collections import ChainMap


# %% right: table of suffixes
def shapes(config, B, S, T):
    D, V, H = config["d_model"], config["vocab_size"], config["num_heads"]
    result = {}
    for side, length in (("source", S), ("target", T)):
        result[side + ".embedding"] = (B, length, D)
        result[side + ".positions"] = (length, D)
        result[side + ".sum"] = (B, length, D)
    for i in range(1, config["num_encoder_layers"] + 1):
        for box in ENCODER:
            result[f"encoder.{i}.{box}"] = (B, S, D)
        result[f"encoder.{i}.self_attention.maps"] = (B, H, S, S)
    for i in range(1, config["num_decoder_layers"] + 1):
        for box in DECODER:
            result[f"decoder.{i}.{box}"] = (B, T, D)
        result[f"decoder.{i}.self_attention.maps"] = (B, H, T, T)
        result[f"decoder.{i}.cross_attention.maps"] = (B, H, T, S)
    result["memory"] = (B, S, D)
    result["linear"] = result["softmax"] = (B, T, V)
    return result


# %% right: comprehensions, merged
def shapes(config, B, S, T):
    breite, köpfe = config["d_model"], config["num_heads"]
    eingang = {
        f"{wo}.{was}": (n, breite) if was == "positions" else (B, n, breite)
        for wo, n in dict(source=S, target=T).items()
        for was in "embedding positions sum".split()
    }
    enc = {f"encoder.{1 + i}.{b}": (B, S, breite) for i in range(config["num_encoder_layers"]) for b in ENCODER}
    dec = {f"decoder.{1 + i}.{b}": (B, T, breite) for i in range(config["num_decoder_layers"]) for b in DECODER}
    maps = {k + ".maps": (B, köpfe, S, S) for k in enc if k.endswith("attention")}
    maps |= {k + ".maps": (B, köpfe, T, S if "cross" in k else T) for k in dec if k.endswith("attention")}
    ende = {"memory": (B, S, breite), "linear": (B, T, config["vocab_size"]), "softmax": (B, T, config["vocab_size"])}
    return dict(ChainMap(eingang, enc, dec, maps, ende))


# %% wrong: counts layers from nought | may be called: layers_from_zero
def shapes(config, B, S, T):
    D, V, H = config["d_model"], config["vocab_size"], config["num_heads"]
    r = {"memory": (B, S, D), "linear": (B, T, V), "softmax": (B, T, V)}
    for side, n in (("source", S), ("target", T)):
        r |= {side + ".embedding": (B, n, D), side + ".positions": (n, D), side + ".sum": (B, n, D)}
    for i in range(config["num_encoder_layers"]):
        r |= {f"encoder.{i}.{b}": (B, S, D) for b in ENCODER} | {f"encoder.{i}.self_attention.maps": (B, H, S, S)}
    for i in range(config["num_decoder_layers"]):
        r |= {f"decoder.{i}.{b}": (B, T, D) for b in DECODER}
        r |= {f"decoder.{i}.self_attention.maps": (B, H, T, T), f"decoder.{i}.cross_attention.maps": (B, H, T, S)}
    return r


# %% wrong: softmax leaves one number for a position
_right = shapes


def shapes(config, B, S, T):
    return _right(config, B, S, T) | {"softmax": (B, T)}


# %% wrong: one number of layers for both stacks | may be called: same_number_of_layers
_right = shapes


def shapes(config, B, S, T):
    return _right(config | {"num_decoder_layers": config["num_encoder_layers"]}, B, S, T)


# %% wrong: all boxes of the decoder have the length of the source
_right = shapes


def shapes(config, B, S, T):
    return _right(config, B, S, S)


# %% wrong: forgets the maps
_right = shapes


def shapes(config, B, S, T):
    return {k: v for k, v in _right(config, B, S, T).items() if not k.endswith("maps")}


# %% wrong: maps of the heads are as wide as d_k
_right = shapes


def shapes(config, B, S, T):
    return {k: v[:3] + (config["d_k"],) if k.endswith("maps") else v for k, v in _right(config, B, S, T).items()}
