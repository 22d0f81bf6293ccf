"""From archives to training data, stage by stage: download, extract, clean, deduplicate, split, tokenizer, encode.

In the order of reading: `pipeline` (the stages), `stages` (how they are run), `cleaning`, `overlap`, `encode`.
"""

from annotated.wmt14.options import PreparationError, PreparationOptions
from annotated.wmt14.corpus import PreparedCorpus
from annotated.wmt14.preparation import Preparation, prepare, prepare_files

__all__ = ["Preparation", "PreparationError", "PreparationOptions", "PreparedCorpus", "prepare", "prepare_files"]
