"""Tables of results: the numbers as a reader wants them, in HTML and as text."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from annotated_book.viz.renderers import BOOK_VARIABLE
from annotated_book.viz.result_table import result_table

FRAME = pd.DataFrame(
    {
        "time": [0.194, 12345.678, np.nan],
        "updates": [7, 100_000, 2017],
        "kept": [True, False, True],
        "what": ["a < b", "`d_k` wide", "c"],
    },
    index=pd.Index(["one", "two", "three"], name="run"),
)


def table(**options: object) -> list[list[str]]:
    """The cells of the table's HTML, head first."""
    page = result_table(FRAME, **options)._repr_html_()
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_cells_are_formatted_by_their_kind() -> None:
    assert table(digits={"time": 1}) == [
        ["run", "time", "updates", "kept", "what"],
        ["one", "0.2", "7", "yes", "a &lt; b"],
        ["two", "12,345.7", "100,000", "no", "<code>d_k</code> wide"],
        ["three", "–", "2,017", "yes", "c"],
    ]


def test_a_format_serves_where_places_do_not() -> None:
    shares = pd.DataFrame({"share": [0.125, -0.5], "change": [0.04, -1.5]})
    made = result_table(shares, digits={"share": ".1%", "change": "+.1f"})
    assert [column.cells for column in made.columns] == [("12.5\u00a0%", "-50.0\u00a0%"), ("+0.0", "-1.5")]
    assert "\u221250.0\u00a0%" in made._repr_html_() and "\u22121.5" in made._repr_html_()


def test_units_stand_in_the_head_and_one_row_is_stressed() -> None:
    page = result_table(
        FRAME, units={"time": "ms"}, stress="two", caption="Times & more", note="Recorded."
    )._repr_html_()
    assert '<th scope="col" class="number">time <span class="unit">ms</span></th>' in page
    assert re.findall(r'<tr class="stressed"><th scope="row">(.*?)</th>', page) == ["two"]
    assert "<caption>Times &amp; more</caption>" in page and '<p class="result-note">Recorded.</p>' in page


def test_a_table_of_blocks_has_the_head_in_every_cell_but_the_first() -> None:
    page = result_table(FRAME.drop(columns="kept"), units={"time": "ms"}, blocks=True)._repr_html_()
    assert '<table class="results blocks">' in page
    label = '<span class="cell-label">{}</span>'
    assert all(page.count(label.format(head)) == 3 for head in ("time (ms)", "updates", "what"))
    assert page.count('cell-label">') == 9 and 'cell-label">' not in result_table(FRAME)._repr_html_()


def test_a_table_of_many_columns_stays_a_table_on_a_phone() -> None:
    page = result_table(FRAME, blocks=True)._repr_html_()
    assert '<table class="results">' in page and 'cell-label">' not in page


def test_an_index_without_a_name_is_not_shown_but_can_be_stressed() -> None:
    made = result_table(FRAME.reset_index(), stress=[0, 2])
    assert made.columns[0].name == "run" and not made.columns[0].is_index
    assert made.stressed == {0, 2}


def test_levels_become_one_head_and_several_row_heads() -> None:
    frame = pd.DataFrame({("BLEU", "de"): [25.8], ("BLEU", "fr"): [38.1]})
    frame.index = pd.MultiIndex.from_tuples([("base", 4)], names=["model", "beam"])
    made = result_table(frame, digits=1)
    assert [column.name for column in made.columns] == ["model", "beam", "BLEU · de", "BLEU · fr"]
    assert made.rows == [("base", "4", "25.8", "38.1")]


def test_a_small_negative_number_is_nought_without_a_minus() -> None:
    assert result_table(pd.DataFrame({"x": [-0.001, -0.006]})).rows == [("0.00",), ("-0.01",)]


def test_text_is_aligned_and_says_the_same() -> None:
    frame = pd.DataFrame({"ms": [1.0, 10.0]}, index=pd.Index(["a", "bcd"], name="n"))
    expected = "Title\nn       ms\n---  -----\na     1.00\nbcd  10.00  <\nNote"
    assert repr(result_table(frame, stress="bcd", caption="Title", note="Note")) == expected


def test_the_style_comes_along_where_the_book_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BOOK_VARIABLE, raising=False)
    assert "<style>" in result_table(FRAME)._repr_html_()
    monkeypatch.setenv(BOOK_VARIABLE, "1")
    assert "<style>" not in result_table(FRAME)._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": {"tme": "ms"}}, "units: no column tme"),
        ({"digits": {"tme": 2}}, "digits: no column tme"),
        ({"stress": "four"}, "stress: no row 'four'"),
    ],
)
def test_a_name_that_the_frame_does_not_have_is_an_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        result_table(FRAME, **options)


def test_a_column_without_a_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="without a name"):
        result_table(pd.DataFrame({"": [1]}))


def test_thousands_are_set_apart_in_the_whole_column_or_nowhere() -> None:
    frame = pd.DataFrame({"year": [2017, 2026], "updates": [3200, 12_000], "MiB": [8192.0, 524_288.0], "no": [7, 999]})
    table = result_table(frame, digits={"MiB": 1})
    assert [column.cells for column in table.columns] == [
        ("2017", "2026"), ("3,200", "12,000"), ("8,192.0", "524,288.0"), ("7", "999"),
    ]  # fmt: skip
