from __future__ import annotations

import json
import math
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from safetensors.torch import load_file

import annotated.model.transformer as transformer
import annotated.runs.loop as loop
import annotated.speed.steps.step as step_module
from annotated.config import ModelConfig, TrainingConfig
from annotated.data.batch import Batch
from annotated.data.batching import TokenBatches, collate_ids
from annotated.data.store import TokenStore
from annotated.model import Transformer, padding_mask
from annotated.runs import NonFiniteLoss, list_checkpoints, read_records
from annotated.runs.log_table import FIELDS
from annotated.runs.signals import GracefulStop
from annotated.runs.validation_callbacks import sample_heads, sample_translations
from annotated.saving import load_model
from annotated.speed.steps import packed_loss
from annotated.training import average_checkpoints, batch_loss, learning_rate, make_optimizer
from annotated.training.update import update as make_update


def weights(small, run: str, update: int) -> dict[str, torch.Tensor]:
    return load_file(small.folder / run / "checkpoints" / f"update-{update:09d}" / "model.safetensors")


def test_a_training_leaves_a_model_that_has_learned(small):
    small.data = small.data.replace(vocab_size=400)  # enough for every word to be one token
    small.model = small.model.replace(d_model=32, d_ff=64, d_k=16, d_v=16, dropout=0.0)
    result = small.train(updates=120, warmup=60, batch_tokens=1000, validate_every=60, checkpoint_every=10)
    model, tokenizer = load_model(result.model_folder)
    assert tokenizer is not None
    assert not model.training
    assert result.finished and result.update == 120
    # 16 words, equally likely, 5 to a sentence, and an eos for nothing: whoever does not use the source pays 5/6 ln 16.
    assert result.valid_loss < 5 / 6 * math.log(16) / 2
    average = average_checkpoints(list_checkpoints(result.folder)[-5:])
    assert all(torch.equal(tensor, average[name]) for name, tensor in model.state_dict().items())


def test_the_log_says_what_happened(small):
    calls = []

    def bleu(model, tokenizer, pairs) -> float:
        calls.append((model.training, tokenizer.vocab_size, len(pairs)))
        return 12.5

    result = small.train(bleu=bleu, validate_bleu=7)
    records = read_records(result.folder)
    kinds = [record["kind"] for record in records]
    assert kinds[0] == "start" and kinds[-1] == "end"
    assert [r["update"] for r in records if r["kind"] == "checkpoint"] == [8, 16, 24]
    train = [r for r in records if r["kind"] == "train"]
    assert [r["update"] for r in train] == [4, 8, 12, 16, 20, 24]
    assert [r["learning_rate"] for r in train] == [learning_rate(r["update"], 16, 10) for r in train]
    assert train[-1]["tokens_seen"] == result.tokens_seen
    valid = [r for r in records if r["kind"] == "valid"]
    assert [(r["update"], r["averaged"], r["bleu"]) for r in valid] == [
        (12, False, 12.5), (24, False, 12.5), (24, True, 12.5)
    ]  # fmt: skip
    assert valid[-1]["perplexity"] == pytest.approx(math.exp(valid[-1]["valid_loss"]))
    assert calls == [(False, records[0]["vocab_size"], 7)] * 3


def test_the_lines_of_the_log_have_the_fields_of_the_table(small, monkeypatch):
    compiler = torch.compile

    def compile_terms(function, **how):  # and not the model, which takes ten times as long
        return compiler(function, backend="eager", **how) if function.__name__ == "logits_terms" else function

    monkeypatch.setattr(torch, "compile", compile_terms)
    sentences = ["the red cat sleeps", "two dogs"]
    result = small.train(
        updates=12, compile=True, keep_best=1, samples=sample_translations(sentences), heads=sample_heads(sentences)
    )
    found = {}
    for record in read_records(result.folder):
        found.setdefault(record["kind"], []).append(record.keys() - {"kind"})
    assert found.keys() == FIELDS.keys() - {"dashboard"}, "which test_dashboards.py has"
    for kind, lines in found.items():
        assert all(line == FIELDS[kind].keys() for line in lines), kind


def test_the_loss_in_the_log_is_that_of_the_batches(small):
    small.train(updates=1, log_every=1, checkpoint_every=1)
    logged = next(r for r in read_records(small.folder / "run") if r["kind"] == "train")
    # The first update's batch and weights again, from the same seed.
    _, tokenizer = load_model(small.folder / "run" / "model")
    torch.manual_seed(small.training.seed)
    model = Transformer(small.model.replace(vocab_size=tokenizer.vocab_size))
    store = TokenStore.open(small.folder / "run" / "data" / "train")
    batch = next(TokenBatches(store, small.training.batch_tokens, seed=0, pool_pairs=100))
    loss, tokens = packed_loss(model, batch, 0.1)
    assert logged["loss"] == pytest.approx(loss.item() / tokens, rel=1e-6)
    assert logged["tokens_seen"] == tokens


@pytest.mark.parametrize("layout", ["packed", "padded"])
@pytest.mark.parametrize("clip", [None, 0.1])
def test_accumulated_is_whole_batch(small, layout, clip):
    small.model = small.model.replace(dropout=0.0)
    common = {"updates": 5, "batch_tokens": 400, "layout": layout, "clip_norm": clip}
    small.train("accumulated", micro_batch_tokens=150, **common)  # three micro-batches
    small.train("whole", **common)
    accumulated, whole = weights(small, "accumulated", 5), weights(small, "whole", 5)
    for name in whole:
        torch.testing.assert_close(accumulated[name], whole[name], rtol=1e-4, atol=2e-6)
    logs = [read_records(small.folder / run) for run in ("accumulated", "whole")]
    losses = [[record["loss"] for record in log if record["kind"] == "train"] for log in logs]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize(
    ("layout", "functions"), [("packed", {"forward_rows", "logits_terms"}), ("padded", {"forward"})]
)
def test_what_is_compiled(small, monkeypatch, layout, functions):
    """With a compiler that changes nothing: the training path goes through it, and decoding does not."""
    compiled = []

    def compiler(function, dynamic, fullgraph=False):
        def call(*arguments):
            compiled.append(function.__name__)
            return function(*arguments)

        return call

    monkeypatch.setattr(torch, "compile", compiler)
    seen = []
    small.train("with", updates=3, layout=layout, compile=True, bleu=lambda model, *_: seen.append(vars(model)) or 0.0)
    assert set(compiled) == functions and len(compiled) >= 3
    assert seen and not functions & seen[-1].keys(), "the model is as it was"
    small.train("without", updates=3, layout=layout)
    ours, theirs = weights(small, "with", 3), weights(small, "without", 3)
    for name, tensor in theirs.items():  # uniform batches have other shapes, so sums are in another order
        torch.testing.assert_close(ours[name], tensor, rtol=1e-4, atol=1e-6)


def test_a_compiler_that_fails_says_what_to_do(small, monkeypatch):
    def failing(function, **how):
        def call(*arguments):
            raise torch._dynamo.exc.TorchDynamoException("no C++ compiler")

        return call

    monkeypatch.setattr(torch, "compile", failing)
    with pytest.raises(RuntimeError, match="torch.compile failed .*compile=False gives the same model"):
        small.train(compile=True)


def test_a_first_update_that_does_not_fit_is_made_in_smaller_pieces(small, monkeypatch):
    """300 tokens a batch, where memory has room for a third of them: a half is tried, and then a quarter."""
    tried = []

    def memory_for_a_third(step, batches, *rest):
        tried.append(len(batches))
        if len(batches) < 3:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return make_update(step, batches, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "update", memory_for_a_third)
        with pytest.raises(torch.cuda.OutOfMemoryError):
            small.train("least", updates=4)
        assert tried == [1], "fewer than the least that is of use are not tried"
        patch.setattr(loop, "LEAST_TOKENS", 50)
        tried.clear()
        assert small.train("cut", updates=4).finished and tried == [1, 2, 4, 4, 4, 4]
    small.train("asked", updates=4, micro_batch_tokens=75)
    for name, tensor in weights(small, "asked", 4).items():
        assert torch.equal(weights(small, "cut", 4)[name], tensor)


def test_later_updates_are_not_cut(small, monkeypatch):
    def full_at_the_second(step, batches, *rest):
        if made:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        made.append(make_update(step, batches, *rest))
        return made[0]

    made = []
    monkeypatch.setattr(loop, "update", full_at_the_second)
    monkeypatch.setattr(loop, "LEAST_TOKENS", 50)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        small.train(updates=4)


def test_training_works_outside_the_main_thread(small):
    # Signals cannot be caught there, and need not be.
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(small.train, updates=2).result().finished


def test_the_second_signal_interrupts_at_once():
    before = signal.getsignal(signal.SIGTERM)
    with GracefulStop() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.name == "SIGTERM"
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_clipping_is_off_unless_asked_for(small):
    assert TrainingConfig().clip_norm is None
    small.train("off", updates=2)
    small.train("wide", updates=2, clip_norm=1e9)
    assert all(torch.equal(a, weights(small, "wide", 2)[name]) for name, a in weights(small, "off", 2).items())


def test_a_loss_that_is_not_finite_names_its_sentences(small, monkeypatch):
    true_loss = step_module.packed_loss
    seen: list[Batch] = []

    def poisoned(model, batch, smoothing, *rest):
        loss, count = true_loss(model, batch, smoothing, *rest)
        seen.append(batch)
        return (loss * math.nan if len(seen) == 12 else loss), count

    monkeypatch.setattr(step_module, "packed_loss", poisoned)
    with pytest.raises(NonFiniteLoss) as error:
        small.train(micro_batch_tokens=150)  # the 12th micro-batch is the second one of update 6
    batch, message = seen[-1], str(error.value)
    longest = max(batch.source_lengths + batch.target_lengths)
    assert "update 6 (epoch 0)" in message and "nan" in message
    assert ", ".join(str(index) for index in batch.indices[:5]) in message
    assert f"with {longest} " in message or f"and {longest} " in message
    written = json.loads((small.folder / "run" / "nonfinite_batch.json").read_text())
    assert [pair["pair"] for pair in written["pairs"]] == batch.indices
    assert written["pairs"][0]["target"] == batch.target_out[0, : batch.target_lengths[0]].tolist()


def test_a_gradient_that_is_not_finite_stops_too(small, monkeypatch):
    monkeypatch.setattr(step_module, "gradient_norm", lambda parameters: torch.tensor(math.inf))
    with pytest.raises(NonFiniteLoss, match="update 1 .*gradient's norm is inf"):
        small.train()
    assert not list_checkpoints(small.folder / "run")


def test_ids_outside_the_vocabulary_of_a_given_tokenizer_cannot_happen(small):
    small.train("first", updates=1)
    given = small.folder / "first" / "tokenizer.json"
    small.data = small.data.replace(tokenizer=str(given), vocab_size=5000)
    result = small.train("second", updates=1)
    model, tokenizer = load_model(result.model_folder)
    assert tokenizer.vocab_size == model.config.vocab_size < 5000


# The leak canary. Targets are random and do not depend on the source: a model that predicts the next token better
# than by chance has seen it.

LETTERS = 12
LENGTH = 2
CHANCE = LENGTH * math.log(LETTERS) / (LENGTH + 1)  # nats per token: eos comes at a fixed place and costs nothing


def canary_loss(updates: int) -> float:
    """Mean validation loss after training on random targets, never the same twice."""
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=4 + LETTERS, d_model=32, d_ff=64, num_heads=2, d_k=16, d_v=16, num_encoder_layers=1,
        num_decoder_layers=1, dropout=0.0,
    )  # fmt: skip
    model = Transformer(config)
    optimizer = make_optimizer(model, TrainingConfig())

    def batch(pairs: int) -> Batch:
        return collate_ids([(row[:3], row[3:]) for row in torch.randint(4, 4 + LETTERS, (pairs, 3 + LENGTH)).tolist()])

    for update in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = learning_rate(update, 32, 200)
        loss, tokens = batch_loss(model, batch(64), 0.0)
        (loss / tokens).backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        loss, tokens = batch_loss(model.eval(), batch(500), 0.0)
    return loss.item() / tokens


def test_the_canary_lives():
    loss = canary_loss(150)
    assert loss >= CHANCE - 0.01
    assert loss < CHANCE + 0.2, "it has not even learned the distribution, so the test proves nothing"


def test_the_canary_can_die(monkeypatch):
    monkeypatch.setattr(transformer, "target_mask", padding_mask)  # lets every position see all of the target
    assert canary_loss(150) < CHANCE - 0.2
