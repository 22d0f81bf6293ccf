"""The directive `numbers`: a formula's letters as fields, and what the formula gives for the numbers in them.

    :::{numbers} learning-rate
    :::

The fields start with the values of the paper's base model, or with values of ours, which are marked. The results that
the page shows without scripts are computed here with the library. `formula_numbers.js` computes them again when a field
changes; a test holds it to what is here. With `:drives:` the fields change the numbers of the table of results above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import torch
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from annotated import learning_rate, sinusoidal_encoding
from annotated.decoding.hypothesis import length_penalty
from annotated.model.feed_forward import PositionwiseFeedForward
from annotated.training.loss import smoothed_target
from annotated_book.why.table_1.complexity import printed
from page_kit.formulas.tex import mathml
from page_kit.raw_html import raw


@dataclass(frozen=True)
class Field:
    """A letter of a formula that the reader may set."""

    tex: str
    words: str
    value: float
    least: float
    most: float
    step: str = "1"
    ours: bool = False
    """Whether the first value is chosen here; otherwise it is the paper's, of the base model."""


@dataclass(frozen=True)
class Numbers:
    """A formula's fields, the results that it names, in TeX, and what computes them."""

    fields: tuple[Field, ...]
    results: tuple[tuple[str, str], ...]
    """The sign of each result, in TeX, and what it is, in words."""
    compute: Callable[..., tuple[float, ...]]
    above: str = "Your numbers in the table above"
    """What stands over the fields that drive a table of results."""


_D = Field(r"d_\text{model}", "width of the model", 512, 2, 8192, "2")


def weights_of_two(d_k: float) -> tuple[float, ...]:
    """Standard deviation of a dot product, and the larger of two weights whose scores differ by it, twice."""
    spread = math.sqrt(d_k)
    unscaled = torch.tensor([spread, 0.0], dtype=torch.float64)
    return spread, unscaled.softmax(0)[0].item(), (unscaled / spread).softmax(0)[0].item()


def heads(d: float, h: float) -> tuple[float, ...]:
    """Width of a head, and the weights of all projections of a layer with h heads.

    Raises
    ------
    ValueError
        If h does not divide d: the library refuses such a model, too.
    """
    if d % h:
        raise ValueError(f"{h:g} does not divide {d:g}")
    width = int(d) // int(h)
    return width, 3 * int(h) * int(d) * width + int(h) * width * int(d)


def feed_forward(d: float, inner: float) -> tuple[float, ...]:
    """Numbers in the matrices of a feed-forward network, and in its biases."""
    with torch.device("meta"):
        parts = list(PositionwiseFeedForward(int(d), int(inner), 0.0).parameters())
    return tuple(float(sum(p.numel() for p in parts if p.dim() == size)) for size in (2, 1))


def position(pos: float, pair: float, d: float) -> tuple[float, ...]:
    """Sine and cosine of a pair at a position, and the wavelength.

    Raises
    ------
    ValueError
        If there is no such pair: d columns have d / 2.
    """
    if pair > d / 2 - 1:
        raise ValueError(f"pair: from 0 to {d / 2 - 1:g}, whole")
    angle = pos / 10000 ** (2 * pair / d)
    return math.sin(angle), math.cos(angle), 2 * math.pi * 10000 ** (2 * pair / d)


def operations(n: float, d: float, k: float, r: float) -> tuple[float, ...]:
    """Table 1 without the constants that O hides."""
    layers = ("self-attention", "restricted", "recurrent", "separable", "dilated")
    return tuple(float(printed(layer, int(n), int(d), int(k), int(r))) for layer in layers)


def smoothing(epsilon: float, size: float) -> tuple[float, ...]:
    """Targets of the right token and of each other, and the entropy of the target, below which no loss can fall."""
    right, other = smoothed_target(epsilon, int(size))
    entropy = -sum(p * math.log(p) * times for p, times in ((right, 1), (other, size - 1)) if p > 0)
    return right, other, entropy


def wrong_index(*scores: float) -> tuple[float, ...]:
    """Weights of the keys; the one weight, where i means the key itself; the weights' sum, where it means the first."""
    values = torch.tensor(scores, dtype=torch.float64)
    powers = values.exp()
    sum_of_misprint = (powers / (len(scores) * powers[0])).sum().item()
    return (*values.softmax(0).tolist(), 1 / len(scores), sum_of_misprint)


def word_share(d: float) -> tuple[float, ...]:
    """Share of the word in the squared length of word and position, for the factors 1, root of d, and d."""
    position = sinusoidal_encoding(2, int(d))[1].double().square().sum().item()
    return tuple(factor**2 / (factor**2 + position) for factor in (1.0, math.sqrt(d), d))


def bleu(translation: float, reference: float, *precisions: float) -> tuple[float, ...]:
    """Brevity penalty, and BLEU from 0 to 100."""
    penalty = min(1.0, math.exp(1 - reference / translation))
    return penalty, 100 * penalty * math.prod(precisions) ** (1 / len(precisions))


OURS = ' <small class="numbers-ours">ours</small>'
"""Behind a first value that the paper does not have."""
FORMULAS = {
    "root": Numbers(
        (Field("d_k", "width of a head's keys", 64, 1, 4096),),
        (
            (r"\sqrt{d_k}", "standard deviation of the dot product"),
            (r"w", "weight of a key whose dot product is that much larger than that of the only other key"),
            (r"w_{\text{scaled}}", "the same weight, scores divided by the root"),
        ),
        weights_of_two,
    ),
    "heads": Numbers(
        (_D, Field("h", "heads", 8, 1, 64)),
        ((r"d_k = d_v", "width of a head"), (r"4\,h\,d_\text{model}\,d_k", "weights in the four projections")),
        heads,
    ),
    "feed-forward": Numbers(
        (_D, Field("d_{ff}", "inner width", 2048, 1, 65536)),
        ((r"2\,d_\text{model}\,d_{ff}", "weights"), (r"d_\text{model} + d_{ff}", "biases")),
        feed_forward,
    ),
    "embedding": Numbers(
        (_D,),
        (
            (r"\sqrt{d_\text{model}}", "factor, and the length of a scaled embedding at the start"),
            (r"\sqrt{d_\text{model}/2}", "length of a positional encoding"),
        ),
        lambda d: (math.sqrt(d), sinusoidal_encoding(3, int(d))[2].double().norm().item()),
    ),
    "position": Numbers(
        (Field("pos", "position", 10, 0, 10000, ours=True), Field("i", "pair", 20, 0, 4095, ours=True), _D),
        (
            (r"PE_{(pos,\,2i)}", "sine"),
            (r"PE_{(pos,\,2i+1)}", "cosine"),
            (r"2\pi \cdot 10000^{2i/d_\text{model}}", "wavelength, in positions"),
        ),
        position,
    ),
    "cost": Numbers(
        (
            Field("n", "length", 50, 1, 1_000_000, ours=True),
            Field("d", "width", 512, 1, 16384),
            Field("k", "width of the kernel", 3, 1, 1000, ours=True),
            Field("r", "neighbourhood", 33, 1, 1_000_000, ours=True),
        ),
        (
            (r"n^2 d", "self-attention"),
            (r"r\,n\,d", "restricted self-attention"),
            (r"n\,d^2", "recurrent"),
            (r"k\,n\,d + n\,d^2", "separable convolution"),
            (r"k\,n\,d^2", "convolution"),
        ),
        operations,
    ),
    "learning-rate": Numbers(
        (
            Field("step", "number of the update", 4000, 1, 10_000_000, ours=True),
            _D,
            Field("warmup", "updates of the warm-up", 4000, 1, 1_000_000),
        ),
        ((r"lrate", "learning rate"),),
        lambda step, d, warmup: (learning_rate(int(step), int(d), int(warmup)),),
    ),
    "adam": Numbers(
        (
            Field("t", "number of the update", 1, 1, 1_000_000, ours=True),
            Field(r"\beta_1", "first decay", 0.9, 0, 0.9999, "any"),
            Field(r"\beta_2", "second decay", 0.98, 0, 0.9999, "any"),
        ),
        (
            (r"\frac{1}{1 - \beta_1^t}", "by which m is corrected"),
            (r"\frac{1}{1 - \beta_2^t}", "by which v is corrected"),
        ),
        lambda t, first, second: (1 / (1 - first**t), 1 / (1 - second**t)),
    ),
    "smoothing": Numbers(
        (
            Field(r"\epsilon_{ls}", "share of the wrong tokens", 0.1, 0, 0.9, "any"),
            Field("V", "size of the vocabulary", 37000, 2, 1_000_000),
        ),
        (
            (r"t_{\text{right}}", "target of the right token"),
            (r"t_{\text{other}}", "target of each other token"),
            (r"-\sum_v t_v \log t_v", "the lowest loss that is possible, in nats"),
        ),
        smoothing,
    ),
    "length-penalty": Numbers(
        (
            Field(r"\log p(y \mid x)", "log-probability", -10, -1000, 0, "any", ours=True),
            Field("|y|", "length in tokens, the end token included", 20, 1, 1000, ours=True),
            Field(r"\alpha", "alpha", 0.6, 0, 5, "any"),
        ),
        ((r"lp(y)", "length penalty"), (r"s(y)", "score")),
        lambda log_p, length, alpha: (length_penalty(length, alpha), log_p / length_penalty(length, alpha)),
    ),
    "wrong-index": Numbers(
        tuple(
            Field(f"s_{k}", f"score of key {k}, after the division by 2", value, -50, 50, "any", ours=True)
            for k, value in ((1, 0), (2, 2), (3, 1))
        ),
        (
            (r"w_1", "weight of key 1 by equation 1"),
            (r"w_2", "weight of key 2 by equation 1"),
            (r"w_3", "weight of key 3 by equation 1"),
            (r"w_1 = w_2 = w_3", "weights with the wrong index, where i means the key itself"),
            (r"w_1 + w_2 + w_3", "sum of the weights with the wrong index, where i means key 1"),
        ),
        wrong_index,
        "Your scores, after the division by 2, in the table above",
    ),
    "word-share": Numbers(
        (_D,),
        (
            (r"1", "share of the word without a factor"),
            (r"\sqrt{d_\text{model}}", "share of the word with the paper's factor"),
            (r"d_\text{model}", "share of the word with the damaged factor"),
        ),
        word_share,
    ),
    "perplexity": Numbers(
        (
            Field(r"\sum_i \log p", "log-probability of the text", -3200, -1e9, 0, "any", ours=True),
            Field("M", "target tokens", 2000, 1, 1e9, ours=True),
        ),
        ((r"-\frac{1}{M} \sum_i \log p", "cross-entropy, in nats per token"), (r"\mathrm{PPL}", "perplexity")),
        lambda log_p, tokens: (-log_p / tokens, math.exp(-log_p / tokens)),
    ),
    "bleu": Numbers(
        (
            Field("c", "length of the translation, in words", 9, 1, 1e9, ours=True),
            Field("r", "length of the reference, in words", 9, 1, 1e9, ours=True),
            *(
                Field(f"p_{n}", f"precision of the sequences of {words}", value, 0, 1, "any", ours=True)
                for n, words, value in (
                    (1, "one word", 1),
                    (2, "two words", 5 / 8),
                    (3, "three words", 2 / 7),
                    (4, "four words", 1 / 6),
                )
            ),
        ),
        (
            (r"\min\left(1,\; \exp(1 - r/c)\right)", "brevity penalty"),
            (r"\mathrm{BLEU}", "times 100, as it is printed"),
        ),
        bleu,
    ),
}


def written(value: float) -> str:
    """A number for the page: four significant digits, thousands in groups, as `formula_numbers.js` writes them.

    Examples
    --------
    >>> written(1048576.0), written(0.00069877), written(22.627), written(0.731058)
    ('1,048,576', '0.0006988', '22.63', '0.7311')
    """
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    size = abs(value)
    if not 1e-4 <= size < 1e15:
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    digits = max(0, 3 - math.floor(math.log10(size)))
    return f"{value:,.{digits}f}".replace("-", "−")


class NumbersOf(SphinxDirective):
    """`{numbers} learning-rate`."""

    required_arguments = 1
    option_spec = {"drives": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Fields and results in raw HTML: without scripts the fields are plain numbers."""
        name = self.arguments[0]
        if name not in FORMULAS:
            return [self.state.document.reporter.error(f"numbers: one of {', '.join(FORMULAS)}", line=self.lineno)]
        return [raw(panel(name, FORMULAS[name], drives="drives" in self.options))]


def panel(name: str, formula: Numbers, drives: bool = False) -> str:
    """The HTML of a formula's numbers; with `drives` the results are those of the table above."""
    fields = "".join(
        f'<span class="numbers-field">{mathml(field.tex)} = '
        f'<span data-value="{field.value:g}" data-min="{field.least:g}" data-max="{field.most:g}" '
        f'data-step="{field.step}" data-words="{escape(field.words)}">{written(field.value)}</span>'
        f"{OURS if field.ours else ''}</span> "
        for field in formula.fields
    )
    if drives:
        return (
            f'<div class="formula-numbers no-search" data-formula="{name}" data-drives role="group" '
            f'aria-label="Numbers of the table above"><p class="numbers-head">{escape(formula.above)}</p>'
            f'<p class="numbers-fields">{fields}</p></div>'
        )
    values = formula.compute(*(field.value for field in formula.fields))
    results = "".join(
        f'<div><dt>{mathml(tex)} <span class="numbers-words">{escape(words)}</span></dt><dd>{written(value)}</dd></div>'
        for (tex, words), value in zip(formula.results, values, strict=True)
    )
    return (
        f'<div class="formula-numbers no-search" data-formula="{name}" role="group" aria-label="With numbers">'
        f'<p class="numbers-head">With numbers</p><p class="numbers-fields">{fields}</p><dl>{results}</dl></div>'
    )


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("numbers", NumbersOf)
