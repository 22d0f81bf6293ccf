"""`annotated` on the same text: the library's own `train`, with a stopwatch in its validation hook.

Everything that the library does between two validations counts as training: loading batches, its own
validation loss, its checkpoints. Only the common validation and the sample translations do not.
"""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from annotated.config import DataConfig, DecodingConfig, TrainingConfig
from annotated.data.tokenizer import Tokenizer
from annotated.model import Transformer
from annotated.runs import average_last, train
from annotated.runs.dataset import prepare_data
from annotated.saving import load_model, save_pretrained
from annotated.speed.machine.distributed import process_group
from benchmarks.real_text.corpus import Validation, pairs, tokenizer_path
from benchmarks.real_text.settings import Budget, Log, Settings

NO_END = 10_000_000
"""Updates: more than any budget allows."""


def data_config(settings: Settings) -> DataConfig:
    """The same text and vocabulary."""
    data, work = Path(settings.data), Path(settings.work)
    files: dict[str, Any] = {
        "train": str(data / "train.tsv.zst"),
        "valid": str(work / "valid.tsv"),
        "test": str(data / "test.tsv"),
    }
    return DataConfig(**files, vocab_size=settings.vocab_size, tokenizer=str(tokenizer_path(settings)))


def training_config(settings: Settings) -> TrainingConfig:
    """The paper's recipe with this run's warm-up, smoothing and batch size."""
    recipe: dict[str, Any] = {
        "warmup": settings.warmup,
        "learning_rate_scale": settings.rate_scale,
        "seed": settings.seed,
    }
    pace: dict[str, Any] = {
        "validate_every": settings.validate_updates,
        "checkpoint_every": settings.validate_updates,
        "log_every": 20,
    }
    return TrainingConfig(
        updates=NO_END,
        batch_tokens=settings.batch_tokens,
        label_smoothing=settings.smoothing,
        validate_bleu=settings.sample,
        device="cpu",
        **recipe,
        **pace,
    )


def folder(settings: Settings) -> Path:
    """Of the training run."""
    return Path(settings.work) / "ours"


def prepare(settings: Settings) -> None:
    """Encode the corpus ahead of the budget, as the other side's is; an earlier run in the same place goes."""
    shutil.rmtree(folder(settings) / "checkpoints", ignore_errors=True)
    (folder(settings) / "log.jsonl").unlink(missing_ok=True)
    validation = Path(settings.work) / "valid.tsv"
    kept = Validation(settings).texts
    validation.write_text("".join(f"{source}\t{target}\n" for source, target in kept), encoding="utf-8")
    folder(settings).mkdir(parents=True, exist_ok=True)
    with process_group("cpu", TrainingConfig().peer_timeout) as processes:
        prepare_data(data_config(settings), folder(settings), processes, checkpoint=None)


class Hook:
    """Called by the library at each validation with the model as it is then."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.validation = Validation(settings)
        self.log = Log(Path(settings.recorded) / "ours.jsonl")
        self.budget = Budget(settings)
        self.calls = 0

    def __call__(self, model: Transformer, tokenizer: Tokenizer, sample: list[tuple[str, str]]) -> float:
        """Measure, log, and ask the loop to stop when the budget is spent; returns BLEU of the sample."""
        self.calls += 1
        with self.budget.paused():
            loss = self.validation.loss(lambda source, target_in: log_probabilities(model, source, target_in))
            score = bleu(translate(model, tokenizer, [s for s, _ in sample], beam_size=1), [t for _, t in sample])
        times = {"cpu_s": self.budget.cpu, "wall_s": self.budget.wall}
        update = self.calls * self.settings.validate_updates
        self.log.write(**times, update=update, valid_nll=loss, sample_bleu=score)
        if self.budget.spent:
            signal.raise_signal(signal.SIGTERM)  # the loop makes one more update, saves, and returns
        return score


def log_probabilities(model: Transformer, source: Tensor, target_in: Tensor) -> Tensor:
    """For the common validation."""
    return model(source, target_in).log_softmax(dim=-1)


def translate(model: Transformer, tokenizer: Tokenizer, texts: list[str], beam_size: int) -> list[str]:
    """Greedy (beam size 1) or beam search, 32 sentences at a time, the long ones together."""
    from annotated.config import EOS, PAD
    from annotated.decoding import beam_search

    ids = tokenizer.encode_batch(texts)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    out = [""] * len(texts)
    for start in range(0, len(order), 32):
        some = order[start : start + 32]
        width = max(len(ids[i]) for i in some) + 1
        rows = [[*ids[i], EOS, *([PAD] * (width - 1 - len(ids[i])))] for i in some]
        found = beam_search(model, torch.tensor(rows), beam_size=beam_size, alpha=DecodingConfig().alpha)
        for i, hypotheses in zip(some, found, strict=True):
            out[i] = tokenizer.decode(hypotheses[0].tokens)
    return out


def bleu(hypotheses: list[str], references: list[str]) -> float:
    """sacreBLEU, in percent."""
    import sacrebleu

    return sacrebleu.corpus_bleu(hypotheses, [references]).score


def main(settings: Settings) -> None:
    """Train for the budget, then save the average of the last checkpoints as the run's model."""
    hook = Hook(settings)
    hook.budget.start()
    where, training = folder(settings), training_config(settings)
    result = train(settings.model(), training, data_config(settings), where, resume=False, quiet=True, bleu=hook)
    shutil.copyfile(where / "log.jsonl", Path(settings.recorded) / "ours.train.jsonl")
    tokenizer = Tokenizer.load(where / "tokenizer.json")
    model = Transformer(settings.model())
    state, chosen = average_last(where, training.average_last)
    model.load_state_dict(state)
    model.eval()
    loss = hook.validation.loss(lambda source, target_in: log_probabilities(model, source, target_in))
    save_pretrained(where / "model", model, tokenizer)
    hook.log.write(update=result.update, averaged=[path.name for path in chosen], valid_nll=loss)


def evaluate(settings: Settings) -> None:
    """sacreBLEU of the averaged model on test.tsv, beam search as in the paper."""
    import sacrebleu

    model, tokenizer = load_model(folder(settings) / "model")
    assert tokenizer is not None
    model.eval()
    sources, references = map(list, zip(*pairs(Path(settings.data) / "test.tsv"), strict=True))
    decoding = DecodingConfig()
    with torch.no_grad():
        hypotheses = translate(model, tokenizer, sources, decoding.beam_size)
    metric = sacrebleu.BLEU()
    score = metric.corpus_score(hypotheses, [references]).score
    chrf = sacrebleu.CHRF().corpus_score(hypotheses, [references]).score
    how = {"beam_size": decoding.beam_size, "alpha": decoding.alpha, "signature": str(metric.get_signature())}
    columns = {"source": sources, "reference": references, "ours": hypotheses}
    step = max(1, len(sources) // 20)
    examples = [{name: texts[i] for name, texts in columns.items()} for i in range(0, len(sources), step)]
    record = {"bleu": score, "chrf": chrf, "sentences": len(sources), **how, "examples": examples}
    path = Path(settings.recorded) / "test.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"test.tsv: BLEU {score:.2f}, chrF {chrf:.2f}, beam {decoding.beam_size} ({how['signature']})")
