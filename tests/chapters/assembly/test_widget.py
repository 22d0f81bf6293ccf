"""The figure with counts says what the library counts."""

from __future__ import annotations

import pytest

from annotated import base, table_3
from annotated.analysis.parameters import count_parameters
from annotated.chapters.assembly.widget import parameter_figure
from tests.javascript import CHAPTERS, evaluate

WIDGET = CHAPTERS / "assembly" / "widget.js"


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
