"""Search: what greedy and beam search share. The model, length caps, the choice of tokens, the active batch, maps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from annotated.config import BOS, PAD, DecodingConfig
from annotated.data.batch import pad
from annotated.decoding.hypothesis import Hypothesis
from annotated.model import AttentionMaps
from annotated.speed.kernels.cudnn import without_cudnn_attention

DEFAULTS = DecodingConfig()
COMPACT_AT = 0.25
"""Share of the rows that must be done before the others are moved together."""
STEPS_BETWEEN_CHECKS = 8
"""On a GPU, where asking for a result means waiting for it: steps between two looks at who is done."""
BLOCK = 64
"""On a CPU, the width of the blocks of scores of which `_top` looks only into the best."""


Allowed = Callable[[Tensor, Sequence[int]], Tensor]
"""Which tokens may come next: from what each row has written, ids `[R, t]`, and which sentence of the source each row
belongs to (R numbers), a boolean mask `[R, V]`, True = may be written.

The k rows of a sentence stand together. Rows may come that hold nothing of use: a hypothesis that has ended, or one
with a token that the mask ruled out. What is answered for them does not matter.
"""


class State(Protocol):
    """What the search asks of a decoder's memory; `annotated.model.DecoderState` is one."""

    def reorder(self, parents: Tensor) -> None:
        """Let row r continue row `parents[r]`."""

    def select(self, sentences: Tensor) -> None:
        """Keep only these sentences, with all their rows."""


class StepModel(Protocol):
    """What the search asks of a model; `annotated.Transformer` is one. It may write into the logits it is given."""

    def start_state(self, source: Tensor, beam_size: int = 1, *, max_new_tokens: int) -> Any:
        """Encode `[B, S]` and make ready for B * beam_size rows."""

    def decode_step(self, token: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Logits `[R, V]` after one more token `[R]`, and the state."""


@contextmanager
def decoding_mode(model: StepModel) -> Iterator[None]:
    """No gradients, no dropout, on a GPU no cuDNN attention; each module's mode is put back afterwards."""
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    training = [module for module in modules if module.training]
    try:
        for module in training:
            module.training = False
        with torch.inference_mode(), without_cudnn_attention(_device_of(model)):
            yield
    finally:
        for module in training:
            module.training = True


def _device_of(model: StepModel) -> torch.device:
    weights = model.parameters() if isinstance(model, nn.Module) else iter(())
    return next((weight.device for weight in weights), torch.device("cpu"))


def max_lengths(model: StepModel, source: Tensor, max_new_tokens: int | None, extra_tokens: int) -> list[int]:
    """Most tokens (eos included) to write for each sentence: its own length + `extra_tokens`, whatever the batch's is.

    Learned positions set a limit of their own.

    Raises
    ------
    TypeError
        If the source is no tensor.
    ValueError
        If the source is not `[B, S]` ids, or a sentence has no token at all.
    """
    if not isinstance(source, Tensor):
        raise TypeError(f"source must be a tensor of token ids [batch, length], not {type(source).__name__}")
    if source.dim() != 2:
        raise ValueError(f"source must be token ids [batch, length], not {list(source.shape)}")
    lengths = (source != PAD).sum(dim=1).tolist()
    if 0 in lengths:
        raise ValueError(f"source sentence {lengths.index(0)} is empty: it needs at least its eos")
    config = getattr(model, "config", None)
    learned = getattr(config, "positions", None) == "learned"
    longest = config.max_positions if learned and config is not None else math.inf
    return [int(min(max_new_tokens or length + extra_tokens, longest)) for length in lengths]


def forbidden_ids(forbidden: Sequence[int], device: torch.device) -> Tensor:
    """Ids that are never written: pad, bos, and what the caller adds."""
    return torch.tensor(sorted({PAD, BOS, *forbidden}), device=device)


def may_follow(allowed: Allowed | None, written: Tensor, sentences: Sequence[int]) -> Tensor | None:
    """The mask `[R, V]` after ids `[B, k, t]` or `[R, t]` of these B sentences; None if nothing is asked."""
    if allowed is None:
        return None
    rows = written.flatten(0, -2)
    each = len(rows) // len(sentences)
    return allowed(rows, [sentence for sentence in sentences for _ in range(each)])


def top_tokens(logits: Tensor, count: int, forbidden: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The `count` most probable tokens that are allowed, and their log-probabilities.

    The probabilities are the model's own, over the whole vocabulary: what is forbidden keeps its share.

    Parameters
    ----------
    logits
        `[R, V]`; overwritten.
    forbidden
        Ids `[n]`, n >= 1.
    mask
        `[R, V]`, True = may be written; None if only `forbidden` rules out anything.

    Returns
    -------
    log_probabilities, tokens
        `[R, count]`, best first; minus infinity where fewer tokens are allowed.
    """
    scores = logits.float()
    if mask is not None:
        total = scores.logsumexp(dim=1, keepdim=True)
        values, tokens = _top(scores.masked_fill_(~mask, -math.inf).index_fill_(1, forbidden, -math.inf), count)
        return values - total, tokens
    shut = scores.index_select(1, forbidden)
    scores.index_fill_(1, forbidden, -math.inf)
    values, tokens = _top(scores, count)
    scores.index_copy_(1, forbidden, shut)
    # log-sum-exp in place: only `count` of the V log-probabilities are ever needed.
    peak = torch.maximum(values[:, :1], shut.amax(dim=1, keepdim=True))
    total = scores.sub_(peak).exp_().sum(dim=1, keepdim=True).log_().add_(peak)
    return values - total, tokens


def _top(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """`topk` along rows `[R, V]`. On a CPU it looks only into the blocks of `BLOCK` whose maxima are largest."""
    rows, width = scores.shape
    if scores.device.type != "cpu" or width < 4 * BLOCK * count:
        return _small_top(scores, count)
    whole = width // BLOCK * BLOCK
    blocks = scores[:, :whole].unflatten(1, (-1, BLOCK))
    chosen = _small_top(blocks.amax(dim=2), count)[1]  # the best `count` tokens lie in the best `count` blocks
    values = blocks.gather(1, chosen[:, :, None].expand(-1, -1, BLOCK)).flatten(1)
    ids = (chosen[:, :, None] * BLOCK + torch.arange(BLOCK)).flatten(1)
    if whole < width:
        values = torch.cat((values, scores[:, whole:]), dim=1)
        ids = torch.cat((ids, torch.arange(whole, width).expand(rows, -1)), dim=1)
    best, place = _small_top(values, count)
    return best, ids.gather(1, place)


def _small_top(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    # max takes the first of equals, which topk does not promise: greedy search must not depend on it.
    return x.max(dim=1, keepdim=True) if count == 1 else x.topk(count, dim=1)


class ActiveBatch:
    """Which sentence each row of the batch is, and which of them are done (on the host)."""

    def __init__(self, max_lengths: list[int]) -> None:
        self.max_lengths = max_lengths
        self.sentences = list(range(len(max_lengths)))
        self.done = [False] * len(max_lengths)

    def __bool__(self) -> bool:
        return not all(self.done)

    def must_look(self, steps: int, device: torch.device) -> bool:
        """Whether to ask now who is done: always on a CPU, else now and then, and when a cap is reached."""
        if device.type == "cpu" or steps % STEPS_BETWEEN_CHECKS == 0:
            return True
        return any(self.max_lengths[s] == steps for s, done in zip(self.sentences, self.done, strict=True) if not done)

    def at_cap(self, steps: int) -> list[bool]:
        """For each row, whether its sentence may take no further step."""
        return [self.max_lengths[sentence] <= steps for sentence in self.sentences]

    def compact(self) -> list[int] | None:
        """The rows to keep, once a quarter of them are done; None while too few are, or all."""
        if not any(self.done) or all(self.done) or sum(self.done) < COMPACT_AT * len(self.done):
            return None
        keep = [row for row, done in enumerate(self.done) if not done]
        self.sentences = [self.sentences[row] for row in keep]
        self.done = [False] * len(keep)
        return keep


def with_attention(model: Any, source: Tensor, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The same hypotheses, each with the attention maps of its own sentence, cut to its own lengths.

    The maps are those of the search itself: a cached step and the whole sequence at once compute the same.

    Parameters
    ----------
    source
        Token ids `[B, S]`.
    hypotheses
        One for each sentence.
    """
    if not hypotheses:
        return []
    read = [[BOS, *h.tokens][: h.steps] for h in hypotheses]
    with decoding_mode(model):
        _, maps = model(source, pad(read, source.device), return_attention=True)
    lengths = (source != PAD).sum(dim=1).tolist()
    return [
        dataclasses.replace(hypothesis, attention=_cut_maps(maps, row, lengths[row], hypothesis.steps))
        for row, hypothesis in enumerate(hypotheses)
    ]


def _cut_maps(maps: AttentionMaps, row: int, s: int, t: int) -> AttentionMaps:
    return AttentionMaps(
        [weights[row, :, :s, :s].clone() for weights in maps.encoder],
        [weights[row, :, :t, :t].clone() for weights in maps.decoder],
        [weights[row, :, :t, :s].clone() for weights in maps.cross],
    )
