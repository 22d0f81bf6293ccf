"""The figure with counts says what the library counts."""

from __future__ import annotations

import pytest

from annotated import base, table_3
from annotated.analysis.parameters import count_parameters
from annotated_book.machine.assembly.widget import parameter_figure
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

WIDGET = page_folder("assembly") / "widget.js"


def test_the_widget_starts_with_a_row_and_its_count() -> None:
    figure = parameter_figure("C5", vocab_size=1000)
    assert figure.total == count_parameters(table_3("C5", vocab_size=1000))
    assert figure.sizes["d_model"] == 1024 and figure.sizes["d_k"] == 128 and figure.sizes["tie_embeddings"] is True
    rows = {row["row"]: row for row in figure.rows}
    assert rows["big"]["printed"] == 213 and rows["big"]["sizes"]["num_heads"] == 16
    assert rows["A1"]["printed"] is None and not {"D1", "E1"} & set(rows)
    assert "vocab_size" not in rows["base"]["sizes"], "a row leaves the reader's vocabulary alone"


def test_rows_without_boxes_of_their_own_are_refused() -> None:
    with pytest.raises(ValueError, match="base"):
        parameter_figure("D1")
    with pytest.raises(ValueError, match="no row"):
        parameter_figure("Z9")


def test_every_size_of_every_row_lies_on_its_slider() -> None:
    """A row that lies between two steps of a slider would move when the reader touches another control."""
    scales = dict(evaluate(WIDGET, "({ SIZES }) => SIZES.map(([name, , values]) => [name, values])"))
    assert len(scales) == 7
    for row in parameter_figure().rows:
        for name, value in {**row["sizes"], "vocab_size": base().vocab_size}.items():
            if name in scales:
                assert value in scales[name], f"row {row['row']}: {name} = {value}"


def test_the_counts_in_the_page_are_those_of_the_library() -> None:
    rows = parameter_figure(vocab_size=1000).rows
    sizes = [
        {**parameter_figure(row["row"], vocab_size=1000).sizes, "tie_embeddings": tied}
        for row in rows
        for tied in (True, False)
    ]
    counts = evaluate(WIDGET, "({ count }, all) => all.map(count)", sizes)
    for size, found in zip(sizes, counts, strict=True):
        config = base(vocab_size=1000).replace(**size, num_decoder_layers=size["num_encoder_layers"])
        assert sum(found.values()) == count_parameters(config)


def test_a_box_of_a_stack_shows_the_count_of_one_layer_too() -> None:
    say = "({ boxText }) => [boxText('ef', 12_598_272, 6), boxText('en', 12_288, 6), boxText('source', 18_944_000, 6)]"
    # By hand: 2 x 512 x 2048 + 2048 + 512 = 2,099,712 in one network, 2 x 2 x 512 = 2,048 in the norms of one layer.
    assert evaluate(WIDGET, say) == ["6 × 2.10 M = 12.6 M", "6 × 2,048 = 12,288", "18.94 M"]
    assert evaluate(WIDGET, "({ boxText }) => boxText('target', 0, 6)") == "the same matrix"


def test_the_difference_has_a_unit_and_a_row_ties_the_matrices_again() -> None:
    row = {"row": "base", "printed": 65, "sizes": {"d_model": 512}}
    say = "({ answerTo }, [row, total]) => answerTo({ source: total }, total, row)"
    assert "difference is −2.0 million." in evaluate(WIDGET, say, [row, 63_045_632])
    assert "difference is +1.2 million." in evaluate(WIDGET, say, [row, 66_200_000])
    assert evaluate(WIDGET, "({ rowSizes }, row) => rowSizes(row)", row) == {"d_model": 512, "tie_embeddings": True}


def test_heads_may_change_and_leave_the_count() -> None:
    given = [{"num_heads": 8, "d_k": 64, "d_v": 64}, {"num_heads": 16}]
    made = "({ changed }, [sizes, more]) => [true, false].map(keep => changed(sizes, more, keep))"
    kept, loose = evaluate(WIDGET, made, given)
    assert kept == {"num_heads": 16, "d_k": 32, "d_v": 32} and loose == {"num_heads": 16, "d_k": 64, "d_v": 64}


def test_the_headline_names_the_largest_part_and_a_box_its_shape() -> None:
    counts = """({ count, headline }, s) => {
      const parts = count(s);
      return headline(parts, Object.values(parts).reduce((a, b) => a + b));
    }"""
    assert (
        evaluate(WIDGET, counts, parameter_figure().sizes) == "40 % of the parameters are in the feed-forward networks"
    )
    shapes = "({ shapeText }, s) => ['ef', 'dc', 'linear'].map(key => shapeText(key, s))"
    assert evaluate(WIDGET, shapes, parameter_figure().sizes) == ["B × S × 512", "B × T × 512", "B × T × 37,000"]
