"""Looks at the learner's model: counts, names, known weights."""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode


class NoStart(TorchFunctionMode):
    """Leaves out what fills new parameters with numbers: a large model is then made at once, its memory untouched."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name, module = getattr(func, "__name__", ""), getattr(func, "__module__", "")
        fills = module == "torch.nn.init" or name in ("normal_", "uniform_")
        kwargs = kwargs or {}
        if fills and (args or "tensor" in kwargs):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


class Dropped(TorchFunctionMode):
    """Notes the shapes on which dropout falls."""

    def __init__(self):
        super().__init__()
        self.shapes = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") == "dropout":
            self.shapes.append(list((args[0] if args else kwargs["input"]).shape))
        return func(*args, **(kwargs or {}))


class Counter:
    """Counts the parameters of what a function makes."""

    def __init__(self, make):
        self.make = make

    def count(self, *args, **kwargs):
        """Parameters of one model; shared ones count once."""
        with NoStart():
            model = self.make(*args, **kwargs)
        return sum(x.numel() for x in model.parameters())


class Probe(nn.Module):
    """A learner's model with known weights in it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, source, target):
        with torch.no_grad():
            return self.model(source, target)

    def lacks(self, shapes):
        """Which of these names the state has not, or has with another shape."""
        state = self.model.state_dict()
        return [name for name, shape in shapes.items() if name not in state or list(state[name].shape) != list(shape)]

    def matrices(self):
        """How many matrices the layers have."""
        return sum(x.ndim == 2 and "coder." in name for name, x in self.model.state_dict().items())

    def untouched(self, source, target):
        """Names of parameters that no gradient reaches from the logits."""
        logits = self.model(source, target)
        named = dict(self.model.named_parameters())
        pull = torch.arange(logits.numel(), dtype=logits.dtype).view(logits.shape).cos()
        found = torch.autograd.grad(logits, list(named.values()), pull, allow_unused=True)
        return [name for name, slope in zip(named, found, strict=True) if slope is None or not slope.any()]

    def dropped(self, source, target):
        """Shapes of what torch's dropout falls on in one pass."""
        with Dropped() as found:
            self(source, target)
        return found.shapes

    def fill(self, weights):
        """Put weights in by name; a further matrix of the embedding's shape gets the embedding."""
        state = self.model.state_dict()
        table = weights["embedding.weight"]
        rest = {name: table for name, x in state.items() if x.shape == table.shape}
        self.model.load_state_dict(rest | weights, strict=False)

    def alike(self):
        """Pairs of names of matrices that begin equal, though the layers are different ones."""
        state = {k: x for k, x in self.model.state_dict().items() if x.ndim == 2 and "coder." in k}
        names = sorted(state)
        return [[a, b] for i, a in enumerate(names) for b in names[i + 1 :]
                if state[a].shape == state[b].shape and torch.equal(state[a], state[b])]  # fmt: skip
