"""The classroom corpus: English-German sentence pairs from a grammar of our own, with gold word alignments.

Paper: section 5.1
"""

from annotated.data.classroom.constructions import HELD_OUT, Construction
from annotated.data.classroom.corpus import ClassroomPair, classroom_pairs, join_words
from annotated.data.classroom.counting import count_pairs

__all__ = ["HELD_OUT", "ClassroomPair", "Construction", "classroom_pairs", "count_pairs", "join_words"]
