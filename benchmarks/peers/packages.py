"""Peers that are installed packages: Hugging Face Marian, CTranslate2, joeynmt."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import torch
from torch import Tensor, nn

from annotated.config import BOS, EOS, PAD, UNK
from benchmarks.peers.adapter import Adapter, smoothed_cross_entropy
from benchmarks.peers.workload import NEW_TOKENS, Shape, WorkBatch


def marian(shape: Shape, extra_dropout: bool = True) -> Any:
    """A MarianMTModel of this shape with random weights; the last id of the vocabulary is its padding."""
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(0)
    padding, extra = shape.vocab - 1, shape.dropout if extra_dropout else 0.0
    stacks = {"encoder_layers": shape.layers, "decoder_layers": shape.layers}
    heads = {"encoder_attention_heads": shape.heads, "decoder_attention_heads": shape.heads}
    widths = {"d_model": shape.d_model, "encoder_ffn_dim": shape.d_ff, "decoder_ffn_dim": shape.d_ff}
    dropout = {"dropout": shape.dropout, "attention_dropout": extra, "activation_dropout": extra}
    ids = {"pad_token_id": padding, "bos_token_id": BOS, "eos_token_id": EOS, "decoder_start_token_id": padding}
    config = MarianConfig(
        **{**stacks, **heads, **widths, **dropout, **ids},
        vocab_size=shape.vocab,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=shape.max_len,
        forced_eos_token_id=None,
        attn_implementation="sdpa",
    )
    return MarianMTModel(config)


class HFMarian(Adapter):
    """transformers' MarianMTModel: the usual way to run such models today."""

    can = ("train", "greedy", "beam")
    note = "three-way tied; SDPA; generate with KV cache"

    def make(self, shape: Shape) -> nn.Module:
        self.padding = shape.vocab - 1
        return marian(shape, extra_dropout=not self.same_dropout)

    def paper_dropout(self) -> None:
        """Done in `make`, by its configuration."""

    def prepare(self, batch: WorkBatch) -> tuple[Tensor, Tensor, Tensor]:
        source, target = (ids.masked_fill(ids == PAD, self.padding) for ids in (batch.source, batch.target))
        return source, (source != self.padding).long(), target

    def loss(self, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        source, mask, target = batch
        sides = {"input_ids": source, "attention_mask": mask, "decoder_input_ids": target[:, :-1]}
        return smoothed_cross_entropy(self.model(**sides, use_cache=False).logits, target[:, 1:], self.padding)

    def beam(self, source: Tensor, beam_size: int) -> Tensor:
        source = source.masked_fill(source == PAD, self.padding)
        lengths = {"min_new_tokens": NEW_TOKENS, "max_new_tokens": NEW_TOKENS}
        how = {"attention_mask": (source != self.padding).long(), "num_beams": beam_size, "do_sample": False}
        return self.model.generate(source, **how, **lengths)[:, 1:]


class CTranslate2(Adapter):
    """The same random Marian weights, converted; its tokens are made-up strings."""

    can = ("greedy", "beam")
    compute_type = "float32"
    note = "C++ inference engine, float32"

    def make(self, shape: Shape) -> None:
        import ctranslate2

        threads = {"inter_threads": 1, "intra_threads": int(os.environ.get("OMP_NUM_THREADS", "2"))}
        with tempfile.TemporaryDirectory() as folder:
            self.vocabulary = self.save(shape, folder)
            self.engine = ctranslate2.Translator(folder, compute_type=self.compute_type, **threads)

    def save(self, shape: Shape, folder: str | os.PathLike[str]) -> list[str]:
        """Write the engine's model of `marian(shape)` to a folder; the token strings by id."""
        from ctranslate2.converters.transformers import MarianMTLoader

        spec = MarianMTLoader().get_model_spec(marian(shape).eval())
        vocabulary = ["<pad>", "<s>", "</s>", "<unk>", *(f"t{i}" for i in range(4, shape.vocab - 1))]
        spec.register_source_vocabulary(vocabulary)
        spec.register_target_vocabulary(vocabulary)
        spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = vocabulary[1:4]
        spec.config.decoder_start_token = "</s>"
        spec.validate()
        spec.optimize(quantization=None)
        os.makedirs(folder, exist_ok=True)
        spec.save(str(folder))
        return vocabulary

    def build(self, shape: Shape) -> None:
        self.make(shape)

    def beam(self, source: Tensor, beam_size: int) -> list[list[str]]:
        rows = [[self.vocabulary[i] for i in row if i != PAD] for row in source.tolist()]
        lengths = {"min_decoding_length": NEW_TOKENS, "max_decoding_length": NEW_TOKENS}
        results = self.engine.translate_batch(rows, beam_size=beam_size, **lengths)
        return [result.hypotheses[0] for result in results]


class CTranslate2Int8(CTranslate2):
    """The same with weights in eight bits."""

    compute_type = "int8"
    note = "C++ inference engine, int8 weights"


class JoeyNMT(Adapter):
    """joeynmt: a teaching toolkit with a configuration file."""

    can = ("train", "greedy", "beam")
    note = "three-way tied, post-norm; decoders re-run the whole prefix (no cache)"
    greedy_sentences, beam_sentences = 32, 16

    def make(self, shape: Shape) -> nn.Module:
        from joeynmt.model import build_model
        from joeynmt.vocabulary import Vocabulary

        vocabulary = Vocabulary.__new__(Vocabulary)  # its constructor looks words up in a list: minutes for 8,000
        vocabulary.specials, vocabulary.lang_tags = ["<unk>", "<pad>", "<s>", "</s>"], []
        vocabulary._itos = vocabulary.specials + [f"t{i}" for i in range(4, shape.vocab)]
        vocabulary._stoi = {token: i for i, token in enumerate(vocabulary._itos)}
        vocabulary.unk_index, vocabulary.pad_index, vocabulary.bos_index, vocabulary.eos_index = 0, 1, 2, 3
        vocabulary.sep_index = None
        embeddings = {"embedding_dim": shape.d_model, "scale": True, "dropout": shape.dropout}
        widths = {"hidden_size": shape.d_model, "ff_size": shape.d_ff, "num_heads": shape.heads}
        rest = {"num_layers": shape.layers, "dropout": shape.dropout, "layer_norm": "post", "type": "transformer"}
        side = {**widths, **rest, "embeddings": embeddings}
        weights = {"initializer": "xavier_uniform", "embed_initializer": "xavier_uniform"}
        tied = {"tied_embeddings": True, "tied_softmax": True}
        model = build_model({"encoder": side, "decoder": dict(side), **weights, **tied}, vocabulary, vocabulary)
        model.loss_function = ("crossentropy", 0.1)
        return model

    def paper_dropout(self) -> None:
        for module in self.model.modules():
            if type(module).__name__ == "MultiHeadedAttention":
                module.dropout.p = 0.0
            elif type(module).__name__ == "PositionwiseFeedForward":
                module.pwff_layer[2].p = 0.0

    def ids(self, ids: Tensor) -> Tensor:
        """joeynmt fixes unk, pad, bos, eos at 0..3."""
        table = torch.arange(int(ids.max()) + 4)
        table[[PAD, BOS, EOS, UNK]] = torch.tensor([1, 2, 3, 0])
        return table[ids]

    def prepare(self, batch: WorkBatch) -> Any:
        from joeynmt.batch import Batch

        source = self.ids(batch.source), torch.tensor(batch.source_lengths), None
        where = torch.arange(len(batch.source)), torch.device("cpu")
        return Batch(*source, self.ids(batch.target), None, *where, pad_index=1, eos_index=3)

    def loss(self, batch: Any) -> Tensor:
        loss, *_ = self.model(return_type="loss", **vars(batch))
        return batch.normalize(loss, "tokens")

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        source = self.ids(source)
        mask = (source != 1).unsqueeze(1)
        return self.model(return_type="encode", src=source, src_length=mask.sum((1, 2)), src_mask=mask)[0], mask

    def greedy(self, source: Tensor) -> Any:
        from joeynmt.search import greedy

        memory, mask = self.encode(source)
        return greedy(mask, NEW_TOKENS, self.model, memory, None, min_output_length=NEW_TOKENS)[0]

    def beam(self, source: Tensor, beam_size: int) -> Any:
        from joeynmt.search import beam_search

        memory, mask = self.encode(source)
        how = {"alpha": 0.6, "min_output_length": NEW_TOKENS}
        return beam_search(self.model, beam_size, memory, None, mask, NEW_TOKENS, **how)[0]
