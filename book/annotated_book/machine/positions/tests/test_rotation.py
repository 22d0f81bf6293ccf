"""The wall of clocks: its scores are those of added waves and of rotated vectors, in Python and in its script."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotated import sinusoidal_encoding
from annotated_book.machine.positions.rotation import added_score, content_vector, rotate, rotated_score, rotation_wall
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

SCRIPT = page_folder("positions") / "rotation.js"
PLACES = [(0, 0), (0, 7), (5, 7), (100, 7), (31, 60)]


def test_a_turned_vector_is_that_of_a_rotation_matrix() -> None:
    vector, angle = np.array([3.0, -2.0, 0.5, 4.0]), 3 * 10000 ** (-2 / 4)
    slow = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    assert np.allclose(rotate(vector, 3)[2:], slow @ vector[2:])
    assert np.allclose(rotate(vector, 0), vector)
    assert np.linalg.norm(rotate(vector, 17)) == pytest.approx(np.linalg.norm(vector))


def test_rotated_scores_depend_on_the_offset_alone_and_added_ones_do_not() -> None:
    content = content_vector()
    rotated = [rotated_score(content, p, 7) for p in (0, 5, 50, 100)]
    assert np.ptp(rotated) < 1e-9
    assert np.ptp([added_score(content, p, 7) for p in (0, 5, 50, 100)]) > 0.5
    assert rotated_score(content, 9, 0) == pytest.approx(content @ content / 8)


def test_the_script_computes_the_same_scores() -> None:
    content = content_vector()
    code = """({ score }, { content, places }) => ["add", "rotate"].map(mode =>
      places.map(([p, k]) => score(mode, content, p, k)))"""
    added, rotated = evaluate(SCRIPT, code, {"content": content.tolist(), "places": PLACES})
    assert added == pytest.approx([added_score(content, p, k) for p, k in PLACES], abs=1e-4)
    assert rotated == pytest.approx([rotated_score(content, p, k) for p, k in PLACES], abs=1e-9)


def test_added_hands_are_the_encoding() -> None:
    found = evaluate(SCRIPT, "({ hands }, content) => hands('add', content, 12)", content_vector().tolist())
    assert np.allclose(np.ravel(found), sinusoidal_encoding(13, 64)[12].numpy(), atol=1e-5)


def test_the_sentence_compares_the_ends() -> None:
    content = content_vector()
    code = "({ wallText }, content) => ['add', 'rotate'].map(mode => wallText(mode, content, 5, 7, 100))"
    added, rotated = evaluate(SCRIPT, code, content.tolist())
    assert "position 5, key at position 12" in added and f"{added_score(content, 0, 7):.2f} at position 0" in added
    assert rotated.count(f"{rotated_score(content, 0, 7):.2f}") == 3 and "offset alone" in rotated


@pytest.mark.parametrize(
    "options", [{"d_model": 7}, {"mode": "learn"}, {"position": -1}, {"position": 101}, {"offset": 61}]
)
def test_what_is_out_of_range_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be even|goes from 0"):
        rotation_wall(**options)  # type: ignore[arg-type]
