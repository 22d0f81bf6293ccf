"""Other libraries' Transformers: the same weights, the same numbers.

The packages that a converter needs are imported when it is called: torch's own needs nothing more, Marian,
ONNX and CTranslate2 need the extra `export`, and torchtext an environment of its own (`make torchtext-test`).
"""

from annotated.interop.ctranslate2 import export_ctranslate2
from annotated.interop.marian import from_marian, marian_order, to_marian
from annotated.interop.marian_folder import export_marian
from annotated.interop.onnx import export_onnx
from annotated.interop.torch_transformer import TorchTransformer, from_torch, to_torch
from annotated.interop.torchtext import (
    Pieces,
    from_torchtext_vocab,
    read_multi30k,
    save_multi30k,
    to_torchtext_vocab,
)

__all__ = [
    "Pieces",
    "TorchTransformer",
    "export_ctranslate2",
    "export_marian",
    "export_onnx",
    "from_marian",
    "from_torch",
    "from_torchtext_vocab",
    "marian_order",
    "read_multi30k",
    "save_multi30k",
    "to_marian",
    "to_torch",
    "to_torchtext_vocab",
]
