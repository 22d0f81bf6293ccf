"""The book's Sphinx extension: the table of its parts, in the order in which they are registered.

Where two parts change a page at the same event and priority, the one that stands first here goes first; what must come
before or behind another group says so by its priority. `python -m page_kit.tools.order` prints who acts when.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

GROUPS = {
    # What authors write: directives and roles, each with its looks in the page.
    "authoring": (
        *("cards", "checks", "fold", "graded", "inline_exercise", "live", "margin", "paper", "prediction", "quiz"),
        *("row_blocks", "source", "thumbs", "versions"),
    ),
    # Formulas: TeX to MathML, symbols with their meanings, numbers to put in.
    "formulas": ("formula_numbers", "symbols", "visitors"),
    # The library's reference, written from its modules; pages of its source; addresses of others' documentation.
    "api": ("all_names", "api_chapters", "inventories", "modules", "objects", "source_pages"),
    # Claims of the paper and of readers: boxes in the text, effects that cells record, the page of all claims.
    "claims": ("claim_boxes", "claims_page", "effects"),
    # Pages and lists that are made for looking things up, each from the data of all chapters.
    "reference": (
        *("bibliography", "citations", "component_timeline", "doctor", "execution", "exercise_index", "paper_map"),
    ),
    # What stands around a chapter's text: its head, figure 1 in its margin, its reader's progress, what waits behind
    # marks, the sidebar. Words
    # and checks are counted here, so behind those that mark and fold them.
    "chapter": ("chapter_header", "figure_one_margin", "progress", "reading_mode", "sidebar"),
    # Terms of the glossary: where the text says what they mean, and their index. They look at texts that are complete.
    "terms": ("glossary", "term_counts", "term_index"),
    # Finding: the search, and fields that filter a long page.
    "find": ("filters", "searching"),
    # Running the chapters: which run again, and how they run side by side.
    "running": ("one_page", "output_cache", "parallel_execution"),
    # Finished pages: light, offline, accessible, and chapters to take away. It changes what all others have made.
    "delivery": (
        *("downloads", "languages", "no_break", "offline", "on_demand", "page_folders", "page_size", "publishing"),
    ),
}
"""The parts of each group, which is a folder. Other modules of a folder serve these; `tools` are run by hand."""
PARTS = tuple(f"{group}.{part}" for group, parts in GROUPS.items() for part in parts)


def read_in_parallel(app: Sphinx) -> None:
    """Answer for an extension that does not say whether it is safe: no part of this book has numbers."""
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parts. Pages are read and written by one process for each core: all parts are safe for that."""
    app.parallel = max(app.parallel, os.cpu_count() or 1)  # `jupyter-book build` has no option for it
    app.connect("builder-inited", read_in_parallel)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch's threads would not be there in a fork, which waits for them
    app.setup_extension("page_kit.places")
    for part in PARTS:
        import_module(f"page_kit.{part}").setup(app)
    return {"version": "1", "env_version": 3, "parallel_read_safe": True, "parallel_write_safe": True}
