"""Constituency parsing: trees and their linear form, treebanks, grammars with a CKY parser, F1 of labelled brackets."""

from annotated.parsing.binarise import binarised, restored
from annotated.parsing.cky import parse
from annotated.parsing.classroom import classroom_trees, penn_words, sentence
from annotated.parsing.grammar import Grammar, read_grammar
from annotated.parsing.lexicon import Lexicon, read_lexicon
from annotated.parsing.linear import LinearFormError, linear_form, tree_from_linear
from annotated.parsing.parser import Parse, Parser, load_parser, training_line
from annotated.parsing.penn import penn_trees, plain_tree, wsj_trees
from annotated.parsing.score import BracketScore, bracket_score, score_by_label, score_by_length
from annotated.parsing.tree import BracketError, Tree, read_tree, read_trees
from annotated.parsing.well_formed import WellFormed
from annotated.parsing.written import read_written, written

__all__ = [
    "BracketError",
    "BracketScore",
    "Grammar",
    "Lexicon",
    "LinearFormError",
    "Parse",
    "Parser",
    "Tree",
    "WellFormed",
    "binarised",
    "bracket_score",
    "classroom_trees",
    "linear_form",
    "load_parser",
    "parse",
    "penn_trees",
    "penn_words",
    "plain_tree",
    "read_grammar",
    "read_lexicon",
    "read_tree",
    "read_trees",
    "read_written",
    "restored",
    "score_by_label",
    "score_by_length",
    "sentence",
    "training_line",
    "tree_from_linear",
    "written",
    "wsj_trees",
]
