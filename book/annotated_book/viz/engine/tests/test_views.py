"""Words and numbers of the live panels, and their controls: without a page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from annotated_book.intro.frame import SENTENCE, front
from annotated_book.intro.frame import percent as percent_of_frame
from book.tests.javascript import PACKAGE, evaluate

FOLDER = PACKAGE / "viz" / "engine"


def call(file: str, name: str, *arguments: Any) -> Any:
    """What a function of the kit returns."""
    return evaluate(FOLDER / file, f"(names, values) => names.{name}(...values)", list(arguments))


def test_the_panel_begins_with_the_token_that_looks_farthest() -> None:
    straight = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert call("lines.js", "farthest", straight) == 0
    assert call("lines.js", "farthest", [*straight[:3], [0.1, 0.8, 0, 0.1]]) == 3, "the last one looks back"
    assert call("lines.js", "farthest", []) == 0


def test_words_that_changed_are_those_outside_the_longest_common_sequence() -> None:
    words = call("views.js", "changedWords", "die alte Lehrer hat das Auto", "der alte Lehrer hat Auto gern")
    assert [word for word, changed in words if changed] == ["die", "das"]
    assert " ".join(word for word, _ in words) == "die alte Lehrer hat das Auto"
    assert call("views.js", "changedWords", "b a", "a b") in ([["b", True], ["a", False]], [["b", False], ["a", True]])
    assert call("views.js", "changedWords", "", "a") == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (0.0, "equally probable"),
        (-0.693147, "2.0 times less probable"),
        (0.693147, "2.0 times more probable"),
        (0.0296, "1.03 times more probable"),
        (-4.60517, "100 times less probable"),
        (-8.0, "3,000 times less probable"),
        (-28.0, "about 10¹² times less probable"),  # 28 / ln 10 = 12.16
        (-6_698_053.9, "more than 10³⁰⁰ times less probable"),
    ],
)
def test_a_change_of_log_probability_is_said_as_a_ratio(change: float, text: str) -> None:
    assert call("views.js", "timesText", change) == text


@pytest.mark.parametrize(
    ("x", "text"), [(-0.001, "0.00"), (-0.951, "−0.95"), (3.0, "3.00"), (-12.34, "−12.3"), (-6698053.9, "−6,698,054")]
)
def test_nats_have_a_true_minus_and_no_negative_zero(x: float, text: str) -> None:
    assert call("views.js", "nats", x) == text


@pytest.mark.parametrize(("p", "text"), [(0.004, "<1 %"), (0.935, "94 %"), (0.9951, "100 %"), (0.01, "1 %")])
def test_the_first_frame_writes_probabilities_as_the_panel_does(p: float, text: str) -> None:
    assert call("views.js", "percent", p) == text == percent_of_frame(p)


def test_the_same_switches_have_the_same_key() -> None:
    code = """({ isPlain, keyOf }) => {
      const heads = (...places) => ({ off: new Set(places) });
      return [isPlain({}), isPlain({ positions: true, divisor: "root", off: new Set() }), isPlain({ norm: false }),
        isPlain(heads("cross.0.1")), keyOf(heads("a", "b")) === keyOf(heads("b", "a")),
        keyOf({}) === keyOf({ causal: false })];
    }"""
    assert evaluate(FOLDER / "switches.js", code) == [True, True, False, False, True, False]


def test_the_buttons_are_the_heads_of_both_models(data: dict[str, Any], wide_data: dict[str, Any]) -> None:
    code = "({ HEADS, LAYERS, headPlaces, placeName }) => [HEADS, LAYERS, headPlaces().length, placeName('cross.2.0')]"
    config, counts = data["config"], ("num_heads", "num_encoder_layers", "num_decoder_layers")
    assert config["num_encoder_layers"] == config["num_decoder_layers"]
    assert [wide_data["config"][name] for name in counts] == [config[name] for name in counts], (
        "or its buttons are wrong"
    )
    assert evaluate(FOLDER / "switchboard.js", code) == [
        config["num_heads"],
        config["num_decoder_layers"],
        36,
        "Cross-attention, layer 3, head 1",
    ]


def test_the_first_frame_holds_the_translation_and_where_it_looked(translator: Any) -> None:
    frame = front()
    assert SENTENCE in frame and len(re.findall('class="live-token[ "]', frame)) == 10 + 11
    assert all(f"<span>{word}</span>" in frame for word in ("Großmutter", "auf", "gemacht"))
    rows = frame.split('data-looks="')[1].split('"')[0]
    looks = [[float(x) for x in row.split(", ")] for row in rows.strip("[]").split("], [")]
    assert (len(looks), {len(row) for row in looks}) == (11, {10})
    assert all(sum(row) == pytest.approx(1, abs=0.01) for row in looks)
    assert looks[7].index(max(looks[7])) == 2, "auf looks at open"
