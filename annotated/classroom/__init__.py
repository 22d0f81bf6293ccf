"""The classroom corpus: English-German sentence pairs from a grammar of our own, with gold word alignments."""

from annotated.classroom.constructions import HELD_OUT, Construction
from annotated.classroom.corpus import ClassroomPair, bracketed_pairs, classroom_pairs, join_words
from annotated.classroom.counting import count_pairs

__all__ = [
    "HELD_OUT",
    "ClassroomPair",
    "Construction",
    "bracketed_pairs",
    "classroom_pairs",
    "count_pairs",
    "join_words",
]
