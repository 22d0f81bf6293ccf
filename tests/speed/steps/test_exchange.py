"""Gradients are summed over processes in float32 or bf16, in one piece or in buckets, and faults are told as before."""

from __future__ import annotations

import functools
import multiprocessing
import os
import time
import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from annotated.config import TrainingConfig
from annotated.runs import list_checkpoints, loop, train
from annotated.runs.errors import NonFiniteLoss, PeerLostError
from annotated.speed.machine.distributed import Processes, process_group
from annotated.speed.steps import exchange as exchange_module
from annotated.speed.steps.exchange import GradientExchange, plan_buckets
from tests.speed.machine.test_distributed import free_port, shares_without_sentences, train_in_processes

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not torch.distributed.is_available() or "fork" not in multiprocessing.get_all_start_methods(),
        reason="needs torch.distributed with gloo, and fork",
    ),
]
BF16_UNIT = 2.0**-8  # 7 bits of mantissa: neighbours of 1 are 2^-7 apart, and rounding is by half of that at most
UPDATES = 6


def in_processes(count: int, work, *arguments) -> list[int | None]:
    """Run `work(rank, *arguments)` in forked processes that find each other; their exit codes."""
    group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(count)}

    def one(rank: int) -> None:
        torch.set_num_threads(1)
        os.environ.update(group, RANK=str(rank), LOCAL_RANK=str(rank))
        work(rank, *arguments)

    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=one, args=(rank,)) for rank in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=600)
    return [process.exitcode for process in processes]


def test_buckets_in_backward_order_by_hand():
    """Sizes 4, 8, 12, 40, 4 bytes and at most 20 a bucket: from the end 4; 40 alone, for it is larger; 12 + 8; 4."""
    parameters = [nn.Parameter(torch.zeros(size)) for size in (1, 2, 3, 10, 1)]
    places = {id(parameter): place for place, parameter in enumerate(parameters)}
    planned = [[places[id(parameter)] for parameter in bucket] for bucket in plan_buckets(parameters, 20)]
    assert planned == [[4], [3], [2, 1], [0]]


class Recorded:
    """A sum that is never made: who began it, and when."""

    begun: list[int] = []

    def __init__(self, flat: torch.Tensor) -> None:
        self.flat = flat
        Recorded.begun.append(len(flat))

    def advance(self) -> None: ...

    def result(self) -> torch.Tensor:
        return 2 * self.flat


@pytest.fixture
def recorded(monkeypatch):
    monkeypatch.setitem(exchange_module.SUMS, "fp32", Recorded)
    monkeypatch.setattr(Recorded, "begun", [])
    return Recorded.begun


def test_buckets_leave_during_the_last_backward_pass_only(recorded):
    first, middle, last = nn.Linear(3, 5), nn.Linear(5, 7), nn.Linear(7, 2)
    model = nn.Sequential(first, middle, last)
    exchange = GradientExchange(model, Processes(0, 2), overlap=True, bucket_bytes=4 * 42)
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            seen.append(list(recorded))
            return grad

    for _ in exchange.watch(range(3)):
        last(middle(Look.apply(first(torch.ones(1, 3))))).sum().backward()
    # last has 2 and 14 numbers, middle 7 and 35, first 5 and 15: buckets of 2 + 14 + 7, 35 + 5 and 15.
    assert seen == [[], [], [23]], "before the pass has come to first, whose bias is in the second bucket"
    alone = first.weight.grad.clone()
    exchange.sum_gradients()
    assert recorded == [23, 40, 15] and torch.equal(first.weight.grad, 2 * alone) and exchange.begun == 0


def test_a_compiled_backward_pass_hands_over_all_gradients_at_its_end(recorded):
    """So the hooks work there too, in the same order, and have nothing to overlap with: as the option says."""
    model = nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 2))
    exchange = GradientExchange(model, Processes(0, 2), overlap=True, bucket_bytes=4)
    seen = []

    def backend(graph, examples):
        from torch._dynamo.backends.common import aot_autograd
        from torch._functorch.aot_autograd import make_boxed_func

        def watched(backward, _):
            def call(*values):
                result = backward(*values)
                seen.append(list(recorded))  # all of the model's backward pass is done
                return result

            return make_boxed_func(call)

        return aot_autograd(fw_compiler=lambda g, _: make_boxed_func(g.forward), bw_compiler=watched)(graph, examples)

    forward = torch.compile(model, backend=backend)
    for _ in exchange.watch("ab"):
        forward(torch.ones(1, 3)).sum().backward()
    assert seen == [[], []] and recorded == [2, 10, 5, 15]
    alone = model[0].weight.grad.clone()
    exchange.sum_gradients()
    assert torch.equal(model[0].weight.grad, 2 * alone)


def test_a_second_backward_pass_in_the_last_micro_batch_is_refused(recorded):
    model = nn.Linear(3, 1)
    exchange = GradientExchange(model, Processes(0, 2), overlap=True, bucket_bytes=4)
    with pytest.raises(RuntimeError, match="grew after it had been sent.*overlap_exchange=False"):
        for _ in exchange.watch([1]):
            model(torch.ones(1, 3)).sum().backward()
            model(torch.ones(1, 3)).sum().backward()


def test_nobody_to_exchange_with(recorded):
    model = nn.Linear(3, 1)
    exchange = GradientExchange(model, overlap=True)
    assert list(exchange.watch("ab")) == ["a", "b"]
    exchange.sum_gradients()
    assert recorded == [] and model.weight.grad is None


def gradient_of(rank: int, size: int) -> torch.Tensor:
    """Some of the same sign in every process, where roundings add up worst; some that cancel; some large, some tiny."""
    generator = torch.Generator().manual_seed(rank)
    values = torch.randn(size, generator=generator)
    values[: size // 3] = values[: size // 3].abs()
    return values * torch.logspace(-6, 6, size)


def sum_one(rank: int, size: int, sent: str, folder: Path) -> None:
    model = nn.ParameterList([nn.Parameter(torch.zeros(size - 3)), nn.Parameter(torch.zeros(3))])
    with process_group("cpu", 60.0) as processes:
        exchange = GradientExchange(model, processes, sent)
        for parameter, values in zip(model, gradient_of(rank, size).split([size - 3, 3]), strict=True):
            parameter.grad = values.clone()
        exchange.sum_gradients()
        torch.save(torch.cat([parameter.grad for parameter in model]), folder / f"{rank}.pt")


@pytest.mark.parametrize("count", [2, 8])
def test_the_bf16_sum_is_within_its_bound_on_any_number_of_processes(count, tmp_path):
    size = 1001  # no multiple of the processes
    assert in_processes(count, sum_one, size, "bf16", tmp_path) == [0] * count
    results = [torch.load(tmp_path / f"{rank}.pt") for rank in range(count)]
    assert all(torch.equal(one, results[0]) for one in results), "all processes have the same bits"
    gradients = torch.stack([gradient_of(rank, size) for rank in range(count)])
    exact, sizes = gradients.double().sum(0), gradients.double().abs().sum(0)
    bound = BF16_UNIT * (sizes + exact.abs()) + BF16_UNIT**2 * sizes + 1e-6 * sizes
    error = (results[0].double() - exact).abs()
    assert (error <= bound).all() and error.max() > 0
    if count == 8:  # what rounding after every addition makes of the same gradients, where all have one sign
        by_hops = functools.reduce(torch.add, gradients.bfloat16()).double()
        same_sign = slice(0, size // 3)
        rms = [((one - exact) / exact)[same_sign].square().mean().sqrt() for one in (by_hops, results[0].double())]
        assert rms[0] > 1.5 * rms[1]


def test_float32_is_the_plain_sum(tmp_path):
    assert in_processes(2, sum_one, 100, "fp32", tmp_path) == [0, 0]
    assert torch.equal(torch.load(tmp_path / "0.pt"), gradient_of(0, 100) + gradient_of(1, 100))


def final_weights(small, run: str) -> dict[str, torch.Tensor]:
    return load_file(list_checkpoints(small.folder / run)[-1] / "model.safetensors")


@pytest.fixture
def buckets(small, monkeypatch):
    """A short training, and buckets of 2 kB: 20 of them in its model."""
    monkeypatch.setattr(exchange_module, "BUCKET_BYTES", 2000)
    small.training = small.training.replace(updates=UPDATES, checkpoint_every=UPDATES, log_every=1)
    return small


@pytest.mark.parametrize(
    "changes",
    [{}, {"micro_batch_tokens": 60}, {"layout": "padded"}, {"batch_tokens": 42}],
    ids=["packed", "micro-batches", "padded", "empty shards"],
)
def test_overlapped_buckets_of_two_processes_change_no_bit(buckets, changes):
    small = buckets
    train_in_processes(small, "plain", 2, **changes)
    train_in_processes(small, "overlapped", 2, overlap_exchange=True, **changes)
    if "batch_tokens" in changes:
        assert shares_without_sentences(small.folder / "plain", small.training.replace(**changes), 2) > 0
    plain, overlapped = (final_weights(small, run) for run in ("plain", "overlapped"))
    for name in plain:
        assert torch.equal(plain[name], overlapped[name]), name


def test_bf16_in_one_piece_and_in_buckets_is_the_same_and_near_float32(buckets):
    small = buckets
    small.model = small.model.replace(dropout=0.0)
    train_in_processes(small, "fp32", 3, batch_tokens=60)
    train_in_processes(small, "bf16", 3, batch_tokens=60, gradient_exchange="bf16")
    train_in_processes(small, "both", 3, batch_tokens=60, gradient_exchange="bf16", overlap_exchange=True)
    fp32, bf16, both = (final_weights(small, run) for run in ("fp32", "bf16", "both"))
    assert any(not torch.equal(fp32[name], bf16[name]) for name in fp32)
    for name in fp32:
        assert torch.equal(bf16[name], both[name]), name  # each number is rounded by itself, wherever it is cut
    # Adam makes steps of one size of any gradient, so a sign that rounding turned counts: as a whole they are near.
    apart, size = (
        sum(one.square().sum() for one in both_sides) ** 0.5
        for both_sides in ([bf16[name] - fp32[name] for name in fp32], fp32.values())
    )
    assert apart < 0.01 * size


FAULTY = {"gradient_exchange": "bf16", "overlap_exchange": True}


def faulty_train(rank: int, small, fault: str, changes: dict[str, object]) -> None:
    """A training in whose third update process 1 dies, or falls silent, or has a gradient that is not a number."""
    plain = loop.update

    def update(step, *rest):
        update.calls += 1
        if rank == 1 and update.calls == 3:
            if fault == "dies":
                os._exit(7)
            if fault == "is silent":
                heard = small.folder / "said 0"  # silent until the other one has given up
                while not heard.exists():
                    time.sleep(0.1)
            if fault == "nan":
                step.model.output_weight.register_hook(lambda grad: grad * float("nan"))
        return plain(step, *rest)

    update.calls = 0
    loop.update = update
    try:
        train(small.model, small.training.replace(**changes), small.data, small.folder / "run", quiet=True)
        said = "nothing"
    except (PeerLostError, NonFiniteLoss) as error:
        said = f"{type(error).__name__}: {error}"
    (small.folder / f"said {rank}").write_text(said)
    os._exit(0)  # a group that is broken need not be left in order


@pytest.mark.parametrize(
    ("fault", "changes"),
    [
        ("dies", {}), ("dies", FAULTY), ("is silent", {"overlap_exchange": True}),
        *[pytest.param("is silent", changes, marks=pytest.mark.nightly) for changes in ({}, FAULTY)],
        pytest.param("dies", {"overlap_exchange": True}, marks=pytest.mark.nightly),
    ],
)  # fmt: skip
def test_a_process_that_is_lost_is_told_as_such(buckets, fault, changes):
    limit = {"peer_timeout": 5.0} if fault == "is silent" else {}
    codes = in_processes(2, faulty_train, buckets, fault, changes | limit)
    assert codes == [0, 7 if fault == "dies" else 0]
    assert "another process of this training is gone, or did not answer" in (buckets.folder / "said 0").read_text()


@pytest.mark.parametrize("changes", [{}, {"overlap_exchange": True}, FAULTY], ids=["plain", "overlap", "bf16 overlap"])
def test_a_gradient_that_is_not_finite_in_one_process_stops_all(buckets, changes):
    assert in_processes(2, faulty_train, buckets, "nan", changes) == [0, 0]
    for rank in (0, 1):
        said = (buckets.folder / f"said {rank}").read_text()
        assert said.startswith("NonFiniteLoss: update 3") and "gradient's norm is nan" in said


def test_what_the_configuration_refuses():
    with pytest.raises(ValueError, match="overlap_exchange watches the backward pass.*needs layout 'packed'"):
        TrainingConfig(overlap_exchange=True, layout="static")
    with pytest.raises(ValueError, match="gradient_exchange must be one of fp32, bf16, not 'fp8'"):
        TrainingConfig(gradient_exchange="fp8")


def sum_without_warnings(rank: int) -> None:
    model = nn.Linear(3, 1)
    with process_group("cpu", 60.0) as processes, warnings.catch_warnings():
        warnings.simplefilter("error")
        exchange = GradientExchange(model, processes, "bf16")
        model(torch.ones(1, 3)).sum().backward()
        exchange.sum_gradients()


def test_no_call_is_one_that_torch_warns_of():
    assert in_processes(2, sum_without_warnings) == [0, 0]
