"""A Transformer as a parser: it reads the sentence and writes the tree's linear form (section 6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from annotated.config import EOS, DecodingConfig
from annotated.data.batch import pad
from annotated.data.tokenizer import Tokenizer
from annotated.decoding import Hypothesis, beam_search, greedy_decode
from annotated.decoding.search import max_lengths
from annotated.model import Transformer
from annotated.parsing.classroom import penn_words
from annotated.parsing.linear import SYMBOL, Leaves, LinearFormError, linear_form, tree_from_linear
from annotated.parsing.penn import TAGS
from annotated.parsing.tree import Tree
from annotated.parsing.well_formed import WellFormed, labels_of
from annotated.parsing.written import read_written, written
from annotated.saving import CheckpointError, load_model

PAPERS = DecodingConfig(beam_size=21, alpha=0.3, extra_tokens=300)
"""How the paper searched for trees: a beam of 21, alpha 0.3, and at most 300 tokens more than the sentence has."""
BATCH = 64
"""Sentences parsed together."""


class Parse(NamedTuple):
    """What a parser wrote for a sentence."""

    tokens: list[str]
    """Of the linear form, well-formed or not."""
    tree: Tree | None
    """None if the tokens are no tree of the sentence."""
    fault: str
    """Why not, as in `LinearFormError`; 'unfinished' if the cap came first; empty if there is a tree."""
    hypothesis: Hypothesis


class Parser:
    """Model and tokenizer together, from a sentence to its tree.

    Parameters
    ----------
    model, tokenizer
        Trained on pairs of `training_line`.
    leaves
        What the model writes for a word: the word itself; 'tag', its part of speech, as the paper's released code
        does; or 'XX', as in Vinyals et al.

    Examples
    --------
    >>> from annotated.parsing import load_parser
    >>> print(load_parser()("Anna sleeps."))
    (S (NP (XX Anna)) (VP (XX sleeps)) (XX .))

    Paper: section 6.3
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, leaves: Leaves = "word") -> None:
        self.model, self.tokenizer, self.leaves = model.eval(), tokenizer, leaves
        self.labels = labels_of(tokenizer)

    def __call__(self, text: str) -> Tree:
        """The tree of a sentence. Where the linear form does not tell parts of speech, they are 'XX'."""
        tree = self.parse([penn_words(text)])[0].tree
        assert tree is not None, "a search among well-formed trees found none"
        return tree

    def parse(
        self, sentences: Sequence[Sequence[str]], decoding: DecodingConfig = PAPERS, well_formed: bool = True
    ) -> list[Parse]:
        """Parse many sentences, of similar length together.

        Parameters
        ----------
        sentences
            The words of each, as its tree has them.
        decoding
            How to search; a beam of 1 is greedy search.
        well_formed
            Write nothing but trees with one leaf for each word.
        """
        order = sorted(range(len(sentences)), key=lambda n: len(sentences[n]))
        found: list[Parse | None] = [None] * len(sentences)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            parsed = self._parse([sentences[n] for n in batch], decoding, well_formed)
            for n, one in zip(batch, parsed, strict=True):
                found[n] = one
        return [one for one in found if one is not None]

    def _parse(self, sentences: Sequence[Sequence[str]], decoding: DecodingConfig, well_formed: bool) -> list[Parse]:
        device = next(self.model.parameters()).device
        texts = self.tokenizer.encode_batch([" ".join(words) for words in sentences])
        source = pad([[*ids, EOS] for ids in texts], device)
        limits = max_lengths(self.model, source, decoding.max_new_tokens, decoding.extra_tokens)
        mask = self.well_formed(sentences, limits) if well_formed else None
        most, extra = decoding.max_new_tokens, decoding.extra_tokens
        if decoding.beam_size == 1:
            best = greedy_decode(self.model, source, most, alpha=decoding.alpha, extra_tokens=extra, allowed=mask)
        else:
            size, alpha = decoding.beam_size, decoding.alpha
            found = beam_search(self.model, source, size, alpha, most, extra_tokens=extra, allowed=mask)
            best = [hypotheses[0] for hypotheses in found]
        return [self._read(hypothesis, words) for hypothesis, words in zip(best, sentences, strict=True)]

    def well_formed(self, sentences: Sequence[Sequence[str]], limits: Sequence[int]) -> WellFormed:
        """The mask for sentences, given as their words, with caps of so many tokens."""
        every = {"tag": tuple(sorted(TAGS)), "XX": (SYMBOL,)}.get(self.leaves)
        leaves = [[every or (word,) for word in words] for words in sentences]
        return WellFormed(self.tokenizer, self.labels, leaves, limits)

    def _read(self, hypothesis: Hypothesis, words: Sequence[str]) -> Parse:
        tokens = read_written(self.tokenizer.decode(hypothesis.tokens))
        if not hypothesis.finished:
            return Parse(tokens, None, "unfinished", hypothesis)
        try:
            return Parse(tokens, tree_from_linear(tokens, words, self.leaves), "", hypothesis)
        except LinearFormError as error:
            return Parse(tokens, None, error.fault, hypothesis)


def training_line(tree: Tree, leaves: Leaves = "word") -> str:
    """The line of a TSV file that teaches a tree: the words, a tab, and the linear form as text."""
    return f"{' '.join(tree.words())}\t{written(linear_form(tree, leaves))}\n"


def load_parser(path: str | Path | None = None, leaves: Leaves = "word") -> Parser:
    """A parser from a model folder; without one, the parser of the classroom's treebank that the package ships.

    That one's weights have two bytes each: `save_pretrained` wrote them of `model.half()`.

    Raises
    ------
    CheckpointError
        If a file is missing or damaged, or the model was saved without its tokenizer.
    """
    folder = Path(str(files("annotated") / "assets" / "parsing")) if path is None else Path(path)
    model, tokenizer = load_model(folder)
    if tokenizer is None:
        raise CheckpointError(f"{folder} holds a model without its tokenizer, which a parser needs")
    return Parser(model, tokenizer, leaves)
