"""Which names count as copied."""

from __future__ import annotations

from typing import Any

from annotated.classroom.wide import fillers, nominals, wide_pairs
from annotated_book.reference.wide_model.copying import FRAMES, PEOPLE, PLACES, copied


def test_a_copy_is_the_whole_name() -> None:
    everything = copied(lambda english: english, lambda name: False, "one word")
    assert everything["copied"] == everything["sentences"] == 2 * len(PEOPLE) + 2 * len(PLACES)
    cut = copied(
        lambda english: [text.replace("Piotr", "Piot").replace("Zagreb", "zagreb") for text in english],
        lambda name: False,
        "one word",
    )
    assert len(cut["changed"]) == 4 == cut["sentences"] - cut["copied"]
    assert cut["changed"]["My name is Piotr."] == "My name is Piot."


def test_a_name_of_parts_is_copied_with_all_of_them() -> None:
    found = copied(lambda english: [text.replace("de J", "J") for text in english], lambda name: False, "of parts")
    assert list(found["changed"]) == ["I come from Rio de Janeiro.", "Rio de Janeiro is a beautiful city."]


def test_a_name_that_was_trained_on_is_not_asked_for() -> None:
    asked = copied(lambda english: ["" for _ in english], lambda name: name != "Piotr", "one word")["changed"]
    assert list(asked) == [frame.format("Piotr") for frame in FRAMES[0]]


def test_one_training_sentence_in_eleven_has_an_invented_name(monkeypatch: Any) -> None:
    names: list[str] = []

    def invented(draw: Any, write: Any = nominals.invented) -> str:
        names.append(write(draw))
        return names[-1]

    for module in (nominals, fillers):
        monkeypatch.setattr(module, "invented", invented)
    found = 0
    for pair in wide_pairs("train", 4000, seed=5):
        found += any(name in pair.target for name in names)
        names.clear()
    assert 10 < 4000 / found < 13
