"""The drawing of both orders: where its norms stand is where the library's classes put them."""

from __future__ import annotations

import re

import torch

from annotated import tiny
from annotated_book.machine.residuals.placement_drawing import placement_drawing
from annotated_book.machine.residuals.placements import placed

PANELS = re.findall(r'<svg class="(post|pre)".*?</svg>', placement_drawing()._repr_html_(), re.DOTALL)
DRAWN = dict(
    zip(PANELS, re.findall(r'<svg class="p.*?</svg>', placement_drawing()._repr_html_(), re.DOTALL), strict=True)
)


def norms(panel: str) -> tuple[int, int]:
    """LayerNorms beside the stream, and on it."""
    beside = sum(group.count(">LayerNorm<") for group in re.findall(r'<g class="beside">.*?</g></g>', panel))
    return beside, panel.count(">LayerNorm<") - beside


def test_post_norm_has_two_norms_on_the_stream_and_pre_norm_one_after_the_last_layer() -> None:
    assert norms(DRAWN["post"]) == (0, 2)
    assert norms(DRAWN["pre"]) == (2, 1)
    assert DRAWN["pre"].count("norm last") == 1


def test_the_library_has_as_many() -> None:
    for placement, kind in (("post-norm", "post"), ("pre-norm", "pre")):
        model = placed(tiny(vocab_size=10, num_encoder_layers=1, num_decoder_layers=1), placement)
        assert sum(isinstance(m, torch.nn.LayerNorm) for m in model.encoder.modules()) == sum(norms(DRAWN[kind]))
