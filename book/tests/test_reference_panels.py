"""Reference pages at work: the shape tracer, the training played back, the server, tables that sort."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import page_texts
from book.tests.boxes import drawn_widget

PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}


@pytest.fixture(scope="module")
def records(extension: Any) -> Any:
    return extension("reference.records")


# Notation


def test_shapes_follow_the_readers_numbers(visit: Any) -> None:
    with visit("reference/notation.html", as_left=True) as v:
        box = v.page.locator('.live[data-panel="shapes"][data-state="done"]')
        field = {letter: box.locator(f"input[name={letter}]") for letter in "BSTDHKFVL"}
        box.get_by_text("scores", exact=True).click()
        row = box.locator("tr.chosen")
        assert row.locator("td").all_inner_texts()[1:] == ["[B, H, S, S]", "2, 8, 12, 12"]
        field["S"].fill("100")
        field["H"].fill("4")
        assert row.locator("td").nth(2).inner_text() == "2, 4, 100, 100" and field["K"].input_value() == "128"
        assert row.locator("mark").all_inner_texts() == ["H"], "the letter whose number is selected"
        assert box.locator("select").first.input_value() == "numbers of my own"
        field["H"].fill("7")
        field["S"].focus()
        assert "7 heads do not divide D = 512" in box.inner_text() and "parameters;" not in box.inner_text()
        wrong = [letter for letter, one in field.items() if one.get_attribute("aria-invalid") == "true"]
        assert wrong == ["D", "H"] and box.locator(".stale table").count() == 1
        box.locator("select").first.select_option("the big model")
        assert box.locator(".stale, [aria-invalid=true]").count() == 0
        assert field["D"].input_value() == "1024" and "4,096" not in row.inner_text()
        assert v.errors == [] and not any(url.endswith("model.js") for url in v.asked), "no model is loaded"


def test_tensors_are_walked_through_with_the_keyboard(visit: Any) -> None:
    with visit("reference/notation.html", **PHONE) as v:
        box = v.page.locator('.live[data-panel="shapes"][data-state="done"]')
        box.locator("input[type=radio]:checked").focus()
        v.page.keyboard.press("ArrowDown")
        assert box.locator("tr.chosen").inner_text().startswith("scores")
        assert "scores = q @ k" in box.locator("tr.tracer-detail").inner_text()
        v.page.keyboard.press("ArrowUp")
        assert "heads in front" in box.locator("tr.chosen").inner_text()
        assert v.overflow() <= 0 and v.errors == [] and v.axe(within=".live") == []


def test_the_filter_leaves_the_rows_of_the_tracer_alone_and_hides_it_while_it_is_set(visit: Any) -> None:
    with visit("reference/notation.html", as_left=True) as v:
        v.page.get_by_label("Show rows with").fill("layers")
        assert v.page.locator('.live[data-panel="shapes"] tr[hidden]').count() == 0
        assert v.page.locator(".shapes tbody tr:not([hidden])").count() == 1
        assert not v.page.locator('.live[data-panel="shapes"]').is_visible(), "its section has no row to look for"
        v.page.get_by_label("Show rows with").fill("")
        assert v.page.locator('.live[data-panel="shapes"]').is_visible()


# The own training loop


def test_a_training_is_played_back_and_ends_with_numbers_that_are_right(visit: Any) -> None:
    with visit("reference/own_loop.html", **PHONE) as v:
        box = drawn_widget(v, ".loop-replay", "svg")
        box.locator("input[type=range]").focus()
        v.page.keyboard.press("Home")
        assert box.locator(".title").inner_text().startswith("After 0 updates, 0 of 100")
        v.page.keyboard.press("End")
        right = box.locator(".numbers button.right").count()
        assert box.locator(".title").inner_text() == f"After 300 updates, {right} of 100 held-out numbers are right"
        assert right >= 90
        first = box.locator(".numbers button").first
        first.click()
        v.page.keyboard.press("ArrowDown")
        assert box.locator("select").input_value() == "10", "ten numbers in a row"
        assert v.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        assert v.overflow() <= 0 and v.errors == [] and v.axe(within=".loop-replay") == []
        assert "Jupyter to start, pause and resume" in (v.page.locator(".needs-kernel").first.text_content() or "")


# Translation in production


def test_requests_are_judged_and_translated_in_the_page(visit: Any) -> None:
    with visit("reference/serving.html") as v:
        box = v.page.locator('.live[data-panel="server"]')
        box.scroll_into_view_if_needed()
        reply, checks = box.locator("pre.wire"), box.locator(".checks-of-request li")
        v.page.wait_for_selector('.live[data-panel="server"][data-state="done"]')
        assert '["Der kleine Hund sieht die Katze.", "", "Die Großmutter verkauft Äpfel."]' in reply.inner_text()
        assert [c.get_attribute("class") for c in checks.all()] == ["passed"] * 5
        body = box.get_by_label("Content of the request")
        body.fill('{"texts": ["The cat sleeps.", 7]}')
        v.page.wait_for_function("document.querySelectorAll('.checks-of-request .failed').length")
        assert [c.get_attribute("class") for c in checks.all()] == ["passed", "passed", "failed", "open", "open"]
        assert (
            reply.inner_text().startswith("HTTP/1.0 400 Bad Request") and "with a list of strings" in reply.inner_text()
        )
        box.locator("select").select_option("a length that is too large")
        v.page.wait_for_function("document.querySelectorAll('.checks-of-request .waits').length")
        assert reply.inner_text() == "" and "for ever" in checks.nth(1).inner_text()
        assert v.errors == [] and v.axe(within=".live") == []


def test_the_chart_of_engines_shows_what_is_chosen(visit: Any) -> None:
    with visit("reference/serving.html", **PHONE) as v:
        (figure,) = v.draw_charts()
        shown = "e => [...e.querySelectorAll('.chart-stage svg text')].map(t => t.textContent).join(' ')"
        assert "per CPU second" in figure.evaluate(shown)
        v.page.locator("figure.chart select").select_option("memory")
        v.page.wait_for_function(f"e => ({shown})(e).includes('MB at the peak')", arg=figure)
        assert v.overflow() <= 0 and v.errors == []


# Execution status


def shown(table: Any) -> list[str]:
    return table.locator("tbody tr:not([hidden]) td:first-child").all_inner_texts()


def amounts(table: Any, key: str) -> list[float]:
    found = table.locator(f"tbody tr:not([hidden]) [data-sum={key}]").all()
    return [float(one.get_attribute("data-value")) for one in found]


def test_pages_are_sorted_and_what_is_shown_is_added_up(visit: Any) -> None:
    with visit("reference/execution.html", as_left=True) as v:
        table, total = v.page.locator("table.execution-table"), v.page.locator(".table-total").first
        own, head = shown(table), table.locator("th").nth(3)
        assert total.inner_text().startswith(f"All {len(own)} pages: {sum(amounts(table, 'checks')):,.0f} checks")
        seconds = table.get_by_role("button", name="Seconds")
        seconds.focus()
        v.page.keyboard.press("Enter")
        assert amounts(table, "seconds") == sorted(amounts(table, "seconds"), reverse=True)
        assert head.get_attribute("aria-sort") == "descending"
        v.page.wait_for_function("location.search.includes('sort=seconds')")
        v.page.reload()
        v.page.wait_for_selector(".execution-table th[aria-sort=descending]")
        assert amounts(table, "seconds") == sorted(amounts(table, "seconds"), reverse=True), "the address keeps it"
        seconds.click()
        assert amounts(table, "seconds") == sorted(amounts(table, "seconds"))
        seconds.click()
        assert shown(table) == own and head.get_attribute("aria-sort") == "none"
        parts = v.page.get_by_label("Part").first.locator("option").all_inner_texts()
        assert [p for p in parts if p != "Front matter"][1:4] == ["Start", "Why", "Attention"], "as in the sidebar"
        assert total.inner_text().endswith(f" {sum(amounts(table, 'seconds')):,.1f} seconds"), "what the rows add up to"
        v.page.get_by_label("Part").first.select_option("Attention")
        few = shown(table)
        assert 0 < len(few) < len(own)
        v.page.get_by_label("Numbers").select_option("from this build alone")
        records = table.locator("tbody tr:not([hidden]) td:nth-child(3)").all_inner_texts()
        assert {text.strip() for text in records} == {"–"}, "pages that show no record"
        v.page.get_by_label("Numbers").select_option("")
        said = f"Shown: {len(few)} of {len(own)} pages: {sum(amounts(table, 'checks')):,.0f} checks"
        assert total.inner_text().startswith(said)
        assert v.errors == [] and v.axe(code=False) == []


def test_each_record_links_to_the_page_that_shows_it(visit: Any) -> None:
    with visit("reference/execution.html", **PHONE) as v:
        row = v.page.locator(".records-table tbody tr", has_text="Noise test for leaks")
        assert row.locator("a").get_attribute("href").endswith("attention/masks.html")
        assert row.locator("code").inner_text() == "masks"
        assert v.overflow() <= 0 and v.errors == []


def test_the_command_names_the_records_that_are_shown(visit: Any) -> None:
    with visit("reference/execution.html", as_left=True) as v:
        command = v.page.locator(".again pre")
        assert command.inner_text() == "python -m annotated_book masks"
        v.page.get_by_label("Show records with").fill("dropout")
        left = v.page.locator(".records-table tbody tr:not([hidden]) td:first-child").all_inner_texts()
        assert {"dropout", "dropout/switched"} <= {*left} and len(left) < 10
        assert command.inner_text() == "python -m annotated_book " + " ".join(left)
        assert v.page.get_by_role("button", name="Copy the command").get_attribute("data-copy") == command.inner_text()
        v.page.get_by_label("Show records with").fill("no such record")
        assert not command.is_visible() and v.page.locator(".again p").inner_text() == "No record is shown."
        v.page.get_by_label("Show records with").fill("")
        assert command.is_visible()
        assert command.inner_text() == "python -m annotated_book masks" and v.errors == []


def test_every_record_is_shown_by_a_page(records: Any, repository: Path) -> None:
    from annotated_book.record import record_names

    fed = records.fed_pages(record_names(), page_texts())
    assert not [name for name, found in fed.items() if not found], "recorded for nobody"
    assert fed["bleu"] == ["decoding/bleu", "results/questions"]
    assert fed["doctor"] == ["reference/doctor"]
    assert all(len(records.described(name)) > 20 for name in fed)


def test_the_use_of_a_record_is_read_from_code_and_pages(records: Any, tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    (tmp_path / "seen" / "cases.py").write_text('DATA = recorded("seen/part").results\n')
    pages = {"a/seen": "", "b/other": "x = recorded('other')\n"}
    pages["reference/api/own"] = ">>> recorded('other')\n"
    found = records.fed_pages(["seen/part", "other", "lost"], pages, tmp_path)
    assert found == {"seen/part": ["a/seen"], "other": ["b/other"], "lost": []}
