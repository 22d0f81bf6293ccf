"""Scripts of the live panels: those of each page as one file, each model with its tokenizer as another.

The weights travel as one byte each with a float for each row. All are classic scripts, which also load from the file
system, where a page may neither fetch nor import.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

import torch

import annotated
from annotated.classroom import classroom_pairs
from annotated.int8_rows import SCALES, restored_rows, rounded_rows
from annotated.loading import load
from annotated.saving import longest_source
from annotated.translator import Translator
from annotated_book.pages import BOOK

FOLDER = Path(__file__).parent
ASSETS = Path(annotated.__file__).parent / "assets"
MODELS = {
    "classroom": ("model.js", "annotatedModel"),
    "classroom-wide": ("wide.js", "annotatedWideModel"),
    "parsing": ("parser.js", "annotatedParserModel"),
}
"""The models that pages load, by name: the script that carries one, and the global variable that it sets."""
READ_PAIRS, SHORT = 20_000, 10
"""Pairs of the training text that `words_and_sentences` goes through, and words of its longest sentence."""
CONFIG = ("d_model", "d_ff", "num_heads", "d_k", "num_encoder_layers", "num_decoder_layers", "norm_epsilon")


def pack(tensors: dict[str, torch.Tensor]) -> tuple[dict[str, list[Any]], bytes]:
    """Tensors as bytes: vectors in float32; matrices as `annotated.int8_rows` rounds them, the scales first.

    Returns
    -------
    manifest
        For each name `["vector", offset, length, 1]` or `["matrix", offset, rows, columns]`.
    content
        Little-endian; each tensor starts at a multiple of 4.
    """
    manifest: dict[str, list[Any]] = {}
    content = bytearray()
    rounded = rounded_rows({name: tensor.detach() for name, tensor in tensors.items()})
    for name in tensors:
        values = rounded[name].numpy()
        if values.ndim == 1:
            manifest[name] = ["vector", len(content), len(values), 1]
            content += values.astype("<f4").tobytes()
            continue
        manifest[name] = ["matrix", len(content), *values.shape]
        content += rounded[name + SCALES].numpy().astype("<f4").tobytes() + values.tobytes()
        content += bytes(-len(content) % 4)
    return manifest, bytes(content)


@cache
def words_and_sentences() -> dict[str, Any]:
    """What the classroom model has read: 'words', short 'sentences' with nearly all of them, 'longest' in words.

    Numbers and times of day are left out.
    """
    words: set[str] = set()
    shown: set[str] = set()
    sentences, longest = [], 0
    for pair in classroom_pairs("train", READ_PAIRS):
        longest = max(longest, len(pair.source_words))
        own = {word.rstrip(".") or word for word in pair.source_words if not word[0].isdigit()}
        words |= own
        if len(pair.source_words) <= SHORT and own - shown:
            sentences.append(pair.source)
            shown |= own
    return {"words": sorted(words), "sentences": sentences, "longest": longest}


def model_data(name: str = "classroom") -> dict[str, Any]:
    """A model of the package: 'config', 'tensors' (the manifest), 'tokenizer', 'bytes' in base64, perhaps 'reading'.

    'longest' is the longest source of its training in tokens, if that is known.
    """
    translator = load(name)
    bpe = json.loads((ASSETS / name / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    manifest, content = pack(dict(translator.model.named_parameters()))
    return {
        "config": {field: getattr(translator.model.config, field) for field in CONFIG},
        "tensors": manifest,
        "tokenizer": {
            "pieces": sorted(bpe["vocab"], key=bpe["vocab"].get),
            "merges": [" ".join(pair) if isinstance(pair, list) else pair for pair in bpe["merges"]],
            "normalForm": translator.tokenizer.normal_form,
        },
        "longest": longest_source(ASSETS / name),
        "bytes": base64.b64encode(content).decode(),
        **({"reading": words_and_sentences()} if name == "classroom" else {}),
    }


def page_translator(name: str = "classroom") -> Translator:
    """A model of the package with the weights as the page has them, rounded to one byte each."""
    translator = load(name)
    translator.model.load_state_dict(restored_rows(rounded_rows(translator.model.state_dict())))
    return translator


def model_script(name: str = "classroom") -> str:
    """`model_data` as a script that sets one global variable."""
    return f"globalThis.{MODELS[name][1]} = {json.dumps(model_data(name), separators=(',', ':'))};\n"


def live_files() -> dict[str, Path]:
    """The source of each page's panels by the page's name: `book/annotated_book/<page>/live.js`."""
    return {file.parent.name: file for pages in ("*", "*/*") for file in sorted(BOOK.glob(f"{pages}/live.js"))}
