"""Names that no training sentence has: a model can only copy them. How many it copies whole."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

PEOPLE = (
    "Aoife Piotr Wojciech Tsering Kerenza Xiomara Siobhan Nguyen Oyelaran Bjarki Zsófia Dmitri Ewelina Tariq Ngozi"
    " Leilani Mehmet Svetlana Kwabena Ananya Thibault Ioana Hiroko Rangi Makena Yevhen Saoirse Anouk Tamsin Ximena"
).split()
PLACES = (
    "Ouagadougou Antananarivo Glimmerton Reykjavik Katowice Swansea Tashkent Windhoek Oaxaca Chattanooga Zagreb"
    " Wolverhampton Maracaibo Yokohama Trondheim Bratislava Timbuktu Albuquerque Gdynia Kathmandu"
).split()
FRAMES = {
    "My name is {}.": PEOPLE, "I met {} yesterday.": PEOPLE,
    "I come from {}.": PLACES, "{} is a beautiful city.": PLACES,
}  # fmt: skip


def copied(translate: Callable[[list[str]], list[str]], known: Set[str]) -> dict[str, Any]:
    """Put each name that is not `known` into each of its sentences, and look for it in the translation.

    Parameters
    ----------
    translate
        English sentences to German ones.
    known
        Words that a model was trained on, in lower case.

    Returns
    -------
    dict of str to Any
        'sentences', 'copied', and 'changed', the translations of those whose name was not copied.
    """
    asked = [
        (frame.format(name), name) for frame, names in FRAMES.items() for name in names if name.lower() not in known
    ]
    found = translate([sentence for sentence, _ in asked])
    changed = {sentence: text for (sentence, name), text in zip(asked, found, strict=True) if name not in text}
    return {"sentences": len(asked), "copied": len(asked) - len(changed), "changed": changed}
