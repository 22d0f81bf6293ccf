"""Checks of ex01-1: order the boxes.

Which box needs which is written down here from figure 1; any order that respects it passes.

Paper: figure 1
"""

from collections.abc import Callable

from annotated_grader import Case, Student, expect, graded

Needs = dict[str, list[str]]
"""For each box, the boxes whose output it reads."""


def needs(layers: int) -> Needs:
    """Every box of a model with so many layers in each column, and what it reads."""
    table: Needs = {"source.tokens": [], "target.tokens": []}
    for side in ("source", "target"):
        table[f"{side}.embedding"], table[f"{side}.positions"] = [f"{side}.tokens"], []
        table[f"{side}.sum"] = [f"{side}.embedding", f"{side}.positions"]
    below = {"encoder": "source.sum", "decoder": "target.sum"}
    for i in range(1, layers + 1):
        for side, subs in (("encoder", ["self_attention", "feed_forward"]),
                           ("decoder", ["self_attention", "cross_attention", "feed_forward"])):  # fmt: skip
            for number, sub in enumerate(subs, 1):
                box, norm = f"{side}.{i}.{sub}", f"{side}.{i}.add_norm_{number}"
                table[box] = [below[side]] + (["memory"] if sub == "cross_attention" else [])
                table[norm] = [box, below[side]]
                below[side] = norm
    return table | {"memory": [below["encoder"]], "linear": [below["decoder"]], "softmax": ["linear"]}


Pair = tuple[str, str]
Kind = Callable[[str, str], bool]
"""Whether an arrow, from the box that is read to the box that reads, belongs to a check."""


def broken(order: list[str], table: Needs, kind: Kind) -> list[Pair]:
    """Arrows of this kind along which a box comes before what it reads."""
    place = {name: i for i, name in enumerate(order)}
    return [
        (read, box) for box, before in table.items() for read in before if kind(read, box) and place[read] > place[box]
    ]


def compare(student: Student, case: Case, layers: int, kind: Kind) -> None:
    """Give the names in an order that breaks such an arrow, and look at what comes back."""
    table = needs(layers)
    names = list(table)
    while not broken(names, table, kind):
        names = [list(table)[i] for i in case.permutation(len(table)).tolist()]
    got = student.call("order_boxes", list(names))
    expect.true(isinstance(got, list | tuple), "`order_boxes` must return a list", names=names)
    same = all(isinstance(name, str) for name in got) and sorted(got) == sorted(names)
    expect.true(same, "`order_boxes` must return each of the names once, and no other", names=names, returned=got)
    wrong = broken(list(got), table, kind)
    message = f"{wrong[0][1]} comes before {wrong[0][0]}, which it reads" if wrong else ""
    expect.true(not wrong, message, returned=got)


def layer_of(name: str) -> str:
    """encoder.2 for any box of that layer; nothing for boxes outside the layers."""
    part, *rest = name.split(".")
    return f"{part}.{rest[0]}" if len(rest) == 2 else ""


@graded(points=2, levels=3)
def inputs(student: Student, case: Case) -> None:
    """Embedding and position come before their sum, and the sum before the first layer."""
    compare(student, case, 1 + case.level, lambda read, box: read.startswith(("source.", "target.")))


@graded(points=2, levels=3, claim="C16")
def sub_layers(student: Student, case: Case) -> None:
    """Within a layer, each sub-layer is followed by its Add & Norm, and then by the next."""
    compare(student, case, 1 + case.level, lambda read, box: layer_of(read) == layer_of(box) != "")


@graded(points=2, levels=3)
def stacks(student: Student, case: Case) -> None:
    """A layer begins when the layer below it in its column is finished, up to the twelfth."""
    layers = 12 if case.level == 1 else 2 + case.level
    compare(student, case, layers, lambda read, box: "" != layer_of(read) != layer_of(box) != "")


@graded(points=3, levels=3, claim="C16")
def memory(student: Student, case: Case) -> None:
    """The memory comes after the last encoder layer, and before every cross-attention."""
    compare(student, case, 1 + case.level, lambda read, box: "memory" in (read, box))


@graded(points=1, levels=2)
def output(student: Student, case: Case) -> None:
    """All that leads to the probabilities comes before them: the last two are linear and softmax."""
    table = needs(2 + case.level)
    names = [list(table)[i] for i in case.permutation(len(table)).tolist()]
    names.sort(key=lambda name: name in ("linear", "softmax"), reverse=True)
    got = student.call("order_boxes", list(names))
    expect.true(isinstance(got, list | tuple) and len(got) == len(names), "every name must come back", names=names)
    expect.equal(list(got[-2:]), ["linear", "softmax"], "the last two boxes", returned=got)
