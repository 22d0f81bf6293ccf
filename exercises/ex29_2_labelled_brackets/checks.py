"""Checks of ex29-2: brackets, and F1 with exact fractions from counts that are made by crossing out.

Paper: section 6.3, Table 4
"""

from fractions import Fraction
from typing import Any

from annotated_grader import Case, Student, expect, graded

LABELS = ("NP", "VP", "PP", "SBAR", "ADJP")
WORDS = "he sees the old dog with a lamp and sleeps in her garden today".split()
TAGS = ("NN", "VB", "IN", "DT", "RB")

Bracket = tuple[str, int, int]


def grown(case: Case, words: list[str], top: str) -> list[Any]:
    """A random tree whose constituents all differ in their words; parts of speech have labels of their own."""
    if len(words) == 1:
        tag = [TAGS[int(case.integers(0, len(TAGS), 1))], words[0]]
        return [top, tag]
    middle = 1 + int(case.integers(0, len(words) - 1, 1))
    parts: list[Any] = []
    for piece in (words[:middle], words[middle:]):
        label = LABELS[int(case.integers(0, len(LABELS), 1))]
        tag = [TAGS[int(case.integers(0, len(TAGS), 1))], piece[0]]
        bare = len(piece) == 1 and int(case.integers(0, 2, 1)) == 0
        parts.append(tag if bare else grown(case, piece, label))
    return [top, *parts]


def words_of(case: Case, count: int) -> list[str]:
    """Some words, all different."""
    return [WORDS[int(i)] for i in case.permutation(len(WORDS))[:count]]


def spans(tree: list[Any]) -> list[Bracket]:
    """The brackets, by positions of leaves in the flattened tree."""
    leaves: list[int] = []
    found: list[Bracket] = []

    def visit(node: list[Any]) -> None:
        if isinstance(node[1], str):
            leaves.append(len(leaves))
            return
        start = len(leaves)
        for part in node[1:]:
            visit(part)
        found.append((node[0], start, len(leaves)))

    visit(tree)
    return found


def relabelled(case: Case, tree: list[Any], chance: int) -> list[Any]:
    """The tree with some of its labels changed, and some of its constituents dissolved."""
    if isinstance(tree[1], str):
        return tree
    parts: list[Any] = []
    for part in tree[1:]:
        new = relabelled(case, part, chance)
        dissolved = not isinstance(part[1], str) and int(case.integers(0, chance, 1)) == 0
        parts += new[1:] if dissolved else [new]
    changed = int(case.integers(0, chance, 1)) == 0
    return ["FRAG" if changed else tree[0], *parts]


def counts(gold: list[Any], predicted: list[Any]) -> tuple[int, int, int]:
    """Matched, in gold, in predicted: each gold bracket is crossed out by the first that matches it."""
    matched = in_gold = in_predicted = 0
    for right, guess in zip(gold, predicted, strict=True):
        left = spans(right)
        ours = spans(guess) if guess is not None else []
        in_gold, in_predicted = in_gold + len(left), in_predicted + len(ours)
        for one in ours:
            if one in left:
                left.remove(one)
                matched += 1
    return matched, in_gold, in_predicted


def compare(student: Student, gold: list[Any], predicted: list[Any]) -> None:
    """The three numbers."""
    got = student.call("score", gold, predicted)
    expect.true(isinstance(got, tuple | list) and len(got) == 3, "score returns three numbers", score=got)
    matched, in_gold, in_predicted = counts(gold, predicted)
    expected = (
        Fraction(100 * matched, in_predicted or 1),
        Fraction(100 * matched, in_gold or 1),
        Fraction(200 * matched, in_gold + in_predicted),
    )
    for value, right, name in zip(got, expected, ("precision", "recall", "F1"), strict=True):
        expect.number(value, float(right), name, rtol=1e-7, gold=gold, predicted=predicted)


@graded(points=2, levels=3)
def constituents(student: Student, case: Case) -> None:
    """The bracket of each constituent, and of nothing else."""
    small = ["S", ["NP", ["PRP", "he"]], ["VP", ["VBZ", "sees"], ["NP", ["DT", "the"], ["NN", "dog"]]]]
    tree = small if case.level == 0 else grown(case, words_of(case, 6 + case.between(0, 5)), "S")
    got = student.call("brackets", tree)
    expect.true(isinstance(got, list | tuple), "brackets: expected a list", brackets=got)
    listed = sorted(tuple(one) if isinstance(one, list | tuple) else (one,) for one in got)
    expect.equal([list(one) for one in listed], [list(one) for one in sorted(spans(tree))], "the brackets", tree=tree)


@graded(points=2, levels=3)
def one_sentence(student: Student, case: Case) -> None:
    """Precision, recall and F1 of one tree."""
    he, the, dog = (WORDS[case.between(k, k + 3)] for k in (0, 4, 8))
    object_ = [["DT", the], ["NN", dog]]
    gold = ["S", ["NP", ["PRP", he]], ["VP", ["VBZ", "sees"], ["NP", *object_], ["ADVP", ["RB", "now"]]]]
    guess = ["S", ["NP", ["PRP", he]], ["FRAG", ["VBZ", "sees"], ["NP", object_[0]], object_[1], ["RB", "now"]]]
    compare(student, [gold], [guess])
    if case.level > 0:
        gold = grown(case, words_of(case, 8 + case.between(0, 4)), "S")
        compare(student, [gold], [relabelled(case, gold, 3)])


@graded(points=1, levels=2)
def twice_the_same(student: Student, case: Case) -> None:
    """A bracket that one tree has twice is matched as often as the other tree has it."""
    word = ["PRP", WORDS[case.between(0, 5)]]
    single, double = ["NP", word], ["NP", ["NP", word]]
    rest = [["VP", ["VBZ", "sees"], ["NP", ["NN", WORDS[case.between(6, 12)]]]]]
    labels = [one[0] for one in student.call("brackets", double)]
    expect.equal(labels, ["NP", "NP"], "the labels of the brackets", tree=double)
    compare(student, [["S", double, *rest]], [["S", single, *rest]])
    compare(student, [["S", single, *rest]], [["S", ["NP", double], *rest]])


@graded(points=1, levels=2)
def without_a_tree(student: Student, case: Case) -> None:
    """A sentence without a predicted tree has all its brackets missed."""
    he, sees, it = (["NN", word] for word in words_of(case, 3))
    short, longer = ["S", ["NP", he]], ["S", ["VP", sees, ["NP", it]]]
    compare(student, [short], [None])
    compare(student, [short, longer], [short, None])
    if case.level > 0:
        trees = [grown(case, words_of(case, 5 + n + case.between(0, 3)), "S") for n in range(3)]
        compare(student, trees, [trees[0], None, trees[2]])


@graded(points=2, levels=3)
def many_sentences(student: Student, case: Case) -> None:
    """Counts are added over sentences before anything is divided."""
    he, sees, dog = (["NN", word] for word in words_of(case, 3))
    short, right = ["S", ["NP", he], ["VP", sees, ["NP", dog]]], ["S", ["NP", dog]]
    wrong = ["S", ["FRAG", he], ["NP", sees, dog]]  # a label of another span, a span of another label
    compare(student, [short, right], [wrong, right])
    compare(student, [short, right], [right, short])  # each right, in the other's place
    compare(student, [short, short, right], [short, short, wrong])
    if case.level > 0:
        trees = [grown(case, words_of(case, length), "S") for length in (12, 5 + case.between(0, 4))]
        compare(student, [short, *trees], [wrong, trees[0], relabelled(case, trees[1], 4)])
