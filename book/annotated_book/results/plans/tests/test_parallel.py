"""Chapter 35, parallel prediction: places that are independent of what is written, and of the length of a batch."""

import torch

from annotated.data import pad
from annotated.model import Transformer
from annotated_book.results.plans import translating, two_answers
from annotated_book.results.plans.parallel import (
    ParallelTransformer,
    both_ways,
    both_ways_config,
    predict_all,
    repeats,
)
from annotated_book.results.plans.training import inverse_root, train


def model() -> ParallelTransformer:
    torch.manual_seed(0)
    return ParallelTransformer(both_ways_config(8)).eval()


def test_target_tokens_are_not_read() -> None:
    source, one = both_ways(3, 4, 8, 0)
    with torch.no_grad():
        assert model()(source, one).equal(model()(source, one.flip(1)))
    torch.manual_seed(0)
    usual = Transformer(both_ways_config(8)).eval()
    with torch.no_grad():
        assert not usual(source, one).equal(usual(source, one.flip(1)))


def test_a_place_sees_all_places_and_padding_is_hidden() -> None:
    found, short = model(), torch.tensor([[5, 6, 2]])
    padded = torch.tensor([[5, 6, 2, 0, 0], [7, 5, 6, 4, 2]])
    with torch.no_grad():
        alone = found.decode_places(found.encode(short), short, 4)
        together = found.decode_places(found.encode(padded), padded, 4)
        longer = found.decode_places(found.encode(short), short, 6)
    torch.testing.assert_close(alone[0], together[0], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(longer[0, :4], alone[0], atol=1e-4)


def test_predictions_end_at_the_first_end_token() -> None:
    found = model()
    rows = [[5, 6, 2, 7], [2, 5, 5, 5], [5, 6, 7, 8]]
    logits = torch.nn.functional.one_hot(torch.tensor(rows), 12).float()
    logits[0, 0, :2] = 9.0  # pad and bos are never written
    found.decode_places = lambda memory, source, length: logits.clone()  # type: ignore[method-assign]
    assert predict_all(found, pad([[5, 2], [6, 2], [7, 2]]), 4) == [[5, 6], [], [5, 6, 7, 8]]


def test_repeats_are_counted_among_all_tokens() -> None:
    assert repeats([[5, 5, 6], [7, 7, 7]]) == 3 / 6
    assert repeats([[5, 6, 5], []]) == 0


def test_both_ways_are_the_letters_or_their_reverse() -> None:
    source, target = both_ways(400, 4, 8, 1)
    forward = (target == source).all(dim=1)
    assert forward.logical_xor((target == source.flip(1)).all(dim=1)).all()
    assert 150 < int(forward.sum()) < 250 and int(source.min()) == 4 and int(source.max()) == 11
    assert all(len(set(row)) == 4 for row in source.tolist())


def test_training_lowers_the_loss_of_both() -> None:
    for kind in (Transformer, ParallelTransformer):
        torch.manual_seed(0)
        found = kind(both_ways_config(8))
        losses = train(found, two_answers._batches(1), 40, inverse_root(3e-3, 20))
        assert len(losses) == 40 and sum(losses[-5:]) < 0.95 * sum(losses[:5]) and not found.training


def test_the_rate_rises_and_falls_as_equation_3() -> None:
    rate = inverse_root(0.01, 100)
    assert rate(50) == 0.005 and rate(100) == 0.01 and abs(rate(400) - 0.005) < 1e-12


def test_batches_of_the_parallel_model_do_not_tell_a_length() -> None:
    pairs = [([5, 6, 7], [8, 9]), ([5], [8, 9, 10, 11]), ([7, 7], [9])] * 20
    shapes = {inputs[1].size(1) for inputs, _ in _first(translating._batches(pairs, 1, True), 3)}
    assert shapes == {translating.PLACES}
    for (source, _), gold in _first(translating._batches(pairs, 1, True), 3):
        assert len(source) == len(gold)
        assert all(row[row != 0][-1] == 2 and (row == 2).sum() == 1 for row in gold)


def _first(batches: object, count: int) -> list:  # type: ignore[type-arg]
    return [batch for batch, _ in zip(batches, range(count), strict=False)]  # type: ignore[call-overload]
