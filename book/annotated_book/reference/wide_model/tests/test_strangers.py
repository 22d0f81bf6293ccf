"""The strangers' sentences: whole, and scored as the text says."""

from __future__ import annotations

import pytest

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


def test_scores_by_hand(read_by_hand: None) -> None:
    rows = [{"id": 1, "de": ["Das Haus.", "Ein Häuschen!"]}, {"id": 2, "de": ["Die Maus."]}]
    found = strangers.scores(["das haus", "Die Maus"], rows)
    assert found["exact"] == 2 and found["read_by_hand"] == {"wrong": 1}
    found = strangers.scores(["Ein Haus.", "Die Maus."], rows)
    assert found["exact"] == 1 and found["read_by_hand"] == {"understandable": 1}
    assert strangers.scores(["Ein Häuschen!", "Die Maus."], rows)["chrf"] == 100
