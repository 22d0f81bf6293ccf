"""BLEU of one model under several settings: tokenisers, searches, and a "BLEU" that has seen the answer.

Of the real text only numbers are kept: ten for each sentence. The sentences on record are of the classroom corpus.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from annotated.analysis.real_text import real_pairs, run_folder
from annotated.config import BOS, EOS, SPECIAL_TOKENS
from annotated.data.batch import pad
from annotated.data.tokenizer import Tokenizer
from annotated.evaluation import bleu
from annotated.evaluation.ngrams import ORDER, bleu_of, bleu_statistics, sentence_statistics
from annotated.evaluation.paper_bleu import paper_style_bleu
from annotated.loading import load
from annotated.model import Transformer
from annotated.runs import list_checkpoints
from annotated.saving import load_model
from annotated.translator import Translator
from annotated_book.decoding.averaging.experiment import classroom, mean_of, train, with_weights

TOKENIZERS = ("13a", "none", "intl", "char")
STYLES = {"13a, plain quotes": (True, False), "13a, compounds split": (False, True), "both": (True, True)}
"""Steps of the paper's script, as options of `paper_style_bleu`: quotes, compounds."""
CLASSROOM_SENTENCES, CLASSROOM_UPDATES = 100, 800


def pack(statistics: NDArray[np.int64]) -> str:
    """Statistics `[sentences, 10]` of sentences of at most 255 tokens, as text."""
    if statistics.max() > 255:
        raise ValueError("a number above 255 does not fit in a byte")
    return base64.b64encode(zlib.compress(statistics.astype(np.uint8).T.tobytes(), 9)).decode()


def unpack(packed: str) -> NDArray[np.int64]:
    """The inverse of `pack`."""
    flat = np.frombuffer(zlib.decompress(base64.b64decode(packed)), dtype=np.uint8)
    return flat.reshape(2 + 2 * ORDER, -1).T.astype(np.int64)


@torch.no_grad()
def teacher_forced(model: Transformer, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> list[str]:
    """The best token at each place of the reference, after the *reference's* own beginning: not a translation."""
    sources, targets = (tokenizer.encode_batch([pair[side] for pair in pairs]) for side in (0, 1))
    texts = [""] * len(pairs)
    order = sorted(range(len(pairs)), key=lambda n: len(targets[n]))
    special = range(len(SPECIAL_TOKENS))
    for start in range(0, len(order), 32):
        rows = order[start : start + 32]
        logits = model(pad([[*sources[n], EOS] for n in rows]), pad([[BOS, *targets[n]] for n in rows]))  # [B, T, V]
        for n, best in zip(rows, logits.argmax(-1).tolist(), strict=True):
            texts[n] = tokenizer.decode([token for token in best[: len(targets[n])] if token not in special])
    return texts


def letters_bleu(hypothesis: str, reference: str) -> float:
    """What becomes of BLEU when lists are nested one level too little: word i is compared with word i, by its letters.

    Without smoothing, as in the code that this is modelled on: anything missing makes zero.
    """
    words = zip(hypothesis.split(), reference.split(), strict=False)
    totals = np.sum([[0] * 10, *(sentence_statistics(a, b) for a, b in words)], axis=0)
    return float(bleu_of(totals)) if totals.min() > 0 else 0.0


def ladder(decoded: Sequence[str], forced: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """From a BLEU of translations to a number that is none, one mistake after the other."""
    numbers = {
        "decoded": bleu(decoded, references).bleu,
        "teacher-forced": bleu(forced, references).bleu,
        "and averaged over sentences": float(bleu_of(bleu_statistics(forced, references)).mean()),
        "and over letters": float(np.mean([letters_bleu(f, r) for f, r in zip(forced, references, strict=True)])),
    }
    return {name: round(number, 2) for name, number in numbers.items()}


def by_setting(hypotheses: Sequence[str], references: Sequence[str]) -> dict[str, dict[str, Any]]:
    """One set of translations under every setting: score, signature, precisions and lengths in sacreBLEU's words."""
    found = {name: bleu(hypotheses, references, tokenize=name) for name in TOKENIZERS}
    for name, (quotes, compounds) in STYLES.items():
        found[name] = paper_style_bleu(hypotheses, references, quotes=quotes, compounds=compounds)
    return {
        name: {"bleu": round(score.bleu, 3), "signature": score.signature, "detail": score.detail}
        for name, score in found.items()
    }


def _real_results(count: int | None = None) -> dict[str, Any]:
    folder = run_folder()
    averaged, tokenizer = load_model(folder / "model")
    last, _ = load_model(list_checkpoints(folder)[-1])
    assert tokenizer is not None
    test, valid = real_pairs("test", count), real_pairs("valid", count)
    sources, references = ([pair[side] for pair in test] for side in (0, 1))

    def translate(model: Transformer, beam_size: int, texts: list[str]) -> list[str]:
        return Translator(model, tokenizer).translate(texts, beam_size=beam_size, overlong="truncate")

    systems = {
        "last checkpoint, greedy": translate(last, 1, sources),
        "average of 5, greedy": translate(averaged, 1, sources),
        "average of 5, beam 4": translate(averaged, 4, sources),
    }
    forced = teacher_forced(averaged, tokenizer, test)
    dev = bleu(translate(averaged, 1, [source for source, _ in valid]), [reference for _, reference in valid])
    return {
        "sentences": len(test),
        "statistics": {name: pack(bleu_statistics(texts, references)) for name, texts in systems.items()},
        "settings": {name: by_setting(texts, references) for name, texts in systems.items()},
        "dev": {"sentences": len(valid), "bleu": round(dev.bleu, 3), "signature": dev.signature},
        "ladder": ladder(systems["average of 5, greedy"], forced, references),
        "hyphens": sum("-" in text for text in references),
    }


def _classroom_results() -> dict[str, Any]:
    tokenizer = load("classroom").tokenizer
    model = with_weights(mean_of(train(0, updates=CLASSROOM_UPDATES)[-5:]))
    pairs = classroom("test", CLASSROOM_SENTENCES)
    translator, sources = Translator(model, tokenizer), [source for source, _ in pairs]
    return {
        "updates": CLASSROOM_UPDATES,
        "source": sources,
        "reference": [reference for _, reference in pairs],
        "greedy": translator.translate(sources, beam_size=1),
        "beam 4": translator.translate(sources),
        "teacher-forced": teacher_forced(model, tokenizer, pairs),
    }


def run() -> dict[str, Any]:
    """The model trained on real text (numbers), and a small, briefly trained classroom model (sentences)."""
    torch.set_num_threads(1)
    return {"real": _real_results(), "classroom": _classroom_results()}
