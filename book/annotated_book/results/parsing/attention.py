"""Attention from each closing bracket to its opening one: how much of its weight a head of the decoder puts there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from annotated.config import EOS
from annotated.data.batch import pad
from annotated.decoding import Hypothesis
from annotated.decoding.search import with_attention
from annotated.parsing import Tree, linear_form
from annotated.parsing.parser import Parser
from annotated.parsing.written import written

NEAREST = 3
"""Tokens that must lie between the two brackets: one just before is easily looked at."""


def bracket_pairs(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Indices (opening, closing) of each constituent's brackets in a linear form, in the order of closing.

    Examples
    --------
    >>> bracket_pairs("(S (NP XX )NP XX )S".split())
    [(1, 3), (0, 5)]
    """
    opened: list[int] = []
    found = []
    for at, token in enumerate(tokens):
        if token.startswith("("):
            opened.append(at)
        elif token.startswith(")"):
            found.append((opened.pop(), at))
    return found


def bracket_attention(parser: Parser, gold: Sequence[Tree], nearest: int = NEAREST) -> list[dict[str, Any]]:
    """For each head of the decoder's self-attention the mean share of weight on the opening bracket.

    Parameters
    ----------
    gold
        Trees whose linear forms the decoder reads.
    nearest
        Pairs with fewer tokens between them do not count.

    Returns
    -------
    list of dict
        'layer' and 'head' (from 1); 'writing', the share in the step that writes the closing bracket; 'reading', in the
        step that reads it; 'chance', what equal weights would put there in writing; 'pairs', how many were measured.

    Paper: section 6.3
    """
    sums: Tensor | None = None
    chance, pairs = 0.0, 0
    for tree in gold:
        tokens = linear_form(tree, parser.leaves)
        wanted = [pair for pair in bracket_pairs(tokens) if pair[1] - pair[0] > nearest]
        if not wanted:
            continue
        # Inside the text, behind the one piece "x": the normal form takes a space off a text's beginning.
        inside = parser.tokenizer.encode_batch(["x " * (n > 0) + written([token]) for n, token in enumerate(tokens)])
        pieces = [ids[n > 0 :] for n, ids in enumerate(inside)]
        starts = torch.tensor([0, *itertools.accumulate(map(len, pieces))])  # where each token's first piece stands
        source = pad([[*parser.tokenizer.encode(" ".join(tree.words())), EOS]])
        hypothesis = Hypothesis([id for one in pieces for id in one], 0.0, 0.0)
        maps = with_attention(parser.model, source, [hypothesis])[0].attention
        assert maps is not None
        weights = torch.stack(maps.decoder)  # [L, H, T, T]; column k + 1 reads piece k
        opening, closing = (starts[torch.tensor(side)] for side in zip(*wanted, strict=True))
        both = torch.stack([weights[:, :, closing + late, opening + 1].sum(dim=-1) for late in (0, 1)])
        sums = both if sums is None else sums + both
        chance += float((1 / (closing + 1)).sum())
        pairs += len(wanted)
    if sums is None:
        return []
    shares = (sums / pairs).tolist()
    return [
        {"layer": layer + 1, "head": head + 1, "writing": round(shares[0][layer][head], 4),
         "reading": round(shares[1][layer][head], 4), "chance": round(chance / pairs, 4), "pairs": pairs}
        for layer in range(len(shares[0])) for head in range(len(shares[0][0]))
    ]  # fmt: skip
