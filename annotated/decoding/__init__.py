"""Decoding: the search for translations. Read hypothesis, then search, greedy, pools, beam."""

from annotated.decoding.beam import BeamSearch, beam_search
from annotated.decoding.ensemble import Ensemble
from annotated.decoding.greedy import greedy_decode
from annotated.decoding.hypothesis import Hypothesis, length_penalty
from annotated.decoding.search import Allowed, State, StepModel

__all__ = [
    "Allowed",
    "BeamSearch",
    "Ensemble",
    "Hypothesis",
    "State",
    "StepModel",
    "beam_search",
    "greedy_decode",
    "length_penalty",
]
