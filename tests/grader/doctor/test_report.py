"""The examination leaves the subject as it was, and its report says what is wrong in three forms."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console
from torch import Tensor

from annotated import Transformer, tiny
from annotated.analysis.leaks import masked_by
from annotated.cli import main
from annotated_book.pages import page_file
from annotated_grader.doctor import (
    Finding,
    NotOffered,
    OurSubject,
    Report,
    Subject,
    doctor,
    examine,
    fingerprints,
    mutants,
    record_fingerprints,
)
from annotated_grader.doctor.causes import roots
from annotated_grader.doctor.diagnosis import diagnoses
from annotated_grader.doctor.finding import CHAPTERS, CLAIMS, MISREADINGS, Mistake
from annotated_grader.doctor.invariants import INVARIANTS
from annotated_grader.doctor.mutants import MUTANTS
from annotated_grader.doctor.similar_mutants import similar_mutants

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
    with pytest.raises(ValueError, match=rf"{said}.*write a class derived from annotated_grader.doctor.Subject"):
        doctor(thing)


def test_a_plain_module_is_told_the_lines_to_write() -> None:
    with pytest.raises(ValueError, match="derived from annotated_grader.doctor.Subject") as refused:
        doctor(torch.nn.Linear(1, 1))
    code = str(refused.value).partition("\n\n")[2]
    scope: dict[str, Any] = {"model": lambda source, target: torch.nn.functional.one_hot(target, 1000).float()}
    exec(textwrap.dedent(code), scope)
    logits = scope["Examined"]().logits(torch.tensor([[3, 2]]), torch.tensor([[1, 5]]))
    assert logits.shape == (1, 2, 1000)


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
    html = ill.to_html("")
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


def test_the_page_links_chapters_and_claims_of_the_book(ill: Report) -> None:
    links = {load for load in Page(ill.to_html("https://book.example/")).loads}
    assert "href=https://book.example/attention/masks.html" in links
    assert "href=https://book.example/attention/masks.html#claim-c01" in links
    assert all(load.startswith("href=../") for load in Page(ill._repr_html_()).loads)


def test_links_lead_to_pages_that_treat_the_chapter_or_the_claim() -> None:
    for number, (_, page) in CHAPTERS.items():
        assert f"  number: {number}\n" in page_file(page).read_text("utf-8")
    for claim, chapter in CLAIMS.items():
        page = MISREADINGS[0] if claim in MISREADINGS[1] else CHAPTERS[chapter][1]
        assert f"{{claim}} {claim}\n" in page_file(page).read_text("utf-8")
    mistakes = [mistake for invariant in INVARIANTS.values() for mistake in invariant.mistakes]
    assert {mistake.chapter for mistake in mistakes} <= set(CHAPTERS)
    named = {mistake.claim for mistake in mistakes} | {mutant.claim for mutant in MUTANTS}
    assert named - {None, "", "A3"} <= set(CLAIMS)
    assert {mistake.mutant for mistake in mistakes} - {None} <= {mutant.id for mutant in MUTANTS}


def test_what_must_hold_stands_beside_what_was_found(ill: Report) -> None:
    page, text = Page(ill.to_html("")), " ".join(str(ill).split())
    assert page.text.count("Must hold") == page.text.count("Found") >= 3
    assert "Must hold: Changing later target tokens leaves the logits before them as they were. Found: New" in text


def test_the_terminal_counts_what_holds(ill: Report) -> None:
    assert "2 passed" in str(ill) and "✓" not in str(ill)
    console = Console(width=100, no_color=True)
    with console.capture() as shown:
        ill.print(console, passed=True)
    assert shown.get().count("✓") == 2


# Causes, and the mistakes that are named


def findings(**outcomes: str) -> list[Finding]:
    """Findings with these outcomes, by id with underscores."""
    named = {name.replace("_", "-"): outcome for name, outcome in outcomes.items()}
    return [Finding(id, "It holds.", "", "", outcome, "It was so.") for id, outcome in named.items()]  # type: ignore[arg-type]


def test_a_cause_is_said_once_and_mutes_what_follows_through_others() -> None:
    failed = findings(
        leak_by_change="failed",
        leak_canary="failed",
        cache_equals_forward="failed",
        beam_scores="failed",
        beam_exhaustive="failed",
        attention_scale="failed",
        source_order="passed",
    )
    assert roots(failed) == {
        "leak-by-change": ["leak-canary", "cache-equals-forward", "beam-scores", "beam-exhaustive"],
        "attention-scale": [],
    }
    assert roots(failed[3:5]) == {"beam-scores": ["beam-exhaustive"]}


def test_a_mistake_that_fails_the_same_only_fits_and_is_not_named_where_it_measures_another_thing() -> None:
    everything = {id.replace("-", "_"): "passed" for id in INVARIANTS}

    def named(measured: str) -> list[tuple[str, str]]:
        found = findings(**everything | {"averaging": "failed"})
        found = [replace(one, measured=measured) if one.outcome == "failed" else one for one in found]
        return [(one.id, one.fit) for one in similar_mutants(found)]

    report = examine(mutants.subject("average_is_last"), ["averaging", "schedule"])
    assert [(one.id, one.fit) for one in report.similar_mutants] == [("average_is_last", "fits")]
    assert "fits; other mistakes may fail the same" in " ".join(str(report).split())
    assert named("Averaging changed the checkpoints.") == []
    # Where little was examined, more mistakes fit than could be told apart, and none is named.
    assert similar_mutants(findings(source_padding="failed", batch_mates="failed", source_order="passed")) == []


def test_findings_with_the_same_guesses_share_one_diagnosis() -> None:
    fill, mask, scale, told = (Mistake(says, 7) for says in ("fill", "mask", "scale", "told"))
    one, two, three, four = findings(one="failed", two="failed", three="failed", four="failed")
    one, two = replace(one, mistakes=(fill, mask)), replace(two, mistakes=(scale,))
    three = replace(three, mistakes=(mask, told))
    first, second, bare = diagnoses([one, two, three, four])
    assert (first.findings, second.findings, bare.findings) == ((one, three), (two,), (four,))
    assert [(g.mistake.says, g.named_by) for g in first.guesses] == [
        ("mask", ("one", "three")),
        ("fill", ("one",)),
        ("told", ("three",)),
    ]
    assert bare.guesses == ()
    four = replace(four, mistakes=(scale, fill))  # joins what was apart
    assert [one.findings for one in diagnoses([one, two, three, four])] == [(one, two, three, four)]
    sure = replace(told, mutant="told")
    (only,) = diagnoses([one, replace(three, mistakes=(mask, sure))])
    assert only.guesses[0].mistake == sure, "what a measured number tells comes first"


def test_a_likely_mistake_is_printed_once(ill: Report) -> None:
    assert len(ill.causes) > 1 and len(ill.diagnoses) == 1
    for text in (" ".join(str(ill).split()), Page(ill.to_html("")).text):
        assert text.count("with a number too near zero, such as -1e-12") == 1
        assert text.count("Must hold:") == text.count("Found:") == len(ill.causes)
    (said,) = ill.to_dict()["diagnoses"]
    assert said["findings"] == list(ill.causes)
    assert said["guesses"][0]["named_by"] == list(ill.causes)


def test_a_healthy_report_says_how_much_was_examined() -> None:
    def verdict_of(**outcomes: str) -> str:
        return str(Report("well", tuple(findings(**outcomes)))).splitlines()[1]

    assert verdict_of(a="passed", b="passed") == "2 passed in 0.0 s. All 2 invariants that were examined hold."
    skipped = {"c": "not applicable", "d": "not applicable"}
    assert verdict_of(a="passed", b="passed", **skipped).endswith("examined hold; 2 were not examined.")
    assert verdict_of(a="passed", c="not applicable").endswith("The one invariant examined holds; 1 was not examined.")
    assert verdict_of(c="not applicable").endswith("1 not examined in 0.0 s. Nothing could be examined.")


def test_a_measured_number_names_the_mistake_itself() -> None:
    report = examine(mutants.subject("penalty_multiplied"), ["beam-penalty", "beam-exhaustive"])
    assert [(one.id, one.fit) for one in report.similar_mutants] == [("penalty_multiplied", "measured")]
    assert report.causes == {"beam-penalty": ["beam-exhaustive"]}


def test_where_calls_differ_by_chance_nothing_else_is_blamed() -> None:
    report = examine(mutants.subject("dropout_in_evaluation"), ["leak-by-change", "source-padding", "dropout-off"])
    assert [(f.id, f.outcome) for f in report.findings] == [
        ("dropout-off", "failed"),
        ("leak-by-change", "not applicable"),
        ("source-padding", "not applicable"),
    ]
    assert "a failure of dropout-off" in report["leak-by-change"].measured


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
from annotated_grader.doctor import Subject

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
        ("", "an argument is empty"),
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


# Fingerprints


def test_what_the_bank_measures_is_what_is_recorded() -> None:
    """Of one mistake; `make exercises` compares them all."""
    assert record_fingerprints.measured_for("average_is_last") == fingerprints.recorded()["average_is_last"]


def test_every_known_mistake_has_all_its_fingerprints() -> None:
    record = fingerprints.recorded()
    assert {id: set(found) for id, found in record.items()} == {m.id: set(m.killed_by) for m in MUTANTS}


def test_figures_and_names_of_parts_are_no_part_of_a_fingerprint() -> None:
    def of(measured: str, id: str = "residuals") -> str:
        return fingerprints.fingerprint(Finding(id, "", "", "", "failed", measured))

    assert of("In encoder layer 1, ff, what follows differs by 0.4% of its size.") == of(
        "In encoder layer 3, self-attention, what follows differs by 52% of its size."
    )
    assert of("Step 1 differs from the whole prefix.") != of("Step 3 differs from the whole prefix.")
    assert of("In decoder layer 1 a hidden key has weight 0.2.") != of("In decoder layer 2 a hidden key has weight 1.")
    assert of("Two of 64 source positions are alike: nothing apart.") == of(
        "Two of 200 source positions are alike: 3e-07 of their size apart."
    )
