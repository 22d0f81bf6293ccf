"""Checks of ex18-1: what a decoder reads in training, what it must write, and what counts.

Paper: section 3.1
"""

import math

import torch
from torch import Tensor

from annotated_grader import Case, Student, expect, graded


def words(case: Case, count: int, special: tuple[int, ...]) -> list[int]:
    """Some ids that are not special; on the larger cases 0, 1 and 2 may be among them."""
    ids = [token for token in range(5 if case.level == 0 else 0, 30) if token not in special]
    return [ids[int(place)] for place in case.integers(0, len(ids) if case.level == 0 else 8, count)]


def batch(case: Case) -> tuple[list[list[int]], Tensor, dict[str, int]]:
    """Sentences of different lengths as lists and as a padded rectangle, and three special ids."""
    longest = case.between(3, 6)
    sizes = [longest - 2, longest] + [case.between(1, longest - 1) for _ in range(case.level)]
    bos, eos, pad = (1, 2, 0) if case.level == 0 else case.permutation(5)[:3].tolist()
    sentences = [words(case, n, (bos, eos, pad)) for n in sizes]
    rectangle = torch.full((len(sizes), longest), pad)
    for b, ids in enumerate(sentences):
        for t, token in enumerate(ids):
            rectangle[b, t] = token
    return sentences, rectangle, {"bos": bos, "eos": eos, "pad": pad}


def outputs(sentences: list[list[int]], eos: int, pad: int) -> Tensor:
    """What must be written, by lists."""
    width = 1 + max(len(ids) for ids in sentences)
    return torch.tensor([ids + [eos] + [pad] * (width - len(ids) - 1) for ids in sentences])


@graded(points=2, levels=3)
def ends_each_sentence(student: Student, case: Case) -> None:
    """The end token stands right behind each sentence, and the padding after it."""
    sentences, target, ids = batch(case)
    got = student.call("add_end", target, ids["eos"], ids["pad"])
    expected = outputs(sentences, ids["eos"], ids["pad"])
    expect.equal(got, expected, "add_end(...)", target=target, eos=ids["eos"], pad=ids["pad"])
    after = student.given("input_after")(student.value("add_end"), target, ids["eos"], ids["pad"])
    expect.equal(after, target, "target, after add_end was called with it", eos=ids["eos"], pad=ids["pad"])


def shifted(student: Student, case: Case) -> tuple[Tensor, list[list[int]], dict[str, int], Tensor]:
    """What the answer lets the decoder read."""
    sentences, _, ids = batch(case)
    target_out = outputs(sentences, ids["eos"], ids["pad"])
    got = student.call("shift_right", target_out, **ids)
    return expect.tensor(got, "shift_right(...)", target_out.shape, target_out=target_out), sentences, ids, target_out


@graded(points=1, levels=3, claim="C22")
def begins_with_the_start_mark(student: Student, case: Case) -> None:
    """The first slot of every row reads the start mark."""
    got, sentences, ids, target_out = shifted(student, case)
    expected = torch.full((len(sentences),), ids["bos"])
    expect.equal(got[:, 0], expected, "the first column", target_out=target_out, your_input=got, **ids)


@graded(points=2, levels=3, claim="C22")
def reads_the_token_before(student: Student, case: Case) -> None:
    """Every other real slot reads the token that the slot before it must write."""
    got, sentences, ids, target_out = shifted(student, case)
    for b, sentence in enumerate(sentences):
        expected = torch.tensor(sentence)
        expect.equal(got[b, 1 : len(sentence) + 1], expected, f"slots 1 to {len(sentence)} of row {b}",
                     target_out=target_out, your_input=got, **ids)  # fmt: skip


@graded(points=1, levels=3)
def reads_padding_after_the_end(student: Student, case: Case) -> None:
    """Behind each sentence the decoder reads padding: no end token."""
    got, sentences, ids, target_out = shifted(student, case)
    for b, sentence in enumerate(sentences):
        rest = got[b, len(sentence) + 1 :]
        expected = torch.full_like(rest, ids["pad"])
        expect.equal(rest, expected, f"row {b} behind its sentence", target_out=target_out, your_input=got, **ids)
    after = student.given("input_after")(student.value("shift_right"), target_out, *ids.values())
    expect.equal(after, target_out, "target_out, after shift_right was called with it", **ids)


def compare_loss(student: Student, case: Case, padded: bool) -> None:
    """The mean over all tokens, token by token."""
    sentences, _, ids = batch(case)
    if not padded:
        longest = max(len(sentence) for sentence in sentences)
        sentences = [words(case, longest, tuple(ids.values())) for _ in sentences]
    target_out = outputs(sentences, ids["eos"], ids["pad"])
    logits = 2 * case.normal(*target_out.shape, 30)
    terms = []
    for b, sentence in enumerate(sentences):
        for t, token in enumerate([*sentence, ids["eos"]]):
            row = logits[b, t].tolist()
            terms.append(math.log(sum(math.exp(x) for x in row)) - row[token])
    got = student.call("mean_loss", logits, target_out, ids["pad"])
    expect.number(got, sum(terms) / len(terms), "mean_loss(...)", target_out=target_out, pad=ids["pad"])


@graded(points=2, levels=3)
def loss_of_all_tokens(student: Student, case: Case) -> None:
    """Sentences of one length: the mean negative log-probability of each token, the end token among them."""
    compare_loss(student, case, padded=False)


@graded(points=2, levels=3)
def loss_without_padding(student: Student, case: Case) -> None:
    """Sentences of different lengths: each *token* counts alike, and padding not at all."""
    compare_loss(student, case, padded=True)
