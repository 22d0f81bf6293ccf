"""The ledger's page computes the newest entry's score when it is opened, and draws other test sets when asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import page_file
from book.tests.boxes import box_of

PAGE = "results/ledger.html"


def cells(box: Any) -> list[list[str]]:
    return [row.locator("td").all_inner_texts() for row in box.locator(".ledger-again tbody tr").all()]


def test_a_score_is_computed_and_its_interval_moves_with_the_draws(visit: Any) -> None:
    from annotated_book.results.ledger.frame import page_data

    reported = page_data()["reported"]
    with visit(PAGE) as v:
        box = v.page.locator('.live[data-panel="ledger"][data-state="done"]')
        first = cells(box)
        assert [row[0] for row in first] == [row[1] for row in first] == [f"{row[0]:.2f}" for row in reported]
        assert "of 1,000 drawn test sets of 600 sentences" in box.locator("[role=status]").inner_text()
        box.get_by_role("button", name="Draw 1,000 more").click()
        assert "of 2,000 drawn test sets" in box.locator("[role=status]").inner_text(), (
            "what was drawn before counts on"
        )
        second = cells(box)
        assert [row[2] for row in second] != [row[2] for row in first], "more draws, other ends"
        assert [row[:2] for row in second] == [row[:2] for row in first], "the same scores"
        scores, difference = box.locator("svg[role=img]").all()
        assert scores.get_attribute("aria-label").startswith("BLEU of 2,000 drawn test sets")
        told = difference.get_attribute("aria-label")
        assert told.startswith("Difference in BLEU of 2,000") and told.endswith(second[2][2]), (
            "the interval of the table"
        )
        drawn = [scores.locator(".ledger-end").count(), difference.locator(".ledger-end").count()]
        assert drawn == [4, 2], "both ends of each interval"
        assert difference.locator(".ledger-zero").count() == 1 and scores.locator(".ledger-zero").count() == 0
        assert not any(url.endswith("model.js") for url in v.asked) and v.errors == [] and v.axe(within=".live") == []


def test_a_larger_test_set_narrows_the_interval_and_keeps_the_scores(visit: Any) -> None:
    with visit(PAGE) as v:
        box = v.page.locator('.live[data-panel="ledger"][data-state="done"]')
        first = cells(box)
        box.get_by_role("button", name="Draw 1,000 more").click()
        box.get_by_role("slider").press("End")
        assert "of 1,000 drawn test sets of 2,400 sentences" in box.locator("[role=status]").inner_text()
        last = cells(box)
        ends = [
            [[float(x.replace("\u2212", "-")) for x in row[2].split(" to ")] for row in rows] for rows in (first, last)
        ]
        for (low, high), (later_low, later_high) in zip(*ends, strict=True):
            assert 0.4 < (later_high - later_low) / (high - low) < 0.6, "four times the sentences, half the width"
        assert [[row[i] for i in (0, 1, 3)] for row in last] == [[row[i] for i in (0, 1, 3)] for row in first]


def test_what_the_page_says_of_the_difference_is_what_the_report_says(repository: Path) -> None:
    from annotated_book.results.ledger.frame import page_data

    data = page_data()
    score, low, high = data["reported"][2]
    text = " ".join(page_file("results/ledger").read_text(encoding="utf-8").split())
    assert f"the lower end of the difference is {low:.2f} in the report" in text and low > 0
    assert f"{data['sentences']} sentences are hardly enough" in text and f"better by {score:.2f} BLEU" in text


def test_the_histogram_keeps_its_size_of_type_on_a_phone(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 844}) as v:
        for picture in v.page.locator(".ledger-drawn svg").all():
            assert picture.evaluate("e => e.getScreenCTM().a") == pytest.approx(1, abs=1e-3), "not scaled down"
            assert box_of(picture)["height"] > 100


def test_the_runs_are_blocks_on_a_phone_and_a_table_on_a_wide_page(visit: Any) -> None:
    for width, is_block in ((390, True), (1200, False)):
        with visit(PAGE, as_left=True, viewport={"width": width, "height": 844}) as v:
            row = v.page.locator("table.blocks tbody tr").first
            assert (row.evaluate("e => getComputedStyle(e).display") == "block") == is_block
            assert row.locator(".cell-label").first.is_visible() == is_block


def test_it_fits_a_dark_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 844}, color_scheme="dark") as v:
        place = v.page.locator(".ledger-scroll")
        assert place.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), "no column is cut"
        assert v.overflow() <= 0 and v.errors == []
