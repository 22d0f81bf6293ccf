"""Words of the training trees for the page's panel: `python -m annotated_book.results.parsing.words` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from annotated.storage import atomic_write
from annotated_book.results.parsing.data import SIZES, training_trees

FILE = Path(__file__).with_name("words.js")
_HEAD = """// Words of the training trees without numbers and times, in small letters where they have them. Written by
// `python -m annotated_book.results.parsing.words`; a test holds the list to the treebank.
"""


def training_words(count: int = SIZES[-1]) -> list[str]:
    """The distinct words of the first training trees, in alphabetical order.

    A word with a capital is left out if it also occurs without. Numbers and times are left out.
    """
    words = {word for tree in training_trees(count) for word in tree.words() if not re.search(r"\d", word)}
    return sorted(word for word in words if (small := word[0].lower() + word[1:]) == word or small not in words)


def main() -> None:
    """Write the list."""
    lines = "\n".join(f"  {line}" for line in _wrapped(training_words()))
    with atomic_write(FILE) as file:
        file.write(f"{_HEAD}export const TRAINING_WORDS = `\n{lines}\n`.trim().split(/\\s+/);\n")


def _wrapped(words: list[str], width: int = 120) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


if __name__ == "__main__":
    main()
