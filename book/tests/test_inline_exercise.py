"""Small exercises: what the directive computes and refuses, how answers are read and graded, and each of the book."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from annotated_book import pages
from annotated_book.pages import page_files
from book.conftest import html_folder
from book.tests.sites import build_site

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "book" / "_assets" / "book"
OF_EACH_KIND = ("attention/masks", "training/subwords", "decoding/beam_search")
"""Pages that ask for a whole number, a word, and a number with a sign and digits."""
_TRY = re.compile(r"^:::\{try\} ([^\n]+)\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
BODY = """How many?

- `2` Not *doubled*.
- `8` Doubled twice, [[answer * 2]].

**Hint.** Double.

**Solution.** [[2 + 2]]."""


def written(title: str, options: str, body: str) -> str:
    return f":::{{try}} {title}\n{options}\n\n{body}\n:::\n"


def page_of(extension: Any, folder: Path, text: str) -> tuple[str, str]:
    """Build a page of Markdown: its HTML, and what was complained about."""
    out, complaints = build_site(folder, {"index": f"# Title\n\n{text}\n"}, ["authoring.inline_exercise"])
    return (out / "index.html").read_text(encoding="utf-8"), complaints


# What the directive computes


def test_answer_wrong_answers_and_numbers_in_the_text_are_computed(extension: Any) -> None:
    made = extension("authoring.inline_exercise").exercise(
        BODY.splitlines(), {"answer": "half * 2", "given": "half = 2"}
    )
    assert (made.answer, made.kind, made.solution) == (4, "number", "4.")
    assert [(miss.value, miss.text) for miss in made.misses] == [(2, "Not *doubled*."), (8, "Doubled twice, 8.")]


@pytest.mark.parametrize(
    ("answer", "miss", "kind", "shown"),
    [
        ("torch.zeros(2, 3).shape", "[3, 2]", "shape", "[2, 3]"),
        ("str('ab')", "'b'", "word", "ab"),
        ("torch.tensor(3)", "4", "number", "3"),
        ("annotated.base().d_model * 10", "51", "number", "5,120"),
        ("-7", "7", "number", "−7"),
    ],
)
def test_kinds_of_answers(extension: Any, answer: str, miss: str, kind: str, shown: str) -> None:
    body = f"What?\n\n- `{miss}` No.\n\n**Hint.** H.\n\n**Solution.** S."
    made = extension("authoring.inline_exercise").exercise(body.splitlines(), {"answer": answer})
    assert made.kind == kind and made.shown(made.answer) == shown


@pytest.mark.parametrize(
    ("options", "body", "complaint"),
    [
        ({"answer": "4"}, BODY.replace("**Hint.** ", ""), "needs a question, wrong answers"),
        ({"answer": "4"}, BODY.replace("- `8` ", "- 8: "), "a wrong answer is"),
        ({"answer": "2"}, BODY, "2 and 2 would be taken for the same"),
        ({"answer": "8 / 3"}, BODY, "no whole number"),
        ({"answer": "2.015", "digits": "2"}, BODY, "would be taken for the same"),
        ({"answer": "[4]"}, BODY, "answers of different kinds"),
        ({"answer": "4 / 0"}, BODY, "ZeroDivisionError"),
        ({"answer": "None"}, BODY, "neither a number, a shape nor a word"),
        ({"digits": "1"}, BODY, "needs `:answer:`"),
        ({"answer": "4"}, BODY.replace("2 + 2", "unknown"), "NameError"),
    ],
)
def test_an_exercise_with_a_fault_is_refused(extension: Any, options: Any, body: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        extension("authoring.inline_exercise").exercise(body.splitlines(), options)


def test_a_fault_is_an_error_of_the_page(extension: Any, tmp_path: Path) -> None:
    html, complaints = page_of(extension, tmp_path, written("T", ":answer: 1 / 0", BODY))
    assert "try: ZeroDivisionError" in complaints and "data-try" not in html


def test_the_box_unfolds_without_scripts(extension: Any, tmp_path: Path) -> None:
    html, complaints = page_of(extension, tmp_path, written("A *title*", ":answer: 4\n:unit: heads", BODY))
    assert complaints == "" and "Try it: A <em>title</em>" in html and "Not <em>doubled</em>." in html
    assert re.findall(r"<summary>(.*?)</summary>", html) == [
        "Hint",
        "Solution",
        "Wrong answers, and where they come from",
    ]
    assert "<strong>4 heads</strong>" in html and "<p>2 heads</p>" in html


def test_a_notebook_asks_and_unfolds(extension: Any) -> None:
    plain = extension("delivery.notebook_export").Writer(ROOT).plain(written("Heads", ":answer: 4\n:unit: heads", BODY))
    assert plain.startswith("**Try it: Heads.** How many?\n\nAnswer with a whole number, in heads.")
    assert "<details><summary>Solution</summary>\n\n**4 heads**\n\n4." in plain
    assert "- 2 heads: Not *doubled*." in plain and "[[" not in plain


# Grading, on pages made by hand


@pytest.fixture(scope="module")
def hand_made(extension: Any, chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page with a number, a shape and a word, with the book's store and script."""
    numbers = written("Number", ":answer: 1536.5\n:digits: 1\n:unit: nats", BODY.replace("`2`", "`-0.75`"))
    shape = BODY.replace("`2`", "`[8, 2, 64]`").replace("`8`", "`[2, 8, 64, 1]`").replace("answer * 2", "0")
    word = BODY.replace("`2`", "`'ea'`").replace("`8`", "`'te'`").replace("answer * 2", "0")
    text = "\n".join(
        (numbers, written("Shape", ":answer: [2, 8, 64]", shape), written("Word", ":answer: str('sea')", word))
    )
    folder = tmp_path_factory.mktemp("tries")
    html, complaints = page_of(extension, folder, text)
    assert complaints == ""
    scripts = "".join(
        f"<script>{(ASSETS / name).read_text(encoding='utf-8')}</script>" for name in ("store.js", "tries.js")
    )
    file = folder / "by_hand.html"
    file.write_text(html.replace("</body>", f"{scripts}</body>"), encoding="utf-8")
    page = chromium.new_page()
    page.goto(file.as_uri())
    yield page
    page.close()


def answered(box: Any, text: str) -> str:
    """What the box says to an answer that is typed and sent with Enter."""
    box.locator("input").fill(text)
    box.locator("input").press("Enter")
    return box.locator("[role=status]").inner_text()


@pytest.mark.parametrize(
    "text", ["1536.5", "1,536.5", "1 536.5", " 1536,5 nats", "1536.5 Nats", "3073/2", "1_536.58", "1.5365e3", "1536.4"]
)
def test_a_right_number_may_be_written_in_many_ways(hand_made: Any, text: str) -> None:
    assert answered(hand_made.locator(".try").nth(0), text).startswith("✓ Right.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1536.8", "It is less than that"),
        ("1536.2", "It is more than that"),
        ("-0.75", "Not doubled"),
        ("−3/4", "Not doubled"),
        ("-75 %", "Not doubled"),
        ("-75%", "Not doubled"),
        ("8", "Doubled twice, 3073.0"),
        ("", "Type a number"),
        ("about 1536.5", "Type a number"),
        ("1/2/3", "Type a number"),
        ("1/0", "Type a number"),
    ],
)
def test_a_wrong_number_gets_its_reason(hand_made: Any, text: str, said: str) -> None:
    found = answered(hand_made.locator(".try").nth(0), text)
    assert said in found and "Right" not in found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[2, 8, 64]", "✓ Right."),
        ("2x8x64", "✓ Right."),
        ("(2, 8, 64,)", "✓ Right."),
        ("torch.Size([2, 8, 64])", "✓ Right."),
        ("2 8 64", "✓ Right."),
        ("[8, 2, 64]", "Not doubled"),
        ("[64, 8, 2]", "in another order"),
        ("[2, 8, 32]", "a size is not"),
        ("[2, 512]", "It has 3 axes, and yours has 2"),
        ("two, eight", "Type the sizes"),
    ],
)
def test_shapes_are_read_and_graded(hand_made: Any, text: str, said: str) -> None:
    assert said in answered(hand_made.locator(".try").nth(1), text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sea", "✓ Right."),
        (" “S + ea” ", "✓ Right."),
        ("ea", "Not doubled"),
        ("eat", "the hint"),
        ("", "Type a word"),
    ],
)
def test_words_are_graded_whatever_their_case_and_quotes(hand_made: Any, text: str, said: str) -> None:
    assert said in answered(hand_made.locator(".try").nth(2), text)


def test_the_solution_waits_for_an_answer_and_is_remembered(hand_made: Any) -> None:
    page = hand_made
    page.evaluate("localStorage.clear()")
    page.reload()
    box = page.locator(".try").first
    hint, solution, others = (box.locator(f".try-{name}") for name in ("hint", "solution", "misses"))
    assert hint.is_visible() and not solution.is_visible() and not others.is_visible()
    answered(box, "nonsense")
    assert not solution.is_visible() and box.locator("input").get_attribute("aria-invalid") == "true"
    answered(box, "8")
    assert solution.is_visible() and solution.get_attribute("open") is None and not others.is_visible()
    page.reload()
    assert box.locator("input").input_value() == "8" and "Doubled twice" in box.locator("[role=status]").inner_text()
    answered(box, "1536.5")
    assert solution.get_attribute("open") is not None and others.is_visible()
    kept = json.loads(page.evaluate("localStorage.getItem('annotated-book')"))["tries"]
    assert [(one["answer"], one["right"]) for one in kept.values()] == [("1536.5", True)]


# Those of the book


@cache
def of_the_book(extension: Any) -> dict[str, list[Any]]:
    """The exercises of each page, in order."""
    found: dict[str, list[Any]] = {}
    for file in page_files():
        for _, text in _TRY.findall(file.read_text(encoding="utf-8")):
            options, body = extension("delivery.notebook_export")._split(text.splitlines())
            name = pages.page_of(file)
            found.setdefault(name, []).append(
                extension("authoring.inline_exercise").exercise(body.splitlines(), options)
            )
    return found


def test_the_answers_of_the_book_are_these(extension: Any) -> None:
    """By hand, without the library."""
    expected = {
        "attention/scaled_dot_product": 0.8808,  # 1 / (1 + e^-2)
        "attention/query_key_value": 2 * 128 * 3 * 20,
        "attention/masks": 1 + 2 + 3 + 4 + 5 + 5 + 5,
        "attention/multi_head": 2 * 512 * 128 + 2 * 512 * 512,
        "machine/feed_forward": 512 + 1 + 512,
        "machine/positions": 6.283185 * 31.622777,
        "training/subwords": "sea",
        "training/batches": 1000 / 400,
        "training/teacher_forcing": 8 + 12,
        "training/label_smoothing": 0.2 - 0.05,
        "training/warm_up": 64_000,
        "decoding/beam_search": -5 / 1.73286,
        "decoding/bleu": 0.7788,  # e^-0.25
        "results/parsing": 80,  # precision 0.9, recall 0.72: 2 * 0.648 / 1.62
    }
    found = {name: made.answer for name, (made,) in of_the_book(extension).items()}
    assert found.keys() == expected.keys()
    for name, answer in expected.items():
        assert found[name] == (answer if isinstance(answer, str) else pytest.approx(answer, rel=1e-4)), name


def test_no_text_gives_its_answer_away(extension: Any) -> None:
    for name, exercises in of_the_book(extension).items():
        for made in exercises:
            shown = re.compile(rf"(?<![\w.,]){re.escape(made.shown(made.answer))}(?![\w,])")
            assert made.kind == "word" or not shown.search(made.question + made.hint), name
            assert len(made.misses) >= 2, name


def pages_with_exercises() -> list[Any]:
    """Those of each kind, and the others nightly: what they ask is checked above, and one script grades them all."""
    files = [file for file in page_files() if _TRY.search(file.read_text(encoding="utf-8"))]
    names = [pages.page_of(file) for file in files]
    found = [name for name in names if (html_folder() / f"{name}.html").is_file()]
    nightly = pytest.mark.nightly
    marked = [pytest.param(name, marks=() if name in OF_EACH_KIND else nightly) for name in found]
    return marked or ["(the book is not built)"]


def typed(made: Any, value: Any) -> str:
    return made.shown(value)[: -len(made.unit) or None]


@pytest.mark.parametrize("name", pages_with_exercises())
def test_each_answer_of_the_page_is_graded_as_its_source_says(extension: Any, visit: Any, name: str) -> None:
    exercises = of_the_book(extension)[name]
    with visit(f"{name}.html", viewport={"width": 390, "height": 844}, color_scheme="dark") as v:
        boxes = v.page.locator(".try")
        assert boxes.count() == len(exercises)
        for box, made in zip(boxes.all(), exercises, strict=True):
            reasons = box.locator(".try-miss > div").all_text_contents()
            for miss, reason in zip(made.misses, reasons, strict=True):
                assert answered(box, typed(made, miss.value)).startswith("✗ Not this one."), miss
                said = box.locator("[role=status]").text_content()
                assert len(reason.strip()) > 20 and reason.strip() in said, miss
            assert answered(box, typed(made, made.answer)).startswith("✓ Right.")
            assert box.locator(".try-solution strong").first.inner_text() == made.shown(made.answer)
        assert v.overflow() <= 0 and v.axe(within=".try", marks=False) == [] and v.errors == []
