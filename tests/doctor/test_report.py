"""The examination leaves the subject as it was, and its report says what is wrong in three forms."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from annotated import Transformer, tiny
from annotated.analysis.leaks import masked_by
from annotated.cli import main
from annotated.doctor import NotOffered, OurSubject, Report, Subject, doctor, examine
from annotated.doctor.invariants import INVARIANTS

SHAPE: dict[str, Any] = dict(vocab_size=16, d_model=32, d_k=8, d_v=8, d_ff=64)
SHAPE |= dict(num_encoder_layers=1, num_decoder_layers=1)
QUICK = ["leak-by-change", "source-padding", "attention-rows", "attention-hidden", "schedule"]


@pytest.fixture
def subject() -> OurSubject:
    torch.manual_seed(0)
    return OurSubject(Transformer(tiny(**SHAPE)))


@pytest.fixture(scope="module")
def ill() -> Report:
    """Of a model whose hidden scores are filled with -1e-12."""
    torch.manual_seed(0)
    model = Transformer(tiny(**SHAPE))
    with masked_by(-1e-12):
        return examine(OurSubject(model, "mine & <yours>"), QUICK)


# The examination


def test_the_subject_is_afterwards_as_it_was(subject: OurSubject) -> None:
    model = subject.model.train()
    model.encoder.eval()
    model.embedding.weight.grad = torch.ones_like(model.embedding.weight)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    modes = [module.training for module in model.modules()]
    state = torch.get_rng_state(), torch.get_num_threads()
    dropouts = [module.p for module in model.modules() if hasattr(module, "p")]
    examine(subject)
    after = model.state_dict()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert [module.training for module in model.modules()] == modes
    assert [module.p for module in model.modules() if hasattr(module, "p")] == dropouts
    assert torch.equal(model.embedding.weight.grad, torch.ones_like(model.embedding.weight))
    assert sum(parameter.grad is not None for parameter in model.parameters()) == 1
    assert torch.equal(torch.get_rng_state(), state[0]) and torch.get_num_threads() == state[1]
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_two_examinations_find_the_same(subject: OurSubject) -> None:
    first, second = ([(f.id, f.outcome, f.measured) for f in examine(subject, QUICK).findings] for _ in range(2))
    assert first == second


class Fragile(OurSubject):
    def attention(self, source: Tensor, target_in: Tensor) -> Any:
        raise RuntimeError("out of\nmemory")

    def encode(self, source: Tensor) -> Tensor:
        raise NotOffered("the memory is on another machine")


def test_what_breaks_down_is_a_finding_and_the_rest_goes_on(subject: OurSubject) -> None:
    report = examine(Fragile(subject.model), ["attention-rows", "encoder-sees-both-sides", "schedule"])
    assert report["attention-rows"].outcome == "error"
    assert report["attention-rows"].measured == "RuntimeError: out of memory"
    assert report["encoder-sees-both-sides"].outcome == "not applicable"
    assert report["encoder-sees-both-sides"].measured == "The memory is on another machine."
    assert report["schedule"].outcome == "passed"
    assert not report.healthy


def test_an_unknown_invariant_is_refused(subject: OurSubject) -> None:
    with pytest.raises(ValueError, match="no invariant leek.*leak-by-change"):
        examine(subject, ["leek"])


def test_a_vocabulary_without_words_is_refused(subject: OurSubject) -> None:
    subject.vocab_size = 5
    with pytest.raises(ValueError, match="fewer than four ordinary tokens"):
        examine(subject)


class Narrow(OurSubject):
    vocab_size = 20

    def logits(self, source: Tensor, target_in: Tensor) -> Tensor:
        return super().logits(source, target_in)[:, :, :9]


def test_an_adapter_that_gives_no_logits_is_refused(subject: OurSubject) -> None:
    narrow = Narrow(subject.model)
    with pytest.raises(ValueError, match=r"must be a tensor \[2, 3, 16\], not \[2, 3, 9\]"):
        examine(narrow)
    narrow.vocab_size = 30
    with pytest.raises(ValueError, match="raised ValueError: token ids must lie in 0..15"):
        examine(narrow)
    with pytest.raises(ValueError, match="Subject must say its vocab_size"):
        examine(Subject())


@pytest.mark.parametrize(
    ("thing", "said"), [(3, "int"), (Subject, "a class, not a model"), (torch.nn.Linear(1, 1), "Linear")]
)
def test_what_cannot_be_examined_is_told_what_to_do(thing: Any, said: str) -> None:
    with pytest.raises(ValueError, match=rf"{said}.*write a class derived from annotated.doctor.Subject"):
        doctor(thing)


# The report


def test_the_report_goes_through_json_unchanged(ill: Report) -> None:
    fields = json.loads(ill.to_json())
    assert Report.from_dict(fields) == ill
    assert fields["schema"] == "annotated.doctor/1"
    assert fields["healthy"] is False
    assert fields["counts"] == {"passed": 2, "failed": 3, "not applicable": 0, "error": 0}
    with pytest.raises(ValueError, match="no report of the schema"):
        Report.from_dict({"schema": "other"})


def test_a_failure_names_the_mistake_the_claim_and_the_chapter(ill: Report) -> None:
    text = " ".join(str(ill).split())
    assert "✗ leak-by-change" in text
    assert "such as -1e-12, which a softmax takes for zero. [claim C01, chapter 7 (Masks)]" in text
    assert "3 invariants do not hold" in text.lower()
    assert "invariant" not in str(Report("well", ()))  # nothing was examined, and nothing is claimed


def test_the_nearest_known_mistake_is_named(ill: Report) -> None:
    assert ill.similar_mutants[0].similarity == 1.0
    assert "mask_fill_tiny" in {one.id for one in ill.similar_mutants}
    assert not Report("well", ()).similar_mutants


class Page(HTMLParser):
    """Tags that are open and never closed, attributes that would load something, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [f"{name}={value}" for name, value in attrs if name in ("src", "href", "srcset", "data")]
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_needs_nothing_else(ill: Report) -> None:
    html = ill.to_html()
    page = Page(html)
    assert not page.open and not page.loads and "script" not in page.tags
    assert "url(" not in html and "@import" not in html and "http" not in html
    assert html.startswith("<!DOCTYPE html>") and '<html lang="en">' in html
    assert 'name="viewport"' in html and "prefers-color-scheme: dark" in html
    headings = [tag for tag in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == "h1" and headings.count("h1") == 1
    assert "Examination of mine & <yours>" in page.text
    assert "Claim C01, chapter 7 (Masks)." in page.text
    assert page.text.count("Failed:") == 3


def test_a_notebook_shows_the_same(ill: Report) -> None:
    shown = Page(ill._repr_html_())
    assert not shown.open and "h1" not in shown.tags
    assert "leak-by-change" in shown.text


# The command


def run(*arguments: str) -> int:
    return main(["doctor", *arguments])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "sibling.py").write_text("SIZE = 16\n", encoding="utf-8")
    path = tmp_path / "mine.py"
    path.write_text(
        """
from sibling import SIZE
import torch
from annotated import Transformer, tiny
from annotated.doctor import Subject

def build():
    return Transformer(tiny(vocab_size=SIZE, d_model=32, d_k=8, d_v=8, d_ff=64))

class Deaf(Subject):
    name, vocab_size = "deaf", 16

    def logits(self, source, target_in):
        return torch.nn.functional.one_hot(target_in, 16).float()

built = build()

def broken():
    return 1 / 0

def nothing():
    return None
""",
        encoding="utf-8",
    )
    return path


def test_a_healthy_model_ends_with_status_0(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, data = tmp_path / "page.html", tmp_path / "report.json"
    assert run(f"{file}:build", "--only", *QUICK, "--html", str(page), "--json", str(data)) == 0
    assert "5 passed" in capsys.readouterr().out
    assert Page(page.read_text("utf-8")).text.count("schedule")
    assert json.loads(data.read_text("utf-8"))["healthy"] is True
    assert run(f"{file}:built", "--only", "schedule") == 0


def test_a_finding_ends_with_status_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{file}:Deaf", "--json", "-") == 1
    report = Report.from_dict(json.loads(capsys.readouterr().out))
    assert {f.id for f in report.of("failed")} >= {"source-is-reached", "source-order", "target-past-is-seen"}
    assert run("--mutant", "scale_by_d_k", "--only", "attention-scale") == 1
    assert "divided by d_k, not by its root" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("{file}", "mine.py:factory"),
        ("{file}:other", "has no other; it has build, Deaf, broken, nothing"),
        ("{file}:", "has no factory without a name"),
        ("{file}:broken", "broken() raised ZeroDivisionError: division by zero"),
        ("{file}:nothing", "cannot examine this as it is (NoneType)"),
        ("{folder}/none.py:build", "there is no file"),
        ("{folder}/bad.py:build", "bad.py cannot be run: SyntaxError"),
        ("no such model", "no model 'no such model'"),
        ("", "say what to examine"),
        (".", "holds no model"),
    ],
)
def test_what_is_wrong_with_the_command_is_said_in_one_line(
    target: str, said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file.parent / "bad.py").write_text("def build(:\n", encoding="utf-8")
    assert run(target.format(file=file, folder=file.parent)) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_the_command_needs_one_thing_to_examine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert run("ours", "--mutant", "scale_by_d_k") == 2
    assert run("--mutant", "none") == 2
    assert "there is no mutant 'none'" in capsys.readouterr().err


def test_the_list_names_every_invariant(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list") == 0
    shown = capsys.readouterr().out
    assert all(f"{id} " in shown for id in INVARIANTS)
