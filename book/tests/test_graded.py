"""Exercises in the book: the box, the index, the notebook to download, and the wheel that grades it elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotated_grader.exercise.catalogue import all_exercises, find
from annotated_grader.exercise.exercise import Exercise, parse
from book.tests.sites import build_site

PARTS = (
    "reference.exercise_index",
    "authoring.graded",
    "claims.claim_boxes",
    "authoring.paper",
    "authoring.quiz",
    "authoring.source",
)


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return find("ex05-1")


def build(folder: Path, pages: dict[str, str]) -> tuple[Path, str]:
    """A small site from pages of Markdown: the folder of its HTML, and what was complained about."""
    return build_site(folder, pages, PARTS, ("myst_parser", "sphinx_exercise"), nitpicky=True)


@pytest.fixture(scope="module")
def small_site(extension: Any, tmp_path_factory: pytest.TempPathFactory, exercise: Exercise) -> tuple[Path, str]:
    """A chapter with one box, and the index."""
    for part in PARTS:
        extension(part)
    index = "# All\n\n:::{exercise-index} chapters\n:::\n\n## Mistakes\n\n:::{exercise-index} misconceptions\n:::\n"
    chapter = f"# Chapter\n\n:::{{graded}} {exercise.id}\n:::\n\nSee {{ref}}`{exercise.id}`.\n"
    return build(tmp_path_factory.mktemp("site"), {exercise.chapter: chapter, "reference/all": index})


def test_the_box_is_complete(small_site: tuple[Path, str], exercise: Exercise) -> None:
    out, complaints = small_site
    page = (out / f"{exercise.chapter}.html").read_text(encoding="utf-8")
    assert complaints == ""
    assert f'id="{exercise.id}"' in page and re.search(rf'<a class="reference internal" href="#{exercise.id}">', page)
    box = page[page.index(f'id="{exercise.id}"') :]
    places = [
        "Exercise 5.1 (",
        exercise.title,
        f"</span> {exercise.difficulty} · ",
        f"about {exercise.minutes} minutes",
        f"{exercise.points_public} points",
        "The code to begin with",
        f"exercises/{exercise.id}.ipynb",
        '<fieldset data-answer="',
        "Mistakes that are looked for",
        "Hint 1 of 3",
        "Hint 2 of 3",
        "Hint 3 of 3",
        "<summary>Solution</summary>",
        "Try it first.",
        "Show the solution all the same",
    ]
    found = [box.index(text) for text in places]
    assert found == sorted(found)
    code = re.sub(r"<[^>]+>", "", box[found[-1] :])
    assert exercise.solution_code.strip().splitlines()[-1].strip() in code


def test_hints_open_one_after_the_other(small_site: tuple[Path, str], exercise: Exercise) -> None:
    page = (small_site[0] / f"{exercise.chapter}.html").read_text(encoding="utf-8")
    hints = page[page.index('<div class="graded-hints">') : page.index('<details class="graded-solution">')]
    assert re.findall(r"</?details>|Hint \d", hints) == [
        *(part for i in (1, 2, 3) for part in ("<details>", f"Hint {i}")),
        *["</details>"] * 3,
    ]


def test_the_box_links_to_a_notebook_that_is_there(small_site: tuple[Path, str], exercise: Exercise) -> None:
    page = small_site[0] / f"{exercise.chapter}.html"
    link = re.search(r'<a class="graded-notebook" href="([^"]+)" download>', page.read_text(encoding="utf-8"))
    notebook = json.loads((page.parent / link[1]).resolve().read_text(encoding="utf-8"))
    assert notebook["metadata"]["annotated"] == {"exercise": exercise.id}
    everywhere = {path.stem for path in (small_site[0] / "_static" / "exercises").glob("*.ipynb")}
    assert everywhere == {found.id for found in all_exercises()}


def test_the_index_lists_every_exercise_and_links_to_its_box(small_site: tuple[Path, str], exercise: Exercise) -> None:
    page = (small_site[0] / "reference" / "all.html").read_text(encoding="utf-8")
    body, _, mistakes = page[page.index("<h1>All") :].partition("<h2>Mistakes")
    for found in all_exercises():
        assert f"{found.place} " in body
        assert f'data-exercise="{found.id}" data-minutes="{found.minutes}"' in body
    told = re.search(r"(\d+) exercises, together about (\d+) h(?: (\d+) min)?", body)
    number, hours, minutes = (int(part or 0) for part in told.groups())
    assert number == len(all_exercises())
    assert 60 * hours + minutes == sum(found.minutes for found in all_exercises())
    medium = [found.minutes for found in all_exercises() if found.difficulty == "medium"]
    assert f'medium <span data-level="medium">{len(medium)} ({min(medium)} to {max(medium)} min)</span>' in body
    groups = re.findall(r'<div class="[^"]*exercise-group.*?</ul>', body, re.DOTALL)
    assert len(groups) == len({found.chapter for found in all_exercises()})
    for group in groups:
        told = re.search(r'index-facts"> ?(?:(\d+) h)? ?(?:(\d+) min)?<', group)
        parts = [int(text) for text in re.findall(r'data-minutes="(\d+)"', group)]
        assert 60 * int(told[1] or 0) + int(told[2] or 0) == sum(parts), "the time of a chapter is the sum of its parts"
    assert f'href="../{exercise.chapter}.html#{exercise.id}"' in body
    line = next(line for line in mistakes.split("<li>") if "normalises each embedding" in line)
    assert f'{exercise.chapter}.html#{exercise.id}"' in line


def test_a_task_to_repair_shows_its_code_and_folds_what_is_tested(extension: Any, tmp_path: Path) -> None:
    """The code is the exercise; the list of mistakes that it knows would give them away."""
    out, complaints = build(tmp_path, {"page": "# Page\n\n:::{graded} ex03-2\n:::\n\n:::{graded} ex05-1\n:::\n"})
    page = (out / "page.html").read_text(encoding="utf-8")
    assert complaints == ""
    repair, write = page[: page.index('id="ex05-1"')], page[page.index('id="ex05-1"') :]
    assert '<details class="graded-code" open>' in repair and '<details class="graded-code">' in write
    code = re.sub(r"<[^>]+>", "", repair[repair.index("graded-code") : repair.index("graded-links")])
    assert "def summary_broken(states, lengths):" in code and "your code here" in code
    tested = repair[repair.index('<details class="graded-tested">') :]
    assert "attending over the batch" in tested and "attending over the batch" not in repair[: -len(tested)]


def test_words_stand_for_the_number_of_a_claim(small_site: tuple[Path, str], exercise: Exercise) -> None:
    page = (small_site[0] / f"{exercise.chapter}.html").read_text(encoding="utf-8")
    tested = re.search(r'<details class="graded-tested">.*?</details>', page, re.DOTALL)
    shown = re.sub(r"<[^>]+>", "", tested[0])
    assert "The softmax in attention normalises each embedding" in shown and not re.search(r"\bC\d\d\b", shown)


def test_words_stand_for_the_number_of_a_question(extension: Any) -> None:
    """Exercise 30.2 names two questions; each has its own words and leads to its own place."""
    graded = extension("authoring.graded")
    written = graded._ENTRY.sub(graded._in_words, find("ex30-2").catches)
    assert written.startswith("the question {question}`“Must input and output have equal length, as ‘another sequence")
    assert "the question {question}`“If everything runs in parallel," in written and "step?” <Q16>`" in written
    assert graded._ENTRY.sub(graded._in_words, "{claim}`C02`; rest") == (
        "{claim}`“The encoder has four layers” <C02>`; rest"
    )


def test_difficulty_comes_from_the_minutes(exercise: Exercise) -> None:
    text = (exercise.folder / "exercise.md").read_text(encoding="utf-8")
    levels = {}
    for minutes in (15, 16, 30, 31):
        levels[minutes] = parse(text.replace("minutes: 20", f"minutes: {minutes}"), exercise.folder).difficulty
    assert levels == {15: "easy", 16: "medium", 30: "medium", 31: "hard"}


def test_what_is_folded_is_no_reading_time(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    page = new_document("page")
    folded = nodes.container("", nodes.paragraph("", "five words that are folded"), classes=["graded-more"])
    folded += nodes.raw("", '<fieldset data-answer="1">', format="html")
    page += [nodes.paragraph("", "two words"), folded]
    facts = extension("chapter.progress").take_stock(page)
    assert (facts.words, facts.questions) == (2, 0)


def test_an_exercise_that_is_not_there_fails_the_build(extension: Any, tmp_path: Path) -> None:
    _, complaints = build(tmp_path, {"page": "# Page\n\n:::{graded} ex05-99\n:::\n"})
    assert "ERROR" in complaints and "there is no exercise 'ex05-99'; there are ex05-1" in complaints


def test_a_chapter_to_take_away_has_the_task(extension: Any, repository: Path, exercise: Exercise) -> None:
    text = extension("delivery.notebook_export").Writer(repository).plain(f":::{{graded}} {exercise.id}\n:::")
    assert exercise.title in text and "Only matrix products" in text and f"exercise start {exercise.id}" in text


ELSEWHERE = """
from annotated_grader import check
from annotated_grader.exercise.catalogue import exercises_folder, find
print(exercises_folder())
exec(find("ex05-1").solution_code)
check("ex05-1")
"""


@pytest.mark.slow
def test_where_only_the_wheels_are_installed_check_finds_its_exercises(wheels: dict[str, Path], tmp_path: Path) -> None:
    place = tmp_path / "site"
    for wheel in wheels.values():
        zipfile.ZipFile(wheel).extractall(place)  # all that installing a wheel of Python code does
    quiet = {"PYTHONPATH": str(place), "ANNOTATED_PROGRESS": str(tmp_path / "progress.json")}
    environment = {key: value for key, value in os.environ.items() if key != "ANNOTATED_EXERCISES"} | quiet
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(place / "annotated_grader" / "exercises")
    assert "every check passes" in done.stdout


def test_another_folder_of_exercises_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ex01_1_copy"
    folder.mkdir()
    text = (find("ex05-1").folder / "exercise.md").read_text(encoding="utf-8").replace("id: ex05-1", "id: ex77-1")
    (folder / "exercise.md").write_text(text, encoding="utf-8")
    monkeypatch.setenv("ANNOTATED_EXERCISES", str(tmp_path))
    assert [found.id for found in all_exercises()] == ["ex77-1"]


@pytest.fixture
def some_graded_page(book: Path) -> str:
    """A built page with a box."""
    for path in sorted(book.rglob("*.html")):
        if 'class="graded-notebook"' in path.read_text(encoding="utf-8"):
            return path.relative_to(book).as_posix()
    pytest.skip("no built page has an exercise that grades itself")


def test_without_a_script_the_box_teaches_and_fits_a_phone(visit: Any, some_graded_page: str) -> None:
    with visit(some_graded_page, java_script_enabled=False, viewport={"width": 390, "height": 900}) as v:
        box = v.page.locator(".exercise.graded").first
        second = box.locator(".graded-hints details details").first.locator("> summary")
        assert not second.is_visible()
        box.locator(".graded-hints > details > summary").click()
        assert second.is_visible()
        box.locator(".graded-solution > summary").click()
        assert box.get_by_text("Show the solution all the same").is_visible()
        assert not box.locator(".graded-solution pre").is_visible()
        assert v.page.request.get(f"{v.site}/{some_graded_page}").ok and not v.foreign
        href = box.locator("a.graded-notebook").get_attribute("href")
        base = some_graded_page.rpartition("/")[0]
        assert v.page.request.get(f"{v.site}/{base}/{href}").ok


def test_its_question_does_not_mark_the_chapter_as_read(visit: Any, some_graded_page: str) -> None:
    with visit(some_graded_page, color_scheme="dark", viewport={"width": 390, "height": 900}) as v:
        field = v.page.locator(".graded fieldset").first
        field.locator("input").nth(int(field.get_attribute("data-answer") or 1) - 1).check()
        assert "Right" in field.locator(".quiz-status").inner_text()
        page = some_graded_page.removesuffix(".html")
        assert not v.page.evaluate("name => window.annotatedBook.get('read', name)", page)
        v.page.locator(".graded details").evaluate_all("all => all.forEach(each => { each.open = true; })")
        assert v.overflow() <= 0
        assert not v.errors


def test_an_exercise_is_marked_as_done_and_the_mark_stays(visit: Any, some_graded_page: str) -> None:
    with visit(some_graded_page) as v:
        button = v.page.locator("button.exercise-done").first
        name = button.get_attribute("data-exercise")
        assert button.inner_text() == "Mark as done" and button.get_attribute("aria-pressed") == "false"
        button.click()
        assert button.inner_text() == "✓ Done" and button.get_attribute("aria-pressed") == "true"
        v.page.reload()
        assert button.inner_text() == "✓ Done"
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", v.page.evaluate("n => annotatedBook.get('exercises', n)", name))
        button.click()
        assert not v.page.evaluate("name => annotatedBook.get('exercises', name)", name) and v.errors == []
