"""A recorded search, packed, unpacked and played back, is the search."""

from __future__ import annotations

import pytest
import torch

from annotated.config import EOS
from annotated.decoding import beam_search, greedy_decode
from annotated_book.decoding.beam_search.playback import Playback
from annotated_book.decoding.beam_search.search_record import Continuations, Forced, SearchRecord, pack, unpack
from annotated_book.decoding.beam_search.search_tree import record_search
from tests.decoding.test_invariants import VOCAB, random_model, random_source, same


def recorded_tree(model, source: torch.Tensor) -> Continuations:
    tree = Continuations()
    for k in (5, 4, 3, 2, 1):
        tree.add(record_search(model, source, k, 2.0, num_return=k, extra_tokens=6))
    return tree


def test_playing_back_gives_the_searches_of_the_model() -> None:
    model = random_model(11)
    sources = [random_source(seed, [length]) for seed, length in ((1, 4), (2, 6))]
    trees = [recorded_tree(model, source) for source in sources]
    playback = Playback([(s[0].tolist(), t) for s, t in zip(sources, trees, strict=True)], VOCAB)
    for source in sources:
        for k, alpha in ((1, 0.6), (2, 0.0), (3, 1.0), (5, 2.0)):
            found, expected = (
                beam_search(m, source, k, alpha, num_return=k, extra_tokens=6) for m in (playback, model)
            )
            same(found[0], expected[0])
    together = torch.zeros(2, 6, dtype=torch.long)
    for row, source in enumerate(sources):
        together[row, : source.size(1)] = source[0]
    greedy = greedy_decode(playback, together, extra_tokens=6)
    same(greedy, [greedy_decode(model, source, extra_tokens=6)[0] for source in sources])
    with pytest.raises(ValueError, match="no search was recorded"):
        beam_search(playback, torch.tensor([[4, EOS]]))


def test_a_record_survives_packing() -> None:
    tree = recorded_tree(random_model(4), random_source(4, [4]))
    forced = [None if token == EOS else Forced(n, [5, EOS][: n % 3], -0.5 * n) for n, token in enumerate(tree.tokens)]
    record = SearchRecord(tree, forced, [4, 5, EOS], [-0.5, -1.25, -2.0], [1, 7, 2])
    (one, two) = unpack(pack([record, record]))
    assert one == two and one.forced == forced and one.reference == [4, 5, EOS] and one.ranks == [1, 7, 2]
    assert one.tree.tokens == tree.tokens and one.tree.parents == tree.parents and one.steps == record.steps
    assert one.tree.log_probabilities == tree.log_probabilities
    node = tree.parents.index(max(tree.parents))
    assert tree.find(tree.path(node)) == node and tree.find([99]) is None
