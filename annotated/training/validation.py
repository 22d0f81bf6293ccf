"""Validation loss: on sentences that the model was not trained on, without label smoothing."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from annotated.data.batch import Batch
from annotated.model import Transformer
from annotated.model.fast.cudnn import without_cudnn_attention
from annotated.training.distributed import Processes
from annotated.training.loss import batch_loss
from annotated.training.precision import Precision


def validation_loss(
    model: Transformer, batches: Iterable[Batch], layout: str, precision: Precision, processes: Processes
) -> float:
    """Mean negative log-likelihood of the right token, without label smoothing and without dropout.

    Parameters
    ----------
    batches
        The whole validation set, the same in every process; each takes its share of it.

    Returns
    -------
    float
        Nats per target token, eos included; its exponential is the perplexity per token.

    Paper: section 6.2
    """
    was_training = model.training
    model.eval()
    total, tokens = torch.zeros((), dtype=torch.float64, device=_summing_device(processes.device)), 0
    with torch.no_grad(), without_cudnn_attention(processes.device):
        for number, batch in enumerate(batches):
            if number % processes.world_size != processes.rank:
                continue
            with precision.autocast():
                loss, count = batch_loss(model, batch.to(processes.device), 0.0, layout)
            total += loss.to(total.device)
            tokens += count
    model.train(was_training)
    loss_sum, token_sum = processes.all_reduce_numbers([float(total), tokens])
    return loss_sum / token_sum if token_sum else math.nan


def _summing_device(device: torch.device) -> torch.device:
    return torch.device("cpu") if device.type == "mps" else device  # which has no float64
