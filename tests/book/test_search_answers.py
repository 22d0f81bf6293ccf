"""What the search knows beside the index of words: numbers, parts of the paper, and terms of the glossary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.javascript import evaluate

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")

PASSAGES = Path(__file__).parents[2] / "book" / "_assets" / "search" / "passages.js"


@pytest.fixture(scope="module")
def extension(repository: Path) -> Iterator[Callable[[str], Any]]:
    """Import a part of the extension."""
    sys.path.insert(0, str(repository / "book" / "_ext"))
    yield lambda part: import_module(f"annotated_book.{part}")
    sys.path.pop(0)


def passages(call: str, data: Any) -> Any:
    return evaluate(PASSAGES, f"(_, data) => globalThis.annotatedPassages.{call}", data)


def answered(v: Any) -> None:
    v.page.wait_for_selector("#search-results[data-done]")


def test_numbers_and_parts_are_counted_as_they_are_asked_for(extension: Any) -> None:
    answers = extension("answers")
    said = ["BLEU of 28.4 and 37,000 tokens, 37000 of them; section 3.2.1, equation 3.", "E4000 and 1 are no numbers"]
    counted = answers.numbers({"a": [("", "28.4", said)], "b": [("", "", ["In 4000 steps. Equation 3"])]})
    assert counted == {
        "28.4": {"a": 2}, "37000": {"a": 2}, "3.2.1": {"a": 1}, "section 3.2.1": {"a": 1}, "4000": {"b": 1},
        "equation 3": {"a": 1, "b": 1},
    }  # fmt: skip
    asked = {text: passages("numbersOf(data)", text) for text in ("37,000", "28.4 BLEU", "3.2.1", "layer 6", "d_k2")}
    assert asked == {"37,000": ["37000"], "28.4 BLEU": ["28.4"], "3.2.1": ["3.2.1"], "layer 6": [], "d_k2": []}
    assert passages("withoutNumbers(data)", "why 28.4 BLEU") == "why BLEU"
    marks = passages("marked(data, ['37000', '3'], word => word)", "37,000 in 3.5; 3 of 370000")
    assert marks[1::2] == ["37,000", "3"], "a number is a whole one"


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("Equation 3", "equation 3"), ("eq. (3)", "equation 3"), ("table 3", "table 3"), ("3.2.1", "section 3.2.1"),
        ("§ 3.2.1", "section 3.2.1"), ("equation 9", None), ("3", None), ("table tennis", None),
    ],
)  # fmt: skip
def test_a_part_of_the_paper_is_known_by_its_number(typed: str, key: str | None) -> None:
    parts: dict[str, list[str]] = {"equation 3": [], "table 3": [], "section 3.2.1": [], "section 3": []}
    assert passages("partOf(...data) ?? null", [typed, parts]) == key


def test_the_chapter_that_the_glossary_names_is_the_first(extension: Any) -> None:
    glossary = (
        ":::{glossary}\ncross-attention\n交叉注意力\n  Words. [Chapter\n  6](../a/six.md)\n\nloss\n  No chapter.\n:::\n"
    )
    found = {"a/six": [], "reference/glossary": [("term-cross", "cross-attention · 交叉注意力", ["Words."])]}
    known = extension("answers").terms(glossary, found)
    both = [("a/six.html", ""), ("reference/glossary.html#term-cross", "")]
    assert known == {"cross-attention": both, "交叉注意力": both, "loss": [("reference/glossary.html", "")]}
    data = {
        "cross-attention": ["C"],
        "残差连接": ["R"],
        "byte-pair encoding": ["B"],
        "FlashAttention": ["F"],
        "head": ["H"],
    }
    for asked, answer in (
        ("Cross attention", ["C"]), ("残差", ["R"]), ("byte pair", ["B"]), ("flash attention", ["F"]), ("heads", ["H"]),
        ("att", []), ("ross-attention", []),
    ):  # fmt: skip
        assert passages("entryOf(...data)", [asked, data]) == answer, asked


def test_a_chapter_about_a_part_comes_before_those_that_treat_it(extension: Any) -> None:
    titles = {"x": "3. Before 2017", "y": "5. Scaled dot-product attention", "z": "27. Table 2 and its costs"}
    treated = {"section 3.2.1": ("Scaled Dot-Product Attention", ["x", "y"]), "Table 2": ("BLEU", ["x", "z"])}
    known = extension("answers").parts(treated, titles)
    assert [a for a, _ in known["section 3.2.1"]] == [
        "y.html",
        "x.html",
        "reference/paper_map.html#paper-section-3-2-1",
    ]
    assert known["table 2"][0] == ("z.html", "")
    assert known["table 2"][-1] == ("reference/paper_map.html#paper-table-2", "Table 2: BLEU")


@pytest.mark.parametrize(
    ("word", "term", "begins"),
    [
        ("latention", "atention", False), ("MultiHeadAttention", "attention", True), ("log_softmax", "softmax", True),
        ("masked", "mask", True), ("unmasked", "mask", False), ("残差连接", "连接", True),
    ],
)  # fmt: skip
def test_a_word_is_found_at_its_beginning_and_not_inside(word: str, term: str, begins: bool) -> None:
    assert passages("begins(...data)", [word, term]) is begins


def test_what_is_only_in_code_is_said_to_be() -> None:
    places = [["", "Masks", ["A mask hides keys."]]]
    (only,) = passages("best(data, ['qkv'], word => word)", places)
    assert only["text"].startswith("Not in the text of this page")
    (answer,) = passages("best(data, ['qkv'], word => word, [], 3, true)", places)
    assert answer["text"] == "A mask hides keys.", "a page that answers in other words shows its beginning"


def test_numbers_parts_and_central_terms_lead_to_their_chapters(visit: Any, book: Path) -> None:
    if not (book / "reference" / "paper_map.html").is_file():
        pytest.skip("a preview of one chapter has no paper map")
    first = {
        "28.4": "26. BLEU", "37000": "16. Subwords", "equation 3": "20. Adam", "3.2.1": "5. Scaled",
        "softmax": "5. Scaled", "QKV": "6. Query",
        "learning rate": "20. Adam", "cross attention": "6. Query", "byte pair": "16. Subwords", "β_2": "20. Adam",
    }  # fmt: skip
    with visit("search.html") as v:
        for asked, chapter in first.items():
            v.page.goto(v.page.url.partition("?")[0] + f"?q={asked}")
            answered(v)
            assert v.page.locator(".search-page > a").first.inner_text().startswith(chapter), asked
        v.page.goto(v.page.url.partition("?")[0] + "?q=atention")
        answered(v)
        assert v.page.locator(".search-meant").inner_text() == "No page has “atention”. These pages have attention."
        assert v.errors == []
