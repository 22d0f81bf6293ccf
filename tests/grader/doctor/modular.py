"""A post-norm Transformer of modules, written without this library, in many right kinds and with one mistake at a time.

Its adapter offers nearly every capability. Nothing is shared with `annotated.model` but the names of what is returned.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model import AttentionMaps
from annotated_grader.doctor import Claims, FirstAttention, Found, ResidualStep, Subject, Tables, Update

VOCAB, WIDTH, INNER, HEADS, LAYERS, LONGEST = 12, 16, 32, 2, 2, 48
PAD, BOS, EOS = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Kind:
    """What a right model may choose, and one thing that is wrong."""

    positions: str = "sinusoidal"
    """sinusoidal, learned, rotary, alibi or buckets."""
    rms: bool = False
    gated: bool = False
    log_probabilities: bool = False
    """`logits` gives log-probabilities, and a step gives logits."""
    float32_inside: bool = False
    closes_each_step: bool = False
    """The beam ends every hypothesis at each step, beside those that end by themselves."""
    claims_positions: bool = True
    wrong: str = ""

    @property
    def added(self) -> bool:
        """Whether positions are vectors."""
        return self.positions in ("sinusoidal", "learned")


def rotated(x: Tensor, start: int = 0) -> Tensor:
    """`[B, H, T, K]` with each pair of dimensions turned by its position."""
    half = x.size(-1) // 2
    angles = torch.arange(start, start + x.size(-2))[:, None] * 10000.0 ** (-torch.arange(half) / half)
    a, b = x.chunk(2, dim=-1)
    sine, cosine = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), dim=-1)


def distances(queries: int, keys: int) -> Tensor:
    """Query's position minus key's, `[T, S]`."""
    return torch.arange(queries)[:, None] - torch.arange(keys)


def slopes(heads: int) -> Tensor:
    """ALiBi's factors on the distance, `[H, 1, 1]`."""
    return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)[:, None, None]


class RMSNorm(nn.Module):
    """x / sqrt(mean(x ** 2) + eps) * weight."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(width)), None, 1e-6

    def forward(self, x: Tensor) -> Tensor:
        return x * (x.square().mean(dim=-1, keepdim=True) + self.eps).rsqrt() * self.weight


class Attention(nn.Module):
    """Many heads; what it computed last stands in `seen`."""

    def __init__(self, kind: Kind, cross: bool = False) -> None:
        super().__init__()
        self.kind, self.cross = kind, cross
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        if kind.positions == "buckets" and not cross:
            self.bias = nn.Embedding(17, HEADS)
        self.seen: tuple[Tensor, ...] = ()

    def forward(self, x: Tensor, memory: Tensor, allowed: Tensor) -> Tensor:
        heads = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.project(x, memory))
        q, k, v = heads
        if self.kind.positions == "rotary" and not self.cross:
            q, k = rotated(q), rotated(k)
        scores = q @ k.mT / math.sqrt(q.size(-1)) + self.added(q, k)
        if self.kind.wrong == "log_keys":
            scores = scores * math.log(k.size(-2)) / math.log(6)
        weights = self.softmax(scores.masked_fill(~allowed, torch.finfo(scores.dtype).min))
        self.seen = (x, q, k, v, weights)
        if self.kind.wrong == "dropout_stays" and self.cross:
            weights = F.dropout(weights, 0.1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))

    def project(self, x: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self.query(x), self.key(memory), self.value(memory)

    def added(self, q: Tensor, k: Tensor) -> Tensor | float:
        """What the distance of two tokens adds to their score."""
        apart = distances(q.size(-2), k.size(-2))
        if self.cross or self.kind.positions not in ("alibi", "buckets"):
            return 0.0
        if self.kind.positions == "alibi":
            return (-slopes(HEADS) * apart.abs()).to(q.dtype)
        return self.bias(apart.clamp(-8, 8) + 8).permute(2, 0, 1)

    def softmax(self, scores: Tensor) -> Tensor:
        if self.kind.wrong == "softmax_bfloat16":
            return scores.bfloat16().softmax(dim=-1).float()
        return (scores.float() if self.kind.float32_inside else scores).softmax(dim=-1)


class FeedForward(nn.Module):
    """ReLU between two matrices, or a gate."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.rise, self.fall = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.gate = nn.Linear(WIDTH, INNER) if kind.gated else None

    def forward(self, x: Tensor) -> Tensor:
        inner = self.rise(x)
        return self.fall(F.silu(self.gate(x)) * inner if self.gate is not None else inner.relu())


class Layer(nn.Module):
    """Sub-layers with a norm after each sum."""

    def __init__(self, kind: Kind, decoder: bool) -> None:
        super().__init__()
        self.attention = Attention(kind)
        self.cross = Attention(kind, cross=True) if decoder else None
        self.feed_forward = FeedForward(kind)
        self.norms = nn.ModuleList(RMSNorm(WIDTH) if kind.rms else nn.LayerNorm(WIDTH) for _ in range(2 + decoder))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor, own: Tensor, memory: Tensor | None, seen: Tensor | None, steps: list[Any]) -> Tensor:
        side = "encoder" if memory is None else "decoder"
        parts: list[Any] = [("self-attention", lambda y: self.attention(y, y, own))]
        if self.cross is not None:
            parts.append(("cross-attention", lambda y: self.cross(y, memory, seen)))
        parts.append(("feed-forward", self.feed_forward))
        for (name, part), norm in zip(parts, self.norms, strict=True):
            output = part(x)
            after = norm(x + self.dropout(output))
            steps.append(ResidualStep(f"{side} {name}", x, x, output, after, norm.weight, norm.bias, norm.eps))
            x = after
        return x


class Model(nn.Module):
    """Two stacks, one table."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind = kind
        self.table = nn.Embedding(VOCAB, WIDTH, padding_idx=PAD)
        nn.init.normal_(self.table.weight, std=WIDTH**-0.5)
        with torch.no_grad():
            self.table.weight[PAD] = 0.0
        if kind.positions == "learned":
            self.places = nn.Embedding(LONGEST, WIDTH)
        self.encoder = nn.ModuleList(Layer(kind, decoder=False) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(Layer(kind, decoder=True) for _ in range(LAYERS))
        self.dropout = nn.Dropout(0.1)
        self.steps: list[ResidualStep] = []

    def embed(self, ids: Tensor) -> Tensor:
        x, length = self.table(ids) * math.sqrt(WIDTH), ids.size(1)
        if self.kind.positions == "learned":
            x = x + self.places(torch.arange(length))
        if self.kind.positions == "sinusoidal":
            angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
            x = x + torch.cat((angles.sin(), angles.cos()), dim=-1).to(x.dtype)
        return self.dropout(x)

    def real(self, source: Tensor) -> Tensor:
        """`[B, 1, 1, S]`: what may be seen of a source."""
        real = source != PAD
        if self.kind.wrong == "end_hidden":
            real = real & (source != EOS)
        if self.kind.wrong == "mask_of_zero_vectors":
            real = (self.table(source) != 0).any(dim=-1)
        return real[:, None, None]

    def encode(self, source: Tensor) -> Tensor:
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, self.real(source), None, None, self.steps)
        return x

    def decode(self, target: Tensor, memory: Tensor, seen: Tensor) -> Tensor:
        length = target.size(1)
        past = torch.ones(length, length, dtype=torch.bool).tril()
        if self.kind.wrong == "mask_of_eight":
            past = torch.ones(length, length, dtype=torch.bool)
            past[:8, :8] = past[:8, :8].tril()
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, past & (target != PAD)[:, None, None], memory, seen, self.steps)
        return F.linear(x, self.table.weight)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        if self.kind.wrong == "source_cut":
            source = source[:, :16]
        self.steps = []
        return self.decode(target, self.encode(source), self.real(source))


class Modular(Subject):
    """The adapter."""

    name, vocab_size, pad, bos, eos = "modular", VOCAB, PAD, BOS, EOS

    def __init__(self, kind: Kind = Kind()) -> None:
        self.kind, self.model = kind, Model(kind)
        named = kind.positions if kind.added else "relative"
        self.claims = Claims(
            d_model=WIDTH,
            tied_embeddings=True,
            scaled_embeddings=True,
            positions=named if kind.claims_positions else None,
            longest=LONGEST if kind.positions == "learned" else None,
            norm="post",
            rms_norm=kind.rms,
            dropout=0.1,
            smoothing=0.1,
            warmup=20,
            length_penalty="wu",
        )

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        logits = self.model(source, target_in)
        return logits.log_softmax(dim=-1) if self.kind.log_probabilities else logits

    def modules(self) -> list[nn.Module]:
        return [self.model]

    def fresh(self) -> Modular:
        return Modular(self.kind)

    def encode(self, source: Tensor) -> Tensor:
        return self.model.encode(source)

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        self.model(source, target_in)
        model: Any = self.model
        return AttentionMaps(
            [layer.attention.seen[4] for layer in model.encoder],
            [layer.attention.seen[4] for layer in model.decoder],
            [layer.cross.seen[4] for layer in model.decoder],
        )

    def first_attention(self, source: Tensor) -> FirstAttention:
        layer: Any = self.model.encoder[0]
        self.model.steps = []
        self.model.encode(source)
        output = self.model.steps[0].output
        return FirstAttention(*layer.attention.seen, output, layer.attention.out.weight, layer.attention.out.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        self.model(source, target_in)
        return self.model.steps

    def feed_forward(self, x: Tensor) -> Tensor:
        layer: Any = self.model.encoder[0]
        return layer.feed_forward(x)

    def embed(self, ids: Tensor, side: Any) -> Tensor:
        return self.model.embed(ids)

    def tables(self) -> Tables:
        return Tables(*[self.model.table.weight] * 3)

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        read = torch.cat((torch.full((len(targets), 1), BOS), targets[:, :-1]), dim=1)
        return read.masked_fill(read == EOS, PAD), targets

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        return F.cross_entropy(logits.flatten(0, 1), target_out.flatten(), ignore_index=PAD, label_smoothing=0.1)

    def learning_rate(self, update: int) -> float:
        return WIDTH**-0.5 * min(update**-0.5, update * 20**-1.5)

    def updates(self, micro_batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
        optimizer, made = torch.optim.Adam(self.model.parameters()), []
        for number in range(1, len(micro_batches) // accumulate + 1):
            group = micro_batches[(number - 1) * accumulate : number * accumulate]
            tokens = sum(int((targets != PAD).sum()) for _, targets in group)
            optimizer.zero_grad()
            for source, targets in group:
                read, write = self.shift(targets)
                share = int((targets != PAD).sum()) / tokens
                (self.loss(self.logits(source, read), write) * share).backward()
            rate = optimizer.param_groups[0]["lr"] = self.learning_rate(number)
            named = self.model.named_parameters()
            made.append(Update(rate, {name: p.grad.clone() for name, p in named if p.grad is not None}))
            optimizer.step()
        return made

    def average(self, states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
        return {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}

    # Decoding: what was written is read again at each step

    def start(self, source: Tensor, beam_size: int = 1) -> Any:
        memory, seen = self.model.encode(source), self.model.real(source)
        rows = torch.empty(len(source) * beam_size, 0, dtype=torch.long)
        if self.kind.wrong == "rows_tiled":
            return rows, memory.repeat_interleave(beam_size, dim=0), seen.repeat(beam_size, 1, 1, 1)
        return rows, *(part.repeat_interleave(beam_size, dim=0) for part in (memory, seen))

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        written, memory, seen = state
        written = torch.cat((written, tokens[:, None]), dim=1)
        return self.model.decode(written, memory, seen)[:, -1], (written, memory, seen)

    def reorder(self, state: Any, parents: Tensor) -> Any:
        written, memory, seen = state
        if self.kind.wrong == "reordered_in_place":
            for row, parent in enumerate(parents.tolist()):
                written[row] = written[parent]
            return state
        return written[parents], memory, seen

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        training = self.model.training
        self.model.eval()
        found = [self._beam(row[row != PAD][None], 1, 0.0, max_new_tokens, False)[0].tokens for row in source]
        self.model.train(training)
        return found

    def beam(self, source: Tensor, beam_size: int, alpha: float, max_new_tokens: int) -> list[Found]:
        return self._beam(source, beam_size, alpha, max_new_tokens, self.kind.closes_each_step)

    def _beam(self, source: Tensor, size: int, alpha: float, cap: int, closes: bool) -> list[Found]:
        alive: list[tuple[list[int], float]] = [([], 0.0)]
        ended: dict[tuple[int, ...], Found] = {}
        with torch.no_grad():
            memory, seen = self.model.encode(source), self.model.real(source)
        for _ in range(cap):
            read = torch.tensor([[BOS, *tokens] for tokens, _ in alive])
            with torch.no_grad():
                n = len(alive)
                logits = self.model.decode(read, memory.expand(n, -1, -1), seen.expand(n, -1, -1, -1))[:, -1]
            lines = logits.log_softmax(dim=-1)
            total = lines + torch.tensor([[p] for _, p in alive])
            total[:, [PAD, BOS]] = -math.inf
            if closes:
                for (tokens, _), p in zip(alive, total[:, EOS].tolist(), strict=True):
                    ended[tuple(tokens)] = self._ended(tokens, p, alpha)
                total[:, EOS] = -math.inf
            best = total.flatten().topk(min(size, int((total > -math.inf).sum())))
            grown = []
            for p, place in zip(*(part.tolist() for part in best), strict=True):
                tokens, token = alive[place // VOCAB][0], place % VOCAB
                if token == EOS:
                    ended[tuple(tokens)] = self._ended(tokens, p, alpha)
                else:
                    grown.append(([*tokens, token], p))
            alive = grown
            if not alive:
                break
        found = sorted(ended.values(), key=lambda one: -one.score)[:size]
        return found or [Found(tokens, p, self._score(p, len(tokens), alpha), False) for tokens, p in alive[:size]]

    def _ended(self, tokens: list[int], log_probability: float, alpha: float) -> Found:
        return Found(tokens, log_probability, self._score(log_probability, len(tokens) + 1, alpha))

    def _score(self, log_probability: float, length: int, alpha: float) -> float:
        penalty = ((5 + length) / 6) ** alpha
        return log_probability * penalty if self.kind.wrong == "penalty_sign" else log_probability / penalty

    # Evaluation

    def perplexity(self, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> float:
        total, count = 0.0, 0
        for source, target in zip(sources, targets, strict=True):
            with torch.no_grad():
                lines = self.logits(torch.tensor([[*source, EOS]]), torch.tensor([[BOS, *target]])).log_softmax(-1)
            total -= float(lines[0].gather(1, torch.tensor([[*target, EOS]]).T).sum())
            count += len(target) + 1
        return math.exp(total / count)

    def evaluated(self, sources: Sequence[list[int]], references: Sequence[list[int]]) -> list[str]:
        return [" ".join(map(str, self.greedy(torch.tensor([[*ids, EOS]]), 20)[0])) for ids in sources]
