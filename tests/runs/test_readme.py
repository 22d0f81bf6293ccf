"""A run's folder says what it is, what was lost, and on which data it may go on."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from annotated.cli.program import _command
from annotated.runs import list_checkpoints, read_records, readme, train
from annotated.runs.validation_callbacks import sample_translations
from annotated.saving import load_model
from annotated.training import CheckpointError
from annotated.wmt14 import PreparationOptions, PreparedCorpus, prepare_files
from tests.runs.conftest import write_corpus


def blocks(text: str) -> list[list[str]]:
    """The commands of a page of Markdown, word by word."""
    return [shlex.split(part.strip()) for part in text.split("```")[1::2]]


def test_the_readme_has_a_command_that_goes_on_with_the_run(small):
    small.trained(updates=8)
    small.train()
    folder = small.folder / "run"
    text = (folder / "README.md").read_text(encoding="utf-8")
    same, several, _, _, finish = blocks(text)
    asked = _command(same[1:])
    assert (asked.out, asked.model, asked.training, asked.data) == (folder, small.model, small.training, small.data)
    assert several[0] == "torchrun" and several[several.index("-m") + 1 :] == same
    assert finish == ["annotated", "finish", str(folder)]
    _, tokenizer = load_model(folder / "model")
    assert tokenizer.fingerprint[:16] in text and "400 training and 40 validation pairs" in text
    starts = [line for line in text.splitlines() if line.startswith("| 20")]
    assert [line.split("|")[2].strip() for line in starts] == ["0", "8"]
    for path in folder.iterdir():
        known = path.name in ("tokenizer.origin.json",) or f"`{path.name}" in text
        assert known, f"{path.name} is not explained"


def test_a_start_brings_the_readme_up_to_date_but_leaves_what_somebody_wrote(small):
    small.trained(updates=8)
    readme = small.folder / "run" / "README.md"
    first = readme.read_text(encoding="utf-8")
    small.train(updates=16)
    second = readme.read_text(encoding="utf-8")
    assert (first.count("\n| 20"), second.count("\n| 20")) == (1, 2)
    above, mark, _ = second.rpartition("\n<!-- annotated")  # as a training of 0.1 left it
    earlier = above.replace("Each start brings this file", "The training writes this file at each start")
    readme.write_text(earlier, encoding="utf-8")
    small.train(updates=20)
    assert mark and readme.read_text(encoding="utf-8").count("\n| 20") == 3
    notes = readme.read_text(encoding="utf-8").replace("## What", "The second seed, for the thesis.\n\n## What", 1)
    readme.write_text(notes, encoding="utf-8")
    small.train()
    assert readme.read_text(encoding="utf-8") == notes


def test_a_readme_that_says_the_same_is_not_written_again(small, monkeypatch):
    small.trained(updates=8)
    place = small.folder / "run" / "README.md"
    with monkeypatch.context() as patched:
        patched.setattr(readme, "readme", lambda *_: "# Run a\n")
        run = SimpleNamespace(folder=small.folder)
        assert readme.write_readme(run) == small.folder / "README.md"
        patched.setattr(readme, "atomic_write", lambda path: pytest.fail("written again"))
        readme.write_readme(run)
    assert place.is_file()


def test_the_command_in_the_readme_names_the_sentences_that_are_watched(small):
    watched = ["the red cat sleeps", "two dogs"]
    result = small.train(updates=1, samples=sample_translations(watched))
    same, *_ = blocks((result.folder / "README.md").read_text(encoding="utf-8"))
    assert list(_command(same[1:]).samples) == watched


def test_what_is_lost_is_counted(small, capsys):
    small.train(updates=24, checkpoint_every=8, log_every=2)
    folder = small.folder / "run"
    shutil.rmtree(list_checkpoints(folder)[-1])  # as if it had died before the last one was whole
    train(small.model, small.training, small.data, folder)
    said = capsys.readouterr().err
    assert "going on from update-000000016: 16 of 24 updates made" in said
    assert "8 updates after it are lost and made again (as far as the log tells, which has a line for every 4)" in said
    shutil.rmtree(folder / "checkpoints")
    train(small.model, small.training.replace(updates=4, log_every=1), small.data, folder)
    assert "no checkpoint had been saved: 24 updates are lost and made again; nothing else" in capsys.readouterr().err
    small.train(updates=4)
    assert [record["kind"] for record in read_records(folder)].count("end") == 1
    assert sum(bool(record.get("averaged")) for record in read_records(folder) if record["kind"] == "valid") == 1


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, small_corpora) -> tuple[PreparedCorpus, PreparedCorpus]:
    """Two prepared corpora: the second has other training text."""
    train_file, valid_file = map(str, small_corpora)
    folder = tmp_path_factory.mktemp("prepared")
    options, other_file = PreparationOptions(vocab_size=300), write_corpus(folder / "other.tsv", 200, seed=9)
    return (
        prepare_files({"mine": train_file}, valid_file, valid_file, folder / "one", options),
        prepare_files({"mine": str(other_file)}, valid_file, valid_file, folder / "other", options),
    )


def test_a_prepared_corpus_is_trained_on_as_it_is(small, prepared, tmp_path):
    one, other = prepared
    small.data = small.data.replace(train="classroom", valid="classroom", prepared=str(one.folder))
    result = small.train(updates=8)
    assert not (result.folder / "data" / "train").exists(), "what is encoded already is not encoded again"
    assert (result.folder / "tokenizer.json").read_bytes() == one.tokenizer.read_bytes()
    assert one.identity in (result.folder / "README.md").read_text(encoding="utf-8")

    small.data = small.data.replace(prepared=str(other.folder))
    with pytest.raises(CheckpointError, match=f"corpus {one.identity}.*corpus {other.identity} of {other.folder}"):
        small.train(updates=16)
    moved = shutil.copytree(one.folder, tmp_path / "moved")
    small.data = small.data.replace(prepared=str(moved))
    assert small.train(updates=16).update == 16
    small.data = small.data.replace(prepared=None, train=str(Path(moved) / "train.tsv"), valid=str(moved / "valid.tsv"))
    with pytest.raises(CheckpointError, match=f"corpus {one.identity}.*text of its own"):
        small.train(updates=24)


def test_a_prepared_corpus_brings_its_text(small):
    with pytest.raises(ValueError, match="prepared='here' brings text and tokenizer"):
        small.data.replace(prepared="here")
