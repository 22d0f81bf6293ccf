"""The picture before the script: numbers for widths, a title that fits."""

from __future__ import annotations

import json
import re

import altair as alt
import pandas as pd
import pytest

from annotated_book.pages import BOOK
from annotated_book.viz.static_fallback import converter, static_fallback
from annotated_book.viz.theme import CONFIG, VEGA_LITE
from annotated_book.viz.titles import title_of
from book.tests.javascript import evaluate


def test_a_chart_that_follows_its_container_is_as_wide_as_the_column() -> None:
    spec = {"width": "container", "title": "short"}
    made = static_fallback(spec, 600)
    assert made["width"] == 600 and made["title"] == "short" and made["autosize"]["type"] == "fit-x"
    assert spec == {"width": "container", "title": "short"}, "the chart itself stays as it is"


def test_concatenated_views_are_fitted_too() -> None:
    spec = {"vconcat": [{"width": 10}, {"width": 20}], "usermeta": {"fit": True}}
    assert [view["width"] for view in static_fallback(spec, 600)["vconcat"]] == [528, 528]
    assert static_fallback({"concat": [], "usermeta": {"columns": 2}}, 600)["columns"] == 2
    assert static_fallback({"concat": [], "usermeta": {"columns": 2}}, 300)["columns"] == 1


def test_a_picture_that_keeps_its_shape() -> None:
    spec = {"usermeta": {"aspect": 0.5, "widest": 500, "beside": 20}}
    assert [static_fallback(spec, 600)[side] for side in ("width", "height")] == [500, 250]
    assert [static_fallback(spec, 300)[side] for side in ("width", "height")] == [280, 140]


def test_a_long_title_has_lines_that_fit_and_no_word_is_lost() -> None:
    words = "one title of very many words that no narrow column can hold without a break"
    for title in (words, {"text": words, "anchor": "start"}):
        made = static_fallback({"title": title}, 300)["title"]
        lines = made["text"] if isinstance(made, dict) else made
        assert " ".join(lines) == words and max(map(len, lines)) <= (300 - 72) / 6.8
    chosen = {"expr": "a + b"}
    assert static_fallback({"title": {"text": chosen}})["title"]["text"] is chosen


def test_still_pictures_are_in_the_letters_of_the_page() -> None:
    """A narrow font and a wide one give pictures of different widths, so the shipped one must be found by its name."""
    vl_convert = pytest.importorskip("vl_convert", reason="drawing needs the extra `book`")
    words = {"values": [{"n": "a long name of a row in letters of the book"}]}
    chart = alt.Chart(words, height=20).mark_point().encode(y=alt.Y("n:N").axis(labelLimit=900))

    def width(font: str) -> float:
        spec = chart.to_dict() | {"config": {"font": font}}
        return float(re.search(r'width="([0-9.]+)"', converter().vegalite_to_svg(spec, vl_version=VEGA_LITE))[1])

    assert CONFIG["font"].split(", ")[1] == "Book Sans", "what follows the sign of a token"
    assert width("Book Sans") != width("No such font")
    assert vl_convert is converter()


def test_titles_that_a_menu_chooses_have_as_many_lines_as_the_longest_and_are_cut_alike_in_the_browser() -> None:
    long = "one title of very many words that no narrow column can hold without a break"
    titles = {"few": "short", 'a "word"': long}
    chart = alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x="x:Q")
    spec = chart.properties(title=alt.Title(title_of("menu", titles))).to_dict()
    for width in (300, 600):
        expression = static_fallback(spec, width)["title"]["text"]["expr"]
        assert expression.endswith("[menu]")
        lines = json.loads(expression.removesuffix("[menu]"))
        assert {name: " ".join(one).strip() for name, one in lines.items()} == titles
        assert len({len(one) for one in lines.values()}) == 1 and max(map(len, lines["few"])) == 5
        fit = "({ fit }, [spec, width]) => fit(spec, width).title"
        in_browser = evaluate(BOOK / "viz" / "chart_drawing.js", fit, [spec, width])
        assert json.loads(in_browser["text"]["expr"].removesuffix("[menu]")) == lines
