"""Checks of ex29-4: the largest of all ways to build a symbol; a sentence against the library's parser.

Paper: Table 4
"""

import math
from typing import Any

from annotated.parsing import Grammar, Lexicon, parse
from annotated_grader import Case, Student, expect, graded

Cell = dict[str, float]
Binary = list[tuple[str, str, str, float]]
Unary = list[tuple[str, str, float]]


def share(case: Case) -> float:
    """A probability between 0.1 and 0.9."""
    return 0.1 + 0.8 * float(case.uniform(1))


def empty(n: int) -> list[list[Cell]]:
    """A chart for n words."""
    return [[{} for _ in range(n + 1)] for _ in range(n)]


def ways(chart: list[list[Cell]], first: int, end: int, binary: Binary) -> list[tuple[str, float]]:
    """Every way to build a symbol, by rule, with its probability."""
    return [
        (parent, math.exp(math.log(p) + math.log(x) + math.log(y)))
        for parent, left, right, p in binary
        for middle in range(first + 1, end)
        for symbol, x in chart[first][middle].items()
        for other, y in chart[middle][end].items()
        if (symbol, other) == (left, right)
    ]


def same(got: Any, expected: Cell, **inputs: Any) -> None:
    """Two cells with the same symbols and probabilities."""
    expect.true(isinstance(got, dict), "the cell: expected a dictionary", got=got, **inputs)
    expect.equal(sorted(got), sorted(expected), "the symbols", **inputs)
    for symbol in sorted(expected):
        expect.number(got[symbol], expected[symbol], f"the probability of {symbol}", **inputs)


def combined(student: Student, chart: list[list[Cell]], first: int, end: int, binary: Binary) -> None:
    """Compare `combine` with the largest of all ways."""
    listed = ways(chart, first, end, binary)
    expected = {symbol: max(p for one, p in listed if one == symbol) for symbol, _ in listed}
    cells = {f"chart[{i}][{j}]": cell for i, row in enumerate(chart) for j, cell in enumerate(row) if cell}
    same(student.call("combine", chart, first, end, binary), expected, first=first, end=end, binary=binary, **cells)


@graded(points=2, levels=2)
def one_split(student: Student, case: Case) -> None:
    """Two words: the product of both parts and of the rule."""
    chart = empty(2)
    chart[0][1], chart[1][2] = {"DT": share(case), "NP": share(case)}, {"NN": share(case), "NP": share(case)}
    rules: Binary = [("NP", "DT", "NN", share(case)), ("VP", "NN", "DT", share(case)), ("PP", "IN", "NP", share(case))]
    combined(student, chart, 0, 2, rules)


@graded(points=2, levels=2)
def every_split(student: Student, case: Case) -> None:
    """Each place between the first word and the last may be the split."""
    n = 4 + case.between(0, 2)
    for middle in range(2, n):
        chart = empty(n + 1)
        chart[1][middle], chart[middle][n] = {"NP": share(case)}, {"VP": share(case)}
        combined(student, chart, 1, n, [("S", "NP", "VP", share(case))])


@graded(points=2, levels=3)
def the_best_way(student: Student, case: Case) -> None:
    """Of several ways to build a symbol, the best alone counts."""
    n = 4 + case.between(0, 1)
    rules: Binary = [("S", "NP", "VP", share(case)), ("S", "VP", "NP", share(case)), ("NP", "NP", "VP", share(case))]
    for best in range(1, n):  # the split whose parts are by far the most probable
        chart = empty(n)
        for middle in range(1, n):
            scale = 1.0 if middle == best else 0.2
            chart[0][middle], chart[middle][n] = ({one: scale * share(case) for one in ("NP", "VP")} for _ in range(2))
        combined(student, chart, 0, n, rules)


@graded(points=2, levels=2)
def one_unary_rule(student: Student, case: Case) -> None:
    """A unary rule adds a symbol, or a better tree of one; what was there stays, unless it is worse."""
    word, low, high = share(case), 0.001 * share(case), 0.9 + 0.1 * share(case)
    cell = {"PRP": word, "VP": low, "ADJP": high}
    rules: Unary = [("NP", "PRP", share(case)), ("VP", "PRP", share(case)), ("ADJP", "PRP", 0.5 * share(case))]
    expected = cell | {parent: max(cell.get(parent, 0.0), word * p) for parent, _, p in rules}
    same(student.call("close", cell, rules), expected, cell=cell, unary=rules)


@graded(points=2, levels=2)
def chains_and_cycles(student: Student, case: Case) -> None:
    """Chains of any length are followed, in whatever order the rules stand; cycles end."""
    a, b, c, d = (share(case) for _ in range(4))
    word = share(case)
    chain: Unary = [("S", "VP", c), ("VP", "NP", b), ("NP", "PRP", a)]
    expected = {"PRP": word, "NP": word * a, "VP": word * a * b, "S": word * a * b * c}
    for rules in (chain[::-1], chain, [*chain, ("NP", "S", d), ("NP", "NP", d)]):
        same(student.call("close", {"PRP": word}, rules), expected, cell={"PRP": word}, unary=rules)


@graded(points=1, levels=2)
def the_cell_stays(student: Student, case: Case) -> None:
    """The cell that is handed to `close` is afterwards what it was before."""
    cell, rules = {"PRP": share(case)}, [("NP", "PRP", share(case))]
    kept = student.given("cell", cell)
    got: Any = student.call("close", kept, rules)
    expect.true(isinstance(got, dict) and "NP" in got, "close: expected a dictionary with NP", got=got, unary=rules)
    expect.equal(kept.method("copy"), cell, "the cell after the call of close", cell=cell, unary=rules)


@graded(points=2, levels=2)
def a_sentence(student: Student, case: Case) -> None:
    """A whole chart, filled cell by cell: the probability of the best tree is that of the library's parser."""
    tags = {"he": "PRP", "sees": "VBZ", "it": "PRP", "dogs": "NNS", "with": "IN", "lamps": "NNS"}
    words = ["he", "sees", "it", *["with", "dogs"] * (1 + case.between(0, 1))]
    lexicon = {word: {tags[word]: share(case)} for word in sorted(set(words))}
    binary: Binary = [
        ("S", "NP", "VP", share(case)),
        ("VP", "VBZ", "NP", share(case)),
        ("VP", "VP", "PP", 0.2 * share(case)),
    ]
    binary += [("NP", "NP", "PP", 0.9), ("PP", "IN", "NP", share(case))]
    unary: Unary = [("NP", "PRP", share(case)), ("NP", "NNS", share(case)), ("VP", "VBZ", share(case))]
    n = len(words)
    chart = empty(n)
    for length in range(1, n + 1):
        for first in range(n - length + 1):
            end = first + length
            cell = lexicon[words[first]] if length == 1 else student.call("combine", chart, first, end, binary)
            expect.true(isinstance(cell, dict), "combine: expected a dictionary", got=cell)
            chart[first][end] = student.call("close", cell, unary)
            expect.true(isinstance(chart[first][end], dict), "close: expected a dictionary", got=chart[first][end])
    grammar = Grammar(
        {"S": 1.0},
        {(parent, left, right): p for parent, left, right, p in binary},
        {(parent, child): p for parent, child, p in unary},
        Lexicon({word: {tag: math.log(p) for tag, p in one.items()} for word, one in lexicon.items()}),
    )
    tree = parse(grammar, words)
    assert tree is not None
    best = math.exp(grammar.log_probability(tree))
    given = {"binary": binary, "unary": unary, "words": lexicon}
    expect.number(chart[0][n].get("S", 0.0), best, f"the probability of S over {' '.join(words)!r}", atol=0.0, **given)
