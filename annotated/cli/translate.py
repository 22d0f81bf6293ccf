"""`annotated translate`: standard input to standard output, a line for a line."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, BinaryIO, Literal

import tyro

from annotated.config import DecodingConfig, TrainingConfig

MOST_LINES = 2000
"""Lines translated together: enough to find many of one length, few enough to show progress."""


@dataclass
class Translate:
    """Translate lines of standard input to standard output.

    Works in a pipe: each batch of lines is written as soon as it is translated. An empty line stays empty.
    With --num-return above 1, or --scores, a line is: number of the input line, score, translation, separated
    by tabs.
    """

    model: str = "classroom"
    """A model inside the package by name, a model folder, a checkpoint, or the folder of a training run."""
    decoding: Annotated[DecodingConfig, tyro.conf.arg(name="")] = field(default_factory=DecodingConfig)
    overlong: Literal["error", "truncate"] = "error"
    """What to do with a line of more tokens than the model takes."""
    scores: bool = False
    """Write line number and score before each translation."""
    device: str = TrainingConfig.device
    """'auto' takes a GPU if there is one; else a torch device name."""

    def run(self) -> int:
        """Translate until the input ends."""
        from annotated.loading import load
        from annotated.translator import OverlongSource

        translator = load(self.model, self.device, self.decoding)
        for stream in (sys.stdin, sys.stdout):
            with contextlib.suppress(AttributeError):
                stream.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        done = 0
        for lines in read_batches(sys.stdin.buffer):
            try:
                self._write(translator, lines, done)
            except OverlongSource as error:
                self._write(translator, lines[: error.number], done)
                raise ValueError(
                    f"line {done + error.number + 1} has {error.length} tokens, more than the {error.limit} that the "
                    "model takes: split it, or use --overlong truncate"
                ) from None
            done += len(lines)
        return 0

    def _write(self, translator, lines: list[str], done: int) -> None:
        found = translator.hypotheses(lines, self.decoding.num_return, overlong=self.overlong)
        numbered = self.scores or self.decoding.num_return > 1
        for number, translations in enumerate(found, start=done + 1):
            for text, hypothesis in translations:
                text = " ".join(text.splitlines())  # a line for a line, whatever the model writes
                print(f"{number}\t{hypothesis.score:.4f}\t{text}" if numbered else text)
        sys.stdout.flush()


def read_batches(stream: BinaryIO, most: int = MOST_LINES) -> Iterator[list[str]]:
    """Lines as they come: all that are waiting, at most `most`, and at least one.

    A line that is typed is answered at once, and a file is translated in large batches.

    Raises
    ------
    ValueError
        If a line is not UTF-8; after the lines before it have been given out.
    """
    waiting: queue.Queue[str | Exception | None] = queue.Queue(4 * most)

    def read() -> None:
        try:
            for number, raw in enumerate(stream, start=1):
                waiting.put(_decoded(raw, number))
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


def _decoded(raw: bytes, number: int) -> str:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"standard input, line {number}: not UTF-8 (byte 0x{raw[error.start]:02x} at {error.start + 1}); convert "
            "it first, for example with iconv"
        ) from None
    return text.rstrip("\r\n")
