"""Subject of an examination: one encoder-decoder behind a small adapter, and what it claims to be.

Only `Subject.logits` must be written. Every other method is a *capability*: as long as an adapter does not override it,
whatever needs it is reported as not applicable, never as passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn, get_args

from torch import Tensor, nn

from annotated.model import AttentionMaps

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")

Positions = Literal["sinusoidal", "learned", "absolute", "relative", "none"]
"""What tells tokens their places. The first three are vectors that are added to the embeddings: the paper's, a table of
parameters, any other. 'relative' acts inside attention: rotary, ALiBi, a bias for each distance as in T5."""


class NotOffered(Exception):
    """A capability that this subject does not have; the message is the capability's name, or says why."""


@dataclass(frozen=True)
class Claims:
    """What a subject claims to be. None claims nothing, and what depends on it is not examined."""

    d_model: int | None = None
    """Width of the vectors, D."""
    tied_embeddings: bool | None = None
    """One matrix for source embedding, target embedding and projection (section 3.4)."""
    scaled_embeddings: bool | None = None
    """Token vectors are multiplied by sqrt(d_model) on the way in (section 3.4)."""
    positions: Positions | None = None
    """What tells tokens their places (section 3.5); without a claim, the source's logits show which kind."""
    longest: int | None = None
    """Longest sequence that it reads; None for no limit."""
    norm: Literal["post", "pre"] | None = None
    """LayerNorm after the residual sum, as printed, or before the sub-layer (section 3.1)."""
    rms_norm: bool = False
    """The norm is RMSNorm: it divides by the root of the mean square, and subtracts no mean."""
    attention_scale: float | None = None
    """The factor on q k; None for the paper's 1 / sqrt(d_k) (section 3.2.1)."""
    local_attention: bool = False
    """Self-attention reads a window around each token on purpose: far tokens need not be seen through it."""
    source_end: bool = True
    """The encoder reads the eos that ends a source; False if it is left out on purpose."""
    dropout: float | None = None
    """On embeddings plus positions, and on what sub-layers return, while training (section 5.4)."""
    smoothing: float | None = None
    """Label smoothing of `Subject.loss` (section 5.4)."""
    warmup: int | None = None
    """Updates of warm-up in equation 3, if `Subject.learning_rate` is equation 3 (section 5.3)."""
    length_penalty: Literal["wu"] | None = None
    """'wu': a finished hypothesis scores log-probability / ((5 + length) / 6) ** alpha, eos counted (section 6.1)."""

    def __post_init__(self) -> None:
        """Refuse a kind of positions that nothing is known about."""
        if self.positions is not None and self.positions not in get_args(Positions):
            kinds = ", ".join(map(repr, get_args(Positions)))
            raise ValueError(
                f"positions={self.positions!r}: claim one of {kinds}; rotary positions, ALiBi and a bias for each "
                "distance are 'relative'"
            )


class Tables(NamedTuple):
    """The matrices between token ids and vectors, each `[V, D]`: the parameters themselves, not copies."""

    source: Tensor
    """Embeddings of the source."""
    target: Tensor
    """Embeddings of the target."""
    output: Tensor
    """The matrix that gives the logits."""


class FirstAttention(NamedTuple):
    """What happens inside the encoder's first self-attention, without dropout."""

    x: Tensor
    """What it reads, `[B, S, D]`; with gradients enabled, q, k and v hang on it."""
    q: Tensor
    """Queries of every head, `[B, H, S, K]`, as they enter the dot product (rotated, if they are) and not scaled."""
    k: Tensor
    """Keys, `[B, H, S, K]`."""
    v: Tensor
    """Values, `[B, H, S, d_v]`."""
    weights: Tensor
    """After the softmax, `[B, H, S, S]`."""
    output: Tensor
    """What it returns, `[B, S, D]`: after the output projection, before the residual sum."""
    w_o: Tensor
    """W_O, `[D, H * d_v]`, its columns head by head."""
    b_o: Tensor | None = None
    """Its bias, `[D]`."""


class ResidualStep(NamedTuple):
    """One sub-layer with what is around it. In evaluation mode, post-norm: `after = LayerNorm(before + output)`.

    Pre-norm: `read = LayerNorm(before)` and `after = before + output`.
    """

    where: str
    """'encoder layer 1, self-attention': the stack first ('encoder' or 'decoder'), then what people call the place."""
    before: Tensor
    """The residual stream before the sub-layer, `[B, L, D]`."""
    read: Tensor
    """What the sub-layer reads."""
    output: Tensor
    """What the sub-layer returns."""
    after: Tensor
    """The residual stream after it."""
    gain: Tensor
    """Of the norm, `[D]`."""
    bias: Tensor | None
    """Of the norm, `[D]`; None if it has none."""
    epsilon: float
    """What the norm adds under the root."""

    def normalised(self, x: Tensor, rms: bool) -> Tensor:
        """The sub-layer's norm of `x` `[B, L, D]`, by the formula."""
        centred = x if rms else x - x.mean(dim=-1, keepdim=True)
        scaled = centred * (centred.square().mean(dim=-1, keepdim=True) + self.epsilon).rsqrt() * self.gain
        return scaled if self.bias is None else scaled + self.bias


class Update(NamedTuple):
    """One change of the parameters, as training made it."""

    rate: float
    """The optimiser's learning rate."""
    gradient: dict[str, Tensor]
    """By the parameter's name, as the optimiser got it."""


class Found(NamedTuple):
    """One hypothesis of a beam search."""

    tokens: list[int]
    """Without bos and eos."""
    log_probability: float
    """Of the tokens, and of eos if it is finished."""
    score: float
    """What hypotheses are ranked by."""
    finished: bool = True
    """It ended with eos; else it was cut at the cap."""


class Subject:
    """An encoder-decoder to be examined. Derive from it, write `logits`, and as many capabilities as you have.

    Capabilities are called in evaluation mode (through `modules`) unless they say otherwise. They may be called often,
    with small batches on the CPU. Weights, modes, gradients and random numbers are put back by the examination.

    Two capabilities return what needs a word more:

    - `attention` returns `annotated.model.AttentionMaps(encoder, decoder, cross)`. Each field is a list with a tensor
      for every layer, the first layer first: `encoder` holds `[B, H, S, S]`, `decoder` (its self-attention)
      `[B, H, T, T]`, `cross` `[B, H, T, S]`. Queries come before keys; weights are those after the softmax and before
      dropout.
    - `residuals` returns a `ResidualStep` for each sub-layer, the encoder's first. `where` must begin with the word
      "encoder" or "decoder"; what follows is shown to people: "decoder layer 2, cross-attention".
    """

    name: str = "model"
    vocab_size: int
    """Number of tokens in the vocabulary, V."""
    pad: int = 0
    bos: int = 1
    eos: int = 2
    claims: Claims = Claims()

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        """Logits `[B, T, V]`, or log-probabilities, of the next token at every target position.

        Both are normalised before they are compared with what `step` gives, which may be the other of the two.

        Parameters
        ----------
        source
            Token ids `[B, S]`, each sentence ending in eos, padded on the right.
        target_in
            Token ids `[B, T]`, each starting with bos, padded on the right.
        """
        raise NotImplementedError("a Subject must define logits(source, target_in)")

    # The model itself

    def modules(self) -> list[nn.Module]:
        """The modules that hold the parameters: for modes, hooks, gradients and the state dict."""
        self._lacks("modules")

    def fresh(self) -> Subject:
        """The same kind of subject with newly initialised weights (drawn from torch's global generator)."""
        self._lacks("fresh")

    def encode(self, source: Tensor) -> Tensor:
        """The memory `[B, S, D]`."""
        self._lacks("encode")

    def attention(self, source: Tensor, target_in: Tensor) -> AttentionMaps:
        """Weights of all layers, in whatever mode the modules are: before dropout."""
        self._lacks("attention")

    def first_attention(self, source: Tensor) -> FirstAttention:
        """The inside of the encoder's first self-attention while it reads `source` `[B, S]`."""
        self._lacks("first_attention")

    def residuals(self, source: Tensor, target_in: Tensor) -> list[ResidualStep]:
        """Every sub-layer of both stacks, in order, in whatever mode the modules are."""
        self._lacks("residuals")

    def feed_forward(self, x: Tensor) -> Tensor:
        """The encoder's first feed-forward network on `[B, L, D]`."""
        self._lacks("feed_forward")

    def embed(self, ids: Tensor, side: Side) -> Tensor:
        """Token vectors plus positions `[B, L, D]`, as they enter the first layer; with dropout in training mode."""
        self._lacks("embed")

    def tables(self) -> Tables:
        """The three matrices of section 3.4."""
        self._lacks("tables")

    # Training

    def shift(self, targets: Tensor) -> tuple[Tensor, Tensor]:
        """What the decoder reads and what it is to write, `(target_in, target_out)`, each `[B, T]`.

        Parameters
        ----------
        targets
            `[B, T]`: tokens and eos without bos, padded on the right.
        """
        self._lacks("shift")

    def loss(self, logits: Tensor, target_out: Tensor) -> Tensor:
        """The training loss for each real target token, a scalar with gradient."""
        self._lacks("loss")

    def learning_rate(self, update: int) -> float:
        """The rate that update number `update` (from 1) is made with."""
        self._lacks("learning_rate")

    def updates(self, micro_batches: Sequence[tuple[Tensor, Tensor]], accumulate: int) -> list[Update]:
        """Train on (source, targets as in `shift`), `accumulate` micro-batches to an update.

        Returns
        -------
        list of Update
            One for each time that the parameters were changed.
        """
        self._lacks("updates")

    def average(self, states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
        """The average of checkpoints."""
        self._lacks("average")

    # Decoding

    def start(self, source: Tensor, beam_size: int = 1) -> Any:
        """A decoder state for `B * beam_size` rows, row r for sentence r // beam_size; room for 32 steps at least."""
        self._lacks("start")

    def step(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        """Logits `[R, V]` after one more token `[R]` of every row, and the state after it."""
        self._lacks("step")

    def reorder(self, state: Any, parents: Tensor) -> Any:
        """The state in which row r continues row `parents[r]`, which belongs to the same sentence."""
        self._lacks("reorder")

    def greedy(self, source: Tensor, max_new_tokens: int) -> list[list[int]]:
        """Tokens of each sentence, without bos and eos; the cap counts eos. In whatever mode the modules are."""
        self._lacks("greedy")

    def beam(self, source: Tensor, beam_size: int, alpha: float, max_new_tokens: int) -> list[Found]:
        """The best hypotheses of one sentence `[1, S]`, best first, at most `beam_size`; the cap counts eos."""
        self._lacks("beam")

    # Evaluation

    def perplexity(self, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> float:
        """Perplexity per target token, eos included, of id lists without bos and eos."""
        self._lacks("perplexity")

    def bleu(self, hypotheses: Sequence[str], references: Sequence[str]) -> float:
        """BLEU of a corpus, in percent."""
        self._lacks("bleu")

    def evaluated(self, sources: Sequence[list[int]], references: Sequence[list[int]]) -> list[str]:
        """The texts whose BLEU its evaluation reports; ids without bos and eos, written as "5 17 9"."""
        self._lacks("evaluated")

    def offers(self, capability: str) -> bool:
        """Whether an adapter has written this capability."""
        return getattr(type(self), capability) is not getattr(Subject, capability)

    def _lacks(self, capability: str) -> NoReturn:
        raise NotOffered(f"the adapter has no {capability}")
