"""Chapter 34: every swapped model against an independent formula, and what every Transformer keeps."""

from __future__ import annotations

import ast
import copy
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from annotated.config import BOS, EOS, ModelConfig
from annotated.data import collate_ids
from annotated.decoding import beam_search, greedy_decode
from annotated.model import Transformer, sinusoidal_encoding
from annotated.speed.layouts import LayerState, RaggedRows, forward_rows
from annotated_book.experiments.settings import SIZES
from annotated_book.machine.positions.offsets import MovedPositions
from annotated_book.results import since_2017
from annotated_book.results.since_2017.combined import Transformer2026
from annotated_book.results.since_2017.grouped_queries import GroupedQueryAttention
from annotated_book.results.since_2017.parts import PARTS
from annotated_book.results.since_2017.qk_norm import QKNormAttention
from annotated_book.results.since_2017.rms_norm import RMSNorm
from annotated_book.results.since_2017.rotary import Places, RotaryAttention, RotaryTransformer, turned
from annotated_book.results.since_2017.subject import PartSubject
from annotated_book.results.since_2017.swiglu import SwiGLU
from annotated_grader.doctor import doctor

FOLDER = Path(since_2017.__file__).parent
PART_FILES = "rotary rms_norm swiglu biases grouped_queries qk_norm decay schedules muon combined".split()
OF_MODELS = [name for name, part in PARTS.items() if part.model is not Transformer or name == "base"]
EXAMINED = [n if n in ("base", "2026") else pytest.param(n, marks=pytest.mark.nightly) for n in OF_MODELS]
SIZE = SIZES["d32-pre-6000x1024-w400-r0.6-l20"]

SOURCE = torch.tensor([[5, 6, 7, 8, 9, EOS], [10, 11, EOS, 0, 0, 0], [12, 13, 14, 15, EOS, 0]])
TARGET = torch.tensor([[BOS, 20, 21, 22, 23], [BOS, 24, 25, 0, 0], [BOS, 26, 27, 28, 0]])


def stirred(name: str, config: ModelConfig) -> Transformer:
    """A model whose gains and biases are not the ones and zeros that would hide a slip."""
    model = PARTS[name].model(config)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 0.5, 0.3)
    return model.eval()


@pytest.mark.parametrize("name", PART_FILES)
def test_a_part_is_short(name: str) -> None:
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    parts = [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    assert parts
    for node in parts:
        assert node.end_lineno is not None and node.end_lineno - node.lineno + 1 < 40, node.name


COUNTS = {
    # Embedding 2312 x 32; layers 4 x 32 x 32 for an attention, 2 x 32 x 128 + 128 + 32 for a network, 64 for a norm.
    "base": 2312 * 32 + 6 * (4096 + 8352 + 2 * 64) + 6 * (2 * 4096 + 8352 + 3 * 64) + 2 * 64,
    "rope": 249_984,
    "rmsnorm": 249_984 - 32 * (12 + 18 + 2),  # a vector less in each of 32 norms
    "swiglu": 249_984 + 12 * (3 * 32 * 85 + 2 * 85 + 32 - 8352),
    "post-norm": 249_984 - 2 * 64,  # no norm on top of the stacks
    "no-biases": 249_984 - 32 * 32 - 12 * (128 + 32),
    "grouped": 249_984 - 12 * 2 * (8 - 2) * 4 * 32,  # in 12 attentions six heads less of keys, and of values
    "qk-norm": 249_984 + 18 * 2 * 4,
    "2026": 249_984 - 32 * 32 + 12 * (3 * 32 * 85 - 8352) - 18_432 + 144,
}


@pytest.mark.parametrize(("name", "parameters"), COUNTS.items())
def test_parameters_by_hand(name: str, parameters: int) -> None:
    assert PARTS[name].model(SIZE.model("base")).num_parameters() == parameters
    assert COUNTS["base"] == 249_984


def test_a_turn_is_a_product_of_complex_numbers() -> None:
    x, places = torch.randn(2, 5, 3, 8), torch.tensor([0, 1, 7, 40, 500])
    angles = places[:, None].double() / 10_000 ** (torch.arange(4).double() / 4)
    expected = (
        torch.view_as_complex(x.double().unflatten(-1, (4, 2))) * torch.polar(torch.ones(()).double(), angles)[:, None]
    )
    found = turned(x, sinusoidal_encoding(501, 8)[places])
    torch.testing.assert_close(found.double(), torch.view_as_real(expected).flatten(-2), atol=1e-5, rtol=1e-5)


def test_rotary_scores_see_offsets_only() -> None:
    places, table = Places(), sinusoidal_encoding(200, 4)
    attention, x = RotaryAttention(places=places, d_model=16, num_heads=4), torch.randn(1, 6, 16)
    found = []
    for start in (0, 3, 150):
        places.table = table[start : start + 6]
        q, k, v = attention.project(x, x, x)
        found.append(torch.einsum("bqhk,bshk->bhqs", q, k))
    torch.testing.assert_close(found[0], found[1], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found[0], found[2], atol=1e-4, rtol=1e-4)
    places.table = table[[0, 2, 4, 6, 8, 10]]  # other offsets give other scores
    q, k, _ = attention.project(x, x, x)
    assert not torch.allclose(torch.einsum("bqhk,bshk->bhqs", q, k), found[0], atol=1e-2)
    torch.testing.assert_close(v, attention.project(x, x, x)[2])  # values carry no place


def test_a_rotary_model_does_not_see_where_a_text_begins(config: ModelConfig) -> None:
    base, rotary = (PARTS[name].model(config).eval() for name in ("base", "rope"))
    for model, width, same in ((rotary, config.d_k, True), (base, config.d_model, False)):
        with torch.no_grad():
            first = model(SOURCE, TARGET)
            model.positions = MovedPositions(width, 90)  # type: ignore[assignment]
            assert torch.allclose(model(SOURCE, TARGET), first, atol=1e-4) == same


def test_a_copied_rotary_model_has_places_of_its_own(config: ModelConfig) -> None:
    model = RotaryTransformer(config).eval()
    other = copy.deepcopy(model)
    assert other.places is not model.places
    assert all(layer.self_attention.places is other.places for layer in other.encoder.layers)
    torch.testing.assert_close(other(SOURCE, TARGET), model(SOURCE, TARGET))


def test_rms_norm_is_torchs() -> None:
    norm, x = RMSNorm(8, 1e-3), torch.randn(3, 5, 8) + 2
    nn.init.normal_(norm.weight)
    numbers = x.double()
    expected = numbers / (numbers.pow(2).sum(-1, keepdim=True) / 8 + 1e-3).sqrt() * norm.weight.double()
    torch.testing.assert_close(norm(x).double(), expected, atol=1e-6, rtol=1e-5)
    if hasattr(F, "rms_norm"):  # since torch 2.4
        torch.testing.assert_close(norm(x), F.rms_norm(x, (8,), norm.weight, 1e-3))
    assert not torch.allclose(norm(x), F.layer_norm(x, (8,), norm.weight, None, 1e-3), atol=0.1)


def test_swiglu_number_by_number() -> None:
    network, x = SwiGLU(4, 9), torch.randn(1, 4)
    for linear in (network.gate, network.inner, network.outer):
        nn.init.normal_(linear.bias)
    assert network.inner.out_features == 6  # two thirds of 9
    (w_g, b_g), (w_1, b_1), (w_2, b_2) = (
        (linear.weight.tolist(), linear.bias.tolist()) for linear in (network.gate, network.inner, network.outer)
    )
    (row,), hidden = x.tolist(), []
    for j in range(6):
        gate = b_g[j] + sum(row[i] * w_g[j][i] for i in range(4))
        value = b_1[j] + sum(row[i] * w_1[j][i] for i in range(4))
        hidden.append(gate / (1 + math.exp(-gate)) * value)
    expected = [b_2[i] + sum(hidden[j] * w_2[i][j] for j in range(6)) for i in range(4)]
    torch.testing.assert_close(network(x), torch.tensor([expected]), atol=1e-5, rtol=1e-5)


def written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of one head, `[T, K]`, `[S, K]`, `[S, K]`."""
    return (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


def test_groups_share_keys_and_values_head_by_head() -> None:
    attention = GroupedQueryAttention(d_model=12, num_heads=6, d_k=4, d_v=4)
    x, memory = torch.randn(5, 12), torch.randn(7, 12)
    assert [len(w) for w in (attention.w_q, attention.w_k, attention.w_v)] == [24, 8, 8]
    heads = []
    for head in range(6):
        group = head // 3  # heads 0 to 2 share the first, 3 to 5 the second
        w_q = attention.w_q[4 * head : 4 * head + 4]
        w_k, w_v = (w[4 * group : 4 * group + 4] for w in (attention.w_k, attention.w_v))
        heads.append(written_out(x @ w_q.T, memory @ w_k.T, memory @ w_v.T))
    expected = torch.cat(heads, dim=1) @ attention.out_projection.weight.T
    torch.testing.assert_close(attention(x[None], memory[None], memory[None])[0], expected, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="must divide 6"):
        GroupedQueryAttention(d_model=12, num_heads=6, d_k=4, d_v=4, key_heads=4)


def test_queries_and_keys_have_one_length() -> None:
    attention, x = QKNormAttention(d_model=12, num_heads=3), torch.randn(1, 5, 12)
    q, k, v = attention.project(x, x, x)
    for part in (q, k):
        torch.testing.assert_close(part.norm(dim=-1), torch.full((1, 5, 3), 2.0), atol=1e-4, rtol=0)  # root of d_k
    nn.init.normal_(attention.q_norm.weight)
    nn.init.normal_(attention.k_norm.weight)
    heads = []
    for head in range(3):
        rows = slice(4 * head, 4 * head + 4)
        q, k, v = (x[0] @ w[rows].T for w in (attention.w_q, attention.w_k, attention.w_v))
        q, k = (2 * part / part.norm(dim=1, keepdim=True) for part in (q, k))
        heads.append(written_out(q * attention.q_norm.weight, k * attention.k_norm.weight, v))
    expected = torch.cat(heads, dim=1) @ attention.out_projection.weight.T
    torch.testing.assert_close(attention(x, x, x)[0], expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(attention(100 * x, 100 * x, x), attention(x, x, x), atol=1e-4, rtol=1e-4)


def test_no_bias_is_left() -> None:
    config = SIZE.model("base")
    names = {name for name, _ in PARTS["no-biases"].model(config).named_parameters()}
    assert names < {name for name, _ in Transformer(config).named_parameters()}
    assert not [name for name in names if "bias" in name]


def test_2026_has_every_part(config: ModelConfig) -> None:
    model = Transformer2026(config.replace(norm="post"))
    assert model.config.norm == "pre"
    assert not [name for name, _ in model.named_parameters() if name.endswith("bias")]
    assert not [module for module in model.modules() if isinstance(module, nn.LayerNorm)]
    for layer in model.encoder.layers:
        assert layer.self_attention.widths == (16, 16, 16) and isinstance(layer.feed_forward, SwiGLU)
        assert isinstance(layer.self_attention, RotaryAttention) and isinstance(layer.self_attention, QKNormAttention)
    for layer in model.decoder.layers:
        assert layer.self_attention.widths == layer.cross_attention.widths == (16, 8, 8)
        assert isinstance(layer.self_attention, RotaryAttention) and isinstance(layer.self_attention, QKNormAttention)
        assert isinstance(layer.cross_attention, QKNormAttention)
        assert not isinstance(layer.cross_attention, RotaryAttention)


@pytest.mark.parametrize("name", OF_MODELS)
@torch.no_grad()
def test_nothing_leaks_from_the_future(name: str, config: ModelConfig) -> None:
    model, changed = stirred(name, config), TARGET.clone()
    changed[:, 3] = 33
    before, after = model(SOURCE, TARGET), model(SOURCE, changed)
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[0, 3:], before[0, 3:], atol=1e-3)


@pytest.mark.parametrize("name", OF_MODELS)
@torch.no_grad()
def test_padding_and_the_rest_of_the_batch_change_nothing(name: str, config: ModelConfig) -> None:
    model = stirred(name, config)
    together = model(F.pad(SOURCE, (0, 4)), F.pad(TARGET, (0, 3)))
    for row, (s, t) in enumerate(((6, 5), (3, 3), (5, 4))):
        alone = model(SOURCE[row : row + 1, :s], TARGET[row : row + 1, :t])
        torch.testing.assert_close(together[row, :t], alone[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", OF_MODELS)
@torch.no_grad()
def test_weights_on_request_change_nothing(name: str, config: ModelConfig) -> None:
    model = stirred(name, config)
    logits, maps = model(SOURCE, TARGET, return_attention=True)
    torch.testing.assert_close(logits, model(SOURCE, TARGET), atol=1e-5, rtol=1e-4)
    assert all(layer.shape == (3, 4, 5, 6) for layer in maps.cross) and len(maps.cross) == 2


@pytest.mark.parametrize("name", OF_MODELS)
@torch.no_grad()
def test_rows_without_padding_give_the_same(name: str, config: ModelConfig) -> None:
    model, (source, target) = stirred(name, config), (RaggedRows.from_ids(ids) for ids in (SOURCE, TARGET))
    hidden = forward_rows(model, source.pack_ids(SOURCE), source, target.pack_ids(TARGET), target)
    expected = model(SOURCE, TARGET)[TARGET != 0]
    torch.testing.assert_close(model.project(hidden), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", OF_MODELS)
@torch.no_grad()
def test_the_cache_gives_the_logits_of_the_whole_sequence(name: str, config: ModelConfig) -> None:
    model, target = stirred(name, config), torch.randint(4, 40, (3, 40))  # longer than the cache's first room
    target[:, 0] = BOS
    expected, state = model(SOURCE, target), model.start_state(SOURCE, max_new_tokens=40)
    assert isinstance(state.layers[0], LayerState)
    for step in range(40):
        logits, state = model.decode_step(target[:, step], state)
        torch.testing.assert_close(logits, expected[:, step], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", OF_MODELS)
@torch.no_grad()
def test_greedy_is_the_best_token_of_the_whole_sequence_each_time(name: str, config: ModelConfig) -> None:
    model = stirred(name, config)
    found = greedy_decode(model, SOURCE, max_new_tokens=12)
    assert max(len(one.tokens) for one in found) > 3
    for row, one in enumerate(found):
        source, written = SOURCE[row : row + 1], [BOS]
        for _ in range(12):
            logits = model(source[:, source[0] != 0], torch.tensor([written]))[0, -1]
            logits[[0, BOS]] = -math.inf
            written.append(int(logits.argmax()))
            if written[-1] == EOS:
                break
        assert one.tokens == [token for token in written[1:] if token != EOS]
    assert [h[0].tokens for h in beam_search(model, SOURCE, 1, max_new_tokens=12)] == [one.tokens for one in found]


@pytest.mark.parametrize("name", EXAMINED)
def test_the_doctor_finds_it_healthy(name: str, config: ModelConfig) -> None:
    report = doctor(PartSubject(PARTS[name].model, config, name))
    left = {finding.id: finding.outcome for finding in report.findings if finding.outcome != "passed"}
    relative = {"target-positions": "not applicable", "sinusoids": "not applicable"}
    assert left == (relative if "places" in vars(PARTS[name].model(config)) else {})


def test_the_doctor_sees_a_cache_that_forgets_its_place(config: ModelConfig) -> None:
    class Wrong(RotaryTransformer):
        def embed(self, ids: Tensor, positions: Tensor | None = None, *, target: bool = False) -> Tensor:
            x = super().embed(ids, positions, target=target)
            if ids.dim() == 1 and target:  # a step of decoding: turned as the first token is
                self.places.table = self.positions(1)[0]
            return x

    (finding,) = doctor(PartSubject(Wrong, config, "wrong"), ["cache-equals-forward"]).findings
    assert finding.outcome == "failed"


def test_training_lowers_the_loss_of_every_model(config: ModelConfig) -> None:
    batch = collate_ids([([5, 6, 7], [20, 21]), ([8, 9], [22, 23, 24])])
    for name in OF_MODELS:
        model = PARTS[name].model(config.replace(dropout=0.0))
        optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
        for _ in range(8):
            loss = F.cross_entropy(model(batch.source, batch.target_in).flatten(0, 1), batch.target_out.flatten())
            optimizer.zero_grad()
            loss.backward()
            assert all(parameter.grad is not None for parameter in model.parameters()), name
            optimizer.step()
            losses.append(float(loss.detach()))
        assert losses[-1] < losses[0] - 0.5, name
