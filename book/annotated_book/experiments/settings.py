"""Settings of the runs: how far the rows of Table 3 are scaled down, on what text, and for how many updates.

Those of the recorded runs are on real text; those of a reader's own machine are on the classroom's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from annotated.config import ModelConfig, TrainingConfig, base, table_3_training
from annotated_book.results.table_3.rows import scaled


@dataclass(frozen=True)
class Size:
    """One scale for all rows; two sizes have different names."""

    divisor: int
    """Of every width: see `annotated_book.results.table_3.rows`."""
    updates: int
    """Of every row but 'big', which has three times as many, as in the paper."""
    batch_tokens: int
    warmup: int
    learning_rate_scale: float
    max_length: int
    """Pairs with a longer side, in tokens with the end mark, are left out of all three sets."""
    norm: Literal["post", "pre"] = "post"
    """Of every row: 'post' as printed; 'pre', as later released, trains deep and narrow stacks in fewer updates."""
    validations: int = 20
    """Points of a curve, evenly spaced; a checkpoint is saved at each."""
    device: Literal["cpu"] = "cpu"
    """On record with every size: sums are made in another order elsewhere."""

    @property
    def name(self) -> str:
        """Of the folder with its records: 'd64-post-2000x512-w400-r0.24-l20'."""
        width, rate = base().d_model // self.divisor, f"{self.learning_rate_scale:g}"
        return f"d{width}-{self.norm}-{self.updates}x{self.batch_tokens}-w{self.warmup}-r{rate}-l{self.max_length}"

    def model(self, row: str) -> ModelConfig:
        """The scaled model of a row."""
        return scaled(row, self.divisor).replace(norm=self.norm)

    def training(self, row: str, seed: int) -> TrainingConfig:
        """The training of a row: all have one batch size and one schedule, and with one seed one order of the data.

        What the paper changes with the row stays changed: label smoothing in D3 and D4, and three times the updates in
        'big'. No row has its checkpoints averaged, as in section 6.2.
        """
        paper = table_3_training(row)
        updates = self.updates * paper.updates // TrainingConfig.updates
        every = max(1, updates // self.validations)
        pace: dict[str, Any] = dict.fromkeys(("log_every", "validate_every", "checkpoint_every"), every)
        return TrainingConfig(
            updates=updates,
            batch_tokens=self.batch_tokens,
            warmup=self.warmup,
            learning_rate_scale=self.learning_rate_scale,
            label_smoothing=paper.label_smoothing,
            device=self.device,
            seed=seed,
            validate_bleu=0,
            keep_checkpoints=2,
            average_last=1,
            **pace,
        )

    def smoke(self) -> Size:
        """The same with a fiftieth of the updates and a fast warm-up: a try of the machinery, not a measurement."""
        updates = max(10, self.updates // 50)
        return Size(**{**asdict(self), "updates": updates, "warmup": max(1, updates // 4), "validations": 2})


def _ladder() -> Iterator[Size]:
    """Sizes of growing budget; at each width the paper's post-norm comes first.

    The halves of the width were added when N=2 had stayed ahead of base at the first four sizes; they come before
    the longest runs at the full width, which cost more.
    """
    for updates in (2000, 4000):
        yield from _sizes_at_d64(updates)
    for updates in (3000, 4500, 6000):  # 3.1 to 6.1 million tokens, one pass over the text to two
        yield Size(16, updates, 1024, 400, 0.6, 20, "pre")
    yield from _sizes_at_d64(8000)


def _sizes_at_d64(updates: int) -> Iterator[Size]:
    for norm, rate in (("post", 0.24), ("pre", 0.6)):  # the highest rates of base: 0.0015 and 0.00375
        yield Size(8, updates, 512, 400, rate, 20, norm)  # type: ignore[arg-type]


SIZES = {size.name: size for size in _ladder()}
"""Sizes that the pilot tries, by name, in its order."""


def size_of(name: str) -> Size:
    """A size by its name; also one of `Size.smoke`.

    Raises
    ------
    ValueError
        If there is none of that name; the message lists them.
    """
    known = {size.name: size for one in SIZES.values() for size in (one, one.smoke())}
    if name not in known:
        raise ValueError(f"no size {name!r}; there are {', '.join(known)}")
    return known[name]


@dataclass(frozen=True)
class ClassroomSize(Size):
    """A scale for all rows, and how much of the classroom's text they see.

    The rule of `annotated_book.results.table_3.rows` but for one width: the vocabulary is the classroom's own, for
    2,312 entries would be more than its few thousand words can fill.
    """

    vocab_size: int = 1000
    train_pairs: int = 60_000
    valid_pairs: int = 1000

    def model(self, row: str) -> ModelConfig:
        """The scaled model of a row, with the classroom's vocabulary."""
        return super().model(row).replace(vocab_size=self.vocab_size)


READER_SIZE = ClassroomSize(
    divisor=16, updates=1000, batch_tokens=1024, warmup=300, learning_rate_scale=0.6, max_length=64, norm="pre",
    validations=5,
)  # fmt: skip
"""d_model 32 in base. On one core of a shared machine a run of base took two minutes and one of C1 less than one; by
the time of an update, A4 takes three and big, the longest, 15."""
READER_SMOKE = ClassroomSize(
    divisor=16, updates=20, batch_tokens=256, warmup=5, learning_rate_scale=0.6, max_length=64, norm="pre",
    validations=2, vocab_size=500, train_pairs=2000, valid_pairs=100,
)  # fmt: skip
"""Seconds a run: a try of the machinery, not a measurement."""
