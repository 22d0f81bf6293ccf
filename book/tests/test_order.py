"""Order in which the book's extension changes a page: the table of parts, and the one of events that authors read."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

README = Path(__file__).resolve().parents[1] / "_ext" / "README.md"


def test_every_part_that_registers_something_is_in_the_table_of_parts(extension: Any) -> None:
    order = extension("tools.order")
    found = set()
    for file in order.KIT.glob("*/*.py"):
        names = {getattr(node, "name", "") for node in ast.parse(file.read_text(encoding="utf-8")).body}
        found |= {f"{file.parent.name}.{file.stem}"} if "setup" in names else set()
    assert found == set(order.PARTS) and len(order.PARTS) == len(found)


def test_the_readme_has_the_order_that_the_source_has(extension: Any) -> None:
    table = README.read_text(encoding="utf-8").split("<!-- order -->")[1].split("<!-- end of order -->")[0]
    assert table.strip() == extension("tools.order").as_table(), "run `python -m page_kit.tools.order` in book/_ext"


def test_notes_on_terms_come_behind_the_marks_on_citations(extension: Any) -> None:
    acting = [step.part for step in extension("tools.order").steps() if step.event == "doctree-read"]
    places = [acting.index(part) for part in ("authoring.checks", "reference.citations", "terms.term_counts")]
    assert places == sorted(places)
    last = [step.part for step in extension("tools.order").steps() if step.event == "html-page-context"][-1]
    assert last == "delivery.offline"
