"""Checks of ex29-3: a token is allowed if some completion is a whole tree, by the library's reader of linear forms.

Paper: section 6.3
"""

from typing import Any

from annotated.parsing import LinearFormError, tree_from_linear
from annotated_grader import Case, Student, expect, graded

LABELS = ["S", "NP", "VP", "PP", "SBAR", "ADJP"]
END = "</s>"


def whole(tokens: list[str], words: int) -> bool:
    """Whether tokens are the linear form of a tree with so many leaves."""
    try:
        tree_from_linear(tokens, [f"w{n}" for n in range(words)])
    except LinearFormError:
        return False
    return True


def completed(tokens: list[str], words: int) -> list[str]:
    """All missing leaves behind the tokens, then the brackets that are open; brackets are matched by crossing out."""
    left = list(tokens)
    closing = next((n for n, token in enumerate(left) if token[0] == ")"), None)
    while closing is not None:
        opening = max((n for n in range(closing) if left[n][0] == "("), default=None)
        del left[closing]
        if opening is not None:
            del left[opening]
        closing = next((n for n, token in enumerate(left) if token[0] == ")"), None)
    missing = max(0, words - tokens.count("XX"))
    return [*tokens, *["XX"] * missing, *(")" + token[1:] for token in reversed(left) if token[0] == "(")]


def expected(tokens: list[str], words: int, labels: list[str]) -> list[str]:
    """Every token that can be completed, sorted."""
    if END in tokens:
        return []
    every = ["XX", *("(" + one for one in labels), *(")" + one for one in labels)]
    found = [one for one in every if whole(completed([*tokens, one], words), words)]
    return sorted([*found, END] if whole(tokens, words) else found)


def beginning(case: Case, words: int, labels: list[str], length: int) -> list[str]:
    """Some tokens that begin an output, not yet whole; brackets, words and closing brackets are equally likely."""
    tokens: list[str] = []
    while len(tokens) < length:
        options = [one for one in expected(tokens, words, labels) if not whole([*tokens, one], words)]
        if not options:
            break
        kinds = sorted({one[0] for one in options})
        kind = kinds[int(case.integers(0, len(kinds), 1))]
        options = [one for one in options if one[0] == kind]
        tokens.append(options[int(case.integers(0, len(options), 1))])
    return tokens


def some_labels(case: Case) -> list[str]:
    """A few labels."""
    return [LABELS[int(n)] for n in case.permutation(len(LABELS))[: 3 + case.between(0, 2)]]


def compare(student: Student, tokens: list[str], words: int, labels: list[str], kinds: str = "") -> None:
    """The allowed tokens, in any order; with `kinds`, only those that begin with one of these signs."""
    got: Any = student.call("allowed", tokens, words, labels)
    expect.true(isinstance(got, list | tuple | set), "allowed: expected a list of tokens", allowed=got)
    given, right = sorted(str(one) for one in got), expected(tokens, words, labels)
    if kinds:
        given, right = ([one for one in found if one[:1] in kinds] for found in (given, right))
    what = {"": "the tokens", "<": "the end token", ")": "the closing brackets", "(X": "the words and opening brackets"}
    written = " ".join(tokens)
    expect.equal(given, right, f"{what[kinds]} that may follow", tokens=written, words=words, labels=labels)


@graded(points=1, levels=2)
def the_first_token(student: Student, case: Case) -> None:
    """An output begins with a bracket."""
    labels = some_labels(case)
    for words in (1, 2 + case.between(0, 5)):
        compare(student, [], words, labels)


@graded(points=4, levels=3)
def what_is_closed(student: Student, case: Case) -> None:
    """What may be closed is the innermost open constituent, once something is in it; the root, once no word is left."""
    labels = some_labels(case)
    a, b, c = labels[:3]
    words = 3 + case.between(0, 3)
    compare(student, ["(" + a, "(" + b, "XX"], words, labels, ")")
    compare(student, ["(" + a, "(" + b, "(" + c, "XX", ")" + c], words, labels, ")")
    compare(student, ["(" + a], words, labels, ")")
    compare(student, ["(" + a, "(" + b, "XX", ")" + b, "(" + b], words, labels, ")")
    compare(student, ["(" + a, "XX"], words, labels, ")")
    compare(student, ["(" + a, *["XX"] * words], words, labels, ")")
    compare(student, ["(" + a, "XX"], 1, labels, ")")
    some_beginnings(student, case, labels, ")")


@graded(points=3, levels=3)
def words_are_counted(student: Student, case: Case) -> None:
    """A word, and a bracket to hold it, may follow while words are left, and not after the last."""
    labels = some_labels(case)
    a, b = labels[:2]
    words = 2 + case.between(0, 3)
    compare(student, ["(" + a], words, labels, "(X")
    compare(student, ["(" + a, *["XX"] * (words - 1)], words, labels, "(X")
    compare(student, ["(" + a, *["XX"] * words], words, labels, "(X")
    compare(student, ["(" + a, "(" + b, *["XX"] * words, ")" + b], words, labels, "(X")
    some_beginnings(student, case, labels, "(X")


def some_beginnings(student: Student, case: Case, labels: list[str], kinds: str) -> None:
    """Beginnings of all lengths behind the smallest case."""
    for length in range(2, 12) if case.level else ():
        words = 2 + case.between(0, 4)
        compare(student, beginning(case, words, labels, length), words, labels, kinds)


@graded(points=1, levels=2)
def the_end(student: Student, case: Case) -> None:
    """The end token follows the root, and nothing follows it; before the root is closed it may not be written."""
    labels = some_labels(case)
    words = 1 + case.between(0, 3)
    tokens = ["(" + labels[0], *["XX"] * words, ")" + labels[0]]
    compare(student, tokens, words, labels)
    compare(student, [*tokens, END], words, labels)
    compare(student, tokens[:-1], words, labels, "<")


@graded(points=3, levels=3)
def one_step(student: Student, case: Case) -> None:
    """The most probable token among those that are allowed."""
    labels = some_labels(case)
    words = 3 + case.between(0, 3)
    tokens = ["(" + labels[0], "(" + labels[1], *["XX"] * (words - 2)]
    best = ")" + labels[1]
    others = ["XX", *("(" + one for one in labels)]
    forbidden = [END, *(")" + one for one in labels if one != labels[1])]
    order = [forbidden[int(n)] for n in case.permutation(len(forbidden))] + [best]
    order += [others[int(n)] for n in case.permutation(len(others))]
    scores = {one: -0.5 - 0.25 * n for n, one in enumerate(order)}  # what is forbidden is most probable
    scores = dict(sorted(scores.items(), key=lambda one: (one[0] == order[0], one[0])))
    got = student.call("step", scores, tokens, words, labels)
    expect.equal(got, best, "the token", scores=scores, tokens=" ".join(tokens), words=words, labels=labels)
    scores = {**scores, best: -9.0}  # the least probable, and all that may follow the last word
    got = student.call("step", scores, tokens, words - 2, labels)
    expect.equal(got, best, "the token", scores=scores, tokens=" ".join(tokens), words=words - 2, labels=labels)
