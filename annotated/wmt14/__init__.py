"""WMT14 and its preparation: download, extract, clean, deduplicate, split, tokenizer, encode.

In the order of reading: `catalogue` (which archives), `steps`, `runner` (how they are run), `clean`, `overlap`,
`encode`. `iwslt14` fetches another corpus for the same stages.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotated.wmt14.catalogue import Catalogue, CatalogueError, CorpusPart
    from annotated.wmt14.corpus import PreparedCorpus
    from annotated.wmt14.download import DownloadError, RemoteFile
    from annotated.wmt14.options import PreparationError, PreparationOptions
    from annotated.wmt14.preparation import Preparation, prepare, prepare_files

__all__ = [
    "Catalogue",
    "CatalogueError",
    "CorpusPart",
    "DownloadError",
    "Preparation",
    "PreparationError",
    "PreparationOptions",
    "PreparedCorpus",
    "RemoteFile",
    "prepare",
    "prepare_files",
]

_MODULES = {
    "catalogue": ("Catalogue", "CatalogueError", "CorpusPart"),
    "corpus": ("PreparedCorpus",),
    "download": ("DownloadError", "RemoteFile"),
    "options": ("PreparationError", "PreparationOptions"),
    "preparation": ("Preparation", "prepare", "prepare_files"),
}
"""Where each name is defined: a training run that opens a `PreparedCorpus` needs no downloader."""


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"annotated.wmt14.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
