"""A tiny model, its optimiser, and a box that holds both."""

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
    """A function that makes one step and gives back what it returned, the weights and the rate of the optimiser.

    The model comes in evaluation mode, as a validation leaves it, and with old gradients if `stale` is not zero.
    """

    def step(train_step, batches, rate):
        model = Toy(embedding.clone(), projection.clone()).eval()
        optimizer = torch.optim.SGD(model.parameters(), lr=123.0)
        if stale:
            for parameter in model.parameters():
                parameter.grad = torch.full_like(parameter, stale)
        loss = train_step(model, optimizer, batches, rate)
        weights = [p.detach() for p in model.parameters()]
        return [loss, *weights, optimizer.param_groups[0]["lr"]]

    return step
