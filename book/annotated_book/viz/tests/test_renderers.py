"""The renderer of the book, and the choice of a renderer."""

from __future__ import annotations

import json
import re

import altair as alt
import pytest

from annotated_book.viz import notebook_chart, renderers
from annotated_book.viz.caption import captioned
from annotated_book.viz.parameters import slider

pytest.importorskip("vl_convert", reason="the book's charts need the extra `book`")


def chart(description: str | None = "one point") -> alt.Chart:
    made = alt.Chart(alt.Data(values=[{"a": 1}])).mark_point().encode(x="a:Q")
    return made.properties(description=description) if description else made


def test_a_chart_without_a_description_is_refused() -> None:
    with pytest.raises(ValueError, match="description"):
        renderers.book_renderer(chart(None).to_dict())


def test_the_figure_holds_the_specification_and_a_first_picture() -> None:
    output = renderers.book_renderer(chart('a "quoted" <text> </script>').to_dict())
    assert output["text/plain"] == 'a "quoted" <text> </script>'
    figure = output["text/html"]
    assert figure.count("</script>") == 1, "the description must not end the script element"
    assert 'aria-label="a &quot;quoted&quot; &lt;text&gt; &lt;/script&gt;"' in figure
    assert "<svg" in figure
    spec = json.loads(re.search(r'<script type="application/json">(.*?)</script>', figure, re.DOTALL)[1])
    assert spec["description"] == 'a "quoted" <text> </script>'
    assert spec["config"]["axis"]["labelColor"] == "currentColor" and spec["config"]["background"] is None


def test_a_still_picture_shares_no_name_with_a_live_chart() -> None:
    clipped = chart().mark_line(clip=True).to_dict()
    figure = renderers.book_renderer(clipped)["text/html"]
    used, named = set(re.findall(r"url\(#([^)]+)\)", figure)), set(re.findall(r'<clipPath id="([^"]+)"', figure))
    assert used and used <= named, "every clip that is used is there"
    assert all(re.fullmatch(r"still-clip\d+", name) for name in named), "live charts count clip1, clip2, ..."


def test_a_caption_stands_below_the_chart_and_keeps_its_other_wishes() -> None:
    wide = chart().properties(usermeta={"fit": True})
    made = captioned(wide, "One point,\n  <drawn>.")
    assert made.to_dict()["usermeta"] == {"fit": True, "caption": "One point, <drawn>."}
    assert wide.to_dict()["usermeta"] == {"fit": True}, "the chart itself has none"
    page = renderers.book_renderer(captioned(chart(), "One point,\n  <drawn>.").to_dict())["text/html"]
    assert page.endswith("</script><figcaption>One point, &lt;drawn&gt;.</figcaption></figure>")
    assert "figcaption" not in renderers.book_renderer(chart().to_dict())["text/html"]
    with pytest.raises(ValueError, match="caption"):
        captioned(chart(), " ")


def test_a_picture_of_many_marks_is_a_png_and_keeps_its_specification() -> None:
    values = [{"a": i, "b": i % 37} for i in range(1500)]
    many = alt.Chart(alt.Data(values=values)).mark_point().encode(x="a:Q", y="b:Q").properties(description="many")
    figure = renderers.book_renderer(many.to_dict())["text/html"]
    assert "<svg" not in figure and "data:image/png;base64," in figure and '"a":1499' in figure


def test_the_place_of_sliders_is_reserved() -> None:
    def height(made: alt.Chart) -> float:
        return float(re.search(r"min-height:(\d+)px", renderers.book_renderer(made.to_dict())["text/html"])[1])

    assert height(chart().add_params(slider("z", 1, 0, 5))) > height(chart()) + 20


@pytest.mark.parametrize(("building", "expected"), [("1", "book"), ("", "default")])
def test_the_build_of_the_book_chooses_its_renderer(
    monkeypatch: pytest.MonkeyPatch, building: str, expected: str
) -> None:
    monkeypatch.setenv(renderers.BOOK_VARIABLE, building)
    with alt.renderers.enable("default"):
        assert renderers.use_renderer() == expected


def test_a_notebook_gets_a_widget_in_the_houses_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(renderers.BOOK_VARIABLE, raising=False)
    monkeypatch.setattr(renderers, "_in_notebook", lambda: True)
    monkeypatch.setattr(notebook_chart, "drawing_library", notebook_chart.DrawingLibrary)
    with alt.renderers.enable("default"):
        assert renderers.use_renderer() == "annotated"
        data, _ = chart()._repr_mimebundle_()
    widget = notebook_chart.NotebookChart(chart().to_dict())
    config = json.loads(widget.specification)["config"]
    assert config["axis"]["labelColor"] == "currentColor" and config["background"] is None
    assert "application/vnd.jupyter.widget-view+json" in data and data["text/plain"] == "one point"


def test_a_caption_in_a_notebook_is_that_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook_chart, "drawing_library", notebook_chart.DrawingLibrary)
    spec = captioned(chart(), "Made by `python -m a < b`.").to_dict()
    shown = json.loads(notebook_chart.NotebookChart(spec).specification)["usermeta"]["caption"]
    assert shown == "Made by <code>python -m a &lt; b</code>."
    assert f"<figcaption>{shown}</figcaption>" in renderers.book_renderer(spec)["text/html"]


def test_a_chart_that_cannot_be_drawn_here_has_no_saved_picture() -> None:
    assert notebook_chart.saved_picture(chart().to_dict())[:4] == b"\x89PNG"  # type: ignore[index]
    far = alt.Chart("https://example.invalid/points.csv").mark_point().encode(x="a:Q")
    many = alt.Chart(alt.Data(values=[{"a": "x" * 10_000}] * 60)).mark_point()
    for made in (far, many):
        assert notebook_chart.saved_picture(made.to_dict()) is None
    assert notebook_chart.saved_picture({"mark": "no such mark"}) is None


def test_the_users_choice_of_renderer_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(renderers.BOOK_VARIABLE, "1")
    with alt.renderers.enable("json"):
        assert renderers.use_renderer() == "json"
