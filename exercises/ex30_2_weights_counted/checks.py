"""Checks of ex30-2: attention weights, counted one query at a time.

Paper: sections 3.2.3, 4
"""

from annotated_grader import Case, Student, expect, graded


def lengths(case: Case) -> tuple[int, int]:
    """Source and target, of different lengths."""
    n = case.between(4, 7)
    return n, n + 2 + case.between(1, 4)


def encoder(n: int) -> list[int]:
    """The keys that each query of the encoder meets."""
    return [n for _ in range(n)]


@graded(points=2, levels=3, claim="C17")
def one_layer_one_head(student: Student, case: Case) -> None:
    """One layer with one head: the three attentions of a training pass."""
    n, m = lengths(case)
    expected = sum(encoder(n)) + sum(m for _ in range(m)) + sum(n for _ in range(m))
    got = student.call("training_pass", n, m, 1, 1)
    expect.number(got, expected, f"training_pass({n}, {m}, 1, 1)", rtol=1e-9)


@graded(points=2, levels=2)
def layers_and_heads(student: Student, case: Case) -> None:
    """Every layer and every head has weights of its own."""
    n, m = lengths(case)
    layers, heads = case.between(2, 4), case.between(5, 8)
    one = sum(encoder(n)) + m * (m + n)
    got = student.call("training_pass", n, m, layers, heads)
    expected = sum(one for _ in range(layers) for _ in range(heads))
    expect.number(got, expected, f"training_pass({n}, {m}, {layers}, {heads})", rtol=1e-9)


@graded(points=3, levels=3, claim="C20")
def steps_with_a_cache(student: Student, case: Case) -> None:
    """While writing, each step has one query."""
    n, m = lengths(case)
    layers, heads = case.between(2, 4), case.between(5, 8)
    met = encoder(n)
    for step in range(1, m + 1):
        met += [step, n]  # the newest slot's keys: those written, and the memory
    got = student.call("writing", n, m, layers, heads)
    expect.number(got, layers * heads * sum(met), f"writing({n}, {m}, {layers}, {heads})", rtol=1e-9)


@graded(points=3, levels=3)
def steps_without_a_cache(student: Student, case: Case) -> None:
    """Without kept keys and values, each step computes every slot of the prefix."""
    n, m = lengths(case)
    layers, heads = case.between(2, 4), case.between(5, 8)
    met = encoder(n)
    for step in range(1, m + 1):
        met += [keys for _ in range(step) for keys in (step, n)]
    got = student.call("writing_anew", n, m, layers, heads)
    expect.number(got, layers * heads * sum(met), f"writing_anew({n}, {m}, {layers}, {heads})", rtol=1e-9)
