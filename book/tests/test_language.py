"""The language of the pages: no pattern of the lint on any page."""

from __future__ import annotations

import pytest

from book.tests.language import HEADINGS, PROSE, Rule, faults, pages, prose

PAGES = pages()


@pytest.mark.parametrize("rule", PROSE, ids=lambda rule: rule.advice)
def test_a_rule_finds_its_example_and_passes_plain_english(rule: Rule) -> None:
    found = [fault for fault in faults(rule.example) if fault.endswith(rule.advice)]
    assert found, rule.example
    assert not list(faults(rule.plain)), rule.plain


def test_code_formulas_quotations_and_the_papers_words_are_left_alone() -> None:
    text = (
        "---\nchapter:\n  next: for ever\n---\n\n# For ever `for ever`\n\n```python\nfor ever\n```\n\n"
        '::::{div} the-paper\nfor ever\n::::\n\n`for ever`, "for ever", $for ever$, *for ever*, {term}`for ever`,\n'
        "[a](for ever.md), **for\never**.\n"
    )
    assert list(faults(text)) == ["line 17: 'for ever': write `always` or `without end`"]
    assert prose(text).count("\n") == text.count("\n")


def test_a_prediction_is_prose_and_a_riddle_is_no_heading() -> None:
    text = f"```{{prediction}}\nSo for ever?\n\n- [x] yes\n```\n\n## {HEADINGS[0]} [run]{{.layer}}\n"
    assert [fault.partition(":")[0] for fault in faults(text)] == ["line 2", f"heading {HEADINGS[0]!r}"]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_plain(name: str) -> None:
    found = list(faults(PAGES[name]))
    assert not found, "\n".join([name, *found])
