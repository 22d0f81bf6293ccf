"""hyunwoongko/transformer: its own model, training loop, validation and BLEU."""

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
from annotated_grader.doctor import Claims, FirstAttention, NotOffered, ResidualStep, Subject, Tables, Update
from annotated_grader.doctor.adapters.hooks import Recorder, places_of, residual_steps
from annotated_grader.doctor.subject import Side
from benchmarks.doctor import common
from benchmarks.peers.adapter import lift, source_dir

ENCODER = (("self-attention", "attention", "attention", "norm1"), ("feed-forward", "ffn", "ffn", "norm2"))
DECODER = (
    ("self-attention", "self_attention", "self_attention", "norm1"),
    ("cross-attention", "enc_dec_attention", "enc_dec_attention", "norm2"),
    ("feed-forward", "ffn", "ffn", "norm3"),
)
LONGEST = 256


class Hyunwoongko(Subject):
    """With the settings of its conf.py in the places where size does not matter."""

    name = "hyunwoongko/transformer"
    vocab_size, pad, bos, eos = common.VOCAB, 1, 2, 3  # torchtext's order, which its padding id needs
    claims = Claims(
        d_model=common.D_MODEL,
        tied_embeddings=False,
        scaled_embeddings=False,
        positions="sinusoidal",
        longest=LONGEST,
        norm="post",
        dropout=0.1,
        smoothing=0.0,
    )

    def __init__(self) -> None:
        root = source_dir("transformer")
        sys.path.insert(0, str(root))
        from models.layers.layer_norm import LayerNorm
        from models.model.transformer import Transformer
        from util.bleu import get_bleu, idx_to_word

        words = [f"<{special}>" for special in ("unk", "pad", "sos", "eos")]
        words += [str(number) for number in range(4, common.VOCAB)]
        self.vocabulary = SimpleNamespace(itos=words)
        loader = SimpleNamespace(target=SimpleNamespace(vocab=self.vocabulary))
        self.code = lift(root / "train.py", {"torch": torch, "nn": nn, "idx_to_word": idx_to_word, "loader": loader})
        self.get_bleu = get_bleu
        sizes = common.D_MODEL, common.HEADS, LONGEST, common.D_FF, common.LAYERS, 0.1
        ids = self.pad, self.pad, self.bos
        self.model: Any = Transformer(*ids, common.VOCAB, common.VOCAB, *sizes, torch.device("cpu"))
        with common.quiet():
            self.model.apply(self.code["initialize_weights"])
        common.name_norms([x for x in self.model.modules() if isinstance(x, LayerNorm)], "gamma", "beta")
        self.criterion = nn.CrossEntropyLoss(ignore_index=self.pad)  # the line of its train.py

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.model(source, target_in)

    def modules(self) -> list[nn.Module]:
        return [self.model]

    def fresh(self) -> Hyunwoongko:
        return Hyunwoongko()

    def encode(self, source: Tensor) -> Tensor:
        return self.model.encoder(source, self.model.make_src_mask(source))

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """The scores that its ScaleDotProductAttention returns beside its output."""
        encoder, decoder = self.model.encoder.layers, self.model.decoder.layers
        modules = (
            [layer.attention.attention for layer in encoder],
            [layer.self_attention.attention for layer in decoder],
            [layer.enc_dec_attention.attention for layer in decoder],
        )
        with Recorder(*(module for chosen in modules for module in chosen)) as seen:
            self.logits(source, target_in)
        return AttentionMaps(*([seen.output(module, 1) for module in chosen] for chosen in modules))

    def first_attention(self, source: Tensor) -> FirstAttention:
        module = self.model.encoder.layers[0].attention
        with Recorder(module, module.attention) as seen:
            self.encode(source)
        q, k, v = seen.inputs(module.attention)[:3]
        weights, out = seen.output(module.attention, 1), module.w_concat
        return FirstAttention(seen.first(module), q, k, v, weights, seen.output(module), out.weight, out.bias)

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        stacks = [
            (places_of(self.model.encoder.layers, "encoder", ENCODER), None),
            (places_of(self.model.decoder.layers, "decoder", DECODER), None),
        ]
        return residual_steps(stacks, lambda: self.logits(source, target_in), pre=False)

    def feed_forward(self, x: Tensor) -> Tensor:
        return self.model.encoder.layers[0].ffn(x)

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        return (self.model.encoder if side == "source" else self.model.decoder).emb(ids)

    def tables(self) -> Tables:
        model = self.model
        return Tables(model.encoder.emb.tok_emb.weight, model.decoder.emb.tok_emb.weight, model.decoder.linear.weight)

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        """What its `train` gives to the model and to the criterion."""
        seen: list[Tensor] = []

        def answer(source: Tensor, target: Tensor) -> Tensor:
            seen.append(target)
            return torch.zeros(*target.shape, 2)

        model = common.Probe(answer)

        def criterion(output: Tensor, target: Tensor) -> Tensor:
            seen.append(target)
            return model.unused * 0

        with torch.enable_grad():
            self._train(model, [(targets, targets)], criterion)
        return seen[0], seen[1].view(len(targets), -1)

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        return self.criterion(logits.flatten(0, 1), target_out.flatten())

    def updates(self, micro_batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
        if accumulate > 1:
            raise NotOffered("its training accumulates no gradients")
        return self._train(self.model, micro_batches, self.criterion)

    def _train(self, model: nn.Module, batches: Sequence[tuple[Tensor, Tensor]], criterion: Any) -> list[Update]:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-5, weight_decay=5e-4, eps=5e-9)
        made = common.noting(model, optimizer)
        with common.quiet():
            self.code["train"](model, self._batches(batches), optimizer, criterion, 1.0)
        return made

    # Evaluation

    def perplexity(self, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> float:
        """exp of the validation loss, as its `run` prints it."""
        return math.exp(self._evaluate(self.model, sources, targets)[0])

    def bleu(self, hypotheses: Sequence[str], references: Sequence[str]) -> float:
        """Its `evaluate`, with a model that writes the hypotheses whatever it reads."""
        kept, words = list(self.vocabulary.itos), [text.split() for text in (*hypotheses, *references)]
        known = sorted({word for text in words for word in text})
        self.vocabulary.itos[:] = [*kept[:4], *known]
        try:
            ids = [[4 + known.index(word) for word in text] for text in words]
            written, wanted = ids[: len(hypotheses)], ids[len(hypotheses) :]
            width = max(map(len, ids)) + 1
            written = [[*row, *[self.pad] * (width - len(row))] for row in written]
            logits = F.one_hot(torch.tensor(written), len(self.vocabulary.itos)).float()
            return self._evaluate(common.Probe(lambda *_: logits), wanted, wanted, width)[1]
        finally:
            self.vocabulary.itos[:] = kept

    def evaluated(self, sources: Sequence[list[int]], references: Sequence[list[int]]) -> list[str]:
        """What its `evaluate` hands to `get_bleu`."""
        texts: list[str] = []

        def noting(hypotheses: list[str], reference: list[str]) -> float:
            texts.append(" ".join(hypotheses))
            return self.get_bleu(hypotheses, reference)

        self._evaluate(self.model, sources, references, get_bleu=noting)
        return texts

    def _evaluate(
        self,
        model: nn.Module,
        sources: Sequence[list[int]],
        targets: Sequence[list[int]],
        width: int = 0,
        get_bleu: Any = None,
    ) -> tuple[float, float]:
        self.code.update(batch_size=len(sources), get_bleu=get_bleu or self.get_bleu)
        ended = [[*row, self.eos] for row in targets]
        batch = self._padded([[*row, self.eos] for row in sources], 0), self._padded(ended, width)
        training = model.training
        result = self.code["evaluate"](model, self._batches([batch]), self.criterion)
        model.train(training)
        return result

    def _padded(self, texts: Sequence[list[int]], width: int) -> Tensor:
        width = max(width, *map(len, texts))
        return torch.tensor([[*row, *[self.pad] * (width - len(row))] for row in texts])

    def _batches(self, pairs: Sequence[tuple[Tensor, Tensor]]) -> list[SimpleNamespace]:
        return [SimpleNamespace(src=source, trg=common.with_bos(targets, self.bos)) for source, targets in pairs]
