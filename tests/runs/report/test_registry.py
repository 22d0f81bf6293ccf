"""The ledger: an honest entry passes, and whoever changes a number, a line or a claim is found out."""

from __future__ import annotations

import contextlib
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotated.cli import main
from annotated.runs.registry import add_entry, check_entry, check_ledger, entries, read_entries, thin_log
from annotated.runs.registry.entries import LOG_BYTES, readme
from annotated.runs.report import RunReport, TestSet
from annotated.runs.report.report import training_facts
from annotated.storage import checksum
from annotated.training.schedule import learning_rate
from tests.runs.report.conftest import PAIRS

TEST = TestSet("test.tsv", PAIRS)


@pytest.fixture
def entry(finished: RunReport, tmp_path: Path) -> Path:
    """An honest entry."""
    return add_entry(finished.folder.parent, "rehearsal-small", tmp_path / "ledger")


def forge(entry: Path, file: str, change: Callable[[str], str]) -> list[str]:
    """Change a file of an entry, and its hash, README and all: what a careful liar would do; and check again."""
    path = entry / file
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    report = json.loads((entry / "report.json").read_text(encoding="utf-8"))
    about = json.loads((entry / "entry.json").read_text(encoding="utf-8"))
    with contextlib.suppress(ValueError, TypeError, AttributeError):  # some lies cannot be printed
        (entry / "README.md").write_text(readme(entry.name, report, about["log_step"]), encoding="utf-8")
    about["files"] = {name: checksum(entry / name) for name in about["files"]}
    (entry / "entry.json").write_text(json.dumps(about), encoding="utf-8")
    return check_entry(entry)


def in_report(path: str, value: Any) -> Callable[[str], str]:
    """A change of one field of the report."""

    def change(text: str) -> str:
        content = json.loads(text)
        *groups, name = path.split(".")
        place = content
        for group in groups:
            place = place[group]
        place[name] = value
        return json.dumps(content)

    return change


def in_log(kind: str, **fields: Any) -> Callable[[str], str]:
    """A change of fields of the second record of a kind."""

    def change(text: str) -> str:
        records = [json.loads(line) for line in text.splitlines()]
        [record for record in records if record["kind"] == kind][1].update(fields)
        return "".join(json.dumps(record) + "\n" for record in records)

    return change


def test_every_entry_of_this_repository_holds(repository: Path) -> None:
    assert check_ledger(repository / "ledger") == []


def test_an_entry_does_not_name_the_machine(entry: Path) -> None:
    assert platform.node() and '"host"' not in (entry / "log.jsonl").read_text(encoding="utf-8")


def test_an_honest_entry_passes(entry: Path) -> None:
    assert check_entry(entry) == []
    assert check_entry(entry, [TEST]) == [] and check_ledger(entry.parent) == []
    (found,) = entries(entry.parent)
    assert found.name == "rehearsal-small" and found.report["training"]["updates"] == 12
    text = (entry / "README.md").read_text(encoding="utf-8")
    assert f"{found.report['scores']['average']['paper']['score']:.2f}" in text and "not WMT14" in text
    assert not (entry / "test.tsv").exists()


def test_the_entries_come_as_a_table(entry: Path) -> None:
    (one,), table = entries(entry.parent), read_entries(entry.parent)
    row = table.loc[one.name]
    assert row["sacrebleu"] == one.report["scores"]["average"]["sacrebleu"]["score"]
    assert row["low"] <= row["sacrebleu"] <= row["high"]
    assert (row["hours"], row["machine"]) == (one.report["training"]["hours"], one.machine)
    assert row["added"].isoformat().startswith(one.added)


def test_an_empty_registry_is_an_empty_table(tmp_path: Path) -> None:
    assert read_entries(tmp_path).empty


def test_nobody_need_lie_to_be_found_out(entry: Path) -> None:
    """A file that was changed without its hash, one that is missing, and one that nobody knows."""
    lines = (entry / "hypotheses.txt").read_text(encoding="utf-8")
    (entry / "hypotheses.txt").write_text(lines.replace("Katze", "Kater"), encoding="utf-8")
    assert "hypotheses.txt has changed" in check_entry(entry)[0]
    (entry / "hypotheses.txt").write_text(lines, encoding="utf-8")
    (entry / "more.txt").touch()
    assert "more.txt" in check_entry(entry)[0]
    readme_of = (entry / "README.md").read_text(encoding="utf-8")
    (entry / "more.txt").rename(entry / "README.md")
    assert any("README.md" in problem for problem in check_entry(entry))
    (entry / "README.md").write_text(readme_of.replace("not WMT14", "WMT14"), encoding="utf-8")
    about = json.loads((entry / "entry.json").read_text(encoding="utf-8"))
    about["files"]["README.md"] = checksum(entry / "README.md")
    (entry / "entry.json").write_text(json.dumps(about), encoding="utf-8")
    assert "README.md does not say what the report says" in check_entry(entry)[0]
    (entry / "report.json").unlink()
    assert "report.json" in check_entry(entry)[0]


LIES = {
    "a higher BLEU": ("report.json", in_report("scores.average.sacrebleu.score", 99.0), "the counted numbers make"),
    "a higher BLEU, the paper's way": ("report.json", in_report("scores.last.paper.score", 99.0), "last.paper"),
    "another setting": ("report.json", in_report("scores.average.sacrebleu.signature", "nrefs:1|tok:char"), "tok:13a"),
    "no signature": ("report.json", in_report("scores.average.chrf.signature", None), "its signature"),
    "WMT14": ("report.json", in_report("label", "WMT14 en-de"), "its data allow"),
    "more updates": ("report.json", in_report("training.updates", 100_000), "differ in updates"),
    "fewer hours": ("report.json", in_report("training.hours", -1.0), "differ in hours"),
    "another model": ("report.json", in_report("configuration.model.d_model", 512), "configuration of the model"),
    "a shorter test set": ("report.json", in_report("test.sentences", 7), "8 translations of 7 sentences"),
    "no hash of the test": ("report.json", in_report("test.references_sha256", None), "references_sha256 is None"),
    "a number in words": ("report.json", in_report("parameters", "many"), "parameters is 'many'"),
    "another rate": ("log.jsonl", in_log("train", learning_rate=1e-3), "equation 3 says"),
    "a loss of nothing": ("log.jsonl", in_log("train", loss=0.0), "loss 0.0"),
    "too many tokens": ("log.jsonl", in_log("train", tokens_seen=401), "target tokens in 1 updates"),
    "time runs backwards": ("log.jsonl", in_log("train", elapsed=1e6), "before its time"),
    "updates run backwards": ("log.jsonl", in_log("valid", update=1), "comes after update"),
    "another translation": ("hypotheses.txt", lambda text: text.replace(" Hund", " weisse Hund"), "not counted in"),
    "a line less": ("hypotheses.txt", lambda text: text.partition("\n")[2], "7 translations of 8"),
    "matches": ("statistics.tsv", lambda text: text.replace("\t7\t7\t7\t", "\t7\t7\t6\t"), "the counted numbers make"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_that_minds_its_hashes_is_found_too(entry: Path, lie: str) -> None:
    file, change, found = LIES[lie]
    problems = forge(entry, file, change)
    assert problems and any(found in problem for problem in problems), problems


def test_with_the_test_set_at_hand_the_translations_are_scored_again(finished: RunReport, tmp_path: Path) -> None:
    """Matches moved from one sentence to another leave the sum, and so the score, as it was."""
    run = finished.folder.parent
    entry = add_entry(run, "rehearsal-open", tmp_path / "ledger", test=TEST)
    assert check_entry(entry) == []
    columns = (entry / "statistics.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t")
    match = columns.index("average.sacrebleu.match1")

    def move(text: str) -> str:
        rows = [line.split("\t") for line in text.splitlines()]
        rows[1][match], rows[2][match] = str(int(rows[1][match]) - 1), str(int(rows[2][match]) + 1)
        return "\n".join("\t".join(row) for row in rows) + "\n"

    closed = add_entry(run, "rehearsal-closed", tmp_path / "ledger")
    assert forge(closed, "statistics.tsv", move) == []  # nobody can tell without the references
    assert "average.sacrebleu is not what" in check_entry(closed, [TEST])[0]
    assert "average.sacrebleu is not what" in forge(entry, "statistics.tsv", move)[0]
    assert any("chrF" in problem for problem in forge(entry, "report.json", in_report("scores.last.chrf.score", 90.0)))
    other = forge(entry, "test.tsv", lambda text: text.replace("cat", "cow"))
    assert any("test.tsv is not the test set" in problem for problem in other)


def test_names_must_not_claim_more_than_the_data(finished: RunReport, tmp_path: Path) -> None:
    run = finished.folder.parent
    with pytest.raises(ValueError, match="says WMT14, and the data are"):
        add_entry(run, "wmt14-base", tmp_path / "ledger")
    with pytest.raises(ValueError, match="small letters"):
        add_entry(run, "My Run", tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()


def _long_log(updates: int = 100_000, every: int = 50) -> list[dict[str, Any]]:
    """A log as long as that of the base model, stopped and taken up once."""
    start = {"kind": "start", "update": 0, "processes": 8, "configuration": {"data": {"train": "/a/b/train.tsv"}}}
    records: list[dict[str, Any]] = [start]
    for update in range(every, updates + 1, every):
        if update == 50_000:
            records.append({**start, "update": 49_950})
        fields = {"epoch": 1, "tokens_seen": 24_000 * update, "loss": 2.1234567890123, "elapsed": 0.4 * update + 0.123}
        rate = learning_rate(update, 512, 4000)
        records.append(
            {"kind": "train", "update": update, **fields, "learning_rate": rate, "gradient_norm": 0.3, "x": "x" * 60}
        )
        if update % 1000 == 0:
            records.append({"kind": "valid", "update": update, "valid_loss": 1.5, "elapsed": 0.4 * update + 0.2})
            records.append({"kind": "samples", "update": update, "samples": [{"source": "private"}]})
    return [*records, {"kind": "end", "update": updates, "finished": True}]


def test_a_long_log_is_thinned_and_says_the_same() -> None:
    log = _long_log()
    thinned, step = thin_log(log)
    size = sum(len(json.dumps(record)) + 1 for record in thinned)
    assert LOG_BYTES / 2 < size <= LOG_BYTES < len(json.dumps(log)) and step > 1
    assert training_facts(thinned) == training_facts(log)
    kept = [record["update"] for record in thinned if record["kind"] == "train"]
    assert {50, 50 + 50 * step, 49_950, 100_000} <= set(kept) and kept == sorted(kept)
    assert sum(record["kind"] == "valid" for record in thinned) == 100
    assert "private" not in json.dumps(thinned) and "/a/b" not in json.dumps(thinned)
    assert thin_log(log[:20])[1] == 1
    with pytest.raises(ValueError, match="more than 100 bytes"):
        thin_log(log, most=100)


def test_the_commands(finished: RunReport, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, ledger = str(finished.folder.parent), str(tmp_path / "ledger")
    assert main(["ledger", "add", run, "rehearsal-one", "--ledger", ledger, "--with-test"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "ledger" / "rehearsal-one")
    assert main(["ledger", "check", ledger]) == 0
    assert "nothing wrong in 1 entries: rehearsal-one" in capsys.readouterr().out
    (tmp_path / "ledger" / "rehearsal-one" / "log.jsonl").write_text("{}\n")
    assert main(["ledger", "check", ledger]) == 1
    assert capsys.readouterr().out.startswith("rehearsal-one: log.jsonl")
    assert main(["ledger", "check", str(tmp_path / "nowhere")]) == 2
