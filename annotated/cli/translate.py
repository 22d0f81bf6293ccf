"""`annotated translate`: standard input to standard output, a line for a line."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from annotated.cli.streams import write_text_in_utf_8
from annotated.config import DecodingConfig, EngineConfig, TrainingConfig

MOST_LINES = 2000
"""Lines translated together: enough to find many of one length, few enough to show progress."""


@dataclass
class Translate:
    """Translate the lines of a file, or of standard input.

    Works in a pipe: each batch of lines is written as soon as it is translated, to standard output. An empty line stays
    empty.

    echo "The cat sleeps." | annotated translate

    With --num-return above 1, or --scores, a line is: number of the input line, score, translation, separated
    by tabs.
    """

    file: tyro.conf.Positional[Path | None] = None
    """Text in UTF-8, one sentence a line; standard input if not given."""
    model: str = "classroom"
    """A model inside the package by name, a model folder, a checkpoint, or the folder of a training run."""
    decoding: Annotated[DecodingConfig, tyro.conf.arg(name="")] = field(default_factory=DecodingConfig)
    engine: Annotated[EngineConfig, tyro.conf.arg(name="")] = field(default_factory=EngineConfig)
    overlong: Literal["error", "truncate"] = "error"
    """What to do with a line of more tokens than the model takes."""
    scores: bool = False
    """Write line number and score before each translation."""
    device: str = TrainingConfig.device
    """'auto' takes a GPU if there is one; else a torch device name."""

    def run(self) -> int:
        """Translate until the input ends."""
        from annotated.loading import load

        if self.file is not None and not self.file.exists():
            raise ValueError(
                f"{self.file}: no such file. Text comes from a file or from standard input: "
                'echo "The cat sleeps." | annotated translate'
            )
        translator = load(self.model, self.device, self.decoding, **self.engine.to_dict())
        write_text_in_utf_8()
        beyond: list[int] = []
        try:
            self._translate(translator, beyond)
        finally:
            _warn_of(beyond, translator.longest_source)
        return 0

    def _translate(self, translator, beyond: list[int]) -> None:
        from annotated.text.text_files import decoded_lines, raw_lines
        from annotated.translator import OverlongSource

        done = 0
        if self.file is None:
            text, typed = decoded_lines(sys.stdin.buffer, "standard input"), sys.stdin.buffer.isatty()
        else:
            raw = raw_lines(self.file, once=True)
            text, typed = decoded_lines(raw, str(self.file), self.file.name), False
        for lines in read_batches(text):
            try:
                with _lines_named(done, beyond):
                    self._write(translator, lines, done)
            except OverlongSource as error:
                with _lines_named(done, beyond):
                    self._write(translator, lines[: error.number], done)
                raise ValueError(
                    f"line {done + error.number + 1} has {error.length} tokens, more than the {error.limit} that the "
                    "model takes: split it, or use --overlong truncate. It and the lines after it are not translated"
                ) from None
            done += len(lines)
            if typed:
                _warn_of(beyond, translator.longest_source)

    def _write(self, translator, lines: list[str], done: int) -> None:
        found = translator.hypotheses(lines, self.decoding.num_return, overlong=self.overlong)
        numbered = self.scores or self.decoding.num_return > 1
        for number, translations in enumerate(found, start=done + 1):
            for text, hypothesis in translations:
                text = " ".join(text.splitlines())  # a line for a line, whatever the model writes
                print(f"{number}\t{hypothesis.score:.4f}\t{text}" if numbered else text)
        sys.stdout.flush()


def _warn_of(beyond: list[int], longest: int | None) -> None:
    """One warning of all lines that are longer than any in training; then the list is empty."""
    from annotated.translator import LongSourceWarning

    if beyond and longest:
        warnings.warn(LongSourceWarning(beyond, longest, "line"), stacklevel=2)
        beyond.clear()


@contextlib.contextmanager
def _lines_named(done: int, beyond: list[int]) -> Iterator[None]:
    """Warnings about sentences of a call as warnings about lines of the input, of which `done` came before.

    Lines that are longer than any in training are added to `beyond`, for one warning of all of them.
    """
    from annotated.translator import LongSourceWarning, OverlongSourceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        message = one.message
        if isinstance(message, LongSourceWarning):
            beyond += [done + number for number in message.numbers]
            continue
        if isinstance(message, OverlongSourceWarning):
            message = OverlongSourceWarning([done + number for number in message.numbers], message.limit, "line")
        warnings.warn(message, stacklevel=3)


def read_batches(text: Iterable[str], most: int = MOST_LINES) -> Iterator[list[str]]:
    """Lines as they come: all that are waiting, at most `most`, and at least one.

    A line that is typed is answered at once, and a file is translated in large batches. An error of the text is raised
    after the lines before it have been given out.
    """
    waiting: queue.Queue[str | Exception | None] = queue.Queue(4 * most)

    def read() -> None:
        try:
            for line in text:
                waiting.put(line)
            waiting.put(None)
        except Exception as error:
            waiting.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        item = waiting.get()
        lines: list[str] = []
        while isinstance(item, str):
            lines.append(item)
            if len(lines) == most or waiting.empty():
                break
            item = waiting.get()
        if lines:
            yield lines
        if item is None:
            return
        if isinstance(item, Exception):
            raise item
