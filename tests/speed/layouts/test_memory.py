"""Memory's keys and values in one product: the same as each layer's own, in fewer products."""

from __future__ import annotations

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from annotated.config import ModelConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.speed.layouts import packed
from annotated.speed.layouts.memory import gains_from_one_product, project_memory
from annotated.speed.layouts.static_batch import StaticShape
from annotated.speed.steps import layout_loss

LAYERS = 3
CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=4, num_encoder_layers=1, num_decoder_layers=LAYERS,
    dropout=0.0,
)  # fmt: skip
BATCH = collate_ids([([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7] * 5, [5])])


class Products(TorchDispatchMode):
    """Counts matrix products."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += function in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("bias", [False, True])
def test_each_layer_gets_its_own_keys_and_values(bias):
    torch.manual_seed(0)
    model, memory = Transformer(CONFIG.replace(attention_bias=bias)).double(), torch.randn(7, 16).double()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)  # biases begin at zero
    ours = project_memory(model.decoder, memory)
    expected = [layer.cross_attention.project(None, memory, memory)[1:] for layer in model.decoder.layers]
    assert [(k.shape, v.shape) for k, v in ours] == [((7, 2, 8), (7, 2, 4))] * LAYERS
    torch.testing.assert_close(ours, expected)


@pytest.mark.parametrize("layout", ["packed", StaticShape(32, 16)])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_loss_and_gradients_in_fewer_products(monkeypatch, layout, norm):
    torch.manual_seed(0)
    model, results, counts = Transformer(CONFIG.replace(norm=norm, attention_bias=True)), [], []
    for in_one in (False, True):
        monkeypatch.setattr(packed, "gains_from_one_product", lambda _, in_one=in_one: in_one)
        model.zero_grad(set_to_none=True)
        with Products() as products:
            loss, _ = layout_loss(model, BATCH, 0.1, layout)
            loss.backward()
        counts.append(products.count)
        results.append((loss.detach(), {name: p.grad for name, p in model.named_parameters()}))
    torch.testing.assert_close(results[1], results[0], rtol=1e-4, atol=1e-6)
    # Of each layer's product but one: itself, and the two of its gradient.
    assert counts[0] - counts[1] == 3 * (LAYERS - 1)


def test_one_graph_for_a_compiler(monkeypatch):
    torch._dynamo.reset()
    monkeypatch.setattr(packed, "gains_from_one_product", lambda _: True)
    torch.manual_seed(0)
    model, shape = Transformer(CONFIG.replace(num_decoder_layers=2)), StaticShape(32, 16)
    laid = shape.views(shape.lay_out(BATCH))
    rows = laid.source, laid.source_rows, laid.target_in, laid.target_rows
    compiled = torch.compile(packed.forward_rows, fullgraph=True, dynamic=False, backend="aot_eager")
    torch.testing.assert_close(compiled(model, *rows), packed.forward_rows(model, *rows), rtol=1e-5, atol=1e-5)


def test_a_cpu_keeps_to_the_layers_own_products():
    assert not gains_from_one_product(torch.zeros(1))
    assert gains_from_one_product(torch.zeros(1, device="meta"))
