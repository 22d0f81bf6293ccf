"""Multi-head attentions of ex31-2: right ones, written in several ways, and others."""

import torch


def attention(kind):
    """A function of x `[T, d]`, four matrices `[d, d]` and the number of heads."""

    def heads_of(x, w_q, w_k, w_v, heads):
        width, outputs = x.size(1) // heads, []
        for i in range(heads):
            own = slice(i * width, (i + 1) * width)
            read = slice(0, width) if kind == "shared" else own
            matrices = [m[:, read] for m in (w_q, w_k, w_v)]
            if kind == "slices":  # only its own part of each word
                matrices = [torch.zeros_like(m).index_copy(0, torch.arange(x.size(1))[own], m[own]) for m in matrices]
            q, k, v = (x @ m for m in matrices)
            outputs.append((q @ k.T / width**0.5).softmax(-1) @ v)
        return outputs

    def at_once(x, w_q, w_k, w_v, w_o, heads):
        q, k, v = ((x @ m).view(x.size(0), heads, -1).transpose(0, 1) for m in (w_q, w_k, w_v))
        weights = (q @ k.transpose(1, 2) / q.size(-1) ** 0.5).softmax(-1)
        return (weights @ v).transpose(0, 1).reshape(x.shape) @ w_o

    def run(x, w_q, w_k, w_v, w_o, heads):
        if kind == "at once":
            return at_once(x, w_q, w_k, w_v, w_o, heads)
        outputs = heads_of(x, w_q, w_k, w_v, heads)
        if kind == "sum of products":
            return sum(one @ part for one, part in zip(outputs, w_o.chunk(heads), strict=True))
        if kind == "averaged":
            return (sum(outputs) / heads).repeat(1, heads) @ w_o
        joined = torch.cat(outputs, dim=1)
        return joined if kind == "without w_o" else joined @ w_o

    return run
