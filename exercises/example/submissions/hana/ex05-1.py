import math

import torch


def attention(q, k, v, mask=None):
    """Scaled dot-product attention: output [..., T, d_v] and weights [..., T, S]."""
    # compare every query with every key
    similarity = torch.matmul(q, k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        similarity = similarity.masked_fill(~mask, float("-inf"))
    share = torch.softmax(similarity, -1)
    share = torch.nan_to_num(share)  # rows that are hidden everywhere
    return torch.matmul(share, v), share
