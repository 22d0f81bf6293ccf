"""From text to batches: corpora, the shared byte-pair vocabulary, encoded stores, batches by tokens.

In the order of reading: `corpora` (files; the built-in one is `annotated.classroom`), `tokenizer`, `store`, `batching`;
then, for the paper's own corpora, `catalogue` (which archives), `download`, `archives` and `preparation`.

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
    from annotated.data.archives import ArchiveError
    from annotated.data.catalogue import Catalogue, CatalogueError, Part
    from annotated.data.download import Downloaded, DownloadError, RemoteFile
    from annotated.data.local_mirror import Mirror, write_mirror
    from annotated.data.preparation import (
        PreparationError,
        PreparationOptions,
        PreparedCorpus,
        prepare,
        prepare_files,
    )

__all__ = [
    "ArchiveError",
    "Batch",
    "BatchingError",
    "Catalogue",
    "CatalogueError",
    "Corpus",
    "CorpusError",
    "DownloadError",
    "Downloaded",
    "Mirror",
    "PairCounts",
    "Part",
    "PreparationError",
    "PreparationOptions",
    "PreparedCorpus",
    "RemoteFile",
    "StoreError",
    "TokenBatches",
    "TokenStore",
    "Tokenizer",
    "TokenizerError",
    "collate",
    "collate_ids",
    "evaluation_batches",
    "open_corpus",
    "padding_report",
    "prepare",
    "prepare_files",
    "read_pairs",
    "write_mirror",
]

_LATER = {
    "archives": ("ArchiveError",),
    "catalogue": ("Catalogue", "CatalogueError", "Part"),
    "download": ("DownloadError", "Downloaded", "RemoteFile"),
    "local_mirror": ("Mirror", "write_mirror"),
    "preparation": ("PreparationError", "PreparationOptions", "PreparedCorpus", "prepare", "prepare_files"),
}
"""Modules that most users do not need, and their names: imported when one of them is first asked for."""


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(importlib.import_module(f"annotated.data.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
