# %% right: a stack of paths
def flatten(run):
    offen, fertig = [("", run)], {}
    while offen:
        pfad, wert = offen.pop()
        if isinstance(wert, dict):
            offen += [(f"{pfad}.{k}" if pfad else k, v) for k, v in wert.items()]
        else:
            fertig[pfad] = wert
    return fertig


def derived(run):
    f = flatten(run)
    pro_update = f["training.batch.devices"] * f["training.batch.accumulate"] * f["training.batch.tokens"]
    rate = f["training.schedule.scale"] / math.sqrt(f["model.d_model"] * f["training.schedule.warmup"])
    return {
        "highest rate": rate,
        "tokens in all": f["training.updates"] * pro_update,
        "tokens per update": pro_update,
        "parameters": parameters(run["model"]),
    }


_KEINE = object()


def confounds(a, b, part):
    links, rechts = flatten(a) | derived(a), flatten(b) | derived(b)
    return [
        name
        for name in {*links, *rechts}
        if "training.batch." not in name
        and name not in part
        and not same(links.get(name, _KEINE), rechts.get(name, _KEINE))
    ]


def verdict(a, b, part):
    links, rechts = flatten(a), flatten(b)
    geaendert = [n for n in part if not same(links.get(n, _KEINE), rechts.get(n, _KEINE))]
    if not geaendert:
        return "nothing changed"
    return "one thing" if len(confounds(a, b, part)) == 0 else "confounded"


# %% right: recursion with a prefix, sets, equation 3 as a minimum
def flatten(run, prefix=""):
    result = {}
    for key in run:
        if type(run[key]) is dict:
            result.update(flatten(run[key], prefix + key + "."))
        else:
            result[prefix + key] = run[key]
    return result


def derived(run):
    t = run["training"]
    batch = math.prod(t["batch"].values())
    step = t["schedule"]["warmup"]
    lr = t["schedule"]["scale"] * run["model"]["d_model"] ** -0.5 * min(step**-0.5, step * step**-1.5)
    return {
        "parameters": parameters(run["model"]),
        "tokens per update": batch,
        "tokens in all": batch * t["updates"],
        "highest rate": lr,
    }


def confounds(a, b, part):
    x, y = ({**flatten(r), **derived(r)} for r in (a, b))
    common = {n for n in x if n in y and same(x[n], y[n])}
    rest = (set(x) | set(y)) - common - set(part)
    return {n for n in rest if not n.startswith("training.batch")}


def verdict(a, b, part):
    if set(part) & confounds(a, b, []):
        return "confounded" if confounds(a, b, part) else "one thing"
    return "nothing changed"


# %% wrong: two levels
def flatten(run):
    return {f"{a}.{b}": v for a, inner in run.items() if isinstance(inner, dict) for b, v in inner.items()}


# %% wrong: the rate has no width | may be called: rate_without_the_width
_right = derived


def derived(run):
    s = run["training"]["schedule"]
    return {**_right(run), "highest rate": s["scale"] * s["warmup"] ** -0.5}


# %% wrong: one device | may be called: batch_of_one_device
_right = derived


def derived(run):
    tokens = run["training"]["batch"]["tokens"]
    return {**_right(run), "tokens per update": tokens, "tokens in all": tokens * run["training"]["updates"]}


# %% wrong: settings only | may be called: derived_left_out
def confounds(a, b, part):
    x, y = flatten(a), flatten(b)
    names = [n for n in x.keys() | y.keys() if not same(x.get(n), y.get(n))]
    return sorted(n for n in names if n not in part and not n.startswith("training.batch."))


# %% wrong: the batch is a setting | may be called: split_is_a_difference
def confounds(a, b, part):
    x, y = flatten(a) | derived(a), flatten(b) | derived(b)
    return sorted(n for n in x.keys() | y.keys() if n not in part and not same(x.get(n), y.get(n)))


# %% wrong: the part may excuse what follows from it
_right = confounds


def confounds(a, b, part):
    found = _right(a, b, part)
    model = any(name.startswith("model.") for name in part)
    return [name for name in found if not (model and name in ("parameters", "highest rate"))]


# %% wrong: true and false
_right = verdict


def verdict(a, b, part):
    return _right(a, b, part) == "one thing"


# %% wrong: what has not changed is no confound | may be called: nothing_changed_is_one_thing
def verdict(a, b, part):
    return "confounded" if confounds(a, b, part) else "one thing"
