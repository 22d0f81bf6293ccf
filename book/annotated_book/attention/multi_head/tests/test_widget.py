"""The numbers that the split-heads widget shows are those of the library's module."""

from __future__ import annotations

import pytest
import torch

from annotated_book.attention.multi_head.widget import STEPS, split_heads


@pytest.mark.parametrize("number", range(4))
def test_the_output_is_the_concatenation_times_w_o(number: int) -> None:
    widget = split_heads()
    option = widget.options[number]
    heads, out, mixed = option["heads"], torch.tensor(option["out"]), torch.tensor(option["mixed"])
    assert out.shape == mixed.shape == (4, 8)
    # Four rows in eight dimensions: W_O maps all options' concatenations alike, so stack them and solve for it.
    all_out = torch.cat([torch.tensor(o["out"]) for o in widget.options]).double()
    all_mixed = torch.cat([torch.tensor(o["mixed"]) for o in widget.options]).double()
    w_o = torch.linalg.lstsq(all_out, all_mixed).solution
    torch.testing.assert_close(out.double() @ w_o, mixed.double(), atol=0.03, rtol=0)
    weights = torch.tensor(option["weights"])
    assert weights.shape == (heads, 4, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(heads, 4), atol=0.03, rtol=0)
    shares = torch.tensor(option["shares"])
    assert shares.shape == (4, 8, heads)
    torch.testing.assert_close(shares.sum(-1), torch.ones(4, 8), atol=0.05, rtol=0)


def test_queries_do_not_depend_on_the_number_of_heads() -> None:
    options = split_heads().options
    assert all(option["q"] == options[0]["q"] and option["x"] == options[0]["x"] for option in options)
    assert options[0]["weights"] != options[1]["weights"]


def test_every_step_names_a_tensor_that_is_there() -> None:
    kinds = {"x": "x", "q": "q", "w": "weights", "o": "out", "y": "mixed"}
    option = split_heads().options[0]
    assert all(kinds[step["kind"]] in option and step["layout"] in {"flat", "groups", "pages"} for step in STEPS)


@pytest.mark.parametrize("arguments", [{"heads": (3,)}, {"heads": (16,), "d_model": 16}, {"start": 4}])
def test_what_cannot_be_shown_is_refused(arguments: dict) -> None:
    with pytest.raises(ValueError):
        split_heads(**arguments)
