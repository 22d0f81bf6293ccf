"""joeynmt: its own batches, loss, training loop, searches, BLEU and averaging."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from annotated.model import AttentionMaps
from annotated_grader.doctor import Claims, FirstAttention, Found, NotOffered, ResidualStep, Subject, Tables, Update
from annotated_grader.doctor.adapters.hooks import Recorder, places_of, residual_steps
from annotated_grader.doctor.subject import Side
from benchmarks.doctor import common
from benchmarks.peers.adapter import PeerAbsent, lift, source_dir


class JoeyNMT(Subject):
    """Configured as the paper: post-norm, one table, label smoothing 0.1, scheduling 'noam'."""

    name = "joeynmt"
    vocab_size, pad, bos, eos = common.VOCAB, 1, 2, 3
    claims = Claims(
        d_model=common.D_MODEL,
        tied_embeddings=True,
        scaled_embeddings=True,
        positions="sinusoidal",
        longest=5000,
        norm="post",
        dropout=0.1,
        smoothing=0.1,
        warmup=common.WARMUP,
        length_penalty="wu",
    )

    def __init__(self) -> None:
        from joeynmt.model import build_model
        from joeynmt.vocabulary import Vocabulary

        logging.disable(logging.WARNING)
        specials: dict[str, Any] = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
        specials |= {"unk_id": 0, "pad_id": 1, "bos_id": 2, "eos_id": 3, "sep_token": None, "sep_id": None}
        words = [f"t{number}" for number in range(4, common.VOCAB)]
        vocabulary = Vocabulary(words, SimpleNamespace(**specials, lang_tags=[]))
        embeddings = {"embedding_dim": common.D_MODEL, "scale": True, "dropout": 0.1}
        widths = {"hidden_size": common.D_MODEL, "ff_size": common.D_FF, "num_heads": common.HEADS}
        rest = {"num_layers": common.LAYERS, "dropout": 0.1, "layer_norm": "post", "type": "transformer"}
        side = {**widths, **rest, "embeddings": embeddings}
        tied = {"tied_embeddings": True, "tied_softmax": True}
        self.model: Any = build_model({"encoder": side, "decoder": dict(side), **tied}, vocabulary, vocabulary)
        self.model.loss_function = ("crossentropy", 0.1)

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.model._encode_decode(**vars(self._batch(source, self._closed(target_in))))[0]

    def modules(self) -> list[nn.Module]:
        return [self.model]

    def fresh(self) -> JoeyNMT:
        return JoeyNMT()

    def encode(self, source: Tensor) -> Tensor:
        return self.model(return_type="encode", **vars(self._batch(source)))[0]

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """What leaves the softmax of each attention."""
        encoder, decoder = self.model.encoder.layers, self.model.decoder.layers
        modules = (
            [layer.src_src_att.softmax for layer in encoder],
            [layer.trg_trg_att.softmax for layer in decoder],
            [layer.src_trg_att.softmax for layer in decoder],
        )
        with Recorder(*(module for chosen in modules for module in chosen)) as seen:
            self.logits(source, target_in)
        return AttentionMaps(*([seen.output(module) for module in chosen] for chosen in modules))

    def first_attention(self, source: Tensor) -> FirstAttention:
        module = self.model.encoder.layers[0].src_src_att
        projections = (module.q_layer, module.k_layer, module.v_layer)
        with Recorder(module, module.softmax, *projections) as seen:
            self.encode(source)
        q, k, v = (seen.output(part).unflatten(-1, (module.num_heads, -1)).transpose(1, 2) for part in projections)
        out, weights = module.output_layer, seen.output(module.softmax)
        return FirstAttention(seen.first(module), q, k, v, weights, seen.output(module), out.weight, out.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        encoder, decoder = self.model.encoder.layers, self.model.decoder.layers
        for layer in (*encoder, *decoder):  # names for what stands inside other modules; nothing is registered
            ffn = layer.feed_forward
            layer.__dict__.update(ffn_out=ffn.pwff_layer[3], ffn_norm=ffn.layer_norm)
        for layer in decoder:
            layer.__dict__.update(query=layer.src_trg_att.q_layer)
        last = ("feed-forward", "feed_forward", "ffn_out", "ffn_norm")
        reads = (("self-attention", "src_src_att", "src_src_att", "layer_norm"), last)
        writes = (
            ("self-attention", "trg_trg_att", "trg_trg_att", "x_layer_norm"),
            ("cross-attention", "query", "src_trg_att", "dec_layer_norm"),
            last,
        )
        stacks = [(places_of(encoder, "encoder", reads), None), (places_of(decoder, "decoder", writes), None)]
        return residual_steps(stacks, lambda: self.logits(source, target_in), pre=False)

    def feed_forward(self, x: Tensor) -> Tensor:
        return self.model.encoder.layers[0].feed_forward.pwff_layer(x)

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        first = (self.model.encoder if side == "source" else self.model.decoder).layers[0]
        with Recorder(first) as seen:
            self.logits(ids, ids)
        return seen.first(first)

    def tables(self) -> Tables:
        model = self.model
        return Tables(model.src_embed.lut.weight, model.trg_embed.lut.weight, model.decoder.output_layer.weight)

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        batch = self._batch(targets, common.with_bos(targets, self.bos))
        return batch.trg_input, batch.trg

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        """`XentLoss`, normalised by tokens as its presets do."""
        total = self.model.loss_function(logits.log_softmax(dim=-1), trg=target_out)
        return self._batch(target_out, common.with_bos(target_out, self.bos)).normalize(total, "tokens")

    def learning_rate(self, update: int) -> float:
        """The rate of an update in its training loop, from its own builders and in its own order."""
        batch = torch.tensor([[4, self.eos]])
        kept = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        try:
            return self.updates([(batch, batch)] * update, 1)[-1].rate
        finally:
            self.model.load_state_dict(kept)
            self.model.zero_grad()

    def updates(self, micro_batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
        """`TrainManager.train_and_validate`, for one epoch."""
        from joeynmt.builders import build_gradient_clipper, build_optimizer, build_scheduler
        from joeynmt.training import TrainManager

        settings: dict[str, Any] = {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "learning_rate": 2e-4,
            "scheduling": "noam",
        }
        settings |= {"learning_rate_warmup": common.WARMUP, "clip_grad_val": None, "clip_grad_norm": None}
        loop = {"batch_size": 1, "batch_type": "sentence", "shuffle": False, "normalization": "tokens", "epochs": 1}
        never = {"max_updates": 10**9, "logging_freq": 10**9, "validation_freq": 10**9, "early_stopping_metric": "loss"}
        manager: Any = TrainManager.__new__(TrainManager)  # its constructor writes folders
        manager.args = SimpleNamespace(**settings, **loop, **never, batch_multiplier=accumulate)
        manager.model, manager.device, manager.n_gpu, manager.rank = self.model, torch.device("cpu"), 0, 0
        manager.seed, manager.num_workers, manager.scaler, manager.train_iter_state = 0, 0, None, None
        manager.autocast = {"device_type": "cpu", "enabled": False}
        manager.clip_grad_fun = build_gradient_clipper(settings)
        manager.optimizer = build_optimizer(settings, self.model.parameters())
        manager.scheduler, manager.scheduler_step_at = build_scheduler(
            settings, manager.optimizer, "max", common.D_MODEL
        )
        manager.stats = TrainManager.TrainStatistics()
        manager.stats.epochs = 1
        manager._save_checkpoint = lambda *_: None
        manager.tb_writer = SimpleNamespace(close=lambda: None)
        made = common.noting(self.model, manager.optimizer)
        batches = [self._batch(source, common.with_bos(targets, self.bos)) for source, targets in micro_batches]
        manager.train_and_validate(_Data(batches), _Data([]))
        return made

    def average(self, states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
        """`scripts/average_checkpoints.py` of its repository, which the package does not hold."""
        try:
            path = source_dir("joeynmt") / "scripts" / "average_checkpoints.py"
        except PeerAbsent:
            raise NotOffered("its script for averages is in its repository, which is not here") from None
        import collections

        code = lift(path, {"torch": torch, "collections": collections, "List": list, "Dict": dict})
        with tempfile.TemporaryDirectory() as folder:
            paths = [str(Path(folder) / str(number)) for number in range(len(states))]
            for file, state in zip(paths, states, strict=True):
                torch.save({"model_state": state}, file)
            return code["average_checkpoints"](paths)["model_state"]

    # Decoding and evaluation

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        """`search.greedy`, allowed to write the empty sentence."""
        from joeynmt.search import greedy

        batch = self._batch(source)
        with common.evaluating(self.model), torch.no_grad():
            memory = self.encode(source)
            written, _, _ = greedy(batch.src_mask, max_new_tokens, self.model, memory, None, min_output_length=0)
        return [common.until(row, self.eos) for row in written.tolist()]

    def beam(self, source: Tensor, beam_size: int, alpha: float, max_new_tokens: int) -> list[Found]:
        """`search.beam_search`, allowed to write the empty sentence; its scores are penalised log-probabilities."""
        from joeynmt.search import beam_search

        how: dict[str, Any] = {"n_best": beam_size, "return_prob": "hyp", "min_output_length": 0}
        with common.evaluating(self.model), torch.no_grad():
            memory, mask = self.encode(source), self._batch(source).src_mask
            written, scores, _ = beam_search(self.model, beam_size, memory, None, mask, max_new_tokens, alpha, **how)
        found = []
        for row, score in zip(written.tolist(), scores.flatten().tolist(), strict=True):
            row = row[: row.index(self.pad)] if self.pad in row else row
            if row == [0] and score == -1:
                continue  # what it fills up with when there are fewer hypotheses
            penalty = ((5 + len(row)) / 6) ** alpha
            found.append(Found(common.until(row, self.eos), score * penalty, score, self.eos in row))
        return found

    def bleu(self, hypotheses: Sequence[str], references: Sequence[str]) -> float:
        from joeynmt.metrics import bleu

        return bleu(list(hypotheses), list(references))

    def _closed(self, target_in: Tensor) -> Tensor:
        """The target whose part to read is `target_in`: eos behind the last token."""
        longer = torch.cat((target_in, torch.full((len(target_in), 1), self.pad)), dim=1)
        ends = (longer != self.pad).sum(dim=1)
        return longer.scatter(1, ends[:, None], self.eos)

    def _batch(self, source: Tensor, target: Tensor | None = None) -> Any:
        from joeynmt.batch import Batch

        where = torch.arange(len(source)), torch.device("cpu")
        lengths = (source != self.pad).sum(dim=1)
        return Batch(source, lengths, None, target, None, *where, pad_index=self.pad, eos_index=self.eos)


class _Data:
    """What its training loop asks of a data set."""

    seed = 0

    def __init__(self, batches: list[Any]) -> None:
        self.batches = batches
        self.batch_sampler = SimpleNamespace(set_seed=lambda seed: None)

    def make_iter(self, **_: Any) -> _Data:
        return self

    def __iter__(self) -> Any:
        return iter(self.batches)
