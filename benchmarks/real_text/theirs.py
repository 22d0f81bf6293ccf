"""The Annotated Transformer's own code path: model, batches, masks, loss, schedule and loop, lifted from its script.

Nothing of it is copied or changed. From its `load_trained_model` come 32 sentences a batch, padding to 72
and base_lr 1.0; from `settings.Settings` what both sides share. It gets its training text encoded already
(its own tokenisation is spaCy's, on the fly), and `accum_iter` 1, which suits an hour better than its 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader

from annotated.config import BOS, EOS, PAD
from benchmarks.peers.repositories import annotated_transformer
from benchmarks.real_text.corpus import Validation, encoded_training_pairs
from benchmarks.real_text.settings import Budget, Log, Settings

THEIR_BOS, THEIR_EOS, THEIR_PAD = 0, 1, 2
"""Its `collate_batch` writes these ids: <s>, </s>, <blank>."""


def their_ids(vocab_size: int) -> Tensor:
    """Their id of each of ours; only the three special tokens move."""
    table = torch.arange(vocab_size)
    table[[BOS, EOS, PAD]] = torch.tensor([THEIR_BOS, THEIR_EOS, THEIR_PAD])
    return table


class Side:
    """Its training, with a stopwatch in the iterator that feeds it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.code = annotated_transformer()
        self.code["print"] = lambda *_: None  # its loop prints every 40 steps
        torch.manual_seed(settings.seed)
        sizes = settings.vocab_size, settings.vocab_size, settings.layers, settings.d_model, settings.d_ff
        self.model = self.code["make_model"](*sizes, settings.heads, settings.dropout)
        self.table = their_ids(settings.vocab_size)
        self.validation = Validation(settings)
        self.log = Log(Path(settings.recorded) / "annotated_transformer.jsonl")
        self.state = self.code["TrainState"]()
        self.recent_loss = self.recent_tokens = 0.0

    def log_probabilities(self, source: Tensor, target_in: Tensor) -> Tensor:
        """For the common validation: its source starts with bos, its ids are renumbered, and back."""
        bos = source.new_full((len(source), 1), BOS)
        source, target = self.table[torch.cat((bos, source), dim=1)], self.table[target_in]
        batch = self.code["Batch"](source, torch.cat((target, target[:, :1]), dim=1), THEIR_PAD)  # it cuts the last off
        hidden = self.model(batch.src, batch.tgt, batch.src_mask, batch.tgt_mask)
        return self.model.generator(hidden).index_select(-1, self.table)

    def validate(self) -> None:
        """One line of the log."""
        with self.budget.paused():
            self.model.eval()
            loss = self.validation.loss(self.log_probabilities)
            self.model.train()
            train = self.recent_loss / self.recent_tokens if self.recent_tokens else None
            counts = {"update": self.state.accum_step, "sentences": self.state.samples}
            rate = self.optimizer.param_groups[0]["lr"]
        times = {"cpu_s": self.budget.cpu, "wall_s": self.budget.wall}
        tokens = int(self.state.tokens)
        self.log.write(**times, **counts, target_tokens=tokens, rate=rate, train_loss=train, valid_nll=loss)
        self.recent_loss = self.recent_tokens = 0.0

    def batches(self) -> Iterator[Any]:
        """Its own loader and collate function, until the budget is spent."""
        pairs: Any = encoded_training_pairs(self.settings)  # a list is a dataset too

        def same(ids: numpy.ndarray) -> Any:
            return ids  # the ids of words are the same in both numberings: only special tokens move

        def collate(rows: list[Any]) -> tuple[Tensor, Tensor]:
            how = {"max_padding": self.settings.padding, "pad_id": THEIR_PAD}
            lists = [(source.tolist(), target.tolist()) for source, target in rows]
            return self.code["collate_batch"](lists, same, same, same, same, torch.device("cpu"), **how)

        loader: DataLoader[Any] = DataLoader(
            pairs, batch_size=self.settings.sentences, shuffle=True, collate_fn=collate
        )
        self.budget.start()
        while True:
            for source, target in loader:
                if self.budget.spent:
                    return
                if self.budget.validation_due():
                    self.validate()
                yield self.code["Batch"](source, target, THEIR_PAD)

    def train(self) -> None:
        """Its `train_worker`, less the GPU."""
        settings, code = self.settings, self.code
        criterion = code["LabelSmoothing"](
            size=settings.vocab_size, padding_idx=THEIR_PAD, smoothing=settings.smoothing
        )
        compute = code["SimpleLossCompute"](self.model.generator, criterion)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)

        def rate(step: int) -> float:
            return code["rate"](step, settings.d_model, factor=settings.rate_scale, warmup=settings.warmup)

        def counted(*arguments: Any) -> tuple[Tensor, Tensor]:
            loss, node = compute(*arguments)
            self.recent_loss += float(loss)
            self.recent_tokens += float(arguments[-1])
            return loss, node

        schedule = LambdaLR(optimizer=self.optimizer, lr_lambda=rate)
        self.budget = Budget(settings)
        self.model.train()
        how = {"mode": "train+log", "accum_iter": settings.accumulate, "train_state": self.state}
        code["run_epoch"](self.batches(), self.model, counted, self.optimizer, schedule, **how)
        self.validate()


def main(settings: Settings) -> None:
    """Train for the budget."""
    Side(settings).train()
