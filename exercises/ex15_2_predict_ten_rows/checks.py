"""Checks of ex15-2: the parameters of Table 3 by formula.

Paper: Table 3
"""

import math

from annotated_grader import Case, Student, expect, graded

TABLE = {
    "base": (6, 512, 2048, 8, 64, 64), "B1": (6, 512, 2048, 8, 16, 64), "B2": (6, 512, 2048, 8, 32, 64),
    "C1": (2, 512, 2048, 8, 64, 64), "C2": (4, 512, 2048, 8, 64, 64), "C3": (8, 512, 2048, 8, 64, 64),
    "C4": (6, 256, 2048, 8, 32, 32), "C5": (6, 1024, 2048, 8, 128, 128), "C6": (6, 512, 1024, 8, 64, 64),
    "C7": (6, 512, 4096, 8, 64, 64), "big": (6, 1024, 4096, 16, 64, 64),
}  # fmt: skip
PRINTED = dict(zip(TABLE, (65, 58, 60, 36, 50, 80, 28, 168, 53, 90, 213), strict=True))
NARROW = ("B1", "B2")


def without_embedding(row: str) -> int:
    """Every matrix and vector by its shape, layer by layer."""
    n, d, f, h, k, v = TABLE[row]
    attention = [(d, h * k), (d, h * k), (d, h * v), (h * v, d)]
    network = [(d, f), (f,), (f, d), (d,)]
    norm = [(d,), (d,)]
    encoder_layer = [*attention, *norm, *network, *norm]
    decoder_layer = [*attention, *norm, *attention, *norm, *network, *norm]
    return sum(math.prod(shape) for _ in range(n) for shape in encoder_layer + decoder_layer)


def split(student: Student, row: str, vocab_size: int) -> tuple[float, float]:
    """An answer's count as a line: parameters for one more entry, and the rest."""
    here, further = (student.call("predict", row, vocab_size + more) for more in (0, 1000))
    for got in (here, further):
        expect.true(isinstance(got, int | float), f"predict({row!r}, ...) must be a number, got {got!r}")
    slope = (further - here) / 1000
    return slope, here - slope * vocab_size


def fitting(rows: list[str], rests: dict[str, int]) -> tuple[int, int] | None:
    """Try the vocabularies, a window for each row."""
    window: set[int] | None = None
    for row in rows:
        d, middle = TABLE[row][1], (PRINTED[row] * 10**6 - rests[row]) // TABLE[row][1]
        near = range(middle - 600_000 // d, middle + 600_000 // d + 1)
        fits = {v for v in near if abs(d * v + rests[row] - PRINTED[row] * 10**6) < 500_000}
        window = fits if window is None else window & fits
    return (min(window), max(window)) if window else None


@graded(points=2, levels=2)
def one_shared_matrix(student: Student, case: Case) -> None:
    """One more entry costs one row of one matrix."""
    vocab_size = 37_000 if case.level == 0 else int(case.integers(1000, 60_000, 1))
    for row in TABLE:
        slope, _ = split(student, row, vocab_size)
        expect.number(slope, TABLE[row][1], f"row {row}: parameters for one more entry", rtol=0.0)


@graded(points=2, levels=2)
def layers(student: Student, case: Case) -> None:
    """Everything but the embedding, where d_k and d_v are alike."""
    vocab_size = 37_000 if case.level == 0 else int(case.integers(1000, 60_000, 1))
    for row in (row for row in TABLE if row not in NARROW):
        _, rest = split(student, row, vocab_size)
        expect.number(rest, without_embedding(row), f"row {row}: parameters without the embedding", atol=0.01, rtol=0.0)


@graded(points=2, levels=2)
def narrow_keys(student: Student, case: Case) -> None:
    """Rows B1 and B2: narrower queries and keys beside the same values."""
    vocab_size = 37_000 if case.level == 0 else int(case.integers(1000, 60_000, 1))
    whole = split(student, "base", vocab_size)[1]
    for row in NARROW:
        saved = whole - split(student, row, vocab_size)[1]
        expected = without_embedding("base") - without_embedding(row)
        expect.number(saved, expected, f"parameters that row {row} saves beside base", atol=0.01, rtol=0.0)


@graded(points=2, levels=3, claim="A3")
def vocabularies(student: Student, case: Case) -> None:
    """Exactly the vocabularies for which all rows round to the printed number."""
    rests = {row: without_embedding(row) for row in TABLE}
    rows = [row for row in TABLE if row != "big"]
    if case.level:
        rests = {row: rest + 2 * int(case.integers(0, 100_000, 1)) + 1 for row, rest in rests.items()}
        names = list(TABLE)
        rows = [names[int(i)] for i in case.permutation(10)[: case.between(1, 4)]]
    predict = student.given("lines", {row: sizes[1] for row, sizes in TABLE.items()}, rests)
    for some in (rows, ["big"], list(TABLE)):
        got, expected = student.call("interval", some, predict), fitting(some, rests)
        got = list(got) if isinstance(got, tuple) else got
        what = f"the vocabularies that fit {', '.join(some)}"
        expect.equal(got, list(expected) if expected else None, what, rests=rests)


@graded(points=1, levels=1, claim="A3")
def how_far_big_is_off(student: Student, case: Case) -> None:
    """The distance between the ten rows and the big one."""
    rests = {row: without_embedding(row) for row in TABLE}
    ten, big = fitting([row for row in TABLE if row != "big"], rests), fitting(["big"], rests)
    expect.equal(student.value("big_misses_by"), ten[0] - big[1], "big_misses_by")
