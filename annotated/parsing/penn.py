"""Penn Treebank files: the trees of the Wall Street Journal as parsers are trained and measured on them.

The treebank itself is licensed (LDC99T42) and not part of this project. What is done to a tree here is what is usual
since Collins (1997): no empty elements, no function tags, no constituent over another of the same label alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from annotated.parsing.tree import Tree, read_trees

WsjSplit = Literal["train", "valid", "test"]
SECTIONS: dict[str, tuple[int, ...]] = {"train": tuple(range(2, 22)), "valid": (22,), "test": (23,)}
"""Sections of the Wall Street Journal for each split: the paper's 40K training sentences are sections 2-21."""

ROOTS = frozenset(("", "TOP", "S1", "ROOT"))
"""Labels that only say that a tree begins."""

TAGS = frozenset(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP "
    "VBZ WDT WP WP$ WRB # $ . , : `` '' -LRB- -RRB-".split()
)
"""Parts of speech of the Penn Treebank, punctuation included."""


def plain_label(label: str) -> str:
    """The label without function tags, indices and alternatives: 'NP-SBJ-1', 'NP=2' -> 'NP'; '-LRB-' stays."""
    return re.split("[-=|]", label, maxsplit=1)[0] if label[:1] not in ("-", "=", "|") else label


def plain_tree(tree: Tree) -> Tree | None:
    """The tree without its outer bracket, empty elements and function tags; None if nothing is left.

    Empty elements (`-NONE-`) go first, then every constituent that held nothing else; a constituent that then is
    the only child of one with its own label joins it. Punctuation stays.
    """
    if tree.is_tag:
        return None if tree.label == "-NONE-" else tree
    parts = tuple(part for part in map(plain_tree, tree.parts()) if part is not None)
    if not parts:
        return None
    label = plain_label(tree.label)
    if len(parts) == 1 and not parts[0].is_tag and (label in ROOTS or label == parts[0].label):
        return parts[0]
    return Tree(label or "TOP", parts)


def penn_trees(path: str | Path) -> Iterator[Tree]:
    """The trees of a file of the treebank (`.mrg`), as `plain_tree` leaves them.

    Raises
    ------
    BracketError
        If the file is malformed; the message has its name, line and column.
    ValueError
        If a tree holds nothing but empty elements.
    """
    path = Path(path)
    for number, tree in enumerate(read_trees(path.read_text(encoding="utf-8"), path.name), start=1):
        plain = plain_tree(tree)
        if plain is None:
            raise ValueError(f"{path.name}: tree {number} holds nothing but empty elements")
        yield plain


def wsj_trees(folder: str | Path, split: WsjSplit) -> Iterator[Tree]:
    """The trees of one split of the Wall Street Journal, in the order of sections and files.

    Parameters
    ----------
    folder
        The treebank's folder `wsj`, which holds a folder of `.mrg` files for each section, 00 to 24.
    split
        'train' (sections 2-21), 'valid' (section 22) or 'test' (section 23).

    Raises
    ------
    ValueError
        If there is no such split.
    FileNotFoundError
        If a section's folder is missing or has no `.mrg` files.

    Paper: section 6.3
    """
    if split not in SECTIONS:
        raise ValueError(f"there is no split {split!r}; there are {', '.join(get_args(WsjSplit))}")
    sections = [Path(folder) / f"{number:02d}" for number in SECTIONS[split]]
    files = [sorted(section.glob("*.mrg")) for section in sections]
    for section, found in zip(sections, files, strict=True):
        if not found:
            raise FileNotFoundError(
                f"{section} has no .mrg files; give the treebank's folder wsj, which holds the sections 00 to 24"
            )
    return (tree for section_files in files for path in section_files for tree in penn_trees(path))
