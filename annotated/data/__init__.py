"""From text to batches: corpora, the shared byte-pair vocabulary, encoded stores, batches by tokens.

In the order of reading: `classroom` (the built-in corpus), `corpora` (files), `tokenizer`, `store`, `batching`.

Paper: section 5.1
"""

from typing import Any

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

_CLASSROOM = ("ClassroomPair", "classroom_pairs", "count_pairs")

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


def __getattr__(name: str) -> Any:
    if name in _CLASSROOM:  # the grammar's tables are built on first use
        from annotated.data import classroom

        return getattr(classroom, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
