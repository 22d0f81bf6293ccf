"""How alike words are in the live panel: the mean cosine, and the states that it is taken of."""

from __future__ import annotations

import pytest

from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

LIKENESS = page_folder("residuals") / "likeness.js"


def test_the_page_and_the_library_mean_the_same() -> None:
    found = evaluate(
        LIKENESS,
        "({ meanCosine }) => [meanCosine({ data: new Float32Array([1, 0, 0, 2, 3, 0]), rows: 3, columns: 2 }),"
        " meanCosine({ data: new Float32Array([1, 2]), rows: 1, columns: 2 })]",
    )
    assert found == [pytest.approx(1 / 3), 0]


def test_the_states_are_boxes_of_the_encoder_from_the_bottom() -> None:
    names = evaluate(LIKENESS, "({ STATES }) => STATES.map(([, name]) => name)")
    assert names[0] == "source.sum" and names[1:3] == ["encoder.1.add_norm_1", "encoder.1.add_norm_2"]
    assert len(names) == 7 and names[-1] == "encoder.3.add_norm_2"
