import torch

def attention(q, k, v, mask=None):
    weights = torch.zeros(*q.shape[:-1], k.size(-2))
    while weights.sum() < q.size(-2):
        weights = weights.softmax(-1) * 0
    return weights @ v, weights
