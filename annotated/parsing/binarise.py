"""Trees with at most two children in each node, as a CKY parser needs them, and the way back.

A constituent of many parts becomes a chain of two. What a node of the chain remembers, and what a constituent knows of
its place, decides which rules a treebank's grammar tells apart (Johnson 1998; Klein and Manning 2003).
"""

from __future__ import annotations

from annotated.parsing.tree import Tree

ABOVE, INNER = "^", "@"
"""Mark before a label from above ('NP^S': an NP in an S), and before a node that only binarisation made ('@VP@VBZ': the
rest of a VP behind a VBZ)."""


def check_memory(vertical: int, horizontal: int | None) -> None:
    """Refuse a memory that is none.

    Raises
    ------
    ValueError
        If `vertical` is not positive or `horizontal` is negative.
    """
    if vertical < 1:
        raise ValueError(f"vertical must be positive, not {vertical}: 1 is the constituent's own label")
    if horizontal is not None and horizontal < 0:
        raise ValueError(f"horizontal must not be negative, not {horizontal}; None remembers all parts")


def binarised(tree: Tree, vertical: int = 1, horizontal: int | None = None) -> Tree:
    """The tree with its constituents split from the left: A -> B C D becomes A -> B @A@B and @A@B -> C D.

    Constituents of one part stay, and so do parts of speech.

    Parameters
    ----------
    tree
        A constituent, or a part of speech alone.
    vertical
        How many labels a constituent has: 1 its own, 2 also that of the constituent above it (parent annotation), and
        so on upwards.
    horizontal
        How many of the parts to its left, from the nearest, a node of the chain remembers. None: all of them; then
        relative frequencies of the binary rules multiply to those of the rules of the tree itself.

    Raises
    ------
    ValueError
        If a label holds one of the marks '^' and '@', or the numbers are too small.

    Examples
    --------
    >>> from annotated.parsing.tree import read_tree
    >>> print(binarised(read_tree("(S (NP (PRP he)) (VP (VBZ sleeps)) (. .))"), vertical=2))
    (S (NP^S (PRP he)) (@S@NP (VP^S (VBZ sleeps)) (. .)))
    """
    check_memory(vertical, horizontal)
    for one in tree.subtrees():
        if ABOVE in one.label or INNER in one.label:
            raise ValueError(f"the label {one.label!r} holds {ABOVE!r} or {INNER!r}, which mark what binarisation adds")
    return _binarised(tree, (), vertical, horizontal)


def _binarised(tree: Tree, above: tuple[str, ...], vertical: int, horizontal: int | None) -> Tree:
    if tree.is_tag:
        return tree
    label = ABOVE.join((tree.label, *above[: vertical - 1]))
    parts = [_binarised(part, (tree.label, *above), vertical, horizontal) for part in tree.parts()]
    while len(parts) > 2:
        seen = [part.label for part in tree.parts()[: len(parts) - 2]]
        kept = seen if horizontal is None else seen[max(0, len(seen) - horizontal) :]
        parts[-2:] = [Tree(INNER + INNER.join((label, *kept)), tuple(parts[-2:]))]
    return Tree(label, tuple(parts))


def restored(tree: Tree) -> Tree:
    """The tree that was binarised: nodes of its chains dissolved, labels without those from above."""
    if tree.is_tag:
        return tree
    parts: list[Tree] = []
    for part in tree.parts():
        one = restored(part)
        parts += one.parts() if part.label.startswith(INNER) else (one,)
    return Tree(tree.label.partition(ABOVE)[0], tuple(parts))
