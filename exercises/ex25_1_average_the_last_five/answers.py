import torch


# %% right: stacks in double precision
def average(checkpoints, last=5):
    names = sorted(checkpoints, key=lambda n: int(n.rpartition("-")[2]))[-last:]
    if not names:
        raise ValueError("no checkpoints")
    states = [checkpoints[n] for n in checkpoints]
    shapes = [{k: x.shape for k, x in s.items()} for s in states]
    if any(s != shapes[0] for s in shapes):
        raise ValueError("states differ")
    newest, out = checkpoints[names[-1]], {}
    for k, x in newest.items():
        if x.is_floating_point():
            out[k] = torch.stack([checkpoints[n][k].double() for n in names]).mean(0).to(x.dtype)
        else:
            out[k] = x.clone()
    return out


# %% right: running sums and regular expressions
import re


def average(checkpoints, last=5):
    nummern = sorted(((int(re.search(r"\d+", n).group()), n) for n in checkpoints), reverse=True)[:last]
    if len(nummern) == 0:
        raise ValueError
    form = lambda s: {k: tuple(v.shape) for k, v in s.items()}
    neuster = checkpoints[nummern[0][1]]
    summen = {k: torch.zeros(v.shape, dtype=torch.float64) for k, v in neuster.items()}
    for _, n in nummern:
        if form(checkpoints[n]) != form(neuster):
            raise ValueError(f"{n} has another form")
        for k in summen:
            summen[k] += checkpoints[n][k]
    return {
        k: (summen[k] / len(nummern)).to(v.dtype) if v.dtype.is_floating_point else v.clone() for k, v in neuster.items()
    }


def _average(c, last=5, key=lambda n: int(n.split("-")[-1]), kind=lambda x: x.double(), check=True, whole=lambda xs: xs[-1], divide=None):
    names = sorted(c, key=key)[-last:]
    if check and (not names or len({tuple((k, x.shape) for k, x in sorted(c[n].items())) for n in names}) > 1):
        raise ValueError
    out = {}
    for k, x in c[names[-1]].items():
        xs = [c[n][k] for n in names]
        out[k] = (sum(kind(y) for y in xs) / (divide or len(xs))).to(x.dtype) if x.is_floating_point() else whole(xs).clone()
    return out


# %% wrong: names sorted as text
def average(checkpoints, last=5):
    return _average(checkpoints, last, key=str)


# %% wrong: sums in half precision
def average(checkpoints, last=5):
    return _average(checkpoints, last, kind=lambda x: x)


# %% wrong: no refusal
def average(checkpoints, last=5):
    return _average(checkpoints, last, check=False)


# %% wrong: always five
def average(checkpoints, last=5):
    return _average(checkpoints, 5)


# %% wrong: divides by last
def average(checkpoints, last=5):
    return _average(checkpoints, last, divide=last)


# %% wrong: counters of the oldest
def average(checkpoints, last=5):
    return _average(checkpoints, last, whole=lambda xs: xs[0])


# %% wrong: gives float32
def average(checkpoints, last=5):
    return {k: x.float() if x.is_floating_point() else x for k, x in _average(checkpoints, last).items()}


# %% wrong: adds into the newest
def average(checkpoints, last=5):
    names = sorted(checkpoints, key=lambda n: int(n.split("-")[-1]))[-last:]
    right = _average(checkpoints, last)
    for k, x in right.items():
        checkpoints[names[-1]][k].copy_(x)
    return right
