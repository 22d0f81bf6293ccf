"""Chapter 26: the reader's own text, tokenisers against sacreBLEU, every control of the highlighter, the charts."""

from __future__ import annotations

from typing import Any

import pytest

from book.tests.boxes import box_of, drawn_widget
from book.tests.charts import move, texts, with_control

PAGE = "decoding/bleu.html"


def highlighter(v: Any) -> Any:
    return drawn_widget(v, ".ngram-highlighter", "table")


def score(widget: Any) -> float:
    return float(widget.locator("output").inner_text().removeprefix("BLEU "))


def test_own_text_is_scored_as_by_sacrebleu(visit: Any) -> None:
    sacrebleu = pytest.importorskip("sacrebleu.metrics")
    from annotated.evaluation import paper_style_bleu

    hypothesis = "Das kostet 3,14 Euro (etwa), sagt die E-Mail: &quot;billig&quot;… 5-6 Stück. \u00a0Ja 😀!"
    reference = 'Das kostet 3,14 Euro (etwa), sagte die E-Mail: "billig"… 5-6 Stück. Ja 😀.'
    with visit(PAGE, as_left=True) as v:
        widget = highlighter(v)
        widget.get_by_label("translation", exact=True).fill(hypothesis)
        widget.get_by_label("reference", exact=True).fill(reference)
        steps = {"quotes": {"compounds": False}, "compounds": {"quotes": False}, "paper": {}}
        for name in ("13a", "none", "intl", "char", *steps):
            widget.get_by_label("tokeniser").select_option(name)
            if name in steps:
                expected = paper_style_bleu([hypothesis], [reference], **steps[name]).bleu
            else:
                metric = sacrebleu.BLEU(tokenize=name, force=True)
                expected = metric.corpus_score([hypothesis], [[reference]]).score
                tokens = (
                    widget.locator(".strip")
                    .first.locator(".token")
                    .evaluate_all("all => all.map(e => e.firstChild.textContent)")
                )
                assert tokens == metric.tokenizer(hypothesis).split()
            assert score(widget) == pytest.approx(expected, abs=0.006)
        assert v.errors == []


def test_examples_orders_and_pointing(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        widget = highlighter(v)
        assert box_of(widget)["width"] <= 390 and v.overflow() <= 0
        shared = "all => all.map(tr => tr.querySelector('td').textContent)"
        assert widget.locator("tbody tr").evaluate_all(shared) == ["9", "5", "2", "1"]
        widget.get_by_label("example").select_option(label="the same word again")
        assert widget.locator("tbody tr").first.locator("td").all_inner_texts()[:3] == ["2", "2", "4"]
        widget.get_by_label("show 1-grams").check()
        assert widget.locator(".chips .clipped").count() == 2
        widget.locator(".chips button").first.focus()
        assert widget.locator(".pointed").count() == 3  # one in the translation, two in the reference
        v.page.keyboard.press("Tab")
        assert widget.locator(".strip").first.locator(".pointed").count() == 1
        widget.get_by_label("translation", exact=True).fill("")
        assert score(widget) == 0 and v.errors == []


def test_charts_answer(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        curve = with_control(figures, "ratio")
        move(curve, "ratio", 0.5)
        assert any(text.startswith("0.368") for text in texts(curve))
        bars = with_control(figures, "system")
        before = texts(bars)
        move(bars, "system", "last checkpoint, greedy")
        assert texts(bars) != before
