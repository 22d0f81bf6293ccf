"""One run's settings, and the budget that both sides get."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from annotated.config import ModelConfig


@dataclass(frozen=True)
class Settings:
    """What both sides share, and what is each side's own."""

    data: str = "../shared/data/en-de"
    """Folder with train.tsv.zst, valid.tsv and test.tsv."""
    work: str = "build/real_text"
    """Tokenizer, encoded pairs and checkpoints; nothing of it is recorded."""
    recorded: str = "benchmarks/recorded/real_text"
    """Logs, configuration and comparison."""
    seconds: float = 3600.0
    """CPU seconds of training for each side; validation is not counted."""
    at_most: float = 3900.0
    """Wall seconds after which a side stops, whatever it has used."""
    validate_every: float = 120.0
    """Theirs: CPU seconds between two validations."""
    validate_updates: int = 150
    """Ours: updates between two validations, and between two checkpoints."""
    sample: int = 100
    """Ours: validation sentences translated at each validation, for the curve of BLEU."""
    threads: int = 1
    """Of each side; both run at the same time."""
    seed: int = 0
    vocab_size: int = 8000
    d_model: int = 256
    d_ff: int = 1024
    heads: int = 4
    layers: int = 3
    dropout: float = 0.1
    norm: str = "pre"
    """Ours, because theirs is pre-norm."""
    smoothing: float = 0.1
    warmup: int = 400
    """Updates, for both; the same formula (equation 3)."""
    rate_scale: float = 0.5
    """Factor on equation 3, for both: the highest rate is 0.0016."""
    longest: int = 70
    """Validation pairs with a longer side are left out: The Annotated Transformer cuts sentences there."""
    batch_tokens: int = 768
    """Ours: target tokens of an update, and at most as many source tokens; about what theirs has in 32 sentences."""
    sentences: int = 32
    """Theirs: `batch_size` of its own configuration."""
    padding: int = 72
    """Theirs: `max_padding` of its own configuration; every batch is padded to it, or cut."""
    accumulate: int = 1
    """Theirs: `accum_iter`. Its own configuration has 10, with which it makes a tenth of the updates and its
    warm-up (which it counts in micro-batches) runs ten times too fast; 1 serves it better in an hour."""

    def model(self) -> ModelConfig:
        """Our model; theirs has the same widths."""
        head = self.d_model // self.heads
        heads: dict[str, Any] = {"num_heads": self.heads, "d_k": head, "d_v": head}
        layers: dict[str, Any] = {"num_encoder_layers": self.layers, "num_decoder_layers": self.layers}
        sizes: dict[str, Any] = {"vocab_size": self.vocab_size, "d_model": self.d_model, "d_ff": self.d_ff}
        return ModelConfig(dropout=self.dropout, norm=self.norm, **sizes, **heads, **layers)  # type: ignore[arg-type]

    def save(self, path: Path, **more: Any) -> None:
        """Write them as JSON, with more fields."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**dataclasses.asdict(self), **more}, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Settings:
        """Read them back; fields that are not settings are ignored."""
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{k: v for k, v in json.loads(path.read_text(encoding="utf-8")).items() if k in names})


class Budget:
    """A stopwatch for CPU and wall seconds of training, stopped during validation."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.paused_cpu = self.paused_wall = 0.0
        self.start()

    def start(self) -> None:
        """Count from here."""
        self.cpu_start, self.wall_start = time.process_time(), time.perf_counter()
        self.due = self.settings.validate_every

    @property
    def cpu(self) -> float:
        """CPU seconds of training so far."""
        return time.process_time() - self.cpu_start - self.paused_cpu

    @property
    def wall(self) -> float:
        """Wall seconds of training so far."""
        return time.perf_counter() - self.wall_start - self.paused_wall

    @property
    def spent(self) -> bool:
        """Whether to stop."""
        return self.cpu >= self.settings.seconds or self.wall + self.paused_wall >= self.settings.at_most

    def validation_due(self) -> bool:
        """True once for each interval."""
        if self.cpu < self.due:
            return False
        self.due += self.settings.validate_every
        return True

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """What happens inside is not training."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.paused_cpu += time.process_time() - cpu
        self.paused_wall += time.perf_counter() - wall


class Log:
    """JSON lines, each on disk as soon as it is written."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file: TextIO = open(path, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the run lasts

    def write(self, **fields: Any) -> None:
        """One line; floats are rounded to five places."""
        rounded = {k: round(v, 5) if isinstance(v, float) else v for k, v in fields.items()}
        print(json.dumps(rounded), file=self.file, flush=True)
