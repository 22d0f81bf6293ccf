"""Names that no training sentence has: a model can only copy them. How many it copies whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

PEOPLE = (
    "Aoife Piotr Wojciech Tsering Kerenza Xiomara Siobhan Nguyen Oyelaran Bjarki Zsófia Dmitri Ewelina Tariq Ngozi"
    " Leilani Mehmet Svetlana Kwabena Ananya Thibault Ioana Hiroko Rangi Makena Yevhen Saoirse Anouk Tamsin Ximena"
).split()
PLACES = (
    "Ouagadougou Antananarivo Glimmerton Reykjavik Katowice Swansea Tashkent Windhoek Oaxaca Chattanooga Zagreb"
    " Wolverhampton Maracaibo Yokohama Trondheim Bratislava Timbuktu Albuquerque Gdynia Kathmandu"
).split()
PEOPLE_OF_PARTS = (
    "Jean-Luc Anne-Marie O'Brien D'Angelo Mary-Kate O'Malley Hans-Peter Lloyd-Webber N'Golo Karl-Heinz".split()
)
PLACES_OF_PARTS = (
    "Baden-Baden", "Castrop-Rauxel", "Rio de Janeiro", "San Sebastian", "Stoke-on-Trent", "Port-au-Prince",
    "Los Alamos", "Buenos Aires", "Saint-Tropez", "L'Aquila",
)  # fmt: skip
KINDS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "one word": (PEOPLE, PLACES), "of parts": (PEOPLE_OF_PARTS, PLACES_OF_PARTS),
}  # fmt: skip
"""People and places; names of parts have a hyphen, an apostrophe or a space."""
FRAMES = ("My name is {}.", "I met {} yesterday."), ("I come from {}.", "{} is a beautiful city.")
"""Those of a person, those of a place."""


def copied(translate: Callable[[list[str]], list[str]], is_known: Callable[[str], bool], kind: str) -> dict[str, Any]:
    """Put each name that is not known into each of its sentences, and look for it in the translation.

    Parameters
    ----------
    translate
        English sentences to German ones.
    is_known
        Whether a model was trained on a name.
    kind
        Of the names, from `KINDS`.

    Returns
    -------
    dict of str to Any
        'sentences', 'copied', and 'changed', the translations of those whose name was not copied.
    """
    asked = [
        (frame.format(name), name)
        for frames, names in zip(FRAMES, KINDS[kind], strict=True)
        for frame in frames
        for name in names
        if not is_known(name)
    ]
    found = translate([sentence for sentence, _ in asked])
    changed = {sentence: text for (sentence, name), text in zip(asked, found, strict=True) if name not in text}
    return {"sentences": len(asked), "copied": len(asked) - len(changed), "changed": changed}
