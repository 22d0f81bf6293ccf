"""Perplexity per token and per word, and a whole evaluation."""

from __future__ import annotations

import math

import pytest
import torch

from annotated import Transformer, Translator, tiny
from annotated.data import Tokenizer
from annotated.evaluation import evaluate, perplexity

PAIRS = [("The cat sleeps.", "Die Katze schläft."), ("Yes.", "Ja."), ("A big dog and a cat.", "Ein großer Hund.")]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train([text for pair in PAIRS for text in pair] * 2, 280)


def make_model(tokenizer: Tokenizer) -> Transformer:
    torch.manual_seed(0)
    shape = {"d_model": 16, "d_ff": 24, "num_heads": 2, "d_k": 8, "d_v": 8, "dropout": 0.5}
    return Transformer(tiny(vocab_size=tokenizer.vocab_size, **shape))


def test_a_model_that_knows_nothing_is_as_perplexed_as_its_vocabulary_is_large(tokenizer: Tokenizer) -> None:
    model = make_model(tokenizer)
    torch.nn.init.zeros_(model.embedding.weight)  # every logit is zero
    measured = perplexity(model, tokenizer, PAIRS)
    tokens = sum(len(tokenizer.encode(target)) + 1 for _, target in PAIRS)
    assert measured.tokens == tokens
    assert measured.words == 3 + 1 + 3 + 3  # words, and an end for each sentence
    assert measured.per_token == pytest.approx(tokenizer.vocab_size, rel=1e-5)
    assert measured.per_word == pytest.approx(tokenizer.vocab_size ** (tokens / 10), rel=1e-4)


def test_it_is_the_loss_of_the_references_without_dropout_or_smoothing(tokenizer: Tokenizer) -> None:
    model = make_model(tokenizer).train()
    measured = perplexity(model, tokenizer, PAIRS, batch_tokens=1)  # a longer sentence still fits
    assert model.training
    translator = Translator(model, tokenizer)
    expected = -sum(translator.score(source, target).log_probability for source, target in PAIRS)
    assert measured.loss_sum == pytest.approx(expected, rel=1e-5)
    assert measured.loss == pytest.approx(math.log(measured.per_token))
    assert perplexity(model, tokenizer, PAIRS, layout="padded").loss_sum == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="no pairs"):
        perplexity(model, tokenizer, [])


def test_an_evaluation_holds_scores_and_translations(tokenizer: Tokenizer) -> None:
    translator = Translator(make_model(tokenizer), tokenizer)
    pairs = [(source, translator(source)) for source, _ in PAIRS]
    result = evaluate(translator, pairs)
    assert result.translations == [target for _, target in pairs]
    assert result.scores.exact_match == 100.0
    numbers = result.to_dict()
    assert numbers["token_perplexity"] == result.perplexity.per_token
    assert {"bleu", "chrf", "signature", "chrf_signature", "word_perplexity", "loss", "tokens"} <= set(numbers)
