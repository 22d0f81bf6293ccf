"""Data, from text to batches: corpora, the shared byte-pair vocabulary, encoded stores, batches by tokens.

In the order of reading: `corpora` (files; the built-in one is `annotated.classroom`), `tokenizer`, `store`, `batching`.
The paper's own corpora are fetched and prepared by `annotated.wmt14`.
"""

from annotated.data.batch import pad
from annotated.data.batching import (
    Batch,
    BatchingError,
    TokenBatches,
    collate,
    collate_ids,
    evaluation_batches,
    padding_report,
)
from annotated.data.corpora import Corpus, CorpusError, PairCounts, corpus_of, open_corpus, read_pairs
from annotated.data.store import StoreError, TokenStore
from annotated.data.tokenizer import Tokenizer, TokenizerError

__all__ = [
    "Batch",
    "BatchingError",
    "Corpus",
    "CorpusError",
    "PairCounts",
    "StoreError",
    "TokenBatches",
    "TokenStore",
    "Tokenizer",
    "TokenizerError",
    "collate",
    "collate_ids",
    "corpus_of",
    "evaluation_batches",
    "open_corpus",
    "pad",
    "padding_report",
    "read_pairs",
]
