"""Chapter 35, the widget: pixels and veils as Python says, and what it refuses."""

import pytest

from annotated_book.pages import page_folder
from annotated_book.results.plans.widget import picture_reader
from book.tests.javascript import evaluate

FILE = page_folder("plans") / "widget.js"
ONE = {"kind": "seen", "pixels": "ff0000" * 4, "words": ["red"], "right": ["red"], "looks": [[[1, 0, 0, 0]]]}


def test_pixels_are_read_from_their_digits() -> None:
    assert evaluate(FILE, "({ pixelsOf }, d) => pixelsOf(d)", "00ff7f102030") == [0, 255, 127, 16, 32, 48]


def test_the_strongest_patch_has_no_veil() -> None:
    assert evaluate(FILE, "({ veils }, w) => veils(w)", [0, 500, 250]) == pytest.approx([0.86, 0, 0.43])
    assert evaluate(FILE, "({ veils }, w) => veils(w)", [0, 0]) == pytest.approx([0.86, 0.86])


def test_a_patch_is_veiled_as_a_whole() -> None:
    data = [[100] * 3 * 16, [1000, 0, 0, 0], 4, 2]
    bytes_ = evaluate(FILE, "({ veiled }, d) => veiled(...d)", data)
    red = [bytes_[4 * i] for i in range(16)]
    covered = round(100 + 0.86 * (246 - 100))
    assert red == [100, 100, covered, covered] * 2 + [covered] * 8
    assert bytes_[3::4] == [255] * 16
    assert evaluate(FILE, "({ veiled }, d) => veiled(d[0], null, 4, 2)", data)[::4] == [100] * 16


def test_the_place_of_most_weight_is_told_in_words() -> None:
    said = evaluate(FILE, "({ strongest }, d) => strongest(d, 2)", [100, 200, 600, 100])
    assert said == "most weight, 60 %, on row 2, column 1"


def test_sizes_that_do_not_fit_are_refused() -> None:
    widget = picture_reader([ONE], 2, 1, layer=0)
    assert widget.side == 2 and widget.pictures[0]["words"] == ["red"]
    with pytest.raises(ValueError, match="digits"):
        picture_reader([ONE], 4, 1)
    with pytest.raises(ValueError, match="4 patches|each step"):
        picture_reader([{**ONE, "looks": [[[1, 0]]]}], 2, 1)
