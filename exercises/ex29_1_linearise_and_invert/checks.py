"""Checks of ex29-1: trees as lists, against the library's own trees and linear form.

Paper: section 6.3
"""

from typing import Any

from annotated.parsing import LinearFormError, Tree, linear_form, tree_from_linear
from annotated_grader import Case, Student, expect, graded

LABELS = ("S", "NP", "VP", "PP", "SBAR", "ADJP", "XX")
WORDS = "Anna sees the old dog with a lamp and sleeps in her garden , who knows ( XX".split()


def some_tree(case: Case, words: list[str], chains: bool, depth: int = 0) -> list[Any]:
    """A random tree over words; if asked for, with constituents that hold a single constituent."""
    first = depth == 0 and case.level == 0
    label = LABELS[0] if first else LABELS[1 + int(case.integers(0, len(LABELS) - 1, 1))]
    if len(words) == 1 or depth == 4:
        chain = chains and len(words) == 1 and depth < 3 and int(case.integers(0, 2, 1)) == 0
        return [label, some_tree(case, words, chains, depth + 1)] if chain else [label, *words]
    middle = 1 + int(case.integers(0, len(words) - 1, 1))
    parts: list[Any] = []
    for piece in (words[:middle], words[middle:]):
        single = len(piece) == 1 and int(case.integers(0, 2, 1)) == 0
        parts += piece if single else [some_tree(case, piece, chains, depth + 1)]
    return [label, *parts]


def library_tree(tree: list[Any]) -> Tree:
    """The same tree as the library has it, its words numbered."""
    count = iter(range(1_000))

    def made(one: Any) -> Tree:
        if isinstance(one, str):
            return Tree("XX", (f"w{next(count)}",))
        return Tree(one[0], tuple(made(part) for part in one[1:]))

    return made(tree)


def nested(tree: Tree, words: list[str]) -> Any:
    """The list of a library's tree whose words are numbers of `words`."""
    if tree.is_tag:
        return words[int(str(tree.children[0])[1:])]
    return [tree.label, *(nested(part, words) for part in tree.parts())]


def expected_tree(tokens: list[str], words: list[str]) -> Any:
    """What the library makes of the tokens; None if they are malformed."""
    try:
        return nested(tree_from_linear(tokens, [f"w{n}" for n in range(len(words))]), words)
    except LinearFormError:
        return None


def drawn(case: Case, chains: bool = False) -> tuple[list[Any], list[str], list[str]]:
    """A tree, its tokens, its words."""
    words = [WORDS[int(i)] for i in case.permutation(len(WORDS))[: 3 + case.between(0, 5)]]
    tree = some_tree(case, words, chains)
    return tree, linear_form(library_tree(tree)), words


def inverted(student: Student, tokens: list[str], words: list[str]) -> None:
    """Compare a tree with the library's."""
    got = student.call("tree_of", tokens, words)
    expect.equal(got, expected_tree(tokens, words), "the tree", tokens=" ".join(tokens), words=words)


@graded(points=2, levels=3)
def tokens_of_a_tree(student: Student, case: Case) -> None:
    """A tree's tokens, in their order."""
    small = ["S", ["NP", "He"], ["VP", "sleeps"], "."]
    tree = small if case.level == 0 else drawn(case, chains=True)[0]
    got = student.call("linear", tree)
    expect.equal(got, linear_form(library_tree(tree)), "the tokens", tree=tree)


@graded(points=2, levels=3)
def back_to_the_tree(student: Student, case: Case) -> None:
    """The tree of its tokens, each word in its place."""
    words = ["He", "sleeps", "."]
    if case.level == 0:
        inverted(student, "(S (NP XX )NP (VP XX )VP XX )S".split(), words)
    else:
        _, tokens, words = drawn(case, chains=True)
        inverted(student, tokens, words)
    inverted(student, "(S (NP (NP XX )NP )NP (VP XX (NP XX )NP )VP )S".split(), [WORDS[case.between(0, 5)], *words[:2]])


@graded(points=1, levels=2)
def labels_must_match(student: Student, case: Case) -> None:
    """A bracket that is closed under another label is refused."""
    _, tokens, words = drawn(case)
    closing = [place for place, token in enumerate(tokens) if token[0] == ")"]
    place = closing[case.between(0, len(closing) - 1)]
    label = tokens[place][1:]
    for other in ("WHNP", label.lower(), label + "-SBJ", label + "AR", label[:1] if label[1:] else "SBAR"):
        inverted(student, [*tokens[:place], ")" + other, *tokens[place + 1 :]], words)
    inverted(student, tokens, words)
    inverted(student, ["(XX", *tokens, ")XX"], words)


@graded(points=1, levels=2)
def nothing_is_empty(student: Student, case: Case) -> None:
    """A constituent without anything in it is refused."""
    _, tokens, words = drawn(case)
    place = case.between(1, len(tokens) - 1)
    inverted(student, [*tokens[:place], "(PRT", ")PRT", *tokens[place:]], words)
    inverted(student, tokens, words)


@graded(points=1, levels=2)
def one_leaf_for_each_word(student: Student, case: Case) -> None:
    """Too many leaves are refused, and too few."""
    _, tokens, words = drawn(case)
    inverted(student, tokens, words[:-1])
    inverted(student, tokens, [*words, "again"])
    inverted(student, tokens, words)


@graded(points=1, levels=2)
def one_whole_tree(student: Student, case: Case) -> None:
    """What is not closed is refused, and so is what follows the end of the tree or stands outside of it."""
    _, tokens, words = drawn(case)
    inverted(student, tokens[:-1], words)
    inverted(student, tokens[: -1 - case.between(1, 2)], words)
    inverted(student, [*tokens, tokens[-1]], words)
    inverted(student, [*tokens, "(S", "XX", ")S"], [*words, "again"])
    inverted(student, ["XX", *tokens], ["again", *words])
    inverted(student, [], [])
    inverted(student, tokens, words)
