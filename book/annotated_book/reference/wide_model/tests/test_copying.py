"""Which names count as copied."""

from __future__ import annotations

from typing import Any

from annotated.classroom.wide import fillers, nominals, wide_pairs
from annotated_book.reference.wide_model.copying import FRAMES, PEOPLE, PLACES, copied


def test_a_copy_is_the_whole_name() -> None:
    everything = copied(lambda english: english, set())
    assert everything["copied"] == everything["sentences"] == 2 * len(PEOPLE) + 2 * len(PLACES)
    cut = copied(lambda english: [text.replace("Piotr", "Piot").replace("Zagreb", "zagreb") for text in english], set())
    assert len(cut["changed"]) == 4 == cut["sentences"] - cut["copied"]
    assert cut["changed"]["My name is Piotr."] == "My name is Piot."


def test_a_name_that_was_trained_on_is_not_asked_for() -> None:
    known = {name.lower() for name in [*PEOPLE, *PLACES]} - {"piotr"}
    asked = copied(lambda english: ["" for _ in english], known)["changed"]
    assert list(asked) == [frame.format("Piotr") for frame, names in FRAMES.items() if names is PEOPLE]


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
