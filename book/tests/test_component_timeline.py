"""The timeline of parts: its data are whole, and a year and each row are moved by hand and by keyboard."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotated_book.pages import page_file

ROOT = Path(__file__).resolve().parents[2]
DATA = yaml.safe_load((ROOT / "book/_data/timeline.yaml").read_text(encoding="utf-8"))
PAGE = "results/since_2017.html"


def test_the_chapter_counts_what_became_of_the_parts() -> None:
    """Chapter 34 says: 17 parts, two kept, twelve changed, three replaced."""
    assert Counter(one["state"] for one in DATA.values()) == {"kept": 2, "changed": 12, "replaced": 3}
    text = page_file("results/since_2017").read_text(encoding="utf-8")
    assert (
        "follows 17 parts" in text
        and "Twelve parts have another form, or are left out" in text
        and "three were replaced" in text
    )


def test_an_early_work_is_not_called_the_proposal(extension: Any) -> None:
    timeline = extension("reference.component_timeline")
    parts = {one.key: timeline.row(one, "") for one in timeline.components()}
    assert parts["label_smoothing"].count("An early work with it: ") == 1 and "Proposed" not in parts["label_smoothing"]
    assert parts["positions"].count("Proposed: ") == 4 and "An early work" not in parts["positions"]


def test_a_form_comes_no_later_than_the_model_that_has_it(extension: Any) -> None:
    for one in extension("reference.component_timeline").components():
        assert all(int(event.date[:4]) <= event.used.year for event in one.events), one.key


def test_the_decoder_alone_is_older_than_the_encoder_alone() -> None:
    """Liu et al. of January 2018, before the Universal Sentence Encoder, GPT and BERT."""
    assert [event["date"] for event in DATA["stacks"]["events"]] == ["2018-01", "2018-03"]


def test_each_part_leads_to_the_paper_and_to_a_chapter(extension: Any) -> None:
    resolve = extension("authoring.paper").resolve
    for one in extension("reference.component_timeline").components():
        assert all(resolve(part) for part in one.paper)
        assert page_file(one.chapter).is_file()
        assert one.today and one.printed and (one.events or one.state == "kept")
        for event in one.events:
            assert event.why.endswith(".") and event.used.year >= 2017
            assert event.source.address != "" and event.used.address != ""


def test_only_two_marks_are_not_at_the_year_of_the_proposal() -> None:
    """Chapter 34 says which: what was proposed in 2016 stands at the first GPT."""
    others = {one["name"]: (one["source"][1], one["date"]) for part in DATA.values() for one in part["events"]
              if one["source"][1] != int(one["date"][:4])}  # fmt: skip
    assert others == {"GELU": (2016, "2018-06"), "warm-up, then a cosine": (2016, "2018-06")}
    text = " ".join(page_file("results/since_2017").read_text(encoding="utf-8").split())
    assert (
        "but for GELU and the cosine: both were proposed in 2016, before the paper, and their marks are at the first"
        in text
    )


def test_a_state_is_said_to_be_that_of_today(extension: Any) -> None:
    timeline = extension("reference.component_timeline")
    parts = {one.key: timeline.row(one, "") for one in timeline.components()}
    assert ">replaced by today<" in parts["positions"] and ">kept until today<" in parts["residual"]


def test_a_month_has_its_place_between_2017_and_2027(extension: Any) -> None:
    place = extension("reference.component_timeline").place
    assert place("2017-01") == pytest.approx(100 * 0.5 / 12 / 10, abs=0.01)
    assert place("2022-01") - place("2017-01") == pytest.approx(50, abs=0.02)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"state": "forgotten"}, "state"),
        ({"tomorrow": "?"}, "tomorrow"),
        ({"events": list(reversed(DATA["positions"]["events"]))}, "order"),
        ({"events": [{**DATA["positions"]["events"][0], "date": "2018-04"}]}, "is not of"),
    ],
)
def test_wrong_data_are_refused(
    extension: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], word: str
) -> None:
    timeline = extension("reference.component_timeline")
    broken = tmp_path / "timeline.yaml"
    broken.write_text(yaml.safe_dump({"positions": {**DATA["positions"], **change}}), encoding="utf-8")
    monkeypatch.setattr(timeline, "FILE", broken)
    with pytest.raises(ValueError, match=word):
        timeline.components()


def test_the_year_is_moved_by_keyboard_and_a_row_opens(visit: Any) -> None:
    with visit(PAGE) as v:
        page = v.page
        row = page.locator("#since-2017-positions")
        form, marks = row.locator(".form"), row.locator("summary .track > i")
        assert form.inner_text() == DATA["positions"]["today"]
        year = page.get_by_role("slider", name="Year")
        year.focus()
        page.keyboard.press("Home")
        assert form.inner_text() == "sinusoids, added once"
        assert page.locator("#since-2017-positions .ahead").count() == marks.count() - 1 == 4
        for _ in range(2):
            page.keyboard.press("ArrowRight")
        assert form.inner_text() == "a bias for each offset"
        row.locator("summary").focus()
        page.keyboard.press("Enter")
        assert row.get_by_text("Queries and keys are turned by their places").is_visible()
        assert not v.errors and not v.foreign


def test_without_scripts_the_rows_say_what_is_usual_today(visit: Any) -> None:
    with visit(PAGE, java_script_enabled=False) as v:
        assert v.page.locator("#since-2017-positions .form").inner_text() == DATA["positions"]["today"]
        v.page.locator("#since-2017-positions summary").click()
        assert v.page.get_by_text("Su et al., RoFormer, 2021").is_visible()
