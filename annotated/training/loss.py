"""Label-smoothed cross-entropy: readable over logits, and fused with the projection for training.

Paper: section 5.4
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from annotated.config import PAD
from annotated.data.batching import Batch
from annotated.model import PackedRows, Transformer

CHUNK_ROWS = 512


def label_smoothed_cross_entropy(
    logits: Tensor, target_out: Tensor, smoothing: float, pad_id: int = PAD
) -> tuple[Tensor, int]:
    """Cross-entropy against a target that gives 1 - smoothing to the right token and shares out the rest.

    Two conventions exist. *As released*, and here, the rest is shared by the V - 1 wrong tokens, so the
    right one has exactly 1 - smoothing. `torch.nn.functional.cross_entropy(label_smoothing=e)` shares by
    all V tokens, so the right one has 1 - e + e / V; the two agree for e = smoothing * V / (V - 1). The
    released code also subtracts the constant entropy of the smoothed target; here it stays in, so the
    loss is a cross-entropy and its least value is that entropy, not zero.

    Parameters
    ----------
    logits
        `[..., V]`
    target_out
        Token ids `[...]`: the target shifted left, ending in eos.
    smoothing
        The paper's epsilon_ls; 0 gives the negative log-likelihood, from which perplexity is computed.
    pad_id
        Positions with this id count for nothing.

    Returns
    -------
    loss_sum, token_count
        The sum in nats over real tokens (a scalar with gradient), and how many they are. Divide once, by
        the count of the whole update.

    Paper: section 5.4
    """
    log_probabilities = logits.float().log_softmax(dim=-1)
    right, others = smoothed_target(smoothing, logits.size(-1))
    gold = log_probabilities.gather(-1, target_out.unsqueeze(-1)).squeeze(-1)
    loss = -(right - others) * gold
    if others > 0:
        loss = loss - others * log_probabilities.sum(dim=-1)
    real = target_out != pad_id
    return loss.masked_fill(~real, 0.0).sum(), int(real.sum())


def smoothed_target(smoothing: float, vocab_size: int) -> tuple[float, float]:
    """Probability of the right token, and of each of the V - 1 others.

    Paper: section 5.4
    """
    return 1.0 - smoothing, smoothing / (vocab_size - 1)


class _ProjectedCrossEntropy(torch.autograd.Function):
    """Projection to the vocabulary and smoothed cross-entropy, some rows at a time, gradients included.

    The gradient with respect to logits is softmax - smoothed target, so both products that need it can
    be done while a chunk of logits is at hand. All logits at once would be the largest tensor of a step
    by far, four times over. What the smoothed target gives to every token alike is a constant; its part
    of both products is a sum of rows, taken once at the end instead of from every logit.
    """

    @staticmethod
    def forward(
        ctx, hidden: Tensor, weight: Tensor, gold: Tensor, smoothing: float, chunk: int, with_gradient: bool
    ) -> Tensor:
        right, others = smoothed_target(smoothing, weight.size(0))
        grad_hidden, grad_weight = torch.empty_like(hidden), torch.empty_like(weight)
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        for start in range(0, max(len(hidden), 1), chunk):
            rows, index = hidden[start : start + chunk], gold[start : start + chunk, None]
            logits = F.linear(rows, weight)
            mixed = logits.dtype != weight.dtype  # autocast: products come in lower precision
            probabilities = logits.log_softmax(dim=-1, dtype=torch.float32)
            total -= (right - others) * probabilities.gather(1, index).sum()
            if others > 0:
                total -= others * probabilities.sum()
            if with_gradient:
                difference = probabilities.exp_()
                difference.scatter_add_(1, index, difference.new_full(index.shape, others - right))
                difference = difference.to(rows.dtype)
                _product(difference, weight, grad_hidden[start : start + chunk], mixed)
                _product(difference.t(), rows, grad_weight, mixed, add=start > 0)
        if with_gradient:
            if others > 0:
                grad_hidden -= others * weight.sum(dim=0)
                grad_weight -= others * hidden.sum(dim=0)
            ctx.save_for_backward(grad_hidden, grad_weight)
        return total

    @staticmethod
    def backward(ctx, grad: Tensor):
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden.mul_(grad), grad_weight.mul_(grad), None, None, None, None


def _product(a: Tensor, b: Tensor, out: Tensor, mixed: bool, add: bool = False) -> None:
    """out = a @ b, or out += a @ b; straight into `out` unless precisions are mixed."""
    if mixed:
        out.copy_(out + a @ b if add else a @ b)
    elif add:
        out.addmm_(a, b)
    else:
        torch.mm(a, b, out=out)


def projected_cross_entropy(
    hidden: Tensor, weight: Tensor, gold: Tensor, smoothing: float, chunk: int = CHUNK_ROWS
) -> Tensor:
    """The loss sum of `label_smoothed_cross_entropy(hidden @ weight.T, gold, smoothing)`, in less memory.

    Parameters
    ----------
    hidden
        Decoder outputs of real tokens `[N, D]`.
    weight
        `[V, D]`
    gold
        Token ids `[N]`, without padding.
    chunk
        Rows whose logits exist at one time.

    Returns
    -------
    Tensor
        Scalar float32, in nats; `backward` may run through it once.

    Paper: sections 3.4, 5.4
    """
    return _ProjectedCrossEntropy.apply(hidden, weight, gold, smoothing, chunk, torch.is_grad_enabled())


def batch_loss(model: Transformer, batch: Batch, smoothing: float, layout: str) -> tuple[Tensor, int]:
    """The loss of a batch with teacher forcing, in either layout.

    Parameters
    ----------
    layout
        'padded': rectangles with masks, the path to read. 'packed': real tokens only, the path to train
        with. Both give the same sum.

    Returns
    -------
    loss_sum, token_count
        As `label_smoothed_cross_entropy`.

    Paper: sections 5.1, 5.4
    """
    if layout == "padded":
        logits = model(batch.source, batch.target_in)
        return label_smoothed_cross_entropy(logits, batch.target_out, smoothing)
    device = batch.source.device
    source, target = PackedRows(batch.source_lengths, device), PackedRows(batch.target_lengths, device)
    hidden = model.forward_packed(source.pack_ids(batch.source), source, target.pack_ids(batch.target_in), target)
    gold = target.pack_ids(batch.target_out)
    return projected_cross_entropy(hidden, model.output_weight, gold, smoothing), len(gold)
