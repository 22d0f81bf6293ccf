"""From archives to training data, stage by stage: download, extract, clean, deduplicate, split, tokenizer, encode.

In the order of reading: `pipeline` (the stages), `stages` (how they are run), `cleaning`, `overlap`, `encode`.

Paper: section 5.1
"""

from annotated.data.preparation.options import PreparationError, PreparationOptions
from annotated.data.preparation.prepared import PreparedCorpus
from annotated.data.preparation.preparing import Preparation, prepare, prepare_files

__all__ = ["Preparation", "PreparationError", "PreparationOptions", "PreparedCorpus", "prepare", "prepare_files"]
