"""The three scores against their formulas, one pair at a time."""

from __future__ import annotations

import pytest
import torch

from annotated_book.why.before_2017.scores import AdditiveScore, DotScore, GeneralScore

Q, K, A = 5, 7, 3


def loop(score, s: torch.Tensor, h: torch.Tensor, one) -> None:
    with torch.no_grad():
        found = score(s, score.prepare(h))
        for b in range(len(s)):
            for j in range(h.size(1)):
                torch.testing.assert_close(found[b, j], one(s[b], h[b, j]))


def test_additive() -> None:
    torch.manual_seed(0)
    score = AdditiveScore(Q, K, A)
    w, u, v = score.w.weight, score.u.weight, score.v
    loop(score, torch.randn(2, Q), torch.randn(2, 4, K), lambda s, h: v.dot(torch.tanh(w.mv(s) + u.mv(h))))


def test_dot() -> None:
    torch.manual_seed(1)
    loop(DotScore(K, K, A), torch.randn(2, K), torch.randn(2, 4, K), lambda s, h: s.dot(h))
    with pytest.raises(ValueError, match="equal widths"):
        DotScore(Q, K, A)


def test_general() -> None:
    torch.manual_seed(2)
    score = GeneralScore(Q, K, A)
    loop(score, torch.randn(2, Q), torch.randn(2, 4, K), lambda s, h: s.dot(score.w.weight.mv(h)))


def test_parameters() -> None:
    counts = [sum(p.numel() for p in kind(K, K, A).parameters()) for kind in (AdditiveScore, DotScore, GeneralScore)]
    assert counts == [2 * A * K + A, 0, K * K]
