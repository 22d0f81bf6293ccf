"""Chapter 9: forty sentences, every head of every use, as matrix or as arcs, with mouse, keyboard and menus."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import settle, texts

PAGE = "attention/atlas.html"
PHONE = {"width": 390, "height": 900}
USES = ("Encoder self-attention", "Decoder self-attention", "Cross-attention")


def heads(v: Any) -> Any:
    return drawn_widget(v, ".attention-heads", "svg")


def choices(widget: Any, label: str) -> Any:
    return widget.get_by_label(label, exact=True)


def menu(v: Any, name: str) -> Any:
    """The chart with the menu of this name, drawn."""
    return next(f for f in v.draw_charts() if f.query_selector(f"select[name={name}]"))


def test_the_page_with_forty_sentences_stays_light(book: Path) -> None:
    assert len(gzip.compress((book / PAGE).read_bytes(), 6)) < 400 * 1024


def test_the_widget_shows_every_head_of_every_use(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = heads(v)
        for label in USES:
            widget.get_by_label(label).check()
            assert widget.locator(".title").inner_text() == f"{label}, layer 1, head 1"
            layers, buttons = widget.locator(".layer-row").count(), widget.locator(".thumbnails button")
            assert layers >= 2 and buttons.count() % layers == 0
            buttons.last.click()
            assert widget.locator(".title").inner_text().startswith(f"{label}, layer {layers}, head ")
            assert buttons.last.get_attribute("aria-pressed") == "true"
            assert widget.locator("[aria-pressed=true]").count() == 1
            options = [choices(widget, name).locator("option").count() for name in ("query", "key")]
            assert widget.locator("svg text").count() == sum(options)
        assert v.errors == []


def test_forty_sentences_can_be_chosen_and_each_has_its_own_tokens(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = heads(v)
        sentences = choices(widget, "sentence")
        assert sentences.locator("option").count() == 40
        pictures = set()
        for number in ("0", "17", "39"):
            sentences.select_option(number)
            title = sentences.locator("option").nth(int(number)).inner_text()
            keys = [t.split(" ", 1)[1] for t in choices(widget, "key").locator("option").all_inner_texts()]
            joined = "".join(keys[:-1]).replace("▁", " ").replace(" ", "")
            assert joined == title.replace(" ", "")
            pictures.add(widget.locator("svg image").get_attribute("href"))
        assert len(pictures) == 3
        widget.get_by_role("button", name="next sentence").click()
        assert sentences.input_value() == "0", "after the last one, the first"


def test_every_head_has_its_card(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = heads(v)
        buttons = widget.locator(".thumbnails button")
        cards = set()
        for number in range(buttons.count()):
            buttons.nth(number).click()
            cards.add(widget.locator(".note").inner_text())
        assert len(cards) == buttons.count()
        buttons.nth(8).click()
        assert "noun of its article" in widget.locator(".note").inner_text()


def test_the_widget_answers_to_mouse_keyboard_and_menus(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport=PHONE) as v:
        widget = heads(v)
        answer, picture = widget.locator("output"), widget.locator("svg[role=application]")
        query, key = choices(widget, "query"), choices(widget, "key")
        picture.scroll_into_view_if_needed()
        first = answer.inner_text()
        picture.focus()
        v.page.keyboard.press("ArrowDown")
        v.page.keyboard.press("ArrowRight")
        assert query.input_value() == "1"
        assert key.input_value() == "1"
        second = answer.inner_text()
        assert second != first
        box = box_of(picture.locator("image"))
        v.page.mouse.click(box["x"] + box["width"] - 3, box["y"] + box["height"] - 3)
        assert query.input_value() == str(query.locator("option").count() - 1)
        query.select_option("0")
        assert answer.inner_text() not in (first, second)


def test_arcs_are_as_wide_as_the_weights_of_the_row(visit: Any) -> None:
    strong = (
        "e => [...e.querySelectorAll('path')].filter(p => p.getAttribute('stroke') === '#d9731a')"
        ".map(p => +p.getAttribute('stroke-width'))"
    )
    with visit(PAGE, as_left=True, viewport=PHONE) as v:
        widget = heads(v)
        widget.get_by_label("Decoder self-attention").check()
        widget.get_by_label("arcs").check()
        picture = widget.locator("svg[role=application]")
        assert picture.evaluate(strong) == [7], "the first position sees itself only, with all its weight"
        picture.focus()
        v.page.keyboard.press("ArrowDown")
        assert choices(widget, "query").input_value() == "1"
        widths = picture.evaluate(strong)
        assert 1 <= len(widths) <= 2 and 6 < sum(widths) <= 7.1
        assert box_of(picture)["width"] <= 360
        widget.get_by_label("matrix").check()
        assert widget.locator("svg image").count() == 1 and v.errors == []


def test_in_the_decoder_the_future_gets_nothing(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        widget = heads(v)
        widget.get_by_label("Decoder self-attention").check()
        choices(widget, "query").select_option("0")
        assert "100 % of its attention" in widget.locator("output").inner_text(), "the first position sees itself only"
        choices(widget, "key").select_option("1")
        assert " 0 % of its attention" in widget.locator("output").inner_text()


def test_the_cards_change_with_the_kind_of_attention(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = menu(v, "attention")
        assert "token after" in texts(figure)
        figure.query_selector("select").select_option("cross-attention")
        settle(figure)
        assert "token after" not in texts(figure) and {"word it writes", "97"} <= set(texts(figure))


def test_a_card_silences_its_head_on_its_sentence(visit: Any) -> None:
    with visit(PAGE) as v:
        widget = heads(v)
        panel = v.page.locator(".live[data-panel=atlas]")
        panel.scroll_into_view_if_needed()
        said = panel.locator(".live-status")
        said.filter(has_text="The words change.").wait_for(timeout=20_000)
        titles = choices(widget, "sentence").locator("option").all_inner_texts()
        choices(widget, "sentence").select_option(str(titles.index("The baker has 21 brown goats.")))
        widget.locator(".thumbnails button").nth(9).click()
        widget.get_by_role("button", name="Silence this head, and translate").click()
        said.filter(has_text="The words stay the same.").wait_for(timeout=20_000)
        assert panel.locator(".live-text").inner_text() == "Der Bäcker hat 21 braune Ziegen."
        assert panel.get_by_label("English").input_value() == "The baker has 21 brown goats."
        assert panel.locator(".head-map caption").inner_text().startswith("Cross-attention, layer 3, head 2:")
        assert panel.locator(".head-map tbody tr").count() > 5 and v.errors == []


def test_two_heads_back_each_other_up_in_the_page_as_in_the_text(visit: Any) -> None:
    with visit(PAGE) as v:
        panel = v.page.locator(".live[data-panel=atlas]")
        panel.scroll_into_view_if_needed()
        said = panel.locator(".live-status")
        said.filter(has_text="The words change.").wait_for(timeout=20_000)
        written = panel.locator(".live-tokens .live-token > span")
        assert "".join(written.all_inner_texts()) == "DieBäckerkauftdieBuch.</s>"
        panel.get_by_label("English").fill("The baker will open the window.")
        panel.get_by_role("button", name="Put everything back").click()
        said.filter(has_text="Every part is on.").wait_for(timeout=20_000)
        for head, words in (("2", "stay the same"), ("3", "change")):
            panel.get_by_role("button", name=f"Cross-attention, layer 3, head {head}").click()
            said.filter(has_text=f"The words {words}.").wait_for(timeout=20_000)
        assert "".join(written.all_inner_texts()) == "DerBäckerhatdasFensteraufmachen.</s>"


def test_the_losses_change_with_the_measure(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = menu(v, "measure")
        before = texts(figure)
        figure.query_selector("select").select_option("nats per token")
        settle(figure)
        assert "0.173" in texts(figure) and texts(figure) != before
