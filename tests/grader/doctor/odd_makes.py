"""Right encoder-decoders in odd styles, each with logits alone: order known otherwise, tensors laid out otherwise.

None shares code with the library. Weights are drawn anew for each, at the size that its own literature uses.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated_grader.doctor import Claims, Subject

VOCAB, WIDTH, PAD, BOS, EOS = 13, 24, 0, 1, 2


class Odd(Subject):
    """Embeddings and an output matrix; a derived class has the rest."""

    vocab_size, pad, bos, eos = VOCAB, PAD, BOS, EOS

    def __init__(self) -> None:
        torch.manual_seed(4)
        self.words = nn.Embedding(VOCAB, WIDTH, padding_idx=PAD)
        self.out = nn.Linear(WIDTH, VOCAB)
        self.name = type(self).__name__


def attended(queries: Tensor, memory: Tensor, source: Tensor) -> Tensor:
    """Dot-product attention `[B, T, D]` to a memory `[B, S, D]` of these source ids."""
    scores = (queries @ memory.mT).masked_fill((source == PAD)[:, None], -math.inf)
    return scores.softmax(dim=-1).nan_to_num() @ memory


class Recurrent(Odd):
    """LSTMs with attention (Luong), the source packed and read in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = nn.LSTM(WIDTH, WIDTH // 2, batch_first=True, bidirectional=True)
        self.writes = nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.joins = nn.Linear(2 * WIDTH, WIDTH)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        lengths = (source != PAD).sum(dim=1).clamp_min(1)
        packed = nn.utils.rnn.pack_padded_sequence(self.words(source), lengths, batch_first=True, enforce_sorted=False)
        memory, (state, cell) = self.reads(packed)
        memory, _ = nn.utils.rnn.pad_packed_sequence(memory, batch_first=True, total_length=source.size(1))
        start = tuple(x.transpose(0, 1).flatten(1)[None] for x in (state, cell))
        hidden, _ = self.writes(self.words(target_in), start)
        return self.out(self.joins(torch.cat((hidden, attended(hidden, memory, source)), dim=-1)).tanh())


class RecurrentInSteps(Odd):
    """GRUs written as loops, time first: padding leaves the state as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.reads, self.writes = nn.GRUCell(WIDTH, WIDTH), nn.GRUCell(2 * WIDTH, WIDTH)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        state, memory = torch.zeros(len(source), WIDTH), []
        for ids in source.T:
            state = torch.where((ids != PAD)[:, None], self.reads(self.words(ids), state), state)
            memory.append(state)
        lines, kept = [], torch.stack(memory, dim=1)
        for ids in target_in.T:
            seen = attended(state[:, None], kept, source)[:, 0]
            state = self.writes(torch.cat((self.words(ids), seen), dim=-1), state)
            lines.append(self.out(state))
        return torch.stack(lines, dim=1)


class Convolutions(Odd):
    """ConvS2S: gated convolutions of width 3 with learned positions, the decoder's padded on the left."""

    claims = Claims(local_attention=True, longest=100)

    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Embedding(100, WIDTH)
        self.reads = nn.ModuleList(nn.Conv1d(WIDTH, 2 * WIDTH, 3) for _ in range(3))
        self.writes = nn.ModuleList(nn.Conv1d(WIDTH, 2 * WIDTH, 3) for _ in range(3))

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        real = (source != PAD)[:, :, None]
        memory = x = self.embed_ids(source) * real
        for layer in self.reads:
            x = (x + F.glu(layer(F.pad(x.mT, (1, 1))), dim=1).mT) * 0.7 * real
        memory = x
        y = self.embed_ids(target_in)
        for layer in self.writes:
            y = y + F.glu(layer(F.pad(y.mT, (2, 0))), dim=1).mT
            y = (y + attended(y, memory, source)) * 0.7
        return self.out(y)

    def embed_ids(self, ids: Tensor) -> Tensor:
        return self.words(ids) + self.places.weight[: ids.size(1)]


class TimeFirst(Odd):
    """torch.nn.Transformer with time first, additive masks in float and an output of log-probabilities."""

    def __init__(self) -> None:
        super().__init__()
        self.core = nn.Transformer(WIDTH, 3, 2, 2, 48, dropout=0.0, norm_first=True).eval()
        self.places = torch.randn(700, 1, WIDTH)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        padded = torch.zeros(source.shape).masked_fill(source == PAD, -1e9)
        future = nn.Transformer.generate_square_subsequent_mask(target_in.size(1))
        x, y = (self.words(ids.T) + self.places[: ids.size(1)] for ids in (source, target_in))
        out = self.core(x, y, tgt_mask=future, src_key_padding_mask=padded, memory_key_padding_mask=padded)
        return self.out(out).log_softmax(dim=-1).transpose(0, 1)


class OneStack(Odd):
    """A prefix LM: source and target in one sequence, each with positions of its own, in one stack of attention."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.places, self.kinds = torch.randn(2, 700, WIDTH), torch.randn(2, WIDTH)
        self.maps = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(layers))
        self.feeds = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 48), nn.GELU(), nn.Linear(48, WIDTH)) for _ in range(layers)
        )

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        s, t = source.size(1), target_in.size(1)
        places = torch.cat((self.places[0, :s] + self.kinds[0], self.places[1, :t] + self.kinds[1]))
        x = self.words(torch.cat((source, target_in), dim=1)) + places
        seen = torch.ones(s + t, s + t, dtype=torch.bool).tril()
        seen[:s] = seen[:, :s] = True
        seen[:s, s:] = False
        allowed = seen & (torch.cat((source, target_in), dim=1) != PAD)[:, None] | torch.eye(s + t, dtype=torch.bool)
        for maps, feeds in zip(self.maps, self.feeds, strict=True):
            x = x + self.mixed(*maps(F.layer_norm(x, (WIDTH,))).chunk(3, dim=-1), allowed)
            x = x + feeds(F.layer_norm(x, (WIDTH,)))
        return self.out(F.layer_norm(x, (WIDTH,)))[:, s:]

    def mixed(self, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
        heads = (x.unflatten(-1, (3, 8)).transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(*heads, attn_mask=allowed[:, None]).transpose(1, 2).flatten(2)


class NormedQueries(OneStack):
    """The same with queries and keys of length one, a temperature, and no softmax maximum: cosine attention."""

    def mixed(self, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        weights = (8 * (q @ k.mT)).exp() * allowed
        return weights / weights.sum(dim=-1, keepdim=True) @ v


class OneLayerAgain(OneStack):
    """A universal Transformer: one layer, used three times."""

    def __init__(self) -> None:
        super().__init__(1)
        self.maps, self.feeds = nn.ModuleList([self.maps[0]] * 3), nn.ModuleList([self.feeds[0]] * 3)


class WithoutSoftmax(OneStack):
    """Linear attention: a feature map in place of the softmax."""

    def mixed(self, q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
        weights = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT) * allowed
        return weights / weights.sum(dim=-1, keepdim=True) @ v


class Experts(OneStack):
    """A network of two experts for each token, of which the token's own router chooses one."""

    def __init__(self) -> None:
        super().__init__()
        self.others = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.router = nn.Linear(WIDTH, 2)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        y = super().logits(source, target_in) + 0.0
        x = self.words(target_in)
        both = torch.stack([expert(x) for expert in self.others], dim=-2)
        chosen = self.router(x).argmax(dim=-1)[..., None, None].expand(-1, -1, 1, WIDTH)
        return y + self.out(both.gather(-2, chosen).squeeze(-2))


class Double(OneStack):
    """In float64, with ids of 32 bits inside."""

    def __init__(self) -> None:
        super().__init__()
        for module in (self.words, self.out, self.maps, self.feeds):
            module.double()
        self.places, self.kinds = self.places.double(), self.kinds.double()

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return super().logits(source.int(), target_in.int())


RIGHT = (
    Recurrent,
    RecurrentInSteps,
    Convolutions,
    TimeFirst,
    OneStack,
    NormedQueries,
    OneLayerAgain,
    WithoutSoftmax,
    Experts,
    Double,
)
"""All of them."""
