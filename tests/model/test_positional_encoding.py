"""Section 3.5: the sinusoids as printed."""

import math

import pytest
from torch.testing import assert_close

from annotated import sinusoidal_encoding
from annotated.model import LearnedPositions, SinusoidalPositions


@pytest.mark.parametrize(("position", "i"), [(0, 0), (1, 0), (3, 2), (50, 3), (9999, 1)])
def test_the_printed_formula(position, i):
    d_model = 8
    encoding = sinusoidal_encoding(10_000, d_model)
    angle = position / 10000 ** (2 * i / d_model)
    assert encoding[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
    assert encoding[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_the_product_of_two_positions_depends_on_their_distance_only():
    encoding = sinusoidal_encoding(60, 64).double()
    products = encoding @ encoding.T
    for distance in (1, 7, 30):
        diagonal = products.diagonal(distance)
        assert_close(diagonal, diagonal[0].expand_as(diagonal), atol=1e-5, rtol=0)


def test_the_table_extends_and_is_not_saved():
    positions = SinusoidalPositions(8, length=4)
    assert_close(positions(37), sinusoidal_encoding(37, 8))
    assert not positions.state_dict()


def test_odd_width_is_refused():
    with pytest.raises(ValueError, match="even"):
        sinusoidal_encoding(4, 7)


def test_learned_positions_end_with_advice():
    positions = LearnedPositions(8, 5)
    assert positions(5).shape == (5, 8)
    with pytest.raises(ValueError, match="cannot read 6"):
        positions(6)
