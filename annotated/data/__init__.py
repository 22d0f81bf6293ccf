"""From text to batches: corpora, the shared byte-pair vocabulary, encoded stores, batches by tokens.

In the order of reading: `classroom` (the built-in corpus), `corpora` (files), `tokenizer`, `store`, `batching`. The
paper's own corpora are fetched and prepared by `annotated.wmt14`.

Paper: section 5.1
"""

import importlib
from typing import TYPE_CHECKING, Any

from annotated.data.batching import (
    Batch,
    BatchingError,
    TokenBatches,
    collate,
    collate_ids,
    evaluation_batches,
    padding_report,
)
from annotated.data.corpora import Corpus, CorpusError, PairCounts, open_corpus, read_pairs
from annotated.data.store import StoreError, TokenStore
from annotated.data.tokenizer import Tokenizer, TokenizerError

if TYPE_CHECKING:
    from annotated.data.classroom import ClassroomPair, classroom_pairs, count_pairs

__all__ = [
    "Batch",
    "BatchingError",
    "ClassroomPair",
    "Corpus",
    "CorpusError",
    "PairCounts",
    "StoreError",
    "TokenBatches",
    "TokenStore",
    "Tokenizer",
    "TokenizerError",
    "classroom_pairs",
    "collate",
    "collate_ids",
    "count_pairs",
    "evaluation_batches",
    "open_corpus",
    "padding_report",
    "read_pairs",
]

_LATER = {
    "classroom": ("ClassroomPair", "classroom_pairs", "count_pairs"),
}
"""Modules that most users do not need, and their names: imported when one of them is first asked for."""


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(importlib.import_module(f"annotated.data.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
