"""Recording of CUDA graphs, without a GPU: what is asked of one, and in which order.

A stand-in for `torch.cuda` writes down what happens. That a recorded step trains as one that is not is tested where it
is used; that CUDA records it, only a GPU can show.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
import torch

from annotated.speed.steps.cuda_graphs import CudaGraphs


class Stream:
    def wait_stream(self, other):
        pass


class Device:
    """What is in force at each moment: a stream, a pool of memory, a recording."""

    def __init__(self, monkeypatch) -> None:
        self.stream = self.default = Stream()
        self.pool = self.recording = None
        self.refuses = False
        for name in ("graph", "use_mem_pool"):
            monkeypatch.setattr(torch.cuda, name, getattr(self, name))
        monkeypatch.setattr(torch.cuda, "Stream", Stream)
        monkeypatch.setattr(torch.cuda, "MemPool", lambda: SimpleNamespace(id=object()))
        monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay=lambda: None))
        monkeypatch.setattr(torch.cuda, "current_stream", lambda: self.stream)
        monkeypatch.setattr(torch.cuda, "stream", lambda stream: self.set(stream=stream))

    @contextlib.contextmanager
    def set(self, **values):
        before = {name: getattr(self, name) for name in values}
        vars(self).update(values)
        yield
        vars(self).update(before)

    def use_mem_pool(self, pool):
        return self.set(pool=pool.id)

    def graph(self, graph, pool, stream, capture_error_mode):
        if self.refuses:
            raise RuntimeError("operation not permitted when stream is capturing\nmore")
        return self.set(pool=pool, stream=stream, recording=graph)


def test_warm_up_has_the_memory_and_the_stream_of_the_graphs_and_is_short_the_second_time(monkeypatch):
    device, seen = Device(monkeypatch), []

    def work():
        seen.append((device.recording is not None, device.stream, device.pool))

    graphs = CudaGraphs()
    for times in (3, 1, 1):
        seen.clear()
        graphs(work)
        assert [is_recorded for is_recorded, _, _ in seen] == [False] * times + [True]
        assert len({(stream, pool) for _, stream, pool in seen}) == 1
    (_, stream, pool), *_ = seen
    assert stream is not device.default and pool is not None, "not where everything else happens"


def test_a_recording_that_fails_says_how_to_train_without(monkeypatch):
    device = Device(monkeypatch)
    device.refuses = True
    with pytest.raises(
        RuntimeError, match=r"not permitted when stream is capturing\)\. Train without it: layout 'packed'"
    ):
        CudaGraphs()(lambda: None)
