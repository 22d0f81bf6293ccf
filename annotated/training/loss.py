"""Label-smoothed cross-entropy, and the loss of a batch with teacher forcing.

`annotated.speed.steps.loss` computes the same together with the projection to the vocabulary, in less time and memory.
"""

from __future__ import annotations

from torch import Tensor

from annotated.config import PAD, TrainingConfig
from annotated.data.batch import Batch
from annotated.model import Transformer


def label_smoothed_cross_entropy(
    logits: Tensor, target_out: Tensor, smoothing: float = TrainingConfig.label_smoothing, pad_id: int = PAD
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
        The paper's epsilon_ls, 0.1 there; 0 gives the negative log-likelihood, from which perplexity is computed.
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


def batch_loss(model: Transformer, batch: Batch, smoothing: float) -> tuple[Tensor, int]:
    """The loss of a batch with teacher forcing: every position reads the right tokens before it.

    Parameters
    ----------
    batch
        On the model's device; padded to rectangles, which the model masks.
    smoothing
        The paper's epsilon_ls.

    Returns
    -------
    loss_sum, token_count
        As `label_smoothed_cross_entropy`.

    Paper: sections 3.1, 5.4
    """
    logits = model(batch.source, batch.target_in)
    return label_smoothed_cross_entropy(logits, batch.target_out, smoothing)
