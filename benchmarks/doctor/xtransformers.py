"""x-transformers: `XTransformer` as its README builds it, with its own cache, generation and beam search."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model import AttentionMaps
from annotated_grader.doctor import Claims, FirstAttention, Found, NotOffered, ResidualStep, Subject, Tables
from annotated_grader.doctor.adapters.hooks import Place, Recorder, residual_steps
from annotated_grader.doctor.subject import Side
from benchmarks.doctor import common
from benchmarks.peers.adapter import source_dir

LONGEST = 64
NO_END = "its beam search knows no end of a sentence"
SUBLAYERS = {"a": "self-attention", "c": "cross-attention", "f": "feed-forward"}


class XTransformers(Subject):
    """The installed package."""

    name = "x-transformers"
    vocab_size, pad, bos, eos = common.VOCAB, 0, 1, 2
    claims = Claims(
        d_model=common.D_MODEL,
        tied_embeddings=False,  # `tie_token_emb` ties two of the three tables
        scaled_embeddings=False,
        positions="learned",
        longest=LONGEST,
        norm="pre",
        smoothing=0.0,
    )

    def __init__(self) -> None:
        from x_transformers import XTransformer, autoregressive_wrapper

        self.code: Any = autoregressive_wrapper
        sizes: dict[str, Any] = {
            "num_tokens": common.VOCAB,
            "depth": common.LAYERS,
            "heads": common.HEADS,
            "max_seq_len": LONGEST,
        }
        sizes |= {"attn_dim_head": common.D_MODEL // common.HEADS, "attn_dropout": 0.1, "ff_dropout": 0.1}
        sides = {f"{side}_{name}": value for side in ("enc", "dec") for name, value in sizes.items()}
        self.model: Any = XTransformer(dim=common.D_MODEL, tie_token_emb=True, pad_value=self.pad, **sides)

    @property
    def decoder(self) -> Any:
        return self.model.decoder.net

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.decoder(target_in, **self._context(source))

    def modules(self) -> list[nn.Module]:
        return [self.model]

    def fresh(self) -> XTransformers:
        return type(self)()

    def encode(self, source: Tensor) -> Tensor:
        return self.model.encoder(source, mask=source != self.pad, return_embeddings=True)

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """What its stacks return for `return_attn=True`."""
        mask = source != self.pad
        memory, encoder = self.model.encoder(source, mask=mask, return_embeddings=True, return_attn=True)
        _, maps = self.decoder(target_in, context=memory, context_mask=mask, return_attn=True)
        return AttentionMaps(encoder, maps[::2], maps[1::2])

    def first_attention(self, source: Tensor) -> FirstAttention:
        module = next(x for x in self.model.encoder.modules() if type(x).__name__ == "Attention")
        projections = (module.to_q, module.to_k, module.to_v)
        with Recorder(module, module.to_out, *projections) as seen:
            mask = source != self.pad
            _, maps = self.model.encoder(source, mask=mask, return_embeddings=True, return_attn=True)
        q, k, v = (seen.output(part).unflatten(-1, (module.heads, -1)).transpose(1, 2) for part in projections)
        out = module.to_out
        return FirstAttention(seen.first(module), q, k, v, maps[0], seen.output(module), out.weight, out.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        stacks = []
        for side, stack in (("encoder", self.model.encoder), ("decoder", self.decoder)):
            layers, places = stack.attn_layers, []
            for number, (kind, (norms, module, _)) in enumerate(zip(layers.layer_types, layers.layers, strict=True)):
                where = f"{side} layer {1 + number * common.LAYERS // len(layers.layers)}, {SUBLAYERS[kind]}"
                norm = norms[0]  # without a bias, and its gain is kept as the difference from 1
                gain = norm.gamma + float(norm.unit_offset)
                norm.__dict__.update(weight=gain, bias=torch.zeros_like(gain), eps=norm.ln.eps)
                places.append(Place(where, module, module, norm))
            stacks.append((places, layers.final_norm))
        return residual_steps(stacks, lambda: self.logits(source, target_in), pre=True)

    def feed_forward(self, x: Tensor) -> Tensor:
        return self.model.encoder.attn_layers.layers[1][1](x)

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        stack = (self.model.encoder if side == "source" else self.decoder).attn_layers
        with Recorder(stack) as seen:
            self.logits(ids, ids)
        return seen.first(stack)

    def tables(self) -> Tables:
        return Tables(
            self.model.encoder.token_emb.emb.weight, self.decoder.token_emb.emb.weight, self.decoder.to_logits.weight
        )

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        """What its wrapper gives to the model; what it scores is cut in the same lines."""
        seen: list[Tensor] = []

        def answer(read: Tensor) -> Tensor:
            seen.append(read)
            return torch.zeros(*read.shape, self.vocab_size)

        self._wrapped(targets, answer)
        return seen[0], common.with_bos(targets, self.bos)[:, 1:]

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        """Its wrapper's, with `lens`."""
        return self._wrapped(target_out, lambda read: F.pad(logits, (0, 0, 0, 1)))

    def _wrapped(self, targets: Tensor, answer: Any) -> Tensor:
        net: Any = common.Probe(answer)
        net.forward = lambda read, **_: (answer(read), None)
        net.max_seq_len, net.add_continuous_pred_head, net.output_is_log_prob, net.looped = LONGEST, False, False, False
        wrapper = self.code.AutoregressiveWrapper(net, pad_value=self.pad)
        return wrapper(common.with_bos(targets, self.bos), lens=1 + (targets != self.pad).sum(dim=1))

    # Decoding

    def start(self, source: Tensor, beam_size: int = 1) -> Any:
        return {"context": self._context(source.repeat_interleave(beam_size, dim=0)), "written": None, "cache": None}

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """As its `generate` does: all that is written, and the cache of all but the last."""
        written = tokens[:, None] if state["written"] is None else torch.cat((state["written"], tokens[:, None]), 1)
        logits, cache = self.decoder(written, return_intermediates=True, cache=state["cache"], **state["context"])
        return logits[:, -1], {**state, "written": written, "cache": cache}

    def reorder(self, state: Any, parents: Tensor) -> Any:
        """As its `beam_search` does."""
        if not hasattr(self.code, "modify_cached_kv"):
            raise NotOffered("its cache has no function to reorder it")
        self.code.modify_cached_kv(state["cache"], lambda tensor: tensor[parents])
        return {**state, "written": state["written"][parents]}

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        start = torch.full((len(source), 1), self.bos)
        how = {"mask": source != self.pad, "temperature": 0.0, "eos_token": self.eos}
        return [
            common.until(row, self.eos) for row in self.model.generate(source, start, max_new_tokens, **how).tolist()
        ]

    def beam(self, source: Tensor, beam_size: int, alpha: float, max_new_tokens: int) -> list[Found]:
        """Hypotheses of exactly `max_new_tokens`; they are ranked by log-probability."""
        if beam_size == 1 or beam_size > 8:
            raise NotOffered(NO_END)
        start = torch.full((1, 1), self.bos)
        with common.evaluating(self.model), torch.no_grad():
            written, scores = self.model.decoder.beam_search(
                start, max_new_tokens, beam_size, return_beams_and_scores=True, **self._context(source)
            )
        pairs = zip(written[:, 0].tolist(), scores[:, 0].tolist(), strict=True)
        return [Found(tokens, score, score, finished=False) for tokens, score in pairs]

    def _context(self, source: Tensor) -> dict[str, Tensor]:
        return {"context": self.encode(source), "context_mask": source != self.pad}


class Earlier(XTransformers):
    """An earlier commit, from a checkout."""

    name = "x-transformers, earlier"

    def __init__(self) -> None:
        root = str(source_dir("x-transformers"))
        if sys.path[0] != root:
            sys.path.insert(0, root)
        super().__init__()
