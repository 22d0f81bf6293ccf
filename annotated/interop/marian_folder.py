"""Folder of a `MarianMTModel` with its tokenizer, which Hugging Face Transformers opens. Needs the extra `export`.

What differs, and what the export does about it:

* Our tokenizer adds no special tokens, for the data pipeline does; theirs must append `</s>` itself, or the model reads
  a sentence without its end. So the folder's `tokenizer.json` says so, and the original stays as it was.
* Our tokenizer takes "</s>" in a text for the characters that it is; theirs takes it for the special token.
* `generate` stops after 20 tokens unless told otherwise, so `generation_config.json` has a limit: `max_positions`. It
  decodes greedily; with `num_beams=4` it finds what a beam finds, by a length penalty that is not the paper's.
"""

from __future__ import annotations

import json
from pathlib import Path

from annotated.config import BOS, EOS, PAD, SPECIAL_TOKENS, UNK
from annotated.data.tokenizer import Tokenizer
from annotated.interop._common import (
    export_folder,
    is_our_tokenizer,
    optional,
    require_same_vocabulary,
    write_tokenizer,
)
from annotated.interop.marian import to_marian
from annotated.model import Transformer
from annotated.ownership import is_json_of
from annotated.storage import write_json

FILES = ("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
USAGE = """\
from transformers import AutoTokenizer, MarianMTModel
tokenizer, model = AutoTokenizer.from_pretrained({folder!r}), MarianMTModel.from_pretrained({folder!r})
output = model.generate(**tokenizer("The cat sleeps.", return_tensors="pt"))
print(tokenizer.decode(output[0], skip_special_tokens=True))
"""
"""How to open the folder and translate: what `annotated export` prints."""


def export_marian(
    model: Transformer, tokenizer: Tokenizer, folder: str | Path, max_positions: int | None = None
) -> Path:
    """Write a folder that `MarianMTModel.from_pretrained` and `AutoTokenizer.from_pretrained` open.

    Parameters
    ----------
    model, max_positions
        As in `to_marian`.
    tokenizer
        The one that the model was trained with.
    folder
        Made if need be; an export that is there already is replaced.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ImportError
        Without the package transformers.
    ValueError
        If Marian cannot express the model, or tokenizer and model differ in vocabulary.
    FileExistsError
        If the folder holds something else.
    DiskFull
        If the disk is full; a folder that was there before is untouched.
    """
    require_same_vocabulary(model.config, tokenizer)
    progress_bar = optional("transformers").utils.logging.disable_progress_bar
    with export_folder(folder, FILES, _is_export) as partial:
        progress_bar()
        marian = to_marian(model, max_positions)
        marian.save_pretrained(partial)
        write_tokenizer(tokenizer, partial / "tokenizer.json")
        _append_eos(partial / "tokenizer.json")
        write_json(partial / "tokenizer_config.json", _tokenizer_config(marian.config.max_position_embeddings))
    return Path(folder)


def _is_export(folder: Path) -> bool:
    about = is_json_of(folder / "config.json", "model_type") and is_json_of(folder / FILES[-1], "tokenizer_class")
    return about and is_our_tokenizer(folder / "tokenizer.json")


def _append_eos(path: Path) -> None:
    """Let a tokenizer.json put eos behind each text."""
    eos = SPECIAL_TOKENS[EOS]
    content = json.loads(path.read_text(encoding="utf-8"))
    text, end = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": eos, "type_id": 0}}
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [text, end],
        "pair": [text, end, {"Sequence": {"id": "B", "type_id": 0}}, end],
        "special_tokens": {eos: {"id": eos, "ids": [EOS], "tokens": [eos]}},
    }
    write_json(path, content)


def _tokenizer_config(max_positions: int) -> dict[str, object]:
    names = {"pad_token": PAD, "bos_token": BOS, "eos_token": EOS, "unk_token": UNK}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": max_positions,
        "padding_side": "right",
        "clean_up_tokenization_spaces": False,
        "split_special_tokens": True,  # a user who types "</s>" means these letters
        **{name: SPECIAL_TOKENS[token] for name, token in names.items()},
    }
