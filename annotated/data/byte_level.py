"""The byte-level alphabet: its characters, how a piece is shown, the normal form of what is cut into pieces, and what
makes a tokenizer file one of ours."""

from __future__ import annotations

import functools
import json
from typing import Any

from tokenizers import Regex, normalizers, pre_tokenizers

from annotated.config import SPECIAL_TOKENS
from annotated.text.normal_form import CONTROL, EARLIER_INVISIBLE, IDLE_JOINER, INVISIBLE, WHITE_SPACE


@functools.cache
def byte_of() -> dict[str, int]:
    """The byte behind each character of the byte-level alphabet (GPT-2's: printable bytes stand for themselves)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


def readable(piece: str) -> str:
    """A byte-level piece for human eyes: a space as "▁", a byte that is only part of a character as "<0xC3>"."""
    text = bytes(byte_of()[character] for character in piece).decode("utf-8", "surrogateescape")
    shown = (f"<0x{ord(c) - 0xDC00:02X}>" if "\udc80" <= c <= "\udcff" else c for c in text)
    return "".join(shown).replace(" ", "▁")


@functools.cache
def normalizer() -> normalizers.Normalizer:
    """`annotated.text.normal_form.normalise` as a part of a tokenizer.json, which all programs that read it apply."""
    return normalizers.Sequence(
        [
            normalizers.Replace(Regex(INVISIBLE), ""),
            normalizers.Replace(Regex(IDLE_JOINER), ""),
            normalizers.NFC(),
            normalizers.Replace(Regex(CONTROL), ""),
            normalizers.Replace(Regex(WHITE_SPACE), " "),
            normalizers.Strip(),
        ]
    )


def has_normal_form(content: dict[str, Any]) -> bool:
    """Whether a parsed tokenizer.json carries our normal form, or that of a version that knew fewer invisible signs."""
    ours: Any = json.loads(normalizer().__getstate__())
    earlier: Any = json.loads(normalizer().__getstate__())
    earlier["normalizers"][0]["pattern"]["Regex"] = EARLIER_INVISIBLE
    return content.get("normalizer") in (ours, earlier)


def why_foreign(content: Any) -> str:
    """Why a parsed tokenizer.json is not one of ours; empty if it is."""
    if not isinstance(content, dict) or not isinstance(content.get("model"), dict):
        return "not a tokenizer"
    model = content["model"]
    vocabulary = model.get("vocab")
    if model.get("type") != "BPE" or not isinstance(vocabulary, dict):
        return "not a byte-pair tokenizer"
    if [vocabulary.get(token) for token in SPECIAL_TOKENS] != list(range(len(SPECIAL_TOKENS))):
        return "its special tokens have other names or ids"
    splitter: Any = content.get("pre_tokenizer")
    joiner = content.get("decoder")
    if not all(isinstance(part, dict) and part.get("type") == "ByteLevel" for part in (splitter, joiner)):
        return "not byte-level, so it would lose text"
    changes = content.get("normalizer") and not has_normal_form(content)
    if splitter.get("add_prefix_space", True) or changes or content.get("added_tokens"):
        return "it changes the text before encoding it, or adds tokens of its own"
    if missing := sorted(set(pre_tokenizers.ByteLevel.alphabet()) - set(vocabulary)):
        return f"{len(missing)} of the 256 bytes are missing from its vocabulary, so it would lose text"
    if set(map(str, vocabulary.values())) != set(map(str, range(len(vocabulary)))):
        return "its ids have gaps or repeat"
    return ""
