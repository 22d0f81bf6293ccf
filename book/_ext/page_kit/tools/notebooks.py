"""Notebooks of all chapters, as their pages offer them, into a folder: for Binder, and for a branch that Colab reads.

    python -m page_kit.tools.notebooks FOLDER

The folder must not be there. BOOK_URL, if it is set, is where their first cells install the wheels from.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from annotated_book.pages import page_file, page_texts
from page_kit.delivery.downloads import first_cell, wheels_for
from page_kit.delivery.notebook_export import notebook_of
from page_kit.delivery.publishing import address


def write_notebooks(folder: Path) -> list[Path]:
    """Write the notebook of each page that has cells, at its page's address.

    Raises
    ------
    FileExistsError
        If the folder is there.
    """
    folder.mkdir(parents=True)
    written = []
    for page, text in page_texts().items():
        if "{code-cell}" in text:
            notebook = notebook_of(text, first_cell(address(), wheels_for(text)), page_file(page))
            place = folder / f"{page}.ipynb"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            written.append(place)
    return written


if __name__ == "__main__":
    print(f"{len(write_notebooks(Path(sys.argv[1])))} notebooks in {sys.argv[1]}")
