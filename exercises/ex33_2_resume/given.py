"""A training small enough to look into, a way to kill it, and a way to go on as if in another process."""

import io
from types import ModuleType

import torch
from torch import nn


class Training:
    """Everything that decides about the next update; `step` makes one.

    Attributes: model, optimizer (Adam or SGD), update (how many were made), generator (draws the order of the data),
    order (places still to come in this pass over the data). Dropout draws from torch's own generator.
    """

    def __init__(self, data, kind, seed):
        torch.default_generator.manual_seed(seed)  # as torch.manual_seed, for the CPU only: much quicker
        self.data, self.update, self.order = data, 0, []
        self.generator = torch.Generator().manual_seed(seed + 1)
        hidden = data.size(1) - 1
        self.model = nn.Sequential(nn.Linear(hidden, 4), nn.Dropout(0.5 if "dropout" in kind else 0.0), nn.Linear(4, 1))
        choose = torch.optim.Adam if "adam" in kind else torch.optim.SGD
        self.optimizer = choose(self.model.parameters(), lr=0.05)
        self.shuffled, self.scheduled = "order" in kind, "schedule" in kind

    def step(self):
        if not self.order:
            count = len(self.data)
            shuffle = torch.randperm(count, generator=self.generator).tolist()
            self.order = shuffle if self.shuffled else list(range(count))
        row = self.data[self.order.pop(0)] if self.shuffled else self.data.mean(0)
        if not self.shuffled:
            self.order = []
        self.update += 1
        if self.scheduled:
            self.optimizer.param_groups[0]["lr"] = 0.1 / self.update
        self.optimizer.zero_grad()
        (self.model(row[:-1]) - row[-1]).square().sum().backward()
        self.optimizer.step()
        return self.weights()

    def weights(self):
        return torch.cat([p.detach().flatten() for p in self.model.parameters()]).clone()


def interrupted(data, kind, seed):
    """A function (snapshot, stop, lost) -> the file.

    The training makes `stop` updates; snapshot is taken; `lost` more updates are made before it is written to a file,
    as a checkpoint that is written in the background is; then the process is gone.
    """

    def run(snapshot, stop, lost):
        training = Training(data, kind, seed)
        for _ in range(stop):
            training.step()
        saved = snapshot(training)
        for _ in range(lost):
            training.step()
        return File(saved)

    return run


class File:
    """What `torch.save` has written: bytes."""

    def __init__(self, saved):
        stream = io.BytesIO()
        torch.save(saved, stream)
        self.content = stream.getvalue()

    def __call__(self):
        return torch.load(io.BytesIO(self.content), weights_only=True)


def resumed(data, kind, seed):
    """A function (restore, source, file, more) -> weights after each of `more` updates of the resumed training.

    It stands for another process: the answer's code is loaded anew, so that `restore` finds nothing but the file.
    """

    def run(restore, source, file, more):
        restore = anew(restore, source)
        training = Training(data, kind, seed + 1000)
        torch.rand(7)  # another process has drawn other numbers
        restore(training, file())
        return torch.stack([training.step() for _ in range(more)])

    return run


FRESH = {}  # by source: the answer's names in the other process, where nothing but restore ever runs


def anew(restore, source):
    """The answer's `restore` in a namespace of its own; modules that a notebook has imported are there already."""
    if source not in FRESH:
        known = {name: part for name, part in restore.__globals__.items() if isinstance(part, ModuleType)}
        FRESH[source] = {"__name__": "answer", **known}
        exec(compile(source, "<answer>", "exec", dont_inherit=True), FRESH[source])
    return FRESH[source].get("restore", restore)
