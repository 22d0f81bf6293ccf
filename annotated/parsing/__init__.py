"""Constituency parsing: trees and their linear form, treebanks, and F1 of labelled brackets."""

from annotated.parsing.classroom import classroom_trees, penn_words, sentence
from annotated.parsing.linear import LinearFormError, linear_form, tree_from_linear
from annotated.parsing.penn import penn_trees, plain_tree, wsj_trees
from annotated.parsing.score import BracketScore, bracket_score, score_by_label, score_by_length
from annotated.parsing.tree import BracketError, Tree, read_tree, read_trees

__all__ = [
    "BracketError",
    "BracketScore",
    "LinearFormError",
    "Tree",
    "bracket_score",
    "classroom_trees",
    "linear_form",
    "penn_trees",
    "penn_words",
    "plain_tree",
    "read_tree",
    "read_trees",
    "score_by_label",
    "score_by_length",
    "sentence",
    "tree_from_linear",
    "wsj_trees",
]
