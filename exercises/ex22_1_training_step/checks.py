"""Checks of ex22-1: what one update does, by the gradient of cross-entropy written out.

Paper: sections 5.1, 5.3
"""

from typing import Any

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded

Batch = tuple[Tensor, Tensor, Tensor]


class Setting:
    """Weights, and micro-batches of uneven sizes."""

    def __init__(self, case: Case, sizes: list[tuple[int, int]], padding: bool = False) -> None:
        self.vocabulary, self.width = 7 + case.between(0, 4), 3 + case.between(0, 2)
        self.embedding = case.normal(self.vocabulary, self.width)
        self.projection = case.normal(self.width, self.vocabulary)
        self.rate = 0.1 * case.between(1, 8)
        self.batches = [self.batch(case, *size, padding) for size in sizes]

    def batch(self, case: Case, sentences: int, length: int, padding: bool) -> Batch:
        """Ids from 3 on, between bos and eos; with padding, each sentence but the first ends earlier."""
        source = case.integers(3, self.vocabulary, sentences, 4)
        words = case.integers(3, self.vocabulary, sentences, length)
        target_in = torch.cat((torch.ones(sentences, 1, dtype=torch.long), words[:, :-1]), dim=1)
        target_out = words.clone()
        for b in range(1, sentences if padding else 0):
            cut = case.between(1, length - 1)
            target_in[b, cut:] = target_out[b, cut:] = 0
        return source, target_in, target_out

    def run(self, student: Student, stale: float = 0.0) -> tuple[Any, Tensor, Tensor, Any]:
        """Loss, embedding, projection and rates after the answer's step."""
        step = student.given("run", self.embedding, self.projection, stale)
        loss, embedding, projection, rates = step(student.value("train_step"), list(self.batches), self.rate)
        return loss, embedding, projection, rates

    def expected(self) -> tuple[float, Tensor, Tensor]:
        """Loss and weights after one step, by sentence: the gradient at the logits is softmax minus one-hot."""
        e, w = self.embedding.double(), self.projection.double()
        grad_e, grad_w, total, tokens = torch.zeros_like(e), torch.zeros_like(w), 0.0, 0
        for source, target_in, target_out in self.batches:
            for row, read, gold in zip(source, target_in, target_out, strict=True):
                length = int((gold != 0).sum())  # padding is at the end
                read, gold = read[:length], gold[:length]
                hidden = e[read] + e[row].mean(0)
                p = (2 * hidden @ w).softmax(-1)
                total, tokens = total - float(p[range(length), gold].log().sum()), tokens + length
                p[range(length), gold] -= 1
                grad_w += 2 * hidden.T @ p
                back = 2 * p @ w.T
                grad_e.index_add_(0, read, back)
                grad_e.index_add_(0, row, (back.sum(0) / len(row)).expand(len(row), -1))
        return total / tokens, (e - self.rate * grad_e / tokens).float(), (w - self.rate * grad_w / tokens).float()

    def check_weights(self, got: tuple[Any, Any, Any, Any]) -> None:
        """The embedding and the projection after the step."""
        _, embedding, projection = self.expected()
        shapes = [list(batch[2].shape) for batch in self.batches]
        expect.close(got[1], embedding, "the embedding after the step", target_shapes=shapes, rate=self.rate)
        expect.close(got[2], projection, "the projection after the step", target_shapes=shapes, rate=self.rate)


@graded(points=2, levels=2)
def one_batch(student: Student, case: Case) -> None:
    """One batch without padding: the step follows the mean gradient, in training mode, at the rate asked for."""
    setting = Setting(case, [(2, 3 + case.between(0, 3))])
    setting.check_weights(setting.run(student))


@graded(points=2, levels=2)
def padding_counts_for_nothing(student: Student, case: Case) -> None:
    """Padded positions are neither in the sum nor in the number of tokens."""
    setting = Setting(case, [(3, 5 + case.between(0, 2))], padding=True)
    setting.check_weights(setting.run(student))


@graded(points=2, levels=2)
def tokens_weigh_alike(student: Student, case: Case) -> None:
    """In micro-batches of different sizes every token weighs the same."""
    setting = Setting(case, [(1, 2), (4, 5 + case.between(0, 3)), (2, 3)])
    setting.check_weights(setting.run(student))


@graded(points=1, levels=2)
def old_gradients_are_gone(student: Student, case: Case) -> None:
    """What `.grad` held before has no part in the step."""
    setting = Setting(case, [(2, 3)])
    setting.check_weights(setting.run(student, stale=5.0))


@graded(points=1, levels=2)
def the_loss_is_returned(student: Student, case: Case) -> None:
    """The loss is the cross-entropy per token of the whole update, before the step."""
    setting = Setting(case, [(1, 2), (3, 4 + case.between(0, 3))], padding=True)
    loss = setting.run(student)[0]
    expect.true(isinstance(loss, float), f"the loss is {type(loss).__name__}; return a float, without its graph")
    expect.number(loss, setting.expected()[0], "the loss, in nats per token", atol=1e-5)
