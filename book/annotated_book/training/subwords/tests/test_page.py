"""Chapter 16: the page cuts any text as the library does, merge by merge; its charts answer to slider and menu."""

from __future__ import annotations

from typing import Any

import annotated
from annotated.data import Tokenizer
from annotated_book.training.subwords.merges import first_entries
from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import move, texts, with_control

PAGE = "training/subwords.html"
PHONE = {"width": 390, "height": 900}
NASTY = [
    *("The grandmother sells apples.", " ", "  two  spaces ", "tab\tand\nline ", "Grüße, Ærøskøbing! ẞ", "u\u0308 ü"),
    *("漢字かな", "👩\u200d🚀🍵🍎", "a@@ b ▁ <unk></s>", "\ufeffmark\ufeff", "no-break\u00a0space\u3000wide"),
    *("a\u0085b \u0085 c", "\u200bzero\u200b width", "1.000.000,50 € ½ ² ٣", "שלום عالم", "don't they'll I'D 's"),
    *("𝔊𝔬𝔱𝔥", "e\u0301\u0301", "aaaaaaa ----", "x\u2028y\u2029z", "\u1680 \u180e", "ﬁ ǅ ﾊ"),
]


def widget(v: Any) -> Any:
    return drawn_widget(v, ".merge-replay", ".piece")


def shown(w: Any) -> list[str]:
    return w.evaluate("e => [...e.querySelectorAll('.piece')].map(p => p.dataset.piece)")


CUT_ALL = """(e, [count, texts]) => {
  const put = (field, value) => { field.value = value; field.dispatchEvent(new Event('input')); };
  put(e.querySelector('input[type=range]'), count);
  return texts.map(text => {
    put(e.querySelector('textarea'), text);
    return [e.querySelector('.ids').textContent, [...e.querySelectorAll('.piece')].map(p => p.dataset.piece)];
  });
}"""


def test_the_page_cuts_every_text_as_the_library_does(visit: Any) -> None:
    tokenizer: Tokenizer = annotated.load("classroom").tokenizer
    with visit(PAGE, as_left=True) as v:
        w = widget(v)
        for count in (0, 60, 1740):
            cut = first_entries(tokenizer, 260 + count)
            for text, (numbers, seen) in zip(NASTY, w.evaluate(CUT_ALL, [count, NASTY]), strict=True):
                expected = cut.encode(text)
                assert ([int(n) for n in numbers.split()], seen) == (expected, cut.tokens(expected)), (count, text)
        assert w.evaluate(CUT_ALL, [9, [""]]) == [["", []]] and "Type something" in w.locator(".says").inner_text()
        assert v.errors == [] and v.foreign == []


def test_the_keyboard_steps_through_the_merges_of_the_text_on_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport=PHONE) as v:
        w = widget(v)
        field = w.get_by_role("textbox", name="your text")
        field.fill("er her")
        w.get_by_role("button", name="from the bytes").click()
        assert shown(w) == ["e", "r", "▁", "h", "e", "r"] and "6 pieces" in w.locator(".counts").inner_text()
        w.get_by_role("button", name="next").focus()
        v.page.keyboard.press("Enter")
        assert shown(w) == ["er", "▁", "h", "er"] and w.locator(".fresh").all_inner_texts() == ["er", "er"]
        assert "Merge 1: “e” + “r” → “er”, now 2 times" in w.locator(".says").inner_text()
        v.page.keyboard.press("Enter")
        assert shown(w) == ["er", "▁h", "er"]
        w.get_by_role("button", name="back").click()
        w.get_by_role("button", name="back").click()
        assert len(shown(w)) == 6 and w.get_by_role("button", name="back").is_disabled()
        w.get_by_role("button", name="play").click()
        v.page.wait_for_function("document.querySelectorAll('.merge-replay .piece').length === 3")
        assert v.overflow() <= 0 and box_of(w.locator("svg"))["width"] <= 360


def test_charts_answer_to_the_number_of_the_merge_and_to_the_size(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        pairs = with_control(figures, "merge")
        assert "merge 1 makes “er”" in texts(pairs)
        move(pairs, "merge", 2)
        assert "merge 2 makes “en”" in texts(pairs) and "e + r" not in texts(pairs)
        sizes = with_control(figures, "place")
        assert {"18.4", "tokens in a sentence"} <= set(texts(sizes))
        assert any("18.9 million (30%" in text for text in texts(sizes))
        move(sizes, "measure", "tokens that are whole words")
        assert "70%" in texts(sizes)
        move(sizes, "place", 3)
        assert {"24%", "57%"} <= set(texts(sizes)) and any(text.startswith("2,000 entries") for text in texts(sizes))


def test_the_panel_cuts_and_translates_the_readers_text(visit: Any) -> None:
    with visit(PAGE, viewport=PHONE) as v:
        box = v.page.locator('.live[data-panel="tokens"]')
        box.scroll_into_view_if_needed()
        done = '.live[data-panel="tokens"][data-state="done"]'
        v.page.wait_for_selector(done)
        written = box.locator(".cut-written").all_inner_texts()
        assert written[-1] == "→ Die Großmutter verkauft Äpfel." and len(set(written)) == 5
        assert "29 bytes become 6 tokens" in box.locator(".live-status").inner_text()
        box.get_by_role("combobox", name="English").fill("The cat 🍎")
        v.page.wait_for_function("document.querySelectorAll('.cut')[0].querySelectorAll('.cut-token').length === 12")
        assert v.overflow() <= 0 and v.errors == []
