"""Cuts: texts of our own by the tokenizers of well-known models. The pieces are recorded, no vocabulary is kept.

Needs a wheel of the Python package `litellm`, which carries the vocabularies and is not installed for this:

    pip download litellm==1.110.2 --no-deps --dest somewhere
    LITELLM_WHEEL=somewhere/litellm-1.110.2-....whl python -m annotated_book subwords/today
"""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import pre_tokenizers

from annotated_book.training.subwords.compared import EXAMPLES

WHEEL = "LITELLM_WHEEL"
"""The variable with the path of the wheel."""
TEXTS = (*EXAMPLES, "1234567 + 89", "for i in range(10):", "奶奶卖苹果。")
FOLDER = "litellm/litellm_core_utils/tokenizers/"
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
"""Of a list of tiktoken; the wheel names its file by the SHA-1 of it."""
_ENDING = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
PATTERNS = {
    "p50k_base": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k_base": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "o200k_base": rf"[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]*[{_LOWER}]+{_ENDING}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{_UPPER}]+[{_LOWER}]*{_ENDING}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}
"""Where each list of tiktoken cuts a text before its merges."""
MODELS = {
    "GPT-3 (p50k_base)": "p50k_base",
    "GPT-4 (cl100k_base)": "cl100k_base",
    "GPT-4o (o200k_base)": "o200k_base",
    "Claude 2 (published by Anthropic)": "anthropic_tokenizer.json",
    "DeepSeek": "deepseek_tokenizer.json",
}


def ranks_of(lines: bytes) -> dict[bytes, int]:
    """The entries of a file of tiktoken, a base64 string and a number on each line."""
    pairs = (line.split() for line in lines.splitlines() if line)
    return {base64.b64decode(entry): int(rank) for entry, rank in pairs}


def joined(word: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """The pieces of one word: of all neighbours, those whose joint entry has the lowest number are joined first.

    Examples
    --------
    >>> joined(b"seat", {b"ea": 5, b"at": 7, b"sea": 9})
    [b'sea', b't']
    """
    parts = [bytes([byte]) for byte in word]
    while len(parts) > 1:
        found = [(ranks.get(a + b, len(ranks)), i) for i, (a, b) in enumerate(zip(parts, parts[1:], strict=False))]
        rank, i = min(found)
        if rank == len(ranks):
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return parts


def readable(piece: bytes) -> str:
    """A piece for human eyes: a space as ▁, and bytes that are no whole character by their numbers.

    Examples
    --------
    >>> readable(" Groß".encode()), readable("🍵".encode()[:2])
    ('▁Groß', '<0xF0><0x9F>')
    """
    try:
        return piece.decode().replace(" ", "▁")
    except UnicodeDecodeError:
        return "".join(chr(byte) if 32 < byte < 127 else f"<0x{byte:02X}>" for byte in piece).replace("<0x20>", "▁")


def by_ranks(text: str, ranks: Mapping[bytes, int], pattern: str) -> list[str]:
    """A text cut by a list of tiktoken."""
    cutter = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    words = (word.encode() for word, _ in cutter.pre_tokenize_str(text))
    return [readable(piece) for word in words for piece in ([word] if word in ranks else joined(word, ranks))]


def bytes_of_letters() -> dict[str, int]:
    """The byte behind each letter in which byte-level tokenizers write their entries.

    Examples
    --------
    >>> bytes_of_letters()["Ġ"], bytes_of_letters()["a"], len(bytes_of_letters())
    (32, 97, 256)
    """
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(others)}


def _cuts(wheel: zipfile.ZipFile, name: str) -> tuple[int, dict[str, list[str]]]:
    """Of one tokenizer in the wheel its number of entries, and its cuts of the texts."""
    if name in PATTERNS:
        ranks = ranks_of(
            wheel.read(FOLDER + hashlib.sha1(ADDRESS.format(name).encode(), usedforsecurity=False).hexdigest())
        )
        return len(ranks), {text: by_ranks(text, ranks, PATTERNS[name]) for text in TEXTS}
    inner, letters = tokenizers.Tokenizer.from_str(wheel.read(FOLDER + name).decode()), bytes_of_letters()
    found = {text: inner.encode(text, add_special_tokens=False).tokens for text in TEXTS}
    pieces = {text: [readable(bytes(letters[c] for c in piece)) for piece in cut] for text, cut in found.items()}
    return inner.get_vocab_size(), pieces


def run() -> dict[str, Any]:
    """All of them.

    Raises
    ------
    FileNotFoundError
        If no wheel is named.
    """
    path = os.environ.get(WHEEL)
    if not path:
        raise FileNotFoundError(f"{WHEEL} has to name a wheel of litellm; the module's first lines say how to get one")
    rows = []
    with zipfile.ZipFile(path) as wheel:
        for model, name in MODELS.items():
            entries, examples = _cuts(wheel, name)
            rows.append({"name": model, "entries": entries, "examples": examples})
    return {"source": "-".join(Path(path).name.split("-")[:2]), "tokenizers": rows}
