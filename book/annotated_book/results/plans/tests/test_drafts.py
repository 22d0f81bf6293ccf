"""Chapter 35, draft and verify: greedy search's tokens whatever is guessed, by hand and on the classroom."""

import random
from collections.abc import Sequence

import pytest
import torch

import annotated
from annotated.classroom import classroom_pairs
from annotated.config import EOS, tiny
from annotated.data import pad
from annotated.decoding import Hypothesis, greedy_decode
from annotated.model import Transformer
from annotated_book.results.plans.drafting import KnownDraft, ModelDraft, TripleDraft, copy_draft
from annotated_book.results.plans.verifying import BlockReader, accepted, draft_and_verify

SENTENCES = [range(40), pytest.param(range(40, 200), marks=pytest.mark.nightly)]


@pytest.mark.parametrize(
    ("draft", "choices", "expected"),
    [
        ([5, 6, 7], [5, 6, 7, 8], [5, 6, 7, 8]),
        ([5, 6, 7], [5, 9, 7, 8], [5, 9]),
        ([5, 6, 7], [9, 6, 7, 8], [9]),
        ([], [4], [4]),
        ([5, 2, 7], [5, 2, 7, 8], [5, 2]),
        ([5, 6], [2, 6, 7], [2]),
    ],
)
def test_a_pass_keeps_right_guesses_and_one_token_of_its_own(
    draft: list[int], choices: list[int], expected: list[int]
) -> None:
    assert accepted(draft, choices) == expected


@pytest.fixture(scope="module", params=SENTENCES, ids=["40 sentences", "160 more"])
def sentences(request: pytest.FixtureRequest) -> list[list[int]]:
    encode, numbers = annotated.load("classroom").tokenizer.encode, request.param
    return [[*encode(pair.source), EOS] for pair in classroom_pairs("test", numbers.stop)][numbers.start :]


@pytest.fixture(scope="module")
def greedy(sentences: list[list[int]]) -> list[Hypothesis]:
    return greedy_decode(annotated.load("classroom").model, pad(sentences))


def hostile(source: Sequence[int], written: Sequence[int], count: int) -> list[int]:
    """Anything, special tokens too, and more than was asked for."""
    drawn = random.Random(sum(source) + len(written))
    return [drawn.choice((0, 1, 2, 3, drawn.randrange(2000))) for _ in range(count + 3)]


def wavering(source: Sequence[int], written: Sequence[int], count: int) -> list[int]:
    return hostile(source, written, count)[: random.Random(len(written)).randrange(count + 1)]


def same(sentences: list[list[int]], greedy: list[Hypothesis], draft: object, block: int) -> None:
    model = annotated.load("classroom").model
    for source, expected in zip(sentences, greedy, strict=True):
        found = draft_and_verify(model, source, draft, block)  # type: ignore[arg-type]
        assert (found.tokens, found.finished) == (expected.tokens, expected.finished)
        assert found.steps == sum(found.kept) + len(found.kept)  # what is kept, and one token of its own in each pass
        assert all(kept <= made <= block for kept, made in zip(found.kept, found.drafted, strict=True))


@pytest.mark.parametrize("block", [0, 1, 5])
def test_any_draft_leaves_greedy_searchs_tokens(
    sentences: list[list[int]], greedy: list[Hypothesis], block: int
) -> None:
    same(sentences, greedy, hostile, block)
    same(sentences[::3], greedy[::3], wavering, block)
    same(sentences[::3], greedy[::3], copy_draft, block)


def test_known_drafts_are_the_two_extremes(sentences: list[list[int]], greedy: list[Hypothesis]) -> None:
    model, block = annotated.load("classroom").model, 3
    answers = {tuple(s): h.tokens for s, h in zip(sentences, greedy, strict=True)}
    for source in sentences[::4]:
        steps = len(answers[tuple(source)]) + 1
        right = draft_and_verify(model, source, KnownDraft(answers), block)
        wrong = draft_and_verify(model, source, KnownDraft(answers, 1, 2000), block)
        assert right.kept[:-1] == [block] * (len(right.kept) - 1)
        assert len(right.kept) == -(-steps // (block + 1))
        assert sum(wrong.kept) == 0 and len(wrong.kept) == steps
        assert right.tokens == wrong.tokens == answers[tuple(source)]


def test_a_guessed_end_is_not_read_and_not_counted(sentences: list[list[int]], greedy: list[Hypothesis]) -> None:
    """It would save nothing: the pass that reads all tokens before the end writes the end token by itself."""
    model = annotated.load("classroom").model
    for source, hypothesis in zip(sentences[::4], greedy[::4], strict=True):
        answer = hypothesis.tokens

        def only_the_end(source: Sequence[int], written: Sequence[int], count: int) -> list[int]:
            return [EOS, *answer[:count]] if len(written) == len(answer) else []  # noqa: B023 (called in this turn)

        found = draft_and_verify(model, source, only_the_end, 4)
        assert found.tokens == answer and found.finished
        assert sum(found.drafted) == sum(found.kept) == 0 and len(found.kept) == len(answer) + 1
        whole = draft_and_verify(model, source, KnownDraft({tuple(source): answer}), len(answer) + 1)
        assert whole.drafted == whole.kept == [len(answer)]


def test_the_model_drafting_for_itself_is_always_right(sentences: list[list[int]], greedy: list[Hypothesis]) -> None:
    model = annotated.load("classroom").model
    draft = ModelDraft(model)
    for source, expected in zip(sentences[::4], greedy[::4], strict=True):
        found = draft_and_verify(model, source, draft, 4)
        assert found.tokens == expected.tokens and found.kept == found.drafted


def test_a_small_models_draft_is_its_own_greedy_search(sentences: list[list[int]]) -> None:
    """Its cache is cut back where guesses were refused; what it guesses next must be as if it had read all anew."""
    torch.manual_seed(3)
    small = Transformer(tiny(vocab_size=2000, d_model=16, d_ff=16, num_heads=2, d_k=8, d_v=8, dropout=0.0))
    draft, drawn = ModelDraft(small), random.Random(0)
    for source in sentences[:5]:
        written: list[int] = []
        for _ in range(6):
            expected = greedy_decode(small, pad([source]), len(written) + 3, prefix=[written])[0]
            row = [*expected.tokens, EOS] if expected.finished else expected.tokens
            assert draft(source, written, 3) == row[len(written) :]
            written += [drawn.randrange(3, 2000) for _ in range(drawn.randrange(1, 4))]


def test_the_cap_is_that_of_greedy_search(sentences: list[list[int]]) -> None:
    model = annotated.load("classroom").model
    for source in sentences[::6]:
        for cap in (1, 3, 6):
            expected = greedy_decode(model, pad([source]), cap)[0]
            found = draft_and_verify(model, source, hostile, 4, cap)
            assert (found.tokens, found.finished) == (expected.tokens, expected.finished)


def test_blocks_and_single_steps_give_the_same_logits(sentences: list[list[int]]) -> None:
    model, source = annotated.load("classroom").model, torch.tensor([sentences[0]])
    target = [1, 7, 300, 41, 9, 1200]
    with torch.no_grad():
        whole = model(source, torch.tensor([target]))[0]
        reader = BlockReader(model, source, 8)
        torch.testing.assert_close(reader.read(target[:2]), whole[:2], rtol=1e-4, atol=1e-4)
        reader.read([5, 5, 5])
        reader.forget(2)
        torch.testing.assert_close(reader.read(target[2:5]), whole[2:5], rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(reader.read(target[5:]), whole[5:], rtol=1e-4, atol=1e-4)


def test_the_models_mode_is_put_back(sentences: list[list[int]]) -> None:
    model = annotated.load("classroom").model
    model.train()
    try:
        draft_and_verify(model, sentences[0], copy_draft)
        assert model.training and all(module.training for module in model.modules())
    finally:
        model.eval()


def test_triples_guess_what_followed_most_often() -> None:
    draft = TripleDraft([[5, 6, 7], [5, 6, 7], [5, 6, 8], [9, 6, 8], [9, 6, 8]])
    assert draft([], [5, 6], 1) == [7] and draft([], [9, 6], 1) == [8]
    assert draft([], [4, 6], 1) == [8]  # of one token before, 8 followed three times
    assert draft([], [], 9) == [5, 6, 7, EOS]
    assert draft([], [5, 77], 3) == []


def test_copies_follow_the_last_place_of_a_token() -> None:
    assert copy_draft([4, 5, 6, 2], [8, 5], 2) == [6, 2]
    assert copy_draft([4, 5, 6, 2], [5, 9, 5], 2) == [9, 5]
    assert copy_draft([4, 5], [8], 3) == []
