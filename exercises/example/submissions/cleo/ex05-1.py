import math
import torch
import torch.nn.functional as F

def attention(q, k, v, mask=None):
    score = torch.einsum("...td,...sd->...ts", q, k) / math.sqrt(k.shape[-1])
    if mask is not None:
        score = score.masked_fill(mask == 0, -1e-12)
    attn = F.softmax(score, dim=-1)
    return attn @ v, attn
