"""The record has every head of the shipped model, and one of its rows is measured again."""

from __future__ import annotations

import pytest

import annotated
from annotated.analysis.ablation import all_heads, next_token_loss, silenced
from annotated.analysis.heads import HeadCorpus
from annotated.classroom import classroom_pairs
from annotated_book import recorded
from annotated_book.attention.atlas import experiment as head_atlas


def test_the_record_fits_the_shipped_model() -> None:
    results = recorded("atlas").results
    translator = annotated.load("classroom")
    heads = [(row["kind"], row["layer"], row["head"]) for row in results["heads"]]
    assert heads == all_heads(translator.model) and results["sentences"] == head_atlas.SENTENCES
    corpus = HeadCorpus.of(classroom_pairs("test", head_atlas.SENTENCES), translator.tokenizer)
    row = results["heads"][heads.index(("cross", 2, 0))]
    with silenced(translator.model, ("cross", 2, 0)):
        assert next_token_loss(translator.model, corpus) == pytest.approx(row["loss"], rel=1e-3)
