"""Links to the parts of the paper on the web: `resolve("3.2.1")`, `resolve("equation 1")`, `resolve("Table 3")`."""

from __future__ import annotations

from annotated.paper import EQUATIONS, FIGURES, SECTIONS, entries

# Where the tables stand in version 7.
_SECTION_OF_TABLE = {"1": "4", "2": "6.1", "3": "6.2", "4": "6.3"}


def resolve(text: str) -> tuple[str, str, str]:
    """What to show, the title and the address for a reference to the paper.

    Raises
    ------
    KeyError
        If the paper has no such part.
    """
    key = f"section {text}" if text[0].isdigit() else text
    title = entries()[key]
    kind, _, number = key.partition(" ")
    sections = {section.number: section for section in SECTIONS}
    if kind == "equation":
        number = next(e.section for e in EQUATIONS if str(e.number) == number)
    elif kind == "figure":
        number = next(f.section for f in FIGURES if str(f.number) == number)
    elif kind == "Table":
        number = _SECTION_OF_TABLE[number]
    elif kind != "section":
        number = key
    return key, title, sections[number].url
