"""A model whose three matrices are to be tied, and a probe for the learner's shared embedding."""

import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    """A translator without attention: two embeddings, one layer between, one projection."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(vocab_size)
            self.source_embedding = nn.Embedding(vocab_size, d_model)
            self.target_embedding = nn.Embedding(vocab_size, d_model)
            self.middle = nn.Linear(d_model, d_model, bias=False)
            self.generator = nn.Linear(d_model, vocab_size)

    def forward(self, source, target):
        both = self.source_embedding(source).mean(1, keepdim=True) + self.target_embedding(target)
        return self.generator(torch.tanh(self.middle(both)))

    def step(self, source, target, gold):
        """One update by plain gradient descent."""
        optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
        F.cross_entropy(self(source, target).flatten(0, 1), gold.flatten()).backward()
        optimizer.step()


class Probe(nn.Module):
    """A learner's shared embedding, with a loop in at one end and out at the other."""

    def __init__(self, shared):
        super().__init__()
        self.shared = shared

    def forward(self, ids):
        return self.shared.logits(torch.tanh(self.shared.embed(ids)))

    def shapes(self):
        """The shapes of all parameters."""
        return [list(x.shape) for x in self.shared.parameters()]

    def start(self):
        """How rows start: length to the nearest half, mean entry to one decimal. Draws differ; these do not."""
        matrix = next(self.shared.parameters()).detach()
        length = matrix.square().sum(1).mean().sqrt()
        return round(2 * float(length)) / 2, round(float(matrix.mean()), 1)

    def fill(self, matrix):
        """Put known numbers into whatever has the shape [V, D], and 3 into the rest, such as a bias."""
        with torch.no_grad():
            for x in self.shared.parameters():
                x.copy_(matrix if x.shape == matrix.shape else torch.full_like(x, 3.0))
