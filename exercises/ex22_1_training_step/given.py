"""A tiny model, and its optimiser with two groups of parameters."""

import torch
from torch import nn


class Toy(nn.Module):
    """Logits [B, T, V] from ids [B, S] and [B, T]; in training mode they are doubled, so that the mode shows."""

    def __init__(self, embedding, projection):
        super().__init__()
        self.embedding = nn.Parameter(embedding)
        self.projection = nn.Parameter(projection)

    def forward(self, source, target_in):
        pooled = self.embedding[source].mean(dim=1, keepdim=True)
        logits = (self.embedding[target_in] + pooled) @ self.projection
        return 2 * logits if self.training else logits


def run(embedding, projection, stale=0.0):
    """A function that makes one step and gives back what it returned, the weights and the rates.

    The model comes in evaluation mode, as a validation leaves it, and with old gradients if `stale` is not zero. The
    optimiser has a group for each parameter, with rates of their own.
    """

    def step(train_step, batches, rate):
        model = Toy(embedding.clone(), projection.clone()).eval()
        groups = [{"params": [model.embedding], "lr": 123.0}, {"params": [model.projection], "lr": 45.0}]
        optimizer = torch.optim.SGD(groups)
        if stale:
            for parameter in model.parameters():
                parameter.grad = torch.full_like(parameter, stale)
        loss = train_step(model, optimizer, batches, rate)
        weights = [p.detach() for p in model.parameters()]
        return [loss, *weights, [group["lr"] for group in optimizer.param_groups]]

    return step
