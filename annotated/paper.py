"""The paper as data: sections, equations, figures and Tables 1-4, and the map from each of them to code.

"Attention Is All You Need", Vaswani et al., NeurIPS 2017, arXiv 1706.03762; the figures are those of
version 7. The map is not written by hand: `implementations` collects the `Paper:` lines that the library's
docstrings end with. What has no code has a reason in `REASONS`; a test fails on what has neither.
This module imports nothing of ours, and reading the map imports no module that it names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Section:
    """A section of the paper."""

    number: str
    """As printed, '3.2.1' for one; 'appendix' and 'early appendix' for the two that have no number."""
    title: str

    @property
    def url(self) -> str:
        """Where the section stands on the web."""
        if not self.number[0].isdigit():
            return "https://arxiv.org/abs/1706.03762" + ("v1" if self.number == "early appendix" else "v7")
        marks = zip(("S", "SS", "SSS"), self.number.split("."), strict=False)
        return "https://arxiv.org/html/1706.03762v7#" + ".".join(mark + number for mark, number in marks)


@dataclass(frozen=True)
class Equation:
    """A numbered equation."""

    number: int
    title: str
    tex: str
    section: str


@dataclass(frozen=True)
class Figure:
    """A figure; the title is ours, shorter than the paper's caption."""

    number: int
    title: str
    section: str


SECTIONS = tuple(
    Section(number, title)
    for number, title in (
        ("1", "Introduction"),
        ("2", "Background"),
        ("3", "Model Architecture"),
        ("3.1", "Encoder and Decoder Stacks"),
        ("3.2", "Attention"),
        ("3.2.1", "Scaled Dot-Product Attention"),
        ("3.2.2", "Multi-Head Attention"),
        ("3.2.3", "Applications of Attention in our Model"),
        ("3.3", "Position-wise Feed-Forward Networks"),
        ("3.4", "Embeddings and Softmax"),
        ("3.5", "Positional Encoding"),
        ("4", "Why Self-Attention"),
        ("5", "Training"),
        ("5.1", "Training Data and Batching"),
        ("5.2", "Hardware and Schedule"),
        ("5.3", "Optimizer"),
        ("5.4", "Regularization"),
        ("6", "Results"),
        ("6.1", "Machine Translation"),
        ("6.2", "Model Variations"),
        ("6.3", "English Constituency Parsing"),
        ("7", "Conclusion"),
        ("appendix", "Attention Visualizations"),
        ("early appendix", "Two feed-forward layers = attention over parameters (versions 1 and 2 only)"),
    )
)

EQUATIONS = (
    Equation(
        1,
        "Scaled dot-product attention",
        r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        "3.2.1",
    ),
    Equation(2, "Position-wise feed-forward network", r"\mathrm{FFN}(x) = \max(0, xW_1 + b_1)\,W_2 + b_2", "3.3"),
    Equation(
        3,
        "Learning rate",
        r"lrate = d_\text{model}^{-0.5} \cdot \min(step^{-0.5},\; step \cdot warmup^{-1.5})",
        "5.3",
    ),
)

FIGURES = (
    Figure(1, "The Transformer", "3"),
    Figure(2, "Scaled dot-product attention (left) and multi-head attention (right)", "3.2"),
    Figure(3, "A head that follows a long-distance dependency", "appendix"),
    Figure(4, "Two heads apparently involved in anaphora resolution", "appendix"),
    Figure(5, "Two heads that follow the structure of the sentence", "appendix"),
)


class Complexity(NamedTuple):
    """A row of Table 1: n is the length, d the width, k the kernel size, r the size of the neighbourhood."""

    layer: str
    complexity_per_layer: str
    sequential_operations: str
    maximum_path_length: str


class TranslationResult(NamedTuple):
    """A row of Table 2: BLEU on newstest2014 and training cost in floating-point operations."""

    system: str
    bleu_en_de: float | None
    bleu_en_fr: float | None
    flops_en_de: float | None
    flops_en_fr: float | None


class Variation(NamedTuple):
    """A row of Table 3: what it changes in the base model, and its results on newstest2013."""

    row: str
    change: str
    perplexity: float
    """Per word piece, so not comparable with perplexities per word."""
    bleu: float
    parameters: float | None
    """In millions; the paper leaves it out where it equals the base model's."""


class Parsing(NamedTuple):
    """A row of Table 4: F1 on section 23 of the Wall Street Journal."""

    parser: str
    training: str
    f1: float


TABLE_1 = (
    Complexity("Self-attention", "O(n² · d)", "O(1)", "O(1)"),
    Complexity("Recurrent", "O(n · d²)", "O(n)", "O(n)"),
    Complexity("Convolutional", "O(k · n · d²)", "O(1)", "O(log_k(n))"),
    Complexity("Self-attention (restricted)", "O(r · n · d)", "O(1)", "O(n/r)"),
)

TABLE_2 = (
    TranslationResult("ByteNet", 23.75, None, None, None),
    TranslationResult("Deep-Att + PosUnk", None, 39.2, None, 1.0e20),
    TranslationResult("GNMT + RL", 24.6, 39.92, 2.3e19, 1.4e20),
    TranslationResult("ConvS2S", 25.16, 40.46, 9.6e18, 1.5e20),
    TranslationResult("MoE", 26.03, 40.56, 2.0e19, 1.2e20),
    TranslationResult("Deep-Att + PosUnk ensemble", None, 40.4, None, 8.0e20),
    TranslationResult("GNMT + RL ensemble", 26.30, 41.16, 1.8e20, 1.1e21),
    TranslationResult("ConvS2S ensemble", 26.36, 41.29, 7.7e19, 1.2e21),
    TranslationResult("Transformer (base model)", 27.3, 38.1, 3.3e18, 3.3e18),
    TranslationResult("Transformer (big)", 28.4, 41.8, 2.3e19, 2.3e19),
)
"""The paper prints one cost for each Transformer, across both language pairs. For the big model on
English-French the table says 41.8, as the abstract does from version 5 on; the text of section 6.1 says 41.0."""

TABLE_3 = {
    variation.row: variation
    for variation in (
        Variation("base", "", 4.92, 25.8, 65),
        Variation("A1", "h=1, d_k=512, d_v=512", 5.29, 24.9, None),
        Variation("A2", "h=4, d_k=128, d_v=128", 5.00, 25.5, None),
        Variation("A3", "h=16, d_k=32, d_v=32", 4.91, 25.8, None),
        Variation("A4", "h=32, d_k=16, d_v=16", 5.01, 25.4, None),
        Variation("B1", "d_k=16", 5.16, 25.1, 58),
        Variation("B2", "d_k=32", 5.01, 25.4, 60),
        Variation("C1", "N=2", 6.11, 23.7, 36),
        Variation("C2", "N=4", 5.19, 25.3, 50),
        Variation("C3", "N=8", 4.88, 25.5, 80),
        Variation("C4", "d_model=256, d_k=32, d_v=32", 5.75, 24.5, 28),
        Variation("C5", "d_model=1024, d_k=128, d_v=128", 4.66, 26.0, 168),
        Variation("C6", "d_ff=1024", 5.12, 25.4, 53),
        Variation("C7", "d_ff=4096", 4.75, 26.2, 90),
        Variation("D1", "P_drop=0.0", 5.77, 24.6, None),
        Variation("D2", "P_drop=0.2", 4.95, 25.5, None),
        Variation("D3", "eps_ls=0.0", 4.67, 25.3, None),
        Variation("D4", "eps_ls=0.2", 5.47, 25.7, None),
        Variation("E1", "learned positions instead of sinusoids", 4.92, 25.7, None),
        Variation("big", "d_model=1024, d_ff=4096, h=16, P_drop=0.3, steps=300000", 4.33, 26.4, 213),
    )
}

TABLE_4 = (
    Parsing("Vinyals & Kaiser et al. (2014)", "WSJ only, discriminative", 88.3),
    Parsing("Petrov et al. (2006)", "WSJ only, discriminative", 90.4),
    Parsing("Zhu et al. (2013)", "WSJ only, discriminative", 90.4),
    Parsing("Dyer et al. (2016)", "WSJ only, discriminative", 91.7),
    Parsing("Transformer (4 layers)", "WSJ only, discriminative", 91.3),
    Parsing("Zhu et al. (2013)", "semi-supervised", 91.3),
    Parsing("Huang & Harper (2009)", "semi-supervised", 91.3),
    Parsing("McClosky et al. (2006)", "semi-supervised", 92.1),
    Parsing("Vinyals & Kaiser et al. (2014)", "semi-supervised", 92.1),
    Parsing("Transformer (4 layers)", "semi-supervised", 92.7),
    Parsing("Luong et al. (2015)", "multi-task", 93.0),
    Parsing("Dyer et al. (2016)", "generative", 93.3),
)

TABLES: dict[int, tuple[tuple[object, ...], ...]] = {1: TABLE_1, 2: TABLE_2, 3: tuple(TABLE_3.values()), 4: TABLE_4}
TABLE_TITLES = {
    1: "Path lengths, complexity and sequential operations of layer types",
    2: "BLEU and training cost on newstest2014",
    3: "Variations on the base model",
    4: "English constituency parsing",
}

_HEADINGS = {
    1: ("layer", "complexity per layer", "sequential operations", "maximum path length"),
    2: ("system", "BLEU EN-DE", "BLEU EN-FR", "FLOPs EN-DE", "FLOPs EN-FR"),
    3: ("row", "change", "perplexity", "BLEU", "parameters (millions)"),
    4: ("parser", "training", "F1"),
}

SETTINGS: dict[str, dict[str, float]] = {
    "base": {"steps": 100_000, "seconds_per_step": 0.4, "hours": 12, "gpus": 8, "averaged_checkpoints": 5},
    "big": {"steps": 300_000, "seconds_per_step": 1.0, "hours": 84, "gpus": 8, "averaged_checkpoints": 20},
    "FLOP/s": {"K80": 2.8e12, "K40": 3.7e12, "M40": 6.0e12, "P100": 9.5e12},
    "data": {
        "pairs_en_de": 4_500_000,
        "pairs_en_fr": 36_000_000,
        "vocabulary_en_de": 37_000,
        "vocabulary_en_fr": 32_000,
        "source_tokens_per_batch": 25_000,
        "target_tokens_per_batch": 25_000,
    },
    "optimizer": {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9, "warmup_steps": 4000},
    "regularization": {"P_drop": 0.1, "P_drop_big_en_fr": 0.1, "eps_ls": 0.1},
    "translation": {"beam_size": 4, "alpha": 0.6, "extra_length": 50, "minutes_between_checkpoints": 10},
    "parsing": {
        "layers": 4,
        "d_model": 1024,
        "sentences": 40_000,
        "vocabulary": 16_000,
        "sentences_semi_supervised": 17_000_000,
        "vocabulary_semi_supervised": 32_000,
        "beam_size": 21,
        "alpha": 0.3,
        "extra_length": 300,
    },
}
"""The numbers that the paper's text states, by topic; vocabularies and corpora are 'about' so large. 'FLOP/s' is the
footnote of section 6.1: what one GPU of each kind is taken to sustain in single precision."""

_LEFT = ("section 1", "section 2", "section 4", "section 7", "Table 1", "early appendix")
REASONS = dict.fromkeys(_LEFT, "its code is that of the book's pages") | {"appendix": "it is figures 3-5"}
"""Why a part of the paper has no code (yet); a part that has code may not stand here."""

_BESIDE = ("analysis",)
"""Parts of the library that measure what the others compute."""
_KINDS = {"section": "section", "equation": "equation", "figure": "figure", "table": "Table"}
_NUMBER = r"\d+(?:\.\d+)*"
_SEPARATOR = r"\s*(?:-|–|,\s*and\b|,|\band\b|\bto\b|&)\s*"
_LIST = re.compile(rf"\b(section|equation|figure|table)s?\s+({_NUMBER}(?:{_SEPARATOR}{_NUMBER})*)", re.IGNORECASE)
_RANGE = re.compile(rf"({_NUMBER})\s*(?:-|–|\bto\b)\s*({_NUMBER})")
_APPENDIX = re.compile(r"\b(early appendix|appendix)\b", re.IGNORECASE)
_LINE = re.compile(r"^[ \t]*Paper:[ \t]*(.+(?:\n[ \t]*\S.*)*)", re.MULTILINE)


def entries() -> dict[str, str]:
    """Everything that can be referred to, in the paper's order: 'section 3.2.1', 'equation 1', ... and its title."""
    sections = {s.number if s.number.endswith("appendix") else f"section {s.number}": s.title for s in SECTIONS}
    equations = {f"equation {equation.number}": equation.title for equation in EQUATIONS}
    figures = {f"figure {figure.number}": figure.title for figure in FIGURES}
    tables = {f"Table {number}": title for number, title in TABLE_TITLES.items()}
    return sections | equations | figures | tables


def parse(text: str) -> list[str]:
    """The references in a `Paper:` line, as keys of `entries` (not checked to exist), in order and without repeats.

    What stands in parentheses, and words that follow a number (', row base'), are comments.

    Examples
    --------
    >>> parse("sections 3.2.1 (weights), 5.2-5.4; equation 1; Table 3, row base")
    ['section 3.2.1', 'section 5.2', 'section 5.3', 'section 5.4', 'equation 1', 'Table 3']
    """
    text = re.sub(r"\([^()]*\)", "", text)
    found = [key.lower() for key in _APPENDIX.findall(text)]
    for kind, numbers in _LIST.findall(text):
        expanded = _RANGE.sub(lambda match: ", ".join(_between(*match.groups())), numbers)
        found += [f"{_KINDS[kind.lower()]} {number}" for number in re.findall(_NUMBER, expanded)]
    return list(dict.fromkeys(found))


def _between(first: str, last: str) -> list[str]:
    """The numbers of a range: '5.2', '5.4' -> 5.2, 5.3, 5.4; ranges across parents keep their two ends."""
    (*parent, start), (*other, end) = first.split("."), last.split(".")
    if parent != other or int(start) > int(end):
        return [first, last]
    return [".".join([*parent, str(number)]) for number in range(int(start), int(end) + 1)]


def _documented(body: list[ast.stmt], name: str) -> Iterator[tuple[str, str]]:
    """Public definitions and constants of a module or class, each with its docstring."""
    for node, following in zip_longest(body, body[1:]):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield f"{name}.{node.name}", ast.get_docstring(node) or ""
            if isinstance(node, ast.ClassDef):
                yield from _documented(node.body, f"{name}.{node.name}")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            text = following.value.value if isinstance(following.value, ast.Constant) else None
            if isinstance(target, ast.Name) and not target.id.startswith("_") and isinstance(text, str):
                yield f"{name}.{target.id}", text


def paper_lines(package: Path | None = None) -> dict[str, str]:
    """The `Paper:` line of every public object that has one, by dotted name; nothing is imported.

    Parameters
    ----------
    package
        The folder of a package; None for this library, without this module, whose data are the paper's own.
    """
    folder = package or Path(__file__).parent
    lines: dict[str, str] = {}
    for file in sorted(folder.rglob("*.py")):
        parts = [folder.name, *file.relative_to(folder).with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if package is None and file == Path(__file__):
            continue
        if "Paper:" not in (text := file.read_text(encoding="utf-8")):
            continue  # most files: parsing all of them takes seconds
        tree = ast.parse(text, filename=str(file))
        for dotted, docstring in [(name, ast.get_docstring(tree) or ""), *_documented(tree.body, name)]:
            if match := _LINE.search(docstring):
                lines[dotted] = " ".join(match[1].split())
    return lines


def implementations(package: Path | None = None) -> dict[str, list[str]]:
    """The map from the paper to code: each key of `entries`, and the public objects that are this part of the paper.

    What the paper's own code has comes first; what measures a model comes last.
    """
    found: dict[str, list[str]] = {key: [] for key in entries()}
    for name, line in paper_lines(package).items():
        for key in parse(line):
            if key in found:
                found[key].append(name)
    return {key: sorted(names, key=lambda name: name.split(".")[1] in _BESIDE) for key, names in found.items()}


def unknown_references(package: Path | None = None) -> list[str]:
    """`Paper:` lines that name nothing, or something that the paper does not have; empty if all is well."""
    known, problems = entries(), []
    for name, line in paper_lines(package).items():
        keys = parse(line)
        problems += [f"{name}: the paper has no {key}" for key in keys if key not in known]
        if not keys:
            problems.append(f"{name}: no section, equation, figure or table in 'Paper: {line}'")
    return problems


def unmapped(package: Path | None = None) -> list[str]:
    """Parts of the paper with neither code nor a reason; a section is also covered by its subsections' code."""
    code = implementations(package)
    covered = {key for key in code if any(names and (k + ".").startswith(key + ".") for k, names in code.items())}
    return [key for key in code if key not in covered and key not in REASONS]


def table(number: int) -> pd.DataFrame:
    """One of Tables 1-4 as a DataFrame: `table(3).loc["B1", "BLEU"]`. A cell that the paper leaves empty is NaN.

    Its first column, the index, is the layer, the system, the row or the parser. BLEU and F1 lie between 0 and 100,
    FLOPs are those of the whole training, perplexities are per word piece.

    Raises
    ------
    ValueError
        If there is no such table.
    """
    import pandas as pd  # here: reading the map imports nothing heavy

    if number not in TABLES:
        raise ValueError(f"the paper has Tables 1 to 4, not {number}")
    first, *others = _HEADINGS[number]
    return pd.DataFrame.from_records(TABLES[number], columns=[first, *others]).set_index(first)
