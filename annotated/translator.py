"""Translator from text to text: a model, its tokenizer and a search, behind one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, overload

import torch
from torch import Tensor

from annotated.config import BOS, EOS, DecodingConfig, EngineConfig
from annotated.data.batch import pad
from annotated.data.tokenizer import Tokenizer
from annotated.decoding import Hypothesis, beam_search, greedy_decode, length_penalty
from annotated.model import AttentionMaps, Transformer
from annotated.saving import CheckpointError, load_model, longest_source, save_pretrained
from annotated.speed.machine.distributed import choose_device

Overlong = Literal["error", "truncate"]


class OverlongSource(ValueError):
    """A sentence has more tokens than the translator takes; the message names it.

    `number` counts the texts of the call from 0; `length` and `limit` are in tokens, eos included.
    """

    def __init__(self, number: int, length: int, limit: int, others: int = 0) -> None:
        self.number, self.length, self.limit = number, length, limit
        more = f" (and {others} more)" if others else ""
        super().__init__(
            f"sentence {number + 1}{more} has {length} tokens, more than the {limit} that the translator takes: "
            "split it, or truncate it (overlong='truncate')"
        )


class OverlongSourceWarning(UserWarning):
    """Sentences were cut to as many tokens as the translator takes; `numbers` counts the texts of the call from 1."""

    def __init__(self, numbers: Sequence[int], limit: int, called: str = "sentence") -> None:
        self.numbers, self.limit = list(numbers), limit
        listed = ", ".join(map(str, self.numbers[:5])) + (", ..." if len(self.numbers) > 5 else "")
        super().__init__(f"cut to {limit} tokens: {called} {listed}")


class LongSourceWarning(UserWarning):
    """Sentences are longer than any source that the model was trained on; `numbers` counts the call's texts from 1."""

    def __init__(self, numbers: Sequence[int], longest: int, called: str = "sentence") -> None:
        self.numbers, self.longest = list(numbers), longest
        listed = ", ".join(map(str, self.numbers[:5]))
        more = f" and {len(self.numbers) - 5:,} more" if len(self.numbers) > 5 else ""
        super().__init__(
            f"{called} {listed}{more}: longer than the longest source in training ({longest} tokens), so parts may be "
            "left out of the translation; give one sentence a line"
        )


def length_warnings(lengths: Sequence[int], longest: int | None, limit: int) -> list[UserWarning]:
    """Warnings about sources that are cut, and about those that are longer than any in training.

    Parameters
    ----------
    lengths
        Tokens of each source, eos included.
    longest
        Of those in training; None if not known.
    limit
        Tokens that the translator takes.
    """
    cut = [number for number, length in enumerate(lengths, 1) if length > limit]
    beyond = [number for number, length in enumerate(lengths, 1) if longest and longest < length <= limit]
    found: list[UserWarning] = [OverlongSourceWarning(cut, limit)] if cut else []
    return [*found, LongSourceWarning(beyond, longest)] if longest and beyond else found


class OutOfMemory(MemoryError):
    """A batch of sentences and their beams do not fit into memory; the message says what to make smaller."""


class Translation(NamedTuple):
    """One translation: its text, and the hypothesis behind it."""

    text: str
    hypothesis: Hypothesis


class TokenAttention(NamedTuple):
    """Attention between readable tokens.

    `maps.encoder[l]` is `[H, S, S]`, `maps.decoder[l]` `[H, T, T]`, `maps.cross[l]` `[H, T, S]`. Row t is the
    step that wrote `target_tokens[t]`; both lists end with eos (an unfinished translation's target does not).
    """

    source_tokens: list[str]
    target_tokens: list[str]
    maps: AttentionMaps


class Translator:
    """Translates text.

    Parameters
    ----------
    model, tokenizer
        Trained together; `annotated.load` reads both from a folder.
    decoding
        How to search when a call does not say otherwise.
    max_source_tokens
        Longest sentence taken, eos included; None for the model's `max_positions`. With sinusoids it may be
        raised; a model rarely translates sentences well that are far longer than those it was trained on.
    engine, compute_type
        What runs the model while it translates, as `EngineConfig` says. `annotated.interop.ctranslate2_engine` says
        what is the same in both engines. `score` and `attention` always ask the model itself.

    Raises
    ------
    ValueError
        If model and tokenizer differ in the size of the vocabulary, or the engine has no such model or numbers.
    ImportError
        If the engine is not installed.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        decoding: DecodingConfig | None = None,
        max_source_tokens: int | None = None,
        engine: str = EngineConfig.engine,
        compute_type: str = EngineConfig.compute_type,
    ) -> None:
        if tokenizer.vocab_size != model.config.vocab_size:
            raise ValueError(
                f"the tokenizer has {tokenizer.vocab_size} entries and the model {model.config.vocab_size}: "
                "they do not belong together"
            )
        self.model, self.tokenizer, self.decoding = model, tokenizer, decoding or DecodingConfig()
        self.max_source_tokens = max_source_tokens or model.config.max_positions
        self.longest_source: int | None = None
        """Tokens of the longest source in training, eos included; None if not known. Of longer ones a warning tells."""
        self._use_engine(EngineConfig(engine, compute_type))  # type: ignore[arg-type]

    @classmethod
    def from_pretrained(
        cls,
        folder: str | Path,
        device: torch.device | str = "cpu",
        decoding: DecodingConfig | None = None,
        engine: str = EngineConfig.engine,
        compute_type: str = EngineConfig.compute_type,
    ) -> Self:
        """Read a model folder, which `save_pretrained` wrote; `annotated.load` takes names and runs too.

        What the engine ctranslate2 needs is kept in the folder, or in the user's cache if it cannot be written to.

        Raises
        ------
        CheckpointError
            If a file is missing or damaged, or the model was saved without a tokenizer.
        """
        config = EngineConfig(engine, compute_type)  # type: ignore[arg-type]
        model, tokenizer = load_model(folder, device)
        if tokenizer is None:
            raise CheckpointError(f"{folder}: the model was saved without a tokenizer, so it cannot read text")
        translator = cls(model, tokenizer, decoding)
        translator.longest_source = longest_source(folder)
        translator._use_engine(config, Path(folder))
        return translator

    def save_pretrained(self, folder: str | Path) -> None:
        """Write model and tokenizer as a model folder; see `annotated.saving.save_pretrained`."""
        save_pretrained(folder, self.model, self.tokenizer, self.longest_source)

    def to(self, device: torch.device | str) -> Self:
        """The translator itself, with its model moved to a device.

        Raises
        ------
        TypeError
            If it is a type of numbers, which belongs to the model.
        ValueError
            If there is no such device here.
        """
        if isinstance(device, torch.dtype):
            raise TypeError(f"to takes a device; for {device}: Translator(translator.model.to({device}), tokenizer)")
        self.model.to(choose_device(str(device)))
        return self

    @overload
    def __call__(self, text: str, **options: Any) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, text: Iterable[str], **options: Any) -> list[str]: ...
    def __call__(self, text: str | Iterable[str], **options: Any) -> str | list[str]:
        """The best translation of one text, or of each of several, as `translate` gives them with these options."""
        return self.translate([text], **options)[0] if isinstance(text, str) else self.translate(text, **options)

    def translate(self, texts: Iterable[str], *, overlong: Overlong = "error", **options: Any) -> list[str]:
        """The best translation of each text, in the same order; an empty text has an empty translation.

        Parameters
        ----------
        texts
            Sentences; any number, for they are sorted by length and translated in batches. Lines of an open file, too.
        overlong
            'error', or 'truncate' to translate the first `max_source_tokens` tokens.
        **options
            Fields of `DecodingConfig` to use instead of `self.decoding`'s: beam_size, alpha, ...

        Raises
        ------
        OverlongSource
            If a text is too long; the message names the first and counts the others.
        OutOfMemory
            If a batch does not fit into memory.
        """
        return [found[0].text for found in self.hypotheses(texts, overlong=overlong, **{**options, "num_return": 1})]

    def hypotheses(
        self, texts: Iterable[str], num_return: int | None = None, *, overlong: Overlong = "error", **options: Any
    ) -> list[list[Translation]]:
        """The best few translations of each text, best first.

        Parameters
        ----------
        num_return
            How many; None for all of the beam.
        texts, overlong, **options
            As in `translate`.

        Raises
        ------
        OverlongSource
            If a text is too long.
        """
        texts = _listed(texts)
        config = self.decoding.replace(**{"num_return": 1, **options})
        config = config.replace(num_return=config.beam_size if num_return is None else num_return)
        sources = self._encode(texts, overlong)
        empty = Translation("", Hypothesis([], 0.0, 0.0))
        result = [[empty] for _ in sources]
        for batch in _batches(sources, config.batch_tokens):
            for sentence, found in zip(batch, self._search([sources[s] for s in batch], config), strict=True):
                result[sentence] = [Translation(self.tokenizer.decode(h.tokens), h) for h in found]
        return result

    def score(self, source: str, target: str) -> Hypothesis:
        """What the model thinks of a given translation: its log-probability (eos included) and its score."""
        tokens = self.tokenizer.encode(target.strip())
        with torch.inference_mode():
            logits, _ = self._read(self._source(source), tokens)
        log_probabilities = logits[0].float().log_softmax(dim=-1)
        gold = torch.tensor([*tokens, EOS], device=logits.device)
        total = float(log_probabilities.gather(1, gold[:, None]).double().sum())
        return Hypothesis(tokens, total, total / length_penalty(len(gold), self.decoding.alpha))

    def attention(self, source: str, target: str | None = None) -> TokenAttention:
        """What attends to what while a translation is written: of a given one, or of the model's own.

        Paper: section 3.2.3, figures 3-5
        """
        ids = self._source(source)
        if target is None:
            config = self.decoding.replace(num_return=1)
            hypothesis = self._search([ids], config)[0][0]
            tokens, finished = hypothesis.tokens, hypothesis.finished
        else:
            tokens, finished = self.tokenizer.encode(target.strip()), True
        steps = len(tokens) + finished
        with torch.inference_mode():
            _, maps = self._read(ids, tokens, steps)
        maps = AttentionMaps(*([weights[0].clone() for weights in group] for group in maps))
        return TokenAttention(self.tokenizer.tokens(ids), self.tokenizer.tokens([*tokens, EOS][:steps]), maps)

    def encode(self, texts: Sequence[str]) -> Tensor:
        """Token ids `[B, S]` of texts as the model reads them: each with eos, then padding, on the model's device.

        Raises
        ------
        OverlongSource
            If a text is too long.
        """
        return self._tensor([ids or [EOS] for ids in self._encode(texts, "error")])

    def _source(self, text: str) -> list[int]:
        return self._encode([text], "error")[0] or [EOS]

    def _encode(self, texts: Sequence[str], overlong: Overlong) -> list[list[int]]:
        """Ids with eos; none at all for an empty text, which is not worth asking the model."""
        sources = [[*ids, EOS] for ids in self.tokenizer.encode_batch([text.strip() for text in texts])]
        long = [number for number, ids in enumerate(sources) if len(ids) > self.max_source_tokens]
        if long and overlong == "error":
            length = len(sources[long[0]])
            raise OverlongSource(long[0], length, self.max_source_tokens, len(long) - 1)
        for warning in length_warnings(list(map(len, sources)), self.longest_source, self.max_source_tokens):
            warnings.warn(warning, stacklevel=4)
        for number in long:
            sources[number] = [*sources[number][: self.max_source_tokens - 1], EOS]
        return [[] if len(ids) == 1 else ids for ids in sources]

    def __getstate__(self) -> dict[str, Any]:
        """All but the opened engine, which can be neither copied nor pickled; the copy opens its own at first use."""
        return {**self.__dict__, "_engine": None}

    def _use_engine(self, config: EngineConfig, model_folder: Path | None = None) -> None:
        """Open the engine; `model_folder` is where the weights were read from, if they are still those."""
        self._engine_config, self._engine = config, None
        if config.engine == "ctranslate2":
            from annotated.interop.ctranslate2_engine import CTranslate2Engine  # an extra installs what it needs

            self._engine = CTranslate2Engine(
                self.model, self.tokenizer, config.compute_type, self.max_source_tokens, model_folder
            )

    def _search(self, sources: Sequence[list[int]], config: DecodingConfig) -> list[list[Hypothesis]]:
        if self._engine_config.engine != "torch" and not (self._engine and self._engine.is_current):
            old = self._engine
            self._use_engine(self._engine_config, old.model_folder if old and old.has_its_weights else None)
        try:
            if self._engine is None:
                return self._own_search(sources, config)
            found = self._engine.search(sources, config)
            left = [number for number, hypotheses in enumerate(found) if hypotheses is None]
            rest = iter(self._own_search([sources[number] for number in left], config) if left else [])
            return [next(rest) if hypotheses is None else hypotheses for hypotheses in found]
        except (RuntimeError, MemoryError) as error:
            # torch has a class of its own for a GPU's memory, and none for a CPU's; CTranslate2 has words for a GPU's.
            full = isinstance(error, MemoryError | torch.cuda.OutOfMemoryError)
            if not (full or "can't allocate memory" in str(error) or "out of memory" in str(error)):
                raise
            raise OutOfMemory(
                f"{len(sources)} sentences of up to {max(map(len, sources))} tokens with a beam of {config.beam_size} "
                f"do not fit into memory: make batch_tokens (now {config.batch_tokens}) or the beam smaller"
            ) from None

    def _own_search(self, sources: Sequence[list[int]], config: DecodingConfig) -> list[list[Hypothesis]]:
        source, alpha, limit, extra = self._tensor(sources), config.alpha, config.max_new_tokens, config.extra_tokens
        if config.beam_size == 1:
            return [[h] for h in greedy_decode(self.model, source, limit, alpha=alpha, extra_tokens=extra)]
        return beam_search(self.model, source, config.beam_size, alpha, limit, config.num_return, extra_tokens=extra)

    def _read(self, source: list[int], tokens: list[int], steps: int | None = None) -> tuple[Tensor, AttentionMaps]:
        was_training = self.model.training
        self.model.eval()
        target_in = self._tensor([[BOS, *tokens][:steps]])
        try:
            return self.model(self._tensor([source]), target_in, return_attention=True)
        finally:
            self.model.train(was_training)

    def _tensor(self, rows: Sequence[list[int]]) -> Tensor:
        return pad(rows, next(self.model.parameters()).device)


def _listed(texts: Iterable[str]) -> list[str]:
    """Texts from whatever gives them, also what can be read only once, such as a file or a generator."""
    if isinstance(texts, str):
        raise TypeError("give a list of texts, or call the translator itself with one text")
    if not isinstance(texts, Iterable):
        raise TypeError(f"give a text, or a list of texts, and not {type(texts).__name__}")
    texts = list(texts)
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"text {number} is {type(text).__name__}, not str: give a text, or a list of texts")
    return texts


def _batches(sources: Sequence[list[int]], batch_tokens: int) -> Iterator[list[int]]:
    """Sentences of similar length together, longest first; empty ones in no batch."""
    order = sorted((s for s in range(len(sources)) if sources[s]), key=lambda s: -len(sources[s]))
    start = 0
    while start < len(order):
        rows = max(1, batch_tokens // len(sources[order[start]]))
        yield order[start : start + rows]
        start += rows
