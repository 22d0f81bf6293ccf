import heapq
import re
from collections import defaultdict, deque
from functools import cmp_to_key
from graphlib import TopologicalSorter


# %% right: writes the whole drawing down in order and keeps what is asked for
def order_boxes(names):
    layers = max([int(n.split(".")[1]) for n in names if n.startswith("encoder.")] or [0])
    whole = [f"source.{x}" for x in INPUT]
    for l in range(1, layers + 1):
        for box in ENCODER:
            whole.append("encoder.%d.%s" % (l, box))
    whole += ["memory"] + ["target." + x for x in INPUT]
    for l in range(1, layers + 1):
        for box in DECODER:
            whole.append("decoder.%d.%s" % (l, box))
    whole += ["linear", "softmax"]
    return [n for n in whole if n in set(names)]


# %% right: a sort key of four numbers
def order_boxes(names):
    sides = {"source": 0, "encoder": 1, "memory": 2, "target": 3, "decoder": 4, "linear": 5, "softmax": 6}

    def key(name):
        parts = name.split(".")
        lists = {"source": INPUT, "target": INPUT, "encoder": ENCODER, "decoder": DECODER}
        nummer = int(parts[1]) if len(parts) == 3 else 0
        return sides[parts[0]], nummer, lists[parts[0]].index(parts[-1]) if len(parts) > 1 else 0

    return sorted(names, key=key)


# %% right: a graph and the standard library, target first
def order_boxes(names):
    vor = defaultdict(set)
    n = len({x.split(".")[1] for x in names if x.startswith("encoder")})
    for seite in ("target", "source"):
        vor[f"{seite}.embedding"] = {f"{seite}.tokens"}
        vor[f"{seite}.sum"] = {f"{seite}.embedding", f"{seite}.positions"}
    letzter = {"encoder": "source.sum", "decoder": "target.sum"}
    for i in range(1, n + 1):
        for turm, teile in (("encoder", ENCODER), ("decoder", DECODER)):
            for teil in teile:
                neu = f"{turm}.{i}.{teil}"
                vor[neu].add(letzter[turm])
                if teil == "cross_attention":
                    vor[neu].add("memory")
                letzter[turm] = neu
    vor["memory"].add(letzter["encoder"])
    vor["linear"].add(letzter["decoder"])
    vor["softmax"].add("linear")
    for name in reversed(names):
        vor[name]
    return [x for x in TopologicalSorter(vor).static_order() if x in set(names)]


# %% wrong: sorts layers as text, so that 10 comes before 2 | may be called: layers_sorted_as_text
def order_boxes(names):
    sides = ["source", "encoder", "memory", "target", "decoder", "linear", "softmax"]
    lists = {"source": INPUT, "target": INPUT, "encoder": ENCODER, "decoder": DECODER}

    def key(name):
        p = name.split(".")
        return sides.index(p[0]), p[1] if len(p) == 3 else "", lists[p[0]].index(p[-1]) if len(p) > 1 else 0

    return sorted(names, key=key)


# %% wrong: the order of the alphabet | may be called: alphabetical
def order_boxes(names):
    return sorted(names)


# %% wrong: softmax before linear | may be called: softmax_before_linear
def order_boxes(names):
    sides = {"source": 0, "encoder": 1, "memory": 2, "target": 3, "decoder": 4, "linear": 6, "softmax": 5}
    lists = {"source": INPUT, "target": INPUT, "encoder": ENCODER, "decoder": DECODER}

    def key(name):
        p = name.split(".")
        return sides[p[0]], int(p[1]) if len(p) == 3 else 0, lists[p[0]].index(p[-1]) if len(p) > 1 else 0

    return sorted(names, key=key)


# %% wrong: runs the decoder layer of a number right after the encoder layer of that number
def order_boxes(names):
    n = max(int(x.split(".")[1]) for x in names if x.startswith("encoder"))
    out = [f"{s}.{x}" for s in ("source", "target") for x in INPUT]
    for i in range(1, n + 1):
        out += [f"encoder.{i}.{x}" for x in ENCODER]
        if i == n:
            out.append("memory")
        out += [f"decoder.{i}.{x}" for x in DECODER]
    return out + ["linear", "softmax"]


# %% wrong: forgets the positions of the target
def order_boxes(names):
    n = max(int(x.split(".")[1]) for x in names if x.startswith("encoder"))
    out = [f"source.{x}" for x in INPUT] + [f"encoder.{i}.{x}" for i in range(1, n + 1) for x in ENCODER]
    out += ["memory"] + [f"target.{x}" for x in INPUT if x != "positions"]
    return out + [f"decoder.{i}.{x}" for i in range(1, n + 1) for x in DECODER] + ["linear", "softmax"]
