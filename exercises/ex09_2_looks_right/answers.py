import itertools


# %% right: loops and dictionaries
def suspects(scores, damages, factor=5, most=0.1):
    best = {}
    for row in scores:
        head = (row["kind"], row["layer"], row["head"])
        ratio = row["score"] / row["chance"]
        if head not in best or ratio > best[head][0]:
            best[head] = (ratio, row["role"])
    return {head: role for head, (ratio, role) in best.items() if ratio >= factor and damages[head] < most}


def extra(damage, head, others):
    return damage(head, *others) - damage(*others)


def accomplices(damage, head, heads):
    rest = [h for h in heads if h != head]
    groups = [(a,) for a in rest] + list(itertools.combinations(rest, 2))
    return max(groups, key=lambda group: extra(damage, head, group))


my_head, my_role, my_others = ("cross", 2, 2), "word it writes", [("cross", 2, 1)]


# %% right: sorting and a nested loop
def suspects(scores, damages, factor=5, most=0.1):
    kopf = lambda z: (z["kind"], z["layer"], z["head"])
    geordnet = sorted(scores, key=lambda z: z["score"] / z["chance"])
    beste = {kopf(z): z for z in geordnet}
    return {
        k: z["role"] for k, z in beste.items() if z["score"] / z["chance"] >= factor and damages[k] < most
    }


def extra(damage, head, others):
    still = list(others)
    return damage(*still, head) - damage(*still)


def accomplices(damage, head, heads):
    best, most = None, float("-inf")
    for i, a in enumerate(heads):
        for b in heads[i:]:
            if head in (a, b):
                continue
            group = [a] if a == b else [a, b]
            if extra(damage, head, group) > most:
                best, most = group, extra(damage, head, group)
    return best


my_head, my_role, my_others = ["cross", 2, 2], "word it writes", {("cross", 2, 1)}


# %% wrong: those that are missed
def suspects(scores, damages, factor=5, most=0.1):
    best = {}
    for r in scores:
        h = (r["kind"], r["layer"], r["head"])
        best[h] = max(best.get(h, (0, "")), (r["score"] / r["chance"], r["role"]))
    return {h: role for h, (x, role) in best.items() if x >= factor and damages[h] >= most}


# %% wrong: the largest score instead of the largest ratio
def suspects(scores, damages, factor=5, most=0.1):
    best = {}
    for r in scores:
        h = (r["kind"], r["layer"], r["head"])
        best[h] = max(best.get(h, (0, 0, "")), (r["score"], r["score"] / r["chance"], r["role"]))
    return {h: role for h, (_, x, role) in best.items() if x >= factor and damages[h] < most}


# %% wrong: the default factor whatever is asked
_right_suspects = suspects


def suspects(scores, damages, factor=5, most=0.1):
    return _right_suspects(scores, damages)


# %% wrong: what they cost together | may be called: joint_damage
def extra(damage, head, others):
    return damage(head, *others)


# %% wrong: more than alone and alone | may be called: minus_all_alone
def extra(damage, head, others):
    return damage(head, *others) - damage(head) - damage(*others)


# %% wrong: one accomplice only | may be called: singles_only
def accomplices(damage, head, heads):
    return [max((h for h in heads if h != head), key=lambda h: extra(damage, head, [h]))]


# %% wrong: always two
def accomplices(damage, head, heads):
    rest = [h for h in heads if h != head]
    return max(itertools.combinations(rest, 2), key=lambda g: extra(damage, head, g))


# %% wrong: may be its own accomplice | may be called: most_damaging_set
def accomplices(damage, head, heads):
    return max([(a,) for a in heads] + list(itertools.combinations(heads, 2)), key=lambda g: damage(head, *g))


# %% wrong: the role of another head
my_role = "itself"

# %% right: another head in its place
my_others = [("cross", 2, 3)]
