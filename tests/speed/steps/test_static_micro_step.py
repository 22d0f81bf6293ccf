"""The static micro-step: recorded and replayed, compiled, and in a whole training.

There is no GPU here. A recorder that calls the work again stands for a CUDA graph: like a graph, it reads and writes
the same tensors each time, and whatever depends on anything else shows.
"""

from __future__ import annotations

import functools
import math

import pytest
import torch
from safetensors.torch import load_file
from torch.utils._python_dispatch import TorchDispatchMode

import annotated.runs.observer as observer
import annotated.speed.steps.step as step_module
import annotated.training.update as update_module
from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batching import collate_ids
from annotated.model import Transformer
from annotated.runs import NonFiniteLoss, list_checkpoints, read_records
from annotated.runs.update_metrics import DeferredMetrics, ReducedMetrics
from annotated.speed.kernels import fused
from annotated.speed.layouts import forward_rows
from annotated.speed.layouts.static_batch import StaticShape
from annotated.speed.machine.distributed import Processes
from annotated.speed.steps import FastStep, packed_loss
from annotated.speed.steps.precision import Precision
from annotated.speed.steps.static_micro_step import StaticMicroStep
from annotated.training import make_optimizer

CPU = torch.device("cpu")
CONFIG = ModelConfig(
    vocab_size=20, d_model=16, d_ff=32, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1,
    dropout=0.0,
)  # fmt: skip
BATCHES = [
    collate_ids([([5, 6, 7], [8, 9]), ([4], [10, 11, 12, 13]), ([7] * 5, [5])]),
    collate_ids([([9], [9, 9])]),
    collate_ids([([4, 5], [6])] * 6),
    collate_ids([([5] * 30, [6] * 12)]),  # longer than the shape has room for
    collate_ids([([8, 8], [9]), ([4], [10])]),
]
needs_fused = pytest.mark.skipif(
    not make_optimizer(Transformer(CONFIG), TrainingConfig()).param_groups[0].get("fused"),
    reason="this torch has no fused Adam for a CPU",
)


def static_step(model: Transformer, recorder=None) -> StaticMicroStep:
    training = TrainingConfig(layout="static")
    return StaticMicroStep(model, training, Precision(training, CPU), StaticShape(64, 16), CPU, recorder)


def gradients(model: Transformer) -> list[torch.Tensor]:
    return [parameter.grad.clone() for parameter in model.parameters()]


def test_what_is_replayed_is_what_is_done_step_by_step():
    torch.manual_seed(0)
    model, recorded = Transformer(CONFIG), 0

    def recorder(work):
        nonlocal recorded
        recorded += 1
        work()  # warming up adds to gradients, and must leave no trace
        return work

    step = static_step(model, recorder)
    for update in range(3):
        model.zero_grad(set_to_none=True)
        losses = [step(batch, 40) for batch in BATCHES[update:]]
        ours = gradients(model)
        model.zero_grad(set_to_none=True)
        expected = []
        for batch in BATCHES[update:]:
            loss, _ = packed_loss(model, batch, 0.1)
            (loss / 40).backward()
            expected.append(loss.detach())
        torch.testing.assert_close(losses, expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(ours, gradients(model), rtol=1e-4, atol=1e-6)
    # Segments, those of the padding included: 3 + 4 -> 8, 1 + 4 -> 8, 6 + 3 -> 16; then in the larger shape 1 and 2.
    assert recorded == step.recordings and 3 <= recorded <= 5


def test_recording_leaves_random_numbers_and_gradients_alone():
    torch.manual_seed(0)
    model = Transformer(CONFIG.replace(dropout=0.1))
    step = static_step(model, lambda work: [work() for _ in range(3)] and work)
    torch.manual_seed(5)
    first = step(BATCHES[0], 10)
    after_first = torch.rand(1)
    model.zero_grad(set_to_none=True)
    torch.manual_seed(5)
    again = step(BATCHES[0], 10)
    assert torch.equal(first, again) and torch.equal(after_first, torch.rand(1))


def test_the_whole_micro_step_is_one_graph():
    """No graph breaks, and one compilation for any number of sentences; the compiler here changes nothing."""
    torch._dynamo.reset()
    model, graphs = Transformer(CONFIG), []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    step = static_step(model)
    step.compiles = True
    step.forward = torch.compile(step.forward, fullgraph=True, dynamic=False, backend=backend)
    step.terms = torch.compile(step.terms, fullgraph=True, dynamic=False, backend=backend)
    for batch in (BATCHES[0], BATCHES[2], BATCHES[1], BATCHES[4]):
        torch.testing.assert_close(step(batch, 10), packed_loss(model, batch, 0.1)[0].detach())
    assert len(graphs) == 2, "the model and the loss's terms"


@pytest.mark.skipif(fused.load_varlen_kernel() is None, reason="this torch has no varlen_attn")
def test_the_gpus_kernel_breaks_no_graph(monkeypatch):
    """Traced with its backward on tensors without data, as a compiler for a GPU would see it."""
    torch._dynamo.reset()
    monkeypatch.setattr("annotated.speed.layouts.static.has_varlen_kernel", lambda *_: True)
    shape = StaticShape(64, 16)
    laid = shape.views(shape.lay_out(BATCHES[0]).to("meta"))
    model = Transformer(CONFIG).bfloat16().to("meta")
    forward = torch.compile(forward_rows, fullgraph=True, dynamic=False, backend="aot_eager")
    hidden = forward(model, laid.source, laid.source_rows, laid.target_in, laid.target_rows)
    hidden.sum().backward()
    assert hidden.shape == (64, 16) and all(p.grad is not None for p in model.parameters())


class NumbersAskedFor(TorchDispatchMode):
    """Counts the times that the processor asks a tensor for a number: on a GPU, each one waits for all work before."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += function is torch.ops.aten._local_scalar_dense.default
        return function(*args, **(kwargs or {}))


@needs_fused
def test_on_the_device_nothing_of_an_update_is_waited_for(tmp_path):
    torch.manual_seed(0)
    model = Transformer(CONFIG)
    static, step = static_step(model), FastStep(model, TrainingConfig(clip_norm=1.0))
    laid = {batch.target_tokens: static.shape.lay_out(batch) for batch in BATCHES[:2]}
    deferred = DeferredMetrics(step.optimizer, step.precision, Processes(), tmp_path, late=True)
    step.static = lambda batch, _: static._work(static.shape, laid[batch.target_tokens], torch.tensor(10.0))

    def make(number: int):
        return update_module.update(step, BATCHES[:2], 10, 0.1, lambda metrics: deferred.add(metrics, number, 0, False))

    with NumbersAskedFor() as asked:
        metrics = make(1)
        assert asked.count == 0
        float(metrics.gradient_norm)
    assert asked.count == 1, "the counter counts"
    make(2)
    deferred.flush()
    assert deferred.meter.updates == 2 and math.isfinite(deferred.norm)


def final_weights(result) -> dict[str, torch.Tensor]:
    return load_file(list_checkpoints(result.folder)[-1] / "model.safetensors")


def test_a_training_in_the_static_layout_makes_the_same_updates(small):
    small.model = small.model.replace(dropout=0.0)
    packed, static = (small.train(layout, layout=layout, updates=8) for layout in ("packed", "static"))
    ours = final_weights(static)
    for name, tensor in final_weights(packed).items():
        torch.testing.assert_close(ours[name], tensor, rtol=1e-4, atol=1e-5)
    assert static.valid_loss == pytest.approx(packed.valid_loss, rel=1e-4)


@needs_fused
@pytest.mark.parametrize("pieces", [None, 150])
def test_a_training_records_all_shapes_before_its_first_update(small, monkeypatch, pieces):
    small.data = small.data.replace(pool_pairs=400)  # all there are

    def again(work):
        work()
        return work

    def recorded_in(folder: str):
        result = small.train(folder, layout="static", updates=8, micro_batch_tokens=pieces)
        told = [r for r in read_records(result.folder) if r["kind"] == "compilation"]
        assert len(told) > 1 and all(r["graph"].startswith("recording") for r in told)
        return result, {r["update"] for r in told}

    monkeypatch.setattr(FastStep, "_recorder", lambda _: again)
    at_the_start, updates = recorded_in("at the start")
    assert updates == {0}
    monkeypatch.setattr(FastStep, "record", lambda *_: None)
    when_met, updates = recorded_in("when met")
    assert len(updates) > 1
    ours, theirs = final_weights(at_the_start), final_weights(when_met)
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())


def test_what_a_static_training_compiles(small, monkeypatch):
    asked = {}
    monkeypatch.setattr(torch, "compile", lambda function, **how: asked.update({function.__name__: how}) or function)
    small.train(layout="static", compile=True, updates=2)
    wanted = {"dynamic": False, "fullgraph": True, "mode": None}
    assert asked == {"forward_rows": wanted, "logits_terms": wanted}

    def failing(*_):
        raise torch._dynamo.exc.TorchDynamoException("no C++ compiler")

    monkeypatch.setattr(torch, "compile", lambda function, **how: failing)
    with pytest.raises(RuntimeError, match="torch.compile failed .*compile=False gives the same model"):
        small.train("failing", layout="static", compile=True)


def test_on_a_gpu_the_static_layout_needs_the_kernel():
    class Elsewhere:
        type, index = "cuda", 0

    with pytest.raises(ValueError, match="precision bf16 or fp16.*Use layout 'packed'"):
        step_module._require_kernel(Transformer(CONFIG), TrainingConfig(layout="static"), Elsewhere())


@pytest.fixture
def late(monkeypatch):
    """Read metrics late, as on a GPU."""
    monkeypatch.setattr(observer, "DeferredMetrics", functools.partial(DeferredMetrics, late=True))


@needs_fused
def test_reading_metrics_late_changes_nothing(small, monkeypatch, request):
    at_once = small.train("at once", clip_norm=0.5)
    request.getfixturevalue("late")
    late = small.train("late", clip_norm=0.5)
    ours, theirs = final_weights(late), final_weights(at_once)
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in ours.items())
    logs = [
        [{k: r[k] for k in ("update", "loss", "gradient_norm")} for r in records if r["kind"] == "train"]
        for records in (read_records(run.folder) for run in (late, at_once))
    ]
    assert logs[0] == logs[1]


@needs_fused
@pytest.mark.parametrize("bad", [1, 3, 4])
def test_an_update_that_is_not_finite_is_never_applied(small, monkeypatch, late, bad):
    """Also when nobody reads its numbers before the next one is under way: the optimiser leaves it out by itself."""
    true_loss, seen, models = step_module.packed_loss, [], []

    def poisoned(model, batch, smoothing, *rest):
        models.append({name: p.detach().clone() for name, p in model.named_parameters()})
        seen.append(batch)
        loss, count = true_loss(model, batch, smoothing, *rest)
        return (loss * math.nan if len(seen) == bad else loss), count

    monkeypatch.setattr(step_module, "packed_loss", poisoned)
    with pytest.raises(NonFiniteLoss, match=f"update {bad} .*The update was not made") as error:
        small.train(updates=9, log_every=4)
    assert ", ".join(map(str, seen[bad - 1].indices[:5])) in str(error.value)
    if bad == 4:  # the log wants its numbers: read at once
        assert len(seen) == 4
    else:  # one more was under way, with the weights from before
        assert len(seen) == bad + 1
        assert all(torch.equal(tensor, models[bad][name]) for name, tensor in models[bad - 1].items())
    assert not list_checkpoints(small.folder / "run")


@needs_fused
def test_a_stop_that_is_read_late_ends_with_a_checkpoint(small, monkeypatch, late):
    true_of = ReducedMetrics.of

    def of(local, number, epoch, stop, processes):
        return true_of(local, number, epoch, number == 3, processes)  # a signal comes during update 3

    monkeypatch.setattr(ReducedMetrics, "of", of)
    result = small.train(updates=9)
    assert not result.finished and result.update == 4
    assert [path.name for path in list_checkpoints(result.folder)] == ["update-000000004"]
