"""Figure 1 in the margin: the chapter's part is lit, keys go from box to box, a box opens its tensor."""

from __future__ import annotations

import re
from typing import Any

import pytest

from book.conftest import html_folder, pages_in_order
from book.tests.boxes import box_of

SENTENCE = "The cat sleeps."


@pytest.fixture(scope="module")
def chapter(book: Any) -> str:
    """A built chapter with the figure; one whose lit box is the softmax if there is one."""
    pages = [name for name in pages_in_order() if (html_folder() / f"{name}.html").is_file()]
    lit = re.compile(r'machine-margin.*class="box [^"]*lit"', re.DOTALL)
    shown = [name for name in pages if lit.search((html_folder() / f"{name}.html").read_text("utf-8"))]
    if not shown:
        pytest.skip("no built page has figure 1 in its margin")
    return f"{shown[-1]}.html"


def opened(v: Any, name: str) -> Any:
    v.page.locator(f'.machine-small [data-box="{name}"]').click()
    v.page.wait_for_selector("dialog[open] .panel .facts")
    return v.page.locator("dialog[open]")


def test_it_stands_in_the_right_column(visit: Any, chapter: str) -> None:
    with visit(chapter, as_left=True, viewport={"width": 1440, "height": 1000}) as v:
        figure = box_of(v.page.locator("figure.machine-margin"))
        text = box_of(v.page.locator(".bd-article h1"))
        assert 200 <= figure["width"] <= 280 and figure["x"] >= text["x"] + 500
        assert v.page.locator(".machine-small .box.lit").count() >= 1
        sizes = v.page.locator(".machine-small text").evaluate_all(
            "all => all.map(t => parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.getScreenCTM().a)"
        )
        assert min(sizes) >= 9
        assert v.errors == [] and v.foreign == []


def test_on_a_phone_it_is_a_fold(visit: Any, chapter: str) -> None:
    with visit(chapter, viewport={"width": 390, "height": 844}, color_scheme="dark") as v:
        summary = v.page.locator(".machine-fold > summary")
        assert box_of(summary)["height"] < 140
        assert not v.page.locator(".machine-small").is_visible()
        summary.click()
        assert v.page.locator(".machine-small").is_visible()
        assert v.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_keys_go_along_the_flow_and_open(visit: Any, chapter: str) -> None:
    with visit(chapter, as_left=True, viewport={"width": 1440, "height": 1000}) as v:
        assert v.page.locator(".machine-small [tabindex='0']").count() == 1, "one stop for the tab key"
        v.page.locator('.machine-small [data-box="memory"]').focus()
        for key, expected in (("ArrowDown", "encoder.*.add_norm_2"), ("ArrowRight", "decoder.*.add_norm_2")):
            v.page.keyboard.press(key)
            assert v.page.evaluate("document.activeElement.dataset.box") == expected
        v.page.keyboard.press("Enter")
        v.page.wait_for_selector("dialog[open] .panel .facts")
        assert "Add & Norm" in v.page.locator("dialog h2").inner_text()
        v.page.keyboard.press("Escape")
        assert v.page.locator("dialog[open]").count() == 0
        assert v.page.evaluate("document.activeElement.dataset.box") == "decoder.*.add_norm_2"


def test_a_box_opens_its_tensor_code_and_paper(visit: Any, chapter: str) -> None:
    with visit(chapter, as_left=True, viewport={"width": 1440, "height": 1000}) as v:
        dialog = opened(v, "decoder.*.cross_attention")
        assert dialog.locator(".maps .map").count() == 4 and dialog.locator("svg.tensor image").count() == 1
        assert dialog.locator(".facts").inner_text().startswith("[T, D] = ")
        links = dialog.locator("a").evaluate_all("all => all.map(a => a.href)")
        assert any("arxiv.org" in link for link in links)
        code = [link.partition("#")[0] for link in links if "/source/annotated/model/" in link]
        assert code
        for link in set(code):
            assert (html_folder() / link.partition("/source/")[2].join(["source/", ""])).is_file()
        before = dialog.locator("svg.tensor image").get_attribute("href")
        dialog.get_by_label("3", exact=True).check()
        assert dialog.locator("svg.tensor image").get_attribute("href") != before
        assert v.errors == [] and v.foreign == []


def test_the_readers_sentence_stands_under_the_inputs(visit: Any, chapter: str) -> None:
    with visit(chapter, viewport={"width": 1440, "height": 1000}, alone=True) as v:
        german = v.page.locator(".machine-sentence .german")
        assert german.inner_text().startswith("Die Großmutter")
        dialog = opened(v, "softmax")
        dialog.locator("input[type=text]").fill(SENTENCE)
        v.page.wait_for_function("document.querySelector('.german').textContent.startsWith('Die Katze')")
        assert v.page.locator(".machine-sentence .english").inner_text() == SENTENCE
        v.page.reload()
        assert v.page.locator(".machine-sentence .english").inner_text() == SENTENCE


def test_the_wide_model_shows_tensors_of_its_own_size(visit: Any, chapter: str) -> None:
    with visit(chapter, viewport={"width": 1440, "height": 1000}, alone=True) as v:
        dialog = opened(v, "memory")
        dialog.locator("input[type=text]").fill("Hello, how are you?")
        said = "document.querySelector('dialog .live-model').textContent.includes('Translated by the wide model')"
        v.page.wait_for_function(f"{said} && document.querySelector('dialog .live').dataset.state === 'done'")
        code = "async text => { const e = await annotatedWideEngine; return [e.read(text).length, e.config.d_model]; }"
        length, width = v.page.evaluate(code, "Hello, how are you?")
        assert dialog.locator(".facts").inner_text().startswith(f"[S, D] = {length} × {width} ")
        assert v.errors == [] and v.axe(within="dialog[open]") == []


def test_without_scripts_each_box_leads_to_its_chapter(visit: Any, chapter: str) -> None:
    with visit(chapter, viewport={"width": 1440, "height": 1000}, java_script_enabled=False) as v:
        boxes = v.page.locator(".machine-small a.box[href]")
        assert v.page.locator(".machine-small").is_visible() and boxes.count() >= 1
        for i in range(boxes.count()):
            address = boxes.nth(i).get_attribute("href").partition("#")[0]
            assert not address or (html_folder() / chapter).parent.joinpath(address).resolve().is_file()


def test_on_the_front_page_it_is_beside_the_first_words(visit: Any, book: Any) -> None:
    with visit("intro.html", viewport={"width": 1280, "height": 900}) as v:
        figure, words, panel = (box_of(v.page.locator(f"{name}").first) for name in (
            "figure.machine-beside", ".first-words > p", ".live"))  # fmt: skip
        assert figure["x"] >= words["x"] + words["width"] and figure["y"] < words["y"]
        assert figure["y"] + figure["height"] <= panel["y"]
    with visit("intro.html", viewport={"width": 390, "height": 844}) as v:
        figure, words, panel = (box_of(v.page.locator(name).first) for name in (
            "figure.machine-beside", ".first-words > p", ".live"))  # fmt: skip
        assert words["y"] + words["height"] < figure["y"] and figure["y"] + figure["height"] <= panel["y"]
        assert v.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_the_front_page_it_lights_what_a_switch_acts_on(visit: Any, book: Any) -> None:
    with visit("intro.html", viewport={"width": 1280, "height": 900}) as v:
        v.page.wait_for_selector(".live-switches input:not([disabled])")
        switch = v.page.locator(".live-switches label").first
        switch.hover()
        marked = "all => all.map(box => box.dataset.box)"
        both = ["source.positions", "target.positions"]
        assert v.page.locator(".machine-small .pointed").evaluate_all(marked) == both
        switch.click()
        v.page.wait_for_selector(".machine-small .off")
        assert v.page.locator(".machine-small .off").evaluate_all(marked) == both
        v.page.locator(".bd-article h1").hover()
        assert v.page.locator(".machine-small .pointed").count() == 0
        assert v.page.locator(".machine-small .lit").evaluate_all(marked) == ["decoder.*.cross_attention"]
        assert v.errors == [] and v.foreign == []
