"""The reader's side: time estimates, quizzes and their files, marks that stay in the browser, and why to read on."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import BOOK, page_file, page_files

# Time estimates


@pytest.mark.parametrize(
    ("counts", "minutes"),
    [((200,), 1), ((201,), 2), ((1000, 4), 7), ((1000, 4, 3), 10), ((0, 0, 0, 1), 1), ((600, 1, 1, 3), 6), ((0,), 1)],
)
def test_minutes_are_words_listings_pictures_and_questions(
    extension: Any, counts: tuple[int, ...], minutes: int
) -> None:
    assert extension("chapter.page_facts").reading_minutes(*counts) == minutes


@pytest.mark.parametrize(
    ("minutes", "text"), [(7, "7 min"), (59, "59 min"), (60, "1 h"), (64, "1 h"), (66, "1 h 10 min"), (355, "6 h")]
)
def test_minutes_in_words(extension: Any, minutes: int, text: str) -> None:
    assert extension("chapter.page_facts").in_words(minutes) == text


def test_a_page_is_counted_by_its_parts(extension: Any) -> None:
    from docutils import nodes
    from docutils.frontend import get_default_settings
    from docutils.utils import new_document

    page = new_document("page", get_default_settings())
    page += nodes.paragraph("", "Five words, of which don't count.", nodes.comment("", "not these three"))  # six words
    page += nodes.literal_block("", "x = 1  # no words")
    cell = nodes.container(nb_element="cell_code")
    cell += nodes.literal_block("", "chart()")
    bundle = nodes.container(nb_element="mime_bundle")
    output = nodes.container(mime_type="text/html")
    output += nodes.raw("", '<figure class="chart">...</figure>', format="html")
    bundle += output
    cell += bundle
    page += cell
    page += nodes.container("", nodes.paragraph("", "Guess"), classes=["prediction"])
    folded = nodes.container("", nodes.paragraph("", "Seven folded words that do not count."), classes=["try-more"])
    page += nodes.container("", nodes.paragraph("", "Try"), folded, classes=["try"])
    page += nodes.raw("", '<div data-quiz="05"><fieldset data-answer="1"></fieldset></div>', format="html")
    page += nodes.title("", "", nodes.inline("", "run", classes=["layer"]), nodes.inline("", "read", classes=["layer"]))
    facts = extension("chapter.page_facts").take_stock(page)
    assert (facts.words, facts.code, facts.pictures, facts.questions, facts.quizzes) == (8, 2, 1, 3, 1)
    assert facts.layers == ("read", "run")


# Quiz files

GOOD = [
    {
        "question": "Which?",
        "options": [
            {"text": "this", "feedback": "no", "misconception": "C08"},
            {"text": "that", "feedback": "yes", "correct": True},
            {"text": "both", "feedback": "no"},
        ],
    }
]


def broken(change: Any) -> Any:
    data = copy.deepcopy(GOOD)
    change(data)
    return data


def test_a_good_quiz_is_read(extension: Any) -> None:
    (question,) = extension("authoring.quiz").parse(GOOD)
    assert sorted(option.text for option in question.options) == ["both", "that", "this"]
    assert question.options[question.answer - 1].text == "that"
    assert {option.text for option in question.options if option.misconception == "C08"} == {"this"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d[0]["options"][1].pop("correct"), "exactly one"),
        (lambda d: d[0]["options"][0].update(correct=True, misconception=""), "exactly one"),
        (lambda d: d[0]["options"][2].pop("feedback"), "option 3 needs a text for `feedback`"),
        (lambda d: d[0]["options"].pop(), "three or four"),
        (lambda d: d[0]["options"][0].update(text="both"), "twice"),
        (lambda d: d[0]["options"][1].update(misconception="C01"), "names a misconception"),
        (lambda d: d[0]["options"][0].update(hint="x"), "unknown keys: hint"),
        (lambda d: d[0]["options"][1].update(correct="yes"), "true or false"),
        (lambda d: d[0].update(extra=1), "nothing else"),
        (lambda d: d.clear(), "list of questions"),
    ],
)
def test_a_bad_quiz_is_refused_with_the_reason(extension: Any, change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        extension("authoring.quiz").parse(broken(change))


def test_a_missing_or_broken_file_is_named(extension: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no 07.yaml"):
        extension("authoring.quiz").load(tmp_path / "07.yaml")
    (tmp_path / "08.yaml").write_text("- question: [", encoding="utf-8")
    with pytest.raises(ValueError, match="08.yaml"):
        extension("authoring.quiz").load(tmp_path / "08.yaml")


def test_every_quiz_of_the_book_is_well_made(extension: Any) -> None:
    files = sorted(BOOK.rglob("quiz*.yaml"))
    assert len(files) > 30 and all(len(extension("authoring.quiz").load(file)) >= 3 for file in files)


def test_core_and_rest_are_the_whole_book(repository: Path) -> None:
    """Every chapter is on the short path or among those that can be skipped, and the long path has them all."""
    page = page_file("start/how_to_use").read_text("utf-8")
    core, whole = (
        {n for low, high in re.findall(r"(\d+)(?:-(\d+))?", text) for n in range(int(low), int(high or low) + 1)}
        for text in re.findall(r"^:chapters: (.+)$", page, re.MULTILINE)
    )
    rest = page.partition("can be skipped at first.")[2].partition("````")[0]
    skipped = [int(number) for group in re.findall(r"\(([\d, ]+)\)", rest) for number in group.split(",")]
    files = page_files()
    known = {int(n) for file in files for n in re.findall(r"^  number: (\d+)$", file.read_text("utf-8"), re.MULTILINE)}
    assert len(core) == 17 and "seventeen chapters" in page
    assert len(skipped) == len(set(skipped)) and core | set(skipped) == whole == known - {0}
    assert not core & set(skipped) and max(known) > 34


# In the browser

PAGE, MAP = "attention/masks.html", "start/how_to_use.html"


def kept(v: Any) -> Any:
    return json.loads(v.page.evaluate("localStorage.getItem('annotated-book')") or "null")


def test_a_quiz_answers_with_the_keyboard_and_remembers(visit: Any) -> None:
    with visit(PAGE) as v:
        quiz = v.page.locator("#check-yourself .quiz")
        first, count = quiz.locator("fieldset").first, quiz.locator("fieldset").count()
        right = int(first.get_attribute("data-answer")) - 1
        wrong = 1 if right == 0 else 0
        first.locator("input").nth(wrong).focus()
        v.page.keyboard.press("Space")
        status = first.locator("[role=status]")
        assert status.inner_text().startswith("✗ Not this one")
        for _ in range(abs(right - wrong)):
            v.page.keyboard.press("ArrowDown" if right > wrong else "ArrowUp")
        v.page.keyboard.press("Enter")
        assert status.inner_text().startswith("✓ Right")
        assert quiz.locator(".quiz-score").inner_text() == f"1 of {count} right, {count - 1} to go."
        v.page.reload()
        assert first.locator("input").nth(right).is_checked()
        assert first.locator("[role=status]").inner_text().startswith("✓")
        assert kept(v)["quizzes"]["07"]["first"]["1"] == wrong + 1, "the first choice is kept too"
        quiz.get_by_role("button", name="Start again").click()
        assert quiz.locator("input:checked").count() == 0 and kept(v)["quizzes"] == {}
        assert v.errors == [] and v.foreign == []


def test_a_finished_quiz_marks_the_chapter_as_read(visit: Any) -> None:
    with visit(PAGE) as v:
        button = v.page.locator(".mark-read button")
        assert button.get_attribute("aria-pressed") == "false"
        for fieldset in v.page.locator(".quiz fieldset").all():
            fieldset.locator("input").last.check()
        assert button.get_attribute("aria-pressed") == "true" and "✓" in button.inner_text()
        assert v.page.locator(".bd-docs-nav .read-mark").count() == 1
        button.click()
        assert button.get_attribute("aria-pressed") == "false" and v.page.locator(".read-mark").count() == 0


def test_a_prediction_opens_its_explanation_and_is_remembered(visit: Any) -> None:
    with visit(PAGE) as v:
        box = v.page.locator(".prediction").first
        assert box.locator("details").get_attribute("open") is None
        right = int(box.locator("details").get_attribute("data-answer")) - 1
        wrong = (right + 1) % box.locator("input").count()
        box.locator("input").nth(wrong).check()
        assert box.locator("details").get_attribute("open") is not None
        assert "✗ Not what happens" in box.locator("[role=status]").inner_text()
        v.page.reload()
        assert box.locator("input").nth(wrong).is_checked()
        box.locator("input").nth(right).check()
        assert "✓ As you predicted" in box.locator("[role=status]").inner_text()


def test_progress_is_shown_saved_loaded_and_erased(visit: Any, tmp_path: Path) -> None:
    with visit(PAGE) as v:
        v.page.locator(".mark-read button").click()
        v.page.locator(".prediction input").first.check()
        v.page.goto(v.page.url.replace(PAGE, MAP))
        row = v.page.locator(".progress-map tr[data-page='attention/masks']")
        assert "✓" in row.locator(".mark-of-reading").inner_text()
        assert row.locator(".mark-of-questions").inner_text().startswith("1 of ")
        assert v.page.locator(".progress-summary").inner_text().startswith("1 of ")
        with v.page.expect_download() as download:
            v.page.get_by_role("button", name="Save to a file").click()
        file = tmp_path / "progress.json"
        download.value.save_as(file)
        before = kept(v)
        erase = v.page.locator("[data-do=erase]")
        erase.click()
        assert kept(v) == before, "the first press only asks"
        erase.click()
        assert kept(v)["read"] == {} and "not yet" in row.inner_text()
        v.page.locator(".progress-tools input").set_input_files(file)
        mark = """document.querySelector('[data-page="attention/masks"] .mark-of-reading')"""
        v.page.wait_for_function(f"{mark}.textContent.includes('✓')")
        assert kept(v) == before
        other = tmp_path / "other.json"
        other.write_text('{"version": 2}', encoding="utf-8")
        v.page.locator(".progress-tools input").set_input_files(other)
        v.page.wait_for_function(
            "document.querySelector('.progress-summary').textContent.includes('not a progress file')"
        )
        assert kept(v) == before and v.errors == []


def test_a_browser_that_remembers_nothing_is_no_error(visit: Any) -> None:
    refuse = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('refused') }})"
    with visit(PAGE, prepare=lambda page: page.add_init_script(refuse)) as v:
        v.page.locator("#check-yourself .quiz input").first.check()
        assert v.page.locator("#check-yourself .quiz-status").first.inner_text()
        v.page.goto(v.page.url.replace(PAGE, MAP))
        v.page.locator(".mark-read button").click()
        assert v.page.locator(".mark-read button").get_attribute("aria-pressed") == "true"
        assert "refuses to remember" in v.page.locator(".progress-summary").inner_text()
        ours = [error for error in v.errors if "refused" not in error]
        assert ours == []


def test_the_paths_need_no_script(visit: Any) -> None:
    with visit(MAP, java_script_enabled=False) as v:
        paths = v.page.locator("details.path")
        assert paths.count() >= 3
        assert paths.first.locator("a[href$='#play']").count() >= 3
        paths.nth(1).locator("summary").click()
        assert (
            paths.nth(1).locator(".minutes").count() >= 1
            and "min" in paths.nth(1).locator(".minutes").first.inner_text()
        )


def test_the_places_of_the_ten_minutes_exist(visit: Any, book: Path) -> None:
    with visit(MAP) as v:
        targets = v.page.evaluate(
            "[...document.querySelectorAll('a[href$=\"#play\"]')].map(a => a.getAttribute('href'))"
        )
    for target in targets:
        file = (book / "start" / target.partition("#")[0]).resolve()
        assert 'id="play"' in file.read_text(encoding="utf-8"), target
