"""A training small enough to look into, and a way to kill it and start it anew in another process."""

import io

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


def killed(data, kind, seed):
    """A function (snapshot, restore, stop, lost, more) -> weights after each update of the resumed training.

    The training makes `stop` updates; snapshot is taken; `lost` more updates are made before it is written to a file,
    as a checkpoint that is written in the background is; then the process is gone. A fresh one, from another seed,
    reads the file, restores, and makes `more` updates.
    """

    def run(snapshot, restore, stop, lost, more):
        first = Training(data, kind, seed)
        for _ in range(stop):
            first.step()
        saved = snapshot(first)
        for _ in range(lost):
            first.step()
        file = io.BytesIO()
        torch.save(saved, file)
        file.seek(0)
        second = Training(data, kind, seed + 1000)
        torch.rand(7)  # another process has drawn other numbers
        restore(second, torch.load(file, weights_only=True))
        return torch.stack([second.step() for _ in range(more)]), second.update

    return run
