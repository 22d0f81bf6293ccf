"""Checks of ex15-1: the whole model.

Paper: section 3.1, figure 1
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated_grader import Case, Handle, Student, expect, graded

KINDS = {"encoder": ("self_attention",), "decoder": ("self_attention", "cross_attention")}


class Sizes(NamedTuple):
    """Sizes that differ from one another."""

    vocab_size: int
    n: int
    d_model: int
    d_ff: int
    h: int

    @classmethod
    def of(cls, case: Case, n: int) -> "Sizes":
        h = case.choice([2, 3])
        return cls(17 + case.between(1, 6), n, 4 * h, 11 + case.between(0, 5), h)

    def parameters(self) -> int:
        """Parameters: one matrix; attentions of four; two matrices and two biases; norms of two."""
        v, n, d, f, _ = self
        return v * d + 3 * n * (4 * d * d) + 2 * n * (2 * d * f + f + d) + 5 * n * (2 * d)


def weights(case: Case, s: Sizes) -> dict[str, Tensor]:
    """Known weights under the names that the task states."""
    d, w = s.d_model, {"embedding.weight": case.normal(s.vocab_size, s.d_model) / s.d_model**0.5}
    for side, kinds in KINDS.items():
        for i in range(s.n):
            at = f"{side}.{i}"
            for part in (f"{kind}.{name}" for kind in kinds for name in ("query", "key", "value", "output")):
                w[f"{at}.{part}.weight"] = case.normal(d, d) / d**0.5
            w[f"{at}.feed_forward.inner.weight"] = case.normal(s.d_ff, d) / d**0.5
            w[f"{at}.feed_forward.inner.bias"] = case.normal(s.d_ff) / 4
            w[f"{at}.feed_forward.outer.weight"] = case.normal(d, s.d_ff) / s.d_ff**0.5
            w[f"{at}.feed_forward.outer.bias"] = case.normal(d) / 4
            for j in range(len(kinds) + 1):
                w[f"{at}.norms.{j}.weight"] = 0.7 + case.uniform(d)
                w[f"{at}.norms.{j}.bias"] = case.normal(d) / 4
    return w


def filled(student: Student, s: Sizes, w: dict[str, Tensor], dropout: float = 0.0, train: bool = False) -> Handle:
    """An answer's model with these weights in it; in evaluation mode unless told otherwise."""
    model = student.call("make_model", s.vocab_size, s.n, s.d_model, s.d_ff, s.h, dropout)
    expect.true(isinstance(model, Handle), "make_model must return a module", **s._asdict())
    probe = student.given("Probe", model)
    lacking = probe.method("lacks", {name: list(x.shape) for name, x in w.items()})
    expect.equal(lacking[:4], [], "names that are missing in the state, or have another shape", **s._asdict())
    probe.method("fill", w)
    probe.train(train)
    return probe


def sentences(case: Case, s: Sizes, length: int) -> Tensor:
    """Ids without padding."""
    return case.integers(1, s.vocab_size, 1 + case.between(1, 3), length)


def chain(w: dict[str, Tensor], s: Sizes, x: Tensor) -> Tensor:
    """The decoder's norms one after the other, with nothing added in between."""
    for name in (f"decoder.{i}.norms.{j}" for i in range(s.n) for j in range(3)):
        x = F.layer_norm(x, (s.d_model,), w[f"{name}.weight"], w[f"{name}.bias"])
    return x


def embedded(w: dict[str, Tensor], ids: Tensor) -> Tensor:
    """Words times the root of the width, plus places."""
    table = w["embedding.weight"]
    d = table.size(1)
    where = torch.arange(ids.size(1), dtype=torch.float64)
    place = torch.zeros(ids.size(1), d, dtype=torch.float64)
    for j in range(0, d, 2):
        place[:, j], place[:, j + 1] = (where * 10000 ** (-j / d)).sin(), (where * 10000 ** (-j / d)).cos()
    return d**0.5 * table[ids] + place.float()


def torch_logits(w: dict[str, Tensor], s: Sizes, source: Tensor, target: Tensor) -> Tensor:
    """What torch.nn.Transformer computes with these weights."""
    options = {"d_model": s.d_model, "nhead": s.h, "dim_feedforward": s.d_ff, "dropout": 0.0, "batch_first": True}
    with torch.device("meta"):  # its first numbers are never drawn
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**options), s.n, enable_nested_tensor=False)
        decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**options), s.n)
        theirs = nn.Transformer(s.d_model, s.h, custom_encoder=encoder, custom_decoder=decoder, batch_first=True).eval()
    state = {}
    for side, kinds in KINDS.items():
        for i in range(s.n):
            ours, there = f"{side}.{i}", f"{side}.layers.{i}"
            for kind, name in zip(kinds, ("self_attn", "multihead_attn"), strict=False):
                rows = [w[f"{ours}.{kind}.{part}.weight"] for part in ("query", "key", "value")]
                state[f"{there}.{name}.in_proj_weight"] = torch.cat(rows)
                state[f"{there}.{name}.in_proj_bias"] = torch.zeros(3 * s.d_model)
                state[f"{there}.{name}.out_proj.weight"] = w[f"{ours}.{kind}.output.weight"]
                state[f"{there}.{name}.out_proj.bias"] = torch.zeros(s.d_model)
            for end in ("weight", "bias"):
                state[f"{there}.linear1.{end}"] = w[f"{ours}.feed_forward.inner.{end}"]
                state[f"{there}.linear2.{end}"] = w[f"{ours}.feed_forward.outer.{end}"]
                for j in range(len(kinds) + 1):
                    state[f"{there}.norm{j + 1}.{end}"] = w[f"{ours}.norms.{j}.{end}"]
    theirs.load_state_dict(state, assign=True)
    future = torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1)
    pad = source == 0
    with torch.no_grad():
        out = theirs(
            embedded(w, source), embedded(w, target), tgt_mask=future,
            src_key_padding_mask=pad, memory_key_padding_mask=pad,
        )  # fmt: skip
    return out @ w["embedding.weight"].T


@graded(points=2, levels=1, claim="C02")
def parameter_count(student: Student, case: Case) -> None:
    """63,045,632 parameters for 37,000 entries, and by formula at other sizes."""
    counter = student.given("Counter", student.value("make_model"))
    s = Sizes.of(case, 1 + case.between(1, 2))
    expect.equal(counter.method("count", *s, 0.1), s.parameters(), "the number of parameters", **s._asdict())
    full = Sizes(37_000 if case.level == 0 else 30_000 + 8 * case.between(1, 900), 6, 512, 2048, 8)
    what = f"the number of parameters of make_model({full.vocab_size})"
    expect.equal(counter.method("count", full.vocab_size), full.parameters(), what)


@graded(points=2, levels=1)
def layers_are_their_own(student: Student, case: Case) -> None:
    """Each layer has weights of its own, and begins with other numbers."""
    s = Sizes.of(case, 3)
    probe = student.given("Probe", student.call("make_model", *s, 0.1))
    found = probe.method("matrices")
    expect.true(found >= 48, f"expected 48 matrices in the layers of n = 3, found {found}")
    expect.equal(probe.method("alike")[:2], [], "matrices of different layers that are equal before any training")


@graded(points=2, levels=2, claim="C37")
def embedding_and_projection(student: Student, case: Case) -> None:
    """Without layers: words times the root of d_model, plus places, against every row."""
    s = Sizes.of(case, 0)
    w = weights(case, s)
    source, target = sentences(case, s, 3), sentences(case, s, 4 + case.between(0, 3))
    got = filled(student, s, w)(source[: len(target)], target[: len(source)])
    target = target[: len(source)]
    expected = embedded(w, target) @ w["embedding.weight"].T
    expect.close(got, expected, "the logits with n = 0", atol=1e-4, rtol=1e-3, target=target)


@graded(points=2, levels=1, claim="C46")
def every_sum_is_normalised(student: Student, case: Case) -> None:
    """Post-norm: with silent sub-layers, each norm of the decoder acts once, in order."""
    s = Sizes.of(case, 1)
    w = weights(case, s)
    for name in w:
        if name.endswith("output.weight") or ".outer." in name:
            w[name] = torch.zeros_like(w[name])
    # Words so long that neither the factor nor the places count beside them: the first norm takes the length away.
    w["embedding.weight"] *= 1e4
    target = sentences(case, s, 4)
    got = filled(student, s, w)(target + 0, target)
    expected = chain(w, s, w["embedding.weight"][target]) @ w["embedding.weight"].T
    expect.close(got / 1e4, expected / 1e4, "a ten-thousandth of the logits", atol=3e-3, rtol=1e-3, target=target)


@graded(points=2, levels=2, claim="C13")
def nothing_from_the_future(student: Student, case: Case) -> None:
    """Later target tokens change no earlier logit."""
    s = Sizes.of(case, 1)
    model = filled(student, s, weights(case, s))
    target = sentences(case, s, 6)
    source = sentences(case, s, 3)[:1].expand(len(target), 3).contiguous()
    cut = case.between(1, 5)
    changed = target.clone()
    changed[:, cut:] = changed[:, cut:] % (s.vocab_size - 1) + 1  # another token, and not padding
    a, b = model(source, target), model(source, changed)
    expect.shape(a, (*target.shape, s.vocab_size), "the logits", source=source, target=target)
    what = f"the logits before position {cut}, after a change from there on"
    expect.close(b[:, :cut], a[:, :cut], what, atol=1e-5, target=target, changed=changed)
    expect.true(bool((a[:, cut] - b[:, cut]).abs().amax() > 1e-4), f"position {cut} does not see its own token")


@graded(points=2, levels=2, claim="C12")
def padding_changes_nothing(student: Student, case: Case) -> None:
    """Padding on the source changes no logit."""
    s = Sizes.of(case, 1)
    model = filled(student, s, weights(case, s))
    source, target = sentences(case, s, 3 + case.between(0, 2)), sentences(case, s, 4)
    rows = min(len(source), len(target))
    source, target = source[:rows], target[:rows]
    longer = F.pad(source, (0, case.between(1, 4)))
    got = expect.shape(model(longer, target), (*target.shape, s.vocab_size), "the logits", source=longer, target=target)
    expect.close(got, model(source, target), "the logits with padding, beside those without", atol=1e-5, source=longer)


@graded(points=1, levels=1)
def dropout_everywhere(student: Student, case: Case) -> None:
    """Dropout acts on the embedded words and on every sub-layer, in training only."""
    s = Sizes.of(case, 1)
    w, target = weights(case, s), sentences(case, s, 4)
    # All is dropped: nothing is random, and only the norms speak.
    got = filled(student, s, w, dropout=1.0, train=True)(target, target)
    expected = chain(w, s, torch.zeros(*target.shape, s.d_model)) @ w["embedding.weight"].T
    expect.close(got, expected, "the logits in training with dropout=1.0", atol=1e-4, rtol=1e-3, target=target)
    quiet, none = filled(student, s, w, dropout=1.0)(target, target), filled(student, s, w)(target, target)
    expect.close(quiet, none, "the logits in evaluation with dropout=1.0, beside dropout=0.0", atol=1e-5)
    trained = filled(student, s, w, train=True)(target, target)
    expect.close(trained, none, "the logits in training with dropout=0.0, beside those in evaluation", atol=1e-5)
    longer = torch.cat([target, target], dim=1)
    shapes = filled(student, s, w, dropout=0.5, train=True).method("dropped", longer, target)
    for side, ids, count in (("encoder", longer, 3), ("decoder", target, 4)) if shapes else ():  # by hand: not seen
        found = shapes.count([*ids.shape, s.d_model])
        message = f"in the {side} dropout falls on {found} sums and outputs of sub-layers, expected {count}"
        expect.true(found >= count, message, n=1, shapes=shapes)


@graded(points=3, levels=2)
def agrees_with_torch(student: Student, case: Case) -> None:
    """With the same weights it computes what torch.nn.Transformer computes."""
    s = Sizes.of(case, 2 + case.between(0, 1))
    w = weights(case, s)
    source, target = sentences(case, s, 5), sentences(case, s, 4)
    rows = min(len(source), len(target))
    source, target = source[:rows], target[:rows]
    source[0, 5 - case.between(1, 3) :] = 0
    expected = torch_logits(w, s, source, target)
    model = filled(student, s, w)
    expect.close(model(source, target), expected, "the logits", atol=1e-4, rtol=1e-3, source=source, target=target)
    expect.equal(model.method("untouched", source, target), [], "parameters that no gradient reaches")
