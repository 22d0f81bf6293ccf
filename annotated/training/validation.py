"""Validation loss: on sentences that the model was not trained on, without label smoothing."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch

from annotated.data.batch import Batch
from annotated.speed.kernels.cudnn import without_cudnn_attention
from annotated.speed.machine.distributed import Processes
from annotated.training.update import Step


def validation_loss(step: Step, batches: Iterable[Batch], processes: Processes | None = None) -> float:
    """Mean negative log-likelihood of the right token, without label smoothing and without dropout.

    Parameters
    ----------
    step
        Its model is measured, by its `loss`.
    batches
        The whole validation set, the same in every process; each takes its share of it.
    processes
        Who shares the work; None for this process alone.

    Returns
    -------
    float
        Nats per target token, eos included; its exponential is the perplexity per token.

    Paper: section 6.2
    """
    model = step.model
    was_training, device = model.training, model.output_weight.device
    processes = processes or Processes(device=device)
    model.eval()
    total, tokens = torch.zeros((), dtype=torch.float64, device=_summing_device(device)), 0
    with torch.no_grad(), without_cudnn_attention(device):
        for number, batch in enumerate(batches):
            if number % processes.world_size != processes.rank:
                continue
            loss, count = step.loss(batch, 0.0)
            total += loss.to(total.device)
            tokens += count
    model.train(was_training)
    loss_sum, token_sum = processes.all_reduce_numbers([float(total), tokens])
    return loss_sum / token_sum if token_sum else math.nan


def _summing_device(device: torch.device) -> torch.device:
    return torch.device("cpu") if device.type == "mps" else device  # which has no float64
