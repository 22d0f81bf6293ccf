"""The audit's chart says what the library counts."""

from __future__ import annotations

import pytest

from annotated import base
from annotated.analysis.parameters import AuditRow, audit_table_3, count_parameters
from annotated_book.machine.assembly.charts import audit_chart
from book.tests.drawing import texts


@pytest.fixture(scope="module")
def rows() -> list[AuditRow]:
    return audit_table_3()


@pytest.fixture(scope="module")
def biased() -> list[AuditRow]:
    return audit_table_3(attention_bias=True)


@pytest.mark.parametrize(("vocabulary", "fitting"), [(37_000, 0), (41_100, 10), (36_000, 1)])
def test_the_audit_says_which_rows_fit(rows: list[AuditRow], vocabulary: int, fitting: int) -> None:
    said = texts(audit_chart(rows, vocab_size=vocabulary))
    assert f"{vocabulary:,} entries: {fitting} of 11 rows fit" in said
    assert sum(" = " in text for text in said) == fitting
    base_count = f"{count_parameters(base(vocab_size=vocabulary)) / 1e6:.1f}"
    assert any(text.startswith(base_count) and text.endswith("65") for text in said)


@pytest.mark.parametrize(
    ("vocabulary", "biases", "fitting"), [(40_960, False, 9), (40_960, True, 10), (41_100, False, 10)]
)
def test_the_box_counts_with_biases_in_the_attention(
    rows: list[AuditRow], biased: list[AuditRow], vocabulary: int, biases: bool, fitting: int
) -> None:
    chart = audit_chart(rows, biased=biased, vocab_size=vocabulary)
    for one in chart.params:
        if one.name == "biases":
            one.value = biases
    said = texts(chart)
    assert f"{vocabulary:,} entries: {fitting} of 11 rows fit" in said
    count = count_parameters(base(vocab_size=vocabulary, attention_bias=biases)) / 1e6
    assert any(text.startswith(f"{count:.1f} ") and text.endswith("65") for text in said)


def test_the_slider_meets_the_ends_that_the_text_names(rows: list[AuditRow]) -> None:
    bind = next(one.bind for one in audit_chart(rows).params if one.name == "vocabulary")
    assert all((value - bind.min) % bind.step == 0 for value in (37_000, 40_960, 41_004, 41_208))


def test_the_slider_goes_from_one_end_of_the_axis_to_the_other_and_over_every_bar(
    rows: list[AuditRow], biased: list[AuditRow]
) -> None:
    chart = audit_chart(rows, biased=biased)
    bind = next(one.bind for one in chart.params if one.name == "vocabulary")
    axes = [
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in chart.to_dict()["layer"]
        if "mark" in layer and "scale" in layer["encoding"].get("x", {})
    ]
    assert axes and all(axis == [bind.min, bind.max] for axis in axes)
    assert all(bind.min <= row.low and row.high <= bind.max for row in (*rows, *biased))


def test_an_audit_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError):
        audit_chart([])
