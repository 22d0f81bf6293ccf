"""jadore801120/attention-is-all-you-need-pytorch: its own model, loss, optimiser, loop and beam search."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.model import AttentionMaps
from annotated_grader.doctor import Claims, FirstAttention, Found, NotOffered, ResidualStep, Subject, Tables, Update
from annotated_grader.doctor.adapters.hooks import Recorder
from annotated_grader.doctor.subject import Side
from benchmarks.doctor import common
from benchmarks.peers.adapter import lift, source_dir

LONGEST = 200


class Jadore(Subject):
    """As its README trains it: tables shared, projection scaled ('prj'), label smoothing."""

    name = "jadore801120/attention-is-all-you-need-pytorch"
    vocab_size, pad, bos, eos = common.VOCAB, 1, 2, 3  # torchtext's order
    claims = Claims(
        d_model=common.D_MODEL,
        tied_embeddings=True,
        scaled_embeddings=False,
        positions="sinusoidal",
        longest=LONGEST,
        norm="post",
        dropout=0.1,
        smoothing=0.1,
        warmup=common.WARMUP,
    )

    def __init__(self) -> None:
        root = source_dir("attention-is-all-you-need-pytorch")
        sys.path.insert(0, str(root))
        from transformer.Models import Transformer
        from transformer.Optim import ScheduledOptim
        from transformer.Translator import Translator

        self.scheduled, self.translator = ScheduledOptim, Translator
        self.code = lift(root / "train.py", {"torch": torch, "F": F, "tqdm": lambda data, **_: data})
        width = common.D_MODEL // common.HEADS
        sizes = common.D_MODEL, common.D_MODEL, common.D_FF, common.LAYERS, common.HEADS, width, width
        self.model: Any = Transformer(common.VOCAB, common.VOCAB, self.pad, self.pad, *sizes, n_position=LONGEST)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.model(source, target_in).view(*target_in.shape, -1)

    def modules(self) -> list[nn.Module]:
        return [self.model]

    def fresh(self) -> Jadore:
        return Jadore()

    def encode(self, source: Tensor) -> Tensor:
        return self.model.encoder(source, self._mask(source))[0]

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """What its stacks return for `return_attns=True`."""
        from transformer.Models import get_subsequent_mask

        mask = self._mask(source)
        memory, encoder = self.model.encoder(source, mask, return_attns=True)
        target_mask = self._mask(target_in) & get_subsequent_mask(target_in)
        _, decoder, cross = self.model.decoder(target_in, target_mask, memory, mask, return_attns=True)
        return AttentionMaps(encoder, decoder, cross)

    def first_attention(self, source: Tensor) -> FirstAttention:
        module = self.model.encoder.layer_stack[0].slf_attn
        with Recorder(module, module.attention, module.fc) as seen:
            self.encode(source)
        q, k, v = seen.inputs(module.attention)[:3]
        weights = seen.output(module.attention, 1)
        return FirstAttention(seen.first(module), q, k, v, weights, _output(seen, module.fc), module.fc.weight)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        """Residual sum and norm are inside its sub-layers, and the sum is made in place."""
        places = []
        for side in ("encoder", "decoder"):
            for number, layer in enumerate(getattr(self.model, side).layer_stack, 1):
                for name, last in (("slf_attn", "fc"), ("enc_attn", "fc"), ("pos_ffn", "w_2")):
                    if hasattr(layer, name):
                        module = getattr(layer, name)
                        places.append((f"{side} layer {number}, {name}", module, getattr(module, last)))
        with Recorder(*(module for place in places for module in place[1:])) as seen:
            self.logits(source, target_in)
        steps = []
        for where, module, last in places:
            read, norm = seen.first(module), module.layer_norm
            after = seen.output(module)
            steps.append(ResidualStep(where, read, read, _output(seen, last), after, norm.weight, norm.bias, norm.eps))
        return steps

    def feed_forward(self, x: Tensor) -> Tensor:
        module = self.model.encoder.layer_stack[0].pos_ffn
        with Recorder(module.w_2) as seen:
            module(x)
        return _output(seen, module.w_2)

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        """What leaves its dropout; a LayerNorm of its own stands between that and the first layer."""
        stack = self.model.encoder if side == "source" else self.model.decoder
        with Recorder(stack.dropout) as seen:
            self.logits(ids, ids)
        return seen.output(stack.dropout)

    def tables(self) -> Tables:
        model = self.model
        return Tables(model.encoder.src_word_emb.weight, model.decoder.trg_word_emb.weight, model.trg_word_prj.weight)

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        read, write = self.code["patch_trg"](common.with_bos(targets, self.bos).T, self.pad)
        return read, write.view(len(targets), -1)

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        """`cal_performance`, divided by its words as its report does; it trains with the sum."""
        flat = logits.flatten(0, 1)
        loss, _, words = self.code["cal_performance"](flat, target_out, self.pad, smoothing=True)
        return loss / words

    def learning_rate(self, update: int) -> float:
        """`ScheduledOptim` with a factor of 1."""
        scheduled, optimizer = self._optimizer(nn.Linear(1, 1))
        for _ in range(update):
            scheduled.step_and_update_lr()
        return optimizer.param_groups[0]["lr"]

    def updates(self, micro_batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
        """`train_epoch`."""
        if accumulate > 1:
            raise NotOffered("its training accumulates no gradients")
        scheduled, optimizer = self._optimizer(self.model)
        made = common.noting(self.model, optimizer)
        batches = [self._batch(source, targets) for source, targets in micro_batches]
        self.code["train_epoch"](self.model, batches, scheduled, self._options(), torch.device("cpu"), True)
        return made

    # Decoding and evaluation

    def beam(self, source: Tensor, beam_size: int, alpha: float, max_new_tokens: int) -> list[Found]:
        """`Translator`, which returns one sentence; its log-probability is the sum that the search has kept for it."""
        if beam_size > self.vocab_size:
            raise NotOffered("its beam cannot be wider than the vocabulary")
        ids = self.pad, self.pad, self.bos, self.eos
        with common.evaluating(self.model):
            translator = self.translator(self.model, beam_size, max_new_tokens + 1, *ids)
            translator.alpha = alpha
            kept, step = [], translator._get_the_best_score_and_idx

            def noting(*arguments: Any) -> tuple[Tensor, Tensor]:
                kept.append(step(*arguments))
                return kept[-1]

            translator._get_the_best_score_and_idx = noting
            written = translator.translate_sentence(source)
        hypotheses, scores = kept[-1]
        own = [float(s) for row, s in zip(hypotheses, scores, strict=True) if row[: len(written)].tolist() == written]
        tokens, total = common.until(written[1:], self.eos), max(own)
        return [Found(tokens, total, total / len(written) ** alpha, self.eos in written)]

    def perplexity(self, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> float:
        """exp of the validation loss, as its `train` prints it."""
        batch = self._batch(*(self._padded([[*row, self.eos] for row in side]) for side in (sources, targets)))
        return math.exp(self.code["eval_epoch"](self.model, [batch], torch.device("cpu"), self._options())[0])

    def _mask(self, ids: Tensor) -> Tensor:
        from transformer.Models import get_pad_mask

        return get_pad_mask(ids, self.pad)

    def _padded(self, texts: Sequence[list[int]]) -> Tensor:
        width = max(map(len, texts))
        return torch.tensor([[*row, *[self.pad] * (width - len(row))] for row in texts])

    def _batch(self, source: Tensor, targets: Tensor) -> SimpleNamespace:
        return SimpleNamespace(src=source.T, trg=common.with_bos(targets, self.bos).T)

    def _options(self) -> SimpleNamespace:
        return SimpleNamespace(src_pad_idx=self.pad, trg_pad_idx=self.pad)

    def _optimizer(self, model: nn.Module) -> tuple[Any, torch.optim.Optimizer]:
        optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
        return self.scheduled(optimizer, 1.0, common.D_MODEL, common.WARMUP), optimizer


def _output(seen: Recorder, module: nn.Module) -> Tensor:
    """Its output, computed again from its input: the residual is added into the original."""
    return module(seen.first(module))
