import math


# %% right: a chain of questions
def guessing(vocab_size):
    return math.log(vocab_size)


def verdict(run):
    if run["noise_loss"] < guessing(16) - 0.25:
        return "cheats"
    if run["train"][-1] > guessing(run["vocab_size"]) - 0.25:
        return "has not begun"
    if run["valid"][-1] > min(run["valid"]) + 0.25 and run["train"][-1] < min(run["train"][:-1]):
        return "memorises"
    return "learns"


# %% right: a table of conditions
def guessing(vocab_size):
    return -math.log(1 / vocab_size)


def verdict(run):
    tief = lambda x, als: als - x > 0.2
    train, valid = run["train"], run["valid"]
    raten = guessing(run["vocab_size"])
    beste = min(range(len(valid)), key=valid.__getitem__)
    urteile = {
        "cheats": tief(run["noise_loss"], guessing(16)),
        "has not begun": not tief(train[-1], raten) and not tief(valid[-1], raten),
        "memorises": tief(valid[beste], valid[-1]) and train[-1] < train[beste],
        "learns": True,
    }
    return next(name for name, gilt in urteile.items() if gilt)


# %% wrong: bits | may be called: bits
def guessing(vocab_size):
    return math.log2(vocab_size)


# %% wrong: asks the forced accuracy | may be called: accuracy_is_suspicious, training_loss_not_asked
def verdict(run):
    if run["forced"] > 0.95:
        return "cheats"
    if run["train"][-1] > math.log(run["vocab_size"]) - 0.25:
        return "has not begun"
    return "memorises" if run["valid"][-1] > min(run["valid"]) + 0.25 else "learns"


# %% wrong: memorises if validation is above training
_right = verdict


def verdict(run):
    said = _right(run)
    if said in ("learns", "memorises"):
        return "memorises" if run["valid"][-1] > run["train"][-1] + 0.25 else "learns"
    return said


# %% wrong: any rise counts | may be called: every_rise_counts, training_loss_not_asked
_right = verdict


def verdict(run):
    said = _right(run)
    return "memorises" if said == "learns" and run["valid"][-1] > min(run["valid"]) else said
