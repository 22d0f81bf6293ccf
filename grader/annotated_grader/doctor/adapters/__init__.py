"""Adapters: ours, `torch.nn.Transformer`, MarianMT; and which of them a model gets."""

from __future__ import annotations

from typing import Any

from torch import nn

from annotated.config import tiny
from annotated.interop.torch_transformer import TorchTransformer
from annotated.model import Transformer
from annotated_grader.doctor.adapters.marian import MarianSubject, small_marian
from annotated_grader.doctor.adapters.ours import OurSubject
from annotated_grader.doctor.adapters.torch_transformer import TorchSubject, small_torch, with_embeddings
from annotated_grader.doctor.subject import Subject

__all__ = ["MarianSubject", "OurSubject", "TorchSubject", "small_marian", "small_ours", "small_torch", "subject_of"]


LINES = """, such as this one, with your ids and your model:

    from annotated_grader.doctor import Subject

    class Examined(Subject):
        vocab_size, pad, bos, eos = 1000, 0, 1, 2

        def logits(self, source, target_in):  # ids [B, S] and [B, T] to logits [B, T, V]
            return model(source, target_in)

        def modules(self):
            return [model]
"""


def small_ours() -> OurSubject:
    """A small new model of ours, to be examined."""
    shape = {"d_model": 32, "d_k": 8, "d_v": 8, "d_ff": 64, "num_encoder_layers": 2, "num_decoder_layers": 2}
    return OurSubject(Transformer(tiny(vocab_size=16, **shape)))


def subject_of(model: Any) -> Subject:
    """The subject of a model that one of the adapters knows; a `Subject` is returned as it is.

    Parameters
    ----------
    model
        A `Subject`, an `annotated.Transformer` or `Translator`, a `torch.nn.Transformer` (bare or with our embeddings),
        or a `transformers.MarianMTModel`.

    Raises
    ------
    ValueError
        If it is something else; the message says what to write.
    """
    if isinstance(model, Subject):
        return model
    if isinstance(model, Transformer):
        return OurSubject(model)
    if isinstance(model, TorchTransformer):
        return TorchSubject(model)
    if isinstance(model, nn.Transformer):
        return TorchSubject(with_embeddings(model))
    if type(model).__name__ == "MarianMTModel":  # by name, because transformers takes seconds to import
        return MarianSubject(model)
    if isinstance(getattr(model, "model", None), Transformer):  # a Translator
        return OurSubject(model.model)
    kind = "a class, not a model" if isinstance(model, type) else type(model).__name__
    raise ValueError(
        f"the doctor cannot examine this as it is ({kind}): write a class derived from annotated_grader.doctor.Subject "
        "with a method logits(source, target_in), and give an object of it"
        + (LINES if isinstance(model, nn.Module) else "")
    )
