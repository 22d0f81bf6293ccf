import math

import torch
from torch import nn
from torch.nn import functional as F


# %% right: a bare parameter
class SharedEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.matrix = nn.Parameter(torch.randn(vocab_size, d_model) / d_model**0.5)

    def embed(self, ids):
        return self.matrix[ids] * self.matrix.size(1) ** 0.5

    def logits(self, x):
        return torch.einsum("btd,vd->btv", x, self.matrix)


def tie(model):
    model.target_embedding.weight = model.source_embedding.weight
    model.generator.weight = model.source_embedding.weight
    model.generator.bias = None


# %% right: nn.Embedding inside, a new generator
class SharedEmbedding(nn.Module):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.tabelle = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.tabelle.weight, 0.0, 1 / math.sqrt(d_model))
        self.faktor = math.sqrt(d_model)

    def embed(self, ids):
        return self.faktor * self.tabelle(ids)

    def logits(self, x):
        return F.linear(x, self.tabelle.weight)


def tie(model):
    v, d = model.source_embedding.weight.shape
    model.generator = nn.Linear(d, v, bias=False)
    for part in (model.target_embedding, model.generator):
        part.weight = model.source_embedding.weight
    return model


# %% wrong: no factor | may be called: no_factor
class SharedEmbedding(SharedEmbedding):
    def embed(self, ids):
        return self.matrix[ids]


# %% wrong: the factor on both sides | may be called: factor_on_the_way_out
class SharedEmbedding(SharedEmbedding):
    def logits(self, x):
        return x @ self.matrix.T * math.sqrt(self.matrix.size(1))


# %% wrong: starts from N(0, 1) | may be called: rows_of_length_root_d
class SharedEmbedding(SharedEmbedding):
    def __init__(self, v, d):
        super().__init__(v, d)
        self.matrix = nn.Parameter(torch.randn(v, d))


# %% wrong: two matrices | may be called: copied_outward
class SharedEmbedding(SharedEmbedding):
    def __init__(self, v, d):
        super().__init__(v, d)
        self.out = nn.Linear(d, v, bias=False)

    def logits(self, x):
        return self.out(x)


# %% wrong: a bias | may be called: bias_on_the_way_out
class SharedEmbedding(SharedEmbedding):
    def __init__(self, v, d):
        super().__init__(v, d)
        self.bias = nn.Parameter(torch.zeros(v))

    def logits(self, x):
        return x @ self.matrix.T + self.bias


# %% wrong: copies the numbers | may be called: numbers_copied
def tie(model):
    with torch.no_grad():
        model.target_embedding.weight.copy_(model.source_embedding.weight)
        model.generator.weight.copy_(model.source_embedding.weight)
    model.generator.bias = None


# %% wrong: shares the memory, not the parameter | may be called: only_the_storage_shared
def tie(model):
    model.target_embedding.weight = nn.Parameter(model.source_embedding.weight.data)
    model.generator.weight = nn.Parameter(model.source_embedding.weight.data)
    model.generator.bias = None


# %% wrong: the numbers of the generator
def tie(model):
    model.source_embedding.weight = model.target_embedding.weight = model.generator.weight
    model.generator.bias = None


# %% wrong: the bias stays, at zero | may be called: bias_set_to_zero
def tie(model):
    model.target_embedding.weight = model.generator.weight = model.source_embedding.weight
    nn.init.zeros_(model.generator.bias)


# %% wrong: forgets the generator
def tie(model):
    model.target_embedding.weight = model.source_embedding.weight
    model.generator.bias = None


# %% wrong: detached on the way out
class SharedEmbedding(SharedEmbedding):
    def logits(self, x):
        return x @ self.matrix.detach().T
