"""Which names count as copied."""

from __future__ import annotations

import re
from typing import Any

from annotated.classroom.wide import names, wide_pairs
from annotated.classroom.wide.lexicon import pairs_of
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


def test_one_training_sentence_in_ten_has_an_invented_name_and_one_in_thirty_of_parts(monkeypatch: Any) -> None:
    drawn: list[str] = []

    def noting(write: Any) -> Any:
        def noted(*arguments: Any) -> Any:
            name = write(*arguments)
            drawn.append(name if isinstance(name, str) else name[1])
            return name

        return noted

    known = {
        name for group in ("female", "male", "surname", "city") for pair in pairs_of("names", group) for name in pair
    }
    for maker in ("first_name", "surname", "city"):
        monkeypatch.setattr(names, maker, noting(getattr(names, maker)))
    new = parts = 0
    for pair in wide_pairs("train", 6000, seed=5):
        found = [name for name in drawn if name in pair.target and name not in known]
        new += bool(found)
        parts += any(re.search(r"[-' ]|[a-z][A-Z]", name) for name in found)
        drawn.clear()
    assert 9 < 6000 / new < 11 and 25 < 6000 / parts < 36, (6000 / new, 6000 / parts)
