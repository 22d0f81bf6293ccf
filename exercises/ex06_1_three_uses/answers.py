import torch


# %% right: short
def encoder_self(attend, x, source_mask):
    return attend(x, x, x, source_mask)


def decoder_self(attend, y, target_mask):
    return attend(y, y, y, target_mask)


def cross(attend, y, memory, source_mask):
    return attend(y, memory, memory, source_mask)


def sort_calls(calls, memory):
    def same(a, b):
        return a.shape == b.shape and torch.equal(a, b)

    out = []
    for q, k, v in calls:
        if same(q, k) and same(k, v) and not same(k, memory):
            out.append("self")
        elif same(k, memory) and same(v, memory) and not same(q, memory):
            out.append("cross")
        else:
            out.append("wrong")
    return out


# %% right: keyword arguments and a match on three comparisons
def encoder_self(attend, x, source_mask):
    return attend(query=x, key=x, value=x, mask=source_mask)


def decoder_self(attend, y, target_mask):
    return attend(query=y, key=y, value=y, mask=target_mask)


def cross(attend, y, memory, source_mask):
    return attend(query=y, key=memory, value=memory, mask=source_mask)


def sort_calls(calls, memory):
    gleich = lambda a, b: a.shape == b.shape and bool((a == b).all())
    texte = []
    for q, k, v in calls:
        aus_quelle = tuple(gleich(t, memory) for t in (q, k, v))
        match aus_quelle:
            case (False, True, True):
                texte.append("cross")
            case (False, False, False) if gleich(q, k) and gleich(q, v):
                texte.append("self")
            case _:
                texte.append("wrong")
    return texte


# %% wrong: asks with the memory | may be called: source_asks
def cross(attend, y, memory, source_mask):
    return attend(memory, y, y, source_mask)


# %% wrong: values from the target | may be called: values_from_the_target
def cross(attend, y, memory, source_mask):
    return attend(y, memory, y, source_mask)


# %% wrong: no mask in the encoder | may be called: encoder_without_mask
def encoder_self(attend, x, source_mask):
    return attend(x, x, x, None)


# %% wrong: compares objects | may be called: same_object
def sort_calls(calls, memory):
    return ["self" if q is k and k is v else "cross" if k is memory and v is memory else "wrong" for q, k, v in calls]


# %% wrong: compares shapes | may be called: shapes_for_proof
def sort_calls(calls, memory):
    return ["self" if q.shape == k.shape == v.shape else "cross" if k.shape == memory.shape else "wrong" for q, k, v in calls]


# %% wrong: looks at the keys only
def sort_calls(calls, memory):
    eq = lambda a, b: a.shape == b.shape and torch.equal(a, b)
    return ["cross" if eq(k, memory) else "self" if eq(q, k) else "wrong" for q, k, v in calls]


# %% wrong: the decoder over the memory alone counts as self | may be called: source_may_ask
def sort_calls(calls, memory):
    eq = lambda a, b: a.shape == b.shape and torch.equal(a, b)
    return ["self" if eq(q, k) and eq(k, v) else "cross" if eq(k, memory) and eq(v, memory) else "wrong" for q, k, v in calls]


# %% wrong: residual added
def decoder_self(attend, y, target_mask):
    return y + attend(y, y, y, target_mask)
