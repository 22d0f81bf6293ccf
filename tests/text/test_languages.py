"""Text of eleven languages on its whole way: prepared, trained on, translated, scored; nothing lost or invented."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from annotated.cli import main
from annotated.cli.scored_text import language_of
from annotated.config import DataConfig
from annotated.data import Tokenizer
from annotated.text.text_files import read_lines
from tests.text.languages import LANGUAGES, pairs

pytestmark = pytest.mark.process


def _lines(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8", newline="\n")
    return path


def test_a_run_knows_the_languages_of_its_own_text(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    for pair, language in (("en-zh", "zh"), (None, None)):
        start = {
            "kind": "start",
            "update": 0,
            "configuration": {"data": DataConfig(pair=pair, train="a.tsv").to_dict()},
        }
        (tmp_path / "run" / "log.jsonl").write_text(json.dumps(start) + "\n", encoding="utf-8")
        assert language_of(str(tmp_path / "run")) == language
    for wrong in ("zh", "en_zh", "English-Chinese"):
        with pytest.raises(ValueError, match="two languages, such as 'en-de'"):
            DataConfig(pair=wrong)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_goes_the_whole_way(language: str, tmp_path: Path, capsys) -> None:
    """No pair is dropped, the tokenizer is lossless, line k stays line k, and the score is sacreBLEU's own."""
    found = pairs(language)
    assert len(set(found)) == 300
    parts = {"train": found[:240], "valid": found[240:270], "test": found[270:]}
    for name, part in parts.items():
        _lines(tmp_path / f"{name}.tsv", ["\t".join(pair) for pair in part])
    files = [word for name in parts for word in (f"--{name}", str(tmp_path / f"{name}.tsv"))]
    prepare = ["--pair", f"en-{language}", "--vocab-size", "600", "--jobs", "1"]
    assert main(["data", "texts", str(tmp_path / "data"), *files, *prepare]) == 0
    # Sentences of test and training share a side, which is an overlap of six words or more in no language here.
    kept = [tuple(line.split("\t")) for line in read_lines(tmp_path / "data" / "train.tsv")]
    assert kept == parts["train"]
    tokenizer = Tokenizer.load(tmp_path / "data" / "tokenizer.json")
    assert all(tokenizer.decode(tokenizer.encode(text)) == text for pair in found for text in pair)

    shape = ["--model.d-model", "32", "--model.d-ff", "64", "--model.num-heads", "2", "--model.d-k", "16"]
    shape += ["--model.d-v", "16", "--model.num-encoder-layers", "1", "--model.num-decoder-layers", "1"]
    run = ["train", str(tmp_path / "run"), "--data.prepared", str(tmp_path / "data"), "--quiet", *shape]
    assert main([*run, "--training.updates", "60", "--training.batch-tokens", "400"]) == 0
    capsys.readouterr()
    evaluate = ["evaluate", str(tmp_path / "run"), "--output", str(tmp_path / "out.txt"), "--json", "--moses", "no"]
    assert main([*evaluate, "--max-new-tokens", "30"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sentences"] == 30 and len(list(read_lines(tmp_path / "out.txt"))) == 30

    references = _lines(tmp_path / "references.txt", [target for _, target in parts["test"]])
    tokeniser = dict(part.split(":") for part in told["signature"].split("|"))["tok"]
    assert tokeniser == {"zh": "zh", "ja": "char", "th": "char"}.get(language, "13a")  # MeCab is not installed here
    program = [sys.executable, "-m", "sacrebleu", str(references), "-i", str(tmp_path / "out.txt"), "-b", "-w", "6"]
    theirs = subprocess.run([*program, "-tok", tokeniser], capture_output=True, text=True, check=True)
    assert told["bleu"] == pytest.approx(float(theirs.stdout), abs=1e-6)
