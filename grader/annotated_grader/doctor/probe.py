"""Probe of a subject: sentences for it to read, modes to set, and measures that several invariants share."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from annotated_grader.doctor.subject import NotOffered, Subject

CLOSE = 1e-4
"""Largest relative difference between two ways to compute the same in float32.

Rounding is 6e-8 of a number; a few hundred operations in a row, each on numbers a little larger than the result,
leave some 1e-5. A bug of the kinds looked for changes a logit by much more.
"""
SAME = 1e-6
"""The same for one computation done twice on the same shapes, where nothing need differ at all."""

SMALL = 5_000_000
"""Parameters below which threads cost more than they gain, by far where the machine has other work."""


class Probe:
    """One subject while one invariant is examined: seeded sentences, modes and logits. `preserved_state` restores it.

    Parameters
    ----------
    subject
        What is examined.
    even
        All sentences of a batch get the length of the longest, so that nothing is padded.
    dropout
        False for training modes without dropout.
    """

    def __init__(self, subject: Subject, *, even: bool = False, dropout: bool = True) -> None:
        self.subject, self.even, self.dropout = subject, even, dropout
        self.generator = torch.Generator().manual_seed(0)
        special = {subject.pad, subject.bos, subject.eos}
        self.words = torch.tensor([token for token in range(subject.vocab_size) if token not in special])
        if len(self.words) < 4:
            raise ValueError(f"a vocabulary of {subject.vocab_size} leaves fewer than four ordinary tokens")

    @property
    def close(self) -> float:
        """`CLOSE`, or four rounding errors of a number where parameters are coarser than float32."""
        types = {p.dtype for module in self.modules() for p in module.parameters(recurse=False)}
        return max([CLOSE, *(4 * torch.finfo(one).eps for one in types if one.is_floating_point)])

    @property
    def dtype(self) -> torch.dtype:
        """Of the first parameter; float32 if no module is offered."""
        return next((p.dtype for module in self.modules() for p in module.parameters(recurse=False)), torch.float32)

    # Sentences

    def tokens(self, *shape: int, distinct: bool = False) -> Tensor:
        """Random ordinary tokens; in a row without repetition if `distinct` and the vocabulary allows it."""
        if distinct and shape[-1] <= len(self.words):
            rows = [torch.randperm(len(self.words), generator=self.generator)[: shape[-1]] for _ in range(shape[0])]
            return self.words[torch.stack(rows)]
        return self.words[torch.randint(len(self.words), shape, generator=self.generator)]

    def lengths(self, *lengths: int) -> tuple[int, ...]:
        """These lengths of a batch's sentences, or the longest of them for each."""
        return (max(lengths),) * len(lengths) if self.even else lengths

    def sources(self, *lengths: int) -> Tensor:
        """Source sentences of these lengths, eos included, padded on the right: `[B, S]`."""
        rows = (self.tokens(1, n - 1, distinct=True)[0].tolist() for n in self.lengths(*lengths))
        return self.rectangle([[*row, self.subject.eos] for row in rows])

    def targets_in(self, *lengths: int) -> Tensor:
        """What a decoder reads: bos and tokens, padded on the right: `[B, T]`."""
        rows = (self.tokens(1, n - 1, distinct=True)[0].tolist() for n in self.lengths(*lengths))
        return self.rectangle([[self.subject.bos, *row] for row in rows])

    def rectangle(self, rows: Sequence[Sequence[int]], width: int = 0) -> Tensor:
        """Rows of ids, padded on the right to the longest, or to `width`."""
        width = max(width, *map(len, rows))
        return torch.tensor([[*row, *[self.subject.pad] * (width - len(row))] for row in rows])

    def shifted(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        """The subject's own shift of targets that end in eos; the paper's if it offers none."""
        if self.subject.offers("shift"):
            return self.subject.shift(targets)
        bos = torch.full((len(targets), 1), self.subject.bos)
        read = torch.cat((bos, targets[:, :-1]), dim=1)
        return read.masked_fill(read == self.subject.eos, self.subject.pad), targets

    # Answers

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        """The subject's logits, without gradient."""
        with torch.no_grad():
            return self.subject.logits(source, target_in).float()

    def log_probabilities(self, source: Tensor, target_in: Tensor) -> Tensor:
        """The same, normalised."""
        return normalised(self.logits(source, target_in))

    # Modes

    def modules(self) -> list[nn.Module]:
        """Every module of the subject, nested ones included; none if it offers none."""
        try:
            return [module for top in self.subject.modules() for module in top.modules()]
        except NotOffered:
            return []

    def sharpen_weights(self, sure: bool = False) -> None:
        """Enlarge the matrices, so that outputs vary: a new model writes one token again and again.

        `sure` enlarges the tables of tokens too: then few continuations share almost all of the probability.
        """
        size = self.subject.vocab_size
        with torch.no_grad():
            for matrix in {p for module in self.modules() for p in module.parameters(recurse=False) if p.dim() > 1}:
                matrix.mul_(4.0 if matrix.size(0) != size else 3.0 if sure else 1.0)

    @contextmanager
    def training(self, dropout: bool = True) -> Iterator[None]:
        """Training mode, with or without its dropout."""
        with contextlib.nullcontext() if dropout and self.dropout else without_dropout(self.modules()):
            for module in self.subject.modules():
                module.train()
            try:
                yield
            finally:
                for module in self.subject.modules():
                    module.eval()


_DROPOUT = ("p", "dropout", "dropout_p", "attention_dropout", "activation_dropout", "feed_forward_dropout")


@contextmanager
def dropout_of(modules: Sequence[nn.Module], p: float) -> Iterator[None]:
    """Inside, the probability of dropout is p wherever modules keep it as a number."""
    kept: list[tuple[Any, str, float]] = []
    for module in modules:
        for name in _DROPOUT:
            if isinstance(value := module.__dict__.get(name), float):
                kept.append((module, name, value))
                setattr(module, name, p)
    try:
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)


@contextmanager
def without_dropout(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Inside nothing is dropped, neither by modules nor by functions called with a probability of their own."""
    with dropout_of(modules, 0.0), _NoDropout():
        yield


class _NoDropout(TorchFunctionMode):
    """Gives every call of PyTorch's dropout the probability 0."""

    NAMES = ("dropout", "dropout_", "alpha_dropout", "feature_dropout", "dropout1d", "dropout2d", "dropout3d")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        if name in self.NAMES:
            return args[0] if args else kwargs["input"]
        if name == "scaled_dot_product_attention":
            if len(args) > 4:
                args = (*args[:4], 0.0, *args[5:])
            elif "dropout_p" in kwargs:
                kwargs["dropout_p"] = 0.0
        return func(*args, **kwargs)


def normalised(logits: Tensor) -> Tensor:
    """Log-probabilities: of logits, and of log-probabilities themselves, which this leaves as they are."""
    return logits.float().log_softmax(dim=-1)


def relative_difference(a: Tensor, b: Tensor) -> float:
    """The largest difference, as a share of the largest number; NaN anywhere gives infinity."""
    if a.shape != b.shape:
        raise ValueError(f"shapes differ: {list(a.shape)} and {list(b.shape)}")
    if not a.numel():
        return 0.0
    a, b = a.detach(), b.detach()
    largest = max(float(a.abs().max()), float(b.abs().max()), 1e-30)
    difference = float((a - b).abs().max()) / largest
    return difference if difference == difference else float("inf")


def of_size(difference: float, whose: str = "their") -> str:
    """A relative difference in words: 'nothing', '3e-07 of their size', '54% of their size'."""
    if difference == 0:
        return "nothing"
    if difference < 1e-3:
        return f"{difference:.0e} of {whose} size"
    percent = f"{100 * difference:.2g}" if difference < 0.995 else f"{100 * difference:.0f}"
    return f"{percent}% of {whose} size"


def seed(number: int) -> None:
    """Seed global random numbers; `torch.manual_seed` notes its whole stack for each accelerator that is not there."""
    accelerated = torch.cuda.is_available() or torch.backends.mps.is_available()
    (torch if accelerated else torch.default_generator).manual_seed(number)


@contextmanager
def preserved_state(subject: Subject) -> Iterator[None]:
    """Evaluation mode, one thread, fixed random numbers inside; weights, modes, gradients, random state put back."""
    try:
        tops = subject.modules()
    except NotOffered:
        tops = []
    modules = [module for top in tops for module in top.modules()]
    modes = [module.training for module in modules]
    parameters = [parameter for top in tops for parameter in top.parameters()]
    kept = [(p, p.detach().clone(), None if p.grad is None else p.grad.clone(), p.requires_grad) for p in parameters]
    buffers = [(module, copy.copy(module._buffers)) for module in modules]
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    try:
        seed(0)
        if sum(parameter.numel() for parameter in parameters) < SMALL:
            torch.set_num_threads(1)
        for top in tops:
            top.eval()
        yield
    finally:
        with torch.no_grad():
            for parameter, value, gradient, required in kept:
                parameter.copy_(value)
                parameter.grad, parameter.requires_grad = gradient, required
        for module, buffer in buffers:
            module._buffers.clear()
            module._buffers.update(buffer)
        for module, training in zip(modules, modes, strict=True):
            module.training = training
        torch.set_rng_state(state)
        torch.set_num_threads(threads)
