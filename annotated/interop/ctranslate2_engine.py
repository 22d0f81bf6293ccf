"""Engine for a `Translator`: CTranslate2 runs the model, and finds what our own beam search finds.

What is the same, and what is not:

* **Growing hypotheses.** Both searches keep the k most probable beginnings that have not ended, so at every step both
  look at the same ones.
* **Ranking.** CTranslate2 divides by length ** penalty. It is asked for log-probabilities and for more finished
  hypotheses than are needed; they are ranked here by ((5 + length) / 6) ** alpha.
* **Stopping.** Ours stops when no growing hypothesis can win any more. CTranslate2 stops after a number of finished
  ones: `PATIENCE` times the beam, and twice as many where several are to be returned. With an alpha above
  `HIGHEST_ALPHA` the best translation is often one that ends after that, so `search` leaves such beams to our search.
* **Endings.** Ours takes an ending among the 2k best continuations, CTranslate2 among the k best.
* **Caps.** Where a sentence reaches its cap before enough hypotheses have ended, `search` leaves it to our search.
* **pad and bos** are never written by either. CTranslate2 gives their probability to the other tokens, so that
  log-probabilities differ by as much; a trained model gives the two next to none.

So in float32 a beam of 1 finds the same tokens, but for ties within rounding. A wider beam does too, unless what ours
returns ended among the weaker half of the candidates, or after CTranslate2 had stopped. Of 200 classroom sentences, the
shipped model's best translations were the same with beams of 1, 2, 4 and 8, and so were those of a model trained for
800 updates; of the shipped model's four best of a beam of 4, all four were the same for 199 sentences. Models that
were hardly trained differ more often, most of all with wide beams, for their probabilities are flat. Computing in other
numbers than float32 changes translations.

No bound replaces the number of finished hypotheses: CTranslate2 does not say how probable those are that still grew.
The probability that its finished ones leave to all others proves the best for 25 of 100 classroom sentences with an
alpha of 0, and for 1 with an alpha of 0.6.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from annotated.config import BOS, EOS, PAD, SPECIAL_TOKENS, DecodingConfig
from annotated.data.batch import pad
from annotated.data.tokenizer import Tokenizer
from annotated.decoding import Hypothesis, length_penalty
from annotated.decoding.search import max_lengths
from annotated.interop._common import optional, pieces
from annotated.interop.ctranslate2 import require_convertible
from annotated.interop.ctranslate2_cache import open_conversion
from annotated.model import Transformer

PATIENCE = 2
"""Hypotheses that end before CTranslate2 stops, for each one kept in the beam."""
HIGHEST_ALPHA = 1.0
"""Above it beams are our own search's: longer translations gain so much that many of the best end late."""
SPARE_POSITIONS = 512
"""Positions beyond the longest source, for translations that are longer."""
_ALMOST_NONE = 1e-6
"""A length penalty that ranks by log-probability; with none at all CTranslate2 stops when the best one ends."""


class CTranslate2Engine:
    """A model converted for CTranslate2, opened on the model's device.

    It serves the process that opened it: after `os.fork` its threads are missing in the child, which opens its own.

    Parameters
    ----------
    model, tokenizer
        What is converted; the model is left as it was.
    compute_type
        Numbers to compute in, by CTranslate2's names.
    max_source_tokens
        Longest source that it should take.
    model_folder
        Where the model was read from; the conversion is kept there.

    Raises
    ------
    ImportError
        Without the package ctranslate2.
    TypeError
        If the model is no single `Transformer`.
    ValueError
        If CTranslate2 has no such model, no such device, or the device does not compute in such numbers.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        compute_type: str,
        max_source_tokens: int,
        model_folder: Path | None = None,
    ) -> None:
        package = optional("ctranslate2")
        if not isinstance(model, Transformer):
            raise TypeError(
                f"the engine ctranslate2 runs one Transformer, and not {type(model).__name__}: "
                "an ensemble is translated by the engine torch"
            )
        try:
            require_convertible(model.config, tokenizer)
        except ValueError as error:
            raise ValueError(f"{error}; it is translated by the engine torch") from None
        device = next(model.parameters()).device
        device_options = _require_device(package, device, compute_type)
        self.model, self.made_from, self.model_folder = model, _state(model), model_folder
        self.process = os.getpid()
        self.positions = model.config.max_positions
        if model.config.positions != "learned":
            self.positions = max(self.positions, max_source_tokens) + SPARE_POSITIONS
        self.names = pieces(tokenizer)
        self.numbers = {name: number for number, name in enumerate(self.names)}

        def opener(folder: Path) -> Any:
            threads = {"inter_threads": 1, "intra_threads": torch.get_num_threads()}
            return package.Translator(str(folder), compute_type=compute_type, **device_options, **threads)

        self.translator = open_conversion(model, tokenizer, compute_type, self.positions, opener, model_folder)
        _OPEN.add(self)

    @property
    def is_current(self) -> bool:
        """Whether it was opened by this process, for weights that have not changed since."""
        return self.process == os.getpid() and self.has_its_weights

    @property
    def has_its_weights(self) -> bool:
        """Whether the model's weights are where and what they were when they were converted.

        What is written through `.data`, or through NumPy, is not seen: torch does not count it. Open the engine anew.
        """
        return self.made_from == _state(self.model)

    def search(self, sources: Sequence[list[int]], config: DecodingConfig) -> list[list[Hypothesis] | None]:
        """The best hypotheses of each source, as `beam_search` returns them; None where that is to be asked.

        Parameters
        ----------
        sources
            Token ids, each with eos; best of like length.
        config
            How to search.
        """
        if config.beam_size > 1 and config.alpha > HIGHEST_ALPHA:
            return [None] * len(sources)
        caps = max_lengths(self.model, pad(sources, torch.device("cpu")), config.max_new_tokens, config.extra_tokens)
        fit = [
            number
            for number, (ids, cap) in enumerate(zip(sources, caps, strict=True))
            if len(ids) > 1 and max(len(ids), cap) <= self.positions
        ]
        found: list[list[Hypothesis] | None] = [None] * len(sources)
        if not fit:
            return found
        rows = [[self.names[token] for token in sources[number][:-1]] for number in fit]
        results = self.translator.translate_batch(rows, **_options(config, max(caps[number] for number in fit)))
        for number, result in zip(fit, results, strict=True):
            found[number] = self._best(result, caps[number], config)
        return found

    def _best(self, result: Any, cap: int, config: DecodingConfig) -> list[Hypothesis] | None:
        """The finished hypotheses within the cap, ranked by the paper's penalty; None if there are too few."""
        ended = []
        for names, score in zip(result.hypotheses, result.scores, strict=True):
            steps = len(names)
            if steps <= cap and names[-1] == SPECIAL_TOKENS[EOS]:
                tokens = [self.numbers[name] for name in names[:-1]]
                total = score * steps**_ALMOST_NONE
                ended.append(Hypothesis(tokens, total, total / length_penalty(steps, config.alpha)))
        ended.sort(key=lambda hypothesis: -hypothesis.score)
        return ended[: config.num_return] if len(ended) >= config.num_return else None


_OPEN: weakref.WeakSet[CTranslate2Engine] = weakref.WeakSet()


def _keep_in_child() -> None:
    """Never destroy the parent's engines in a forked child: that waits for threads which the child does not have."""
    for engine in _OPEN:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine.translator))


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_keep_in_child)


def _options(config: DecodingConfig, cap: int) -> dict[str, Any]:
    """The words of `ctranslate2.Translator.translate_batch` for a search like ours."""
    options: dict[str, Any] = {
        "beam_size": config.beam_size,
        "length_penalty": _ALMOST_NONE,
        "max_input_length": 0,  # no input is cut
        "max_decoding_length": cap,
        "min_decoding_length": 0,
        "suppress_sequences": [[SPECIAL_TOKENS[PAD]], [SPECIAL_TOKENS[BOS]]],
        "return_end_token": True,
        "return_scores": True,
    }
    if config.beam_size > 1:
        patience = PATIENCE if config.num_return == 1 else 2 * PATIENCE
        options |= {"patience": patience, "num_hypotheses": patience * config.beam_size}
    return options


def _require_device(package: Any, device: torch.device, compute_type: str) -> dict[str, Any]:
    """The engine's words for a device of torch.

    Raises
    ------
    ValueError
        If the engine does not know it, or it does not compute in such numbers.
    """
    number = device.index or 0
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"the engine ctranslate2 runs on cpu and cuda, and not on {device.type}")
    if device.type == "cuda" and number >= package.get_cuda_device_count():
        raise ValueError(
            f"CTranslate2 {package.__version__} sees no GPU {number} here, though torch does: "
            "translate on the cpu (--device cpu), or by the engine torch"
        )
    known = package.get_supported_compute_types(device.type, number)
    if compute_type not in known:
        raise ValueError(
            f"this {device.type} does not compute in {compute_type}: here CTranslate2 has {', '.join(sorted(known))}"
        )
    return {"device": device.type, "device_index": number}


def _state(model: Transformer) -> tuple[Any, ...]:
    """What changes when a weight is written to or moved: its place in memory, and how often it was written."""
    with torch.inference_mode(False):
        return tuple((p.data_ptr(), 0 if p.is_inference() else p._version) for p in model.parameters())
