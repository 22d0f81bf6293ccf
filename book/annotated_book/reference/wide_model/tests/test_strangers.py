"""The strangers' sentences: whole, and scored as the text says."""

from __future__ import annotations

from typing import Any

import pytest

from annotated_book.record import recorded
from annotated_book.reference.wide_model import strangers


@pytest.fixture
def read_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {(1, "Ein Haus."): {"verdict": "understandable"}, (2, "Die Maus"): {"verdict": "wrong"}}
    monkeypatch.setattr(strangers, "verdicts", lambda: known)


def test_the_halves_share_nothing() -> None:
    halves = [strangers.sentences(half) for half in strangers.HALVES]
    assert [len(half) for half in halves] == [200, 200]
    assert not {row["id"] for row in halves[0]} & {row["id"] for row in halves[1]}
    english = [strangers.plain(row["en"]) for half in halves for row in half]
    assert len(set(english)) == 400
    assert all(row["de"] and all(row["de"]) for half in halves for row in half)


def test_scores_by_hand() -> None:
    rows = [{"id": 1, "de": ["Das Haus.", "Ein Häuschen!"]}, {"id": 2, "de": ["Die Maus."]}]
    assert strangers.scores(["das haus", "Die Maus"], rows)["exact"] == 2
    assert strangers.scores(["Ein Haus.", "Die Maus."], rows)["exact"] == 1
    assert strangers.scores(["Ein Häuschen!", "Die Maus."], rows)["chrf"] == 100


def test_a_verdict_counts_for_the_translation_that_was_read(read_by_hand: None, monkeypatch: Any) -> None:
    rows = [{"id": 1, "en": "A house.", "de": ["Das Haus."]}, {"id": 2, "en": "The mouse.", "de": ["Die Maus."]}]
    monkeypatch.setattr(strangers, "sentences", lambda half: rows)
    both = strangers.judged("looked_at", {"1": "Ein Haus.", "2": "Die Maus"})
    assert [(row["en"], row["verdict"]) for row in both] == [("The mouse.", "wrong"), ("A house.", "understandable")]
    assert strangers.judged("looked_at", {"1": "Ein Haus.", "2": "Die Mäuse"}) == both[1:]


def test_each_verdict_is_one_of_three_and_of_a_translation_that_is_recorded() -> None:
    recorded_texts = recorded("wide_model").results["translations"]
    known = {(int(id), text) for texts in recorded_texts.values() for id, text in texts.items()}
    assert set(strangers.verdicts()) <= known
    assert {row["verdict"] for row in strangers.verdicts().values()} <= {*strangers.VERDICTS}
    assert len(strangers.judged("held_out", recorded_texts["held_out"])) >= 100
