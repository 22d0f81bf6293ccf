"""The authors' kit: notes in the margin, cells that are checks, and predictions that mark their right option."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import page_file, page_texts
from book.tests.sites import build_site

LONGEST_CELL = 15
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_TAGS = re.compile(r"^(?::tags: \[([^\]]*)\]\n|---\ntags: \[([^\]]*)\]\n(?:[^\n]+\n)*?---\n)")
_UNSEEN = {"check", "hide-input", "hide-cell", "remove-input", "remove-cell"}


PAGES = {f"{page}.md": text for page, text in page_texts().items()}


@pytest.fixture
def page(extension: Any, tmp_path: Path) -> Callable[[str], tuple[str, str]]:
    """Build a page of Markdown: its HTML, and what was complained about."""
    parts = [f"authoring.{name}" for name in ("fold", "margin", "prediction", "row_blocks")]

    def build(text: str) -> tuple[str, str]:
        out, complaints = build_site(tmp_path, {"index": f"# Title\n\n{text}\n"}, parts)
        return (out / "index.html").read_text(encoding="utf-8"), complaints

    return build


def cells(text: str) -> list[tuple[set[str], str]]:
    """The code cells of a page: tags and code."""
    found = []
    for body in _CELL.findall(text):
        tags = _TAGS.match(body)
        names = {tag.strip() for tag in (tags[1] or tags[2]).split(",")} if tags else set()
        found.append((names, _TAGS.sub("", body, count=1).strip("\n")))
    return found


def test_a_margin_note_is_a_named_note(page: Any) -> None:
    html, complaints = page(":::{margin} Often said\nThat *it* is so.\n:::\n\nThe text.")
    note = re.search(r"<aside([^>]*)>(.*?)</aside>", html, re.DOTALL)
    assert note and 'role="note" aria-label="Often said"' in note[1] and "note-often-said" in note[1]
    assert "<em>it</em>" in note[2] and complaints == ""


@pytest.mark.parametrize(
    ("text", "complaint"), [(":::{margin} Aside\nx\n:::", "none of them"), (":::{margin} Shape\n:::", "needs a text")]
)
def test_a_margin_note_of_no_kind_or_no_text_is_an_error(page: Any, text: str, complaint: str) -> None:
    assert complaint in page(text)[1]


def test_a_fold_hides_prose_and_tables_behind_its_line(page: Any, extension: Any, repository: Path) -> None:
    text = ":::{fold} What x < y means\nA *word*.\n\n| a |\n| --- |\n| b |\n:::"
    made, complaints = page(text)
    assert complaints == ""
    inside = re.search(r'<details class="fold"><summary>What x &lt; y means</summary>(.*)</details>', made, re.DOTALL)
    assert inside and "<em>word</em>" in inside[1] and "<table" in inside[1]
    assert "<summary>What x &lt; y means</summary>\n\nA *word*." in extension("delivery.notebook_export").Writer(
        repository
    ).plain(text)


def test_a_fold_of_nothing_is_an_error(page: Any) -> None:
    assert "something to hide" in page(":::{fold} Nothing\n:::")[1]


def test_checks_are_counted_in_the_code(extension: Any) -> None:
    count = extension("authoring.checks").count_checks
    assert count("x = 1") == 0
    assert count("assert x\nif y:\n    assert z, 'text with assert in it'") == 2
    assert count("torch.testing.assert_close(a, b)\nassert_frame_equal(a, b)\nassertion(a)") == 2
    assert extension("authoring.checks").in_words(1) == "1 check passed"


def test_a_prediction_marks_its_right_option(page: Any) -> None:
    html, complaints = page("```{prediction}\nHow many?\n\n- [ ] one\n- [x] two\n- [ ] three\n\nTwo.\n```")
    assert complaints == "" and '<details data-answer="2">' in html
    assert re.findall(r"<li><p>(.*?)</p>", html) == ["one", "two", "three"], "without the marks"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("- [ ] one\n- [ ] two\n\nTwo.", "here are 0"),
        ("- [x] one\n- [x] two\n\nTwo.", "here are 2"),
        ("- one\n- two\n\nTwo.", "two options or more"),
        ("- [ ] one\n- [x] two\n- three\n\nTwo.", "each marked"),
        ("- [ ] one\n- [x] two", "explanation"),
    ],
)
def test_a_prediction_with_a_fault_is_an_error(page: Any, body: str, complaint: str) -> None:
    html, complaints = page(f"```{{prediction}}\nHow many?\n\n{body}\n```")
    assert complaint in complaints and "data-answer" not in html


def test_chapter_15_is_keyed_by_the_count(extension: Any, repository: Path) -> None:
    import annotated

    counts = {"attention": 0, "feed_forward": 0, "embedding": 0}
    for name, parameter in annotated.Transformer(annotated.base(vocab_size=37_000)).named_parameters():
        kind = next((kind for kind in counts if kind in name), None)
        if kind:
            counts[kind] += parameter.numel()
    text = page_file("machine/assembly").read_text(encoding="utf-8")
    right = re.search(r"^- \[x\] (.*)$", text, re.MULTILINE)
    assert right and max(counts, key=counts.__getitem__).replace("_", "-") in right[1]


@pytest.mark.parametrize("name", PAGES)
def test_shown_cells_teach(extension: Any, name: str) -> None:
    faults = []
    for tags, code in cells(PAGES[name]):
        if tags & _UNSEEN or code.startswith("%%writefile"):  # a program is shown whole
            continue
        if sum(bool(line.strip()) for line in code.splitlines()) > LONGEST_CELL:
            faults.append(f"a shown cell has more than {LONGEST_CELL} lines:\n{code}")
        if extension("authoring.checks").count_checks(code):
            faults.append(f"checks go into a cell tagged `check`:\n{code}")
    assert not faults, "\n\n".join([name, *faults])


def test_cells_tagged_check_have_checks(extension: Any) -> None:
    for name, text in PAGES.items():
        for tags, code in cells(text):
            if "check" in tags:
                ast.parse(code)
                assert extension("authoring.checks").count_checks(code), f"{name}:\n{code}"


@pytest.mark.parametrize("name", [name for name in PAGES if name != "reference/misreadings.md"])
def test_what_nobody_believes_has_left_the_chapters(name: str) -> None:
    """A box of the page of misreadings is on no other page."""
    box = re.compile(r"^:{3,}\{(?:claim|question)\} (\w+)$", re.MULTILINE)
    assert not set(box.findall(PAGES[name])) & set(box.findall(PAGES["reference/misreadings.md"]))


PAGE = "attention/scaled_dot_product.html"


def kept(v: Any) -> Any:
    """The reader's predictions, as the browser keeps them."""
    stored = v.page.evaluate("localStorage.getItem('annotated-book')")
    return json.loads(stored)["predictions"] if stored else {}


def test_arrow_keys_browse_a_prediction_and_enter_commits(visit: Any) -> None:
    with visit(PAGE) as v:
        box = v.page.locator(".prediction").first
        radios, verdict = box.locator("input"), box.locator("[role=status]")
        radios.first.focus()
        v.page.keyboard.press("ArrowDown")
        v.page.keyboard.press("ArrowDown")
        assert radios.nth(2).is_checked() and verdict.inner_text() == "" and not kept(v), "nothing is given away"
        assert box.locator("details").get_attribute("open") is None
        v.page.keyboard.press("ArrowUp")
        v.page.keyboard.press("Enter")
        assert verdict.inner_text() and list(kept(v).values()) == [2]
        v.page.keyboard.press("ArrowUp")
        assert list(kept(v).values()) == [2]
        box.get_by_role("button", name="Commit").click()
        assert list(kept(v).values()) == [1] and radios.first.is_checked()
        radios.nth(2).click()
        assert list(kept(v).values()) == [3] and v.errors == []


def test_a_table_of_blocks_carries_the_heads_of_its_cells(page: Any) -> None:
    rows = "| what | then |\n| --- | --- |\n| *one* | two |\n| three | *four* |\n| five | |\n"
    html, complaints = page(f":::{{table}} Named\n:class: blocks\n{rows}:::\n\n{rows}")
    assert complaints == ""
    label = '<span class="cell-label">then</span>'
    assert html.count(label) == 2 and html.count("cell-label") == 2, "not of an empty cell, nor in the other table"
    assert f"{label}two" in html and "<em>one</em>" in html
