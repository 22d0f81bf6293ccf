import math

import torch


def attention(q, k, v, mask=None):
    """Scaled dot-product attention: output [..., T, d_v] and weights [..., T, S]."""
    logits = torch.matmul(q, k.mT) / math.sqrt(q.shape[-1])
    if mask is not None:
        logits = logits.masked_fill(~mask, float("-inf"))
    att = torch.softmax(logits, -1)
    att = torch.nan_to_num(att)
    return torch.matmul(att, v), att
