"""A text means the same wherever it comes in: white space, Unicode forms and what nobody sees make no difference.

The form belongs to the tokenizer's file, so that every reader has it: the library, and the programs of an export.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch

import annotated
from annotated import Transformer, Translator, tiny
from annotated.analysis.tracing import trace
from annotated.cli import main
from annotated.data import Tokenizer, TokenStore
from annotated.data.corpora import open_corpus
from annotated.evaluation import perplexity
from annotated.interop import export_ctranslate2, export_marian
from annotated.runs.validation_callbacks import sample_translations
from annotated.text.normal_form import normalise

PLAIN = "Die Kälte می‌خواهم 👩‍👧."
WRITTEN = (
    PLAIN,
    f" {PLAIN}",
    f"{PLAIN} ",
    f"\t{PLAIN}\u3000",
    f"\u00a0{PLAIN}\u2003",
    f"\ufeff{PLAIN}",
    f"{PLAIN}\ufeff",
    f"{PLAIN}\r",
    f"\x0b\x0c{PLAIN}\r\r",
    f"\u200b{PLAIN}\u200b",
    f"\u200d{PLAIN}\u200c",
    f"\u202a{PLAIN}\u202c",
    PLAIN.replace("ä", "a\u0308"),
    PLAIN.replace(" ", "  "),
    PLAIN.replace(" ", "\u00a0"),
    PLAIN.replace(" ", "\u2028"),
    PLAIN.replace(" ", " \ufeff"),
    PLAIN.replace("l", "\u00adl"),
    PLAIN.replace("K", "\u2060K"),
    PLAIN.replace(" ", " \x07"),
)
"""Twenty ways to write one line."""


@pytest.fixture(scope="module")
def translator() -> Translator:
    """A model that nobody trained, with a tokenizer as training runs make it."""
    tokenizer = Tokenizer.train(["Die Kälte kam.", "The cold came."] * 3, 290, normal_form=True)
    torch.manual_seed(0)
    shape = dict(d_model=32, d_ff=48, num_heads=2, d_k=16, d_v=16, num_encoder_layers=1, num_decoder_layers=1)
    return Translator(Transformer(tiny(vocab_size=tokenizer.vocab_size, **shape)).eval(), tokenizer)


def _from_a_file(translator: Translator, text: str, folder: Path) -> list[Any]:
    path = folder / "pairs.tsv"
    path.write_text(f"a\tb\n{text.replace(chr(9), chr(32))}\tc\n", encoding="utf-8", newline="\n")
    corpus = open_corpus(str(path), "train", annotated.DataConfig())
    store = TokenStore.open_or_build(folder / "store", corpus, translator.tokenizer, 200, text.encode().hex())
    return store.source(1).tolist()


def _by_command(translator: Translator, text: str, folder: Path) -> str:
    translator.save_pretrained(folder / "model")
    (folder / "in.txt").write_text(re.sub("[\u2028\x0b\x0c\r]", " ", text) + "\n", encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        main(["translate", str(folder / "in.txt"), "--model", str(folder / "model"), "--max-new-tokens", "5"])
    return shown.getvalue()


ENTRANCES: dict[str, Callable[[Translator, str, Path], Any]] = {
    "encode": lambda t, text, _: t.tokenizer.encode(text),
    "encode_batch": lambda t, text, _: t.tokenizer.encode_batch(["x", text]),
    "offsets": lambda t, text, _: len(t.tokenizer.offsets(text)),
    "a copy": lambda t, text, _: pickle.loads(pickle.dumps(t.tokenizer)).encode(text),
    "Translator.encode": lambda t, text, _: t.encode([text]).tolist(),
    "translate": lambda t, text, _: t.translate([text], max_new_tokens=5),
    "score": lambda t, text, _: t.score(text, text),
    "attention": lambda t, text, _: t.attention(text, text).source_tokens,
    "trace": lambda t, text, _: trace(t, text, text).target_tokens,
    "samples": lambda t, text, _: sample_translations([text])(t.model, t.tokenizer)[0][1],
    "perplexity": lambda t, text, _: perplexity(t.model, t.tokenizer, [(text, text)]).loss,
    "a file": _from_a_file,
    "the command": _by_command,
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_every_entrance_reads_the_twenty_alike(translator: Translator, tmp_path: Path, entrance: str) -> None:
    enter = ENTRANCES[entrance]
    expected = enter(translator, PLAIN, tmp_path)
    for text in WRITTEN[1:]:
        assert enter(translator, text, tmp_path) == expected, repr(text)


def test_offsets_lie_in_the_text_as_it_was_given(translator: Translator) -> None:
    tokenizer = translator.tokenizer
    for text in WRITTEN:
        for token, (start, end) in zip(tokenizer.encode(text), tokenizer.offsets(text), strict=True):
            piece = tokenizer.decode([token])
            assert "\ufffd" in piece or normalise(text[start:end]) == piece.strip(), repr(text)


def test_what_nobody_sees_is_an_empty_text(translator: Translator) -> None:
    blank = ["", " ", "\u3000\t", "\u200b", "\ufeff", "\u00ad\u200d", "\x00"]
    assert translator.translate(blank) == [""] * len(blank)


@pytest.mark.parametrize("normal_form", [True, False])
def test_the_programs_of_an_export_read_them_as_we_do(
    translator: Translator, tmp_path: Path, normal_form: bool
) -> None:
    """Each by its own code; a model without a normal form reads a text without the white space at its ends."""
    pytest.importorskip("transformers", reason="the programs need the extra `export`")
    from transformers import AutoTokenizer

    model, texts = translator.model, [*WRITTEN, "a </s> b ", " <pad>"]
    if not normal_form:
        translator = Translator(model, Tokenizer.train(["Die Kälte kam.", "The cold came."] * 3, 290))
    tokenizer = translator.tokenizer
    export_ctranslate2(model, tokenizer, tmp_path / "ctranslate2")
    export_marian(model, tokenizer, tmp_path / "marian")
    theirs = AutoTokenizer.from_pretrained(tmp_path / "marian")
    pieces = tokenizers.Tokenizer.from_file(str(tmp_path / "ctranslate2" / "tokenizer.json"))
    for text in texts:
        expected = translator.encode([text])[0].tolist()
        assert theirs(text)["input_ids"] == expected, repr(text)
        assert [*pieces.encode(text, add_special_tokens=False).ids, 2] == expected, repr(text)


def test_a_tokenizer_keeps_its_form_in_its_file_and_in_its_fingerprint(tmp_path: Path) -> None:
    plain, formed = (Tokenizer.train(["ab ab"], 270, normal_form=form) for form in (False, True))
    assert plain.fingerprint != formed.fingerprint
    for tokenizer in (plain, formed):
        tokenizer.save(tmp_path / "tokenizer.json")
        again = Tokenizer.load(tmp_path / "tokenizer.json")
        assert again.normal_form == tokenizer.normal_form and again.fingerprint == tokenizer.fingerprint
    assert plain.decode(plain.encode(" ab")) == " ab" and formed.decode(formed.encode(" ab")) == "ab"


def test_only_the_tokenizers_module_cuts_text_into_pieces() -> None:
    """Else a text could reach a model by another way in. An export's own program knows no library."""
    root = Path(annotated.__file__).parent
    imports = re.compile(r"^ *(?:from|import) tokenizers\b", re.MULTILINE)
    paths = [path for path in root.rglob("*.py") if imports.search(path.read_text("utf-8"))]
    own = {path.relative_to(root).as_posix() for path in paths}
    assert own == {"data/tokenizer.py", "data/byte_level.py", "interop/onnx_translate.py"}
