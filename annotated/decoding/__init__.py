"""Decoding: the search for translations. Read hypothesis, then search, greedy, pools, beam, search_tree.

Paper: section 6.1
"""

from annotated.decoding.attention import with_attention
from annotated.decoding.beam import BeamSearch, beam_search
from annotated.decoding.ensemble import Ensemble
from annotated.decoding.greedy import greedy_decode
from annotated.decoding.hypothesis import Hypothesis, length_penalty
from annotated.decoding.search import State, StepModel
from annotated.decoding.search_tree import Node, SearchTree, record_search

__all__ = [
    "BeamSearch",
    "Ensemble",
    "Hypothesis",
    "Node",
    "SearchTree",
    "State",
    "StepModel",
    "beam_search",
    "greedy_decode",
    "length_penalty",
    "record_search",
    "with_attention",
]
