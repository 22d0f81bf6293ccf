"""`annotated data treebank` on files in the treebank's form that we wrote, and the recipe that trains on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotated.cli.data_treebank import Treebank
from annotated.cli.program import _command
from annotated.data.corpora import open_corpus
from annotated.parsing import Parser, Tree, classroom_trees, linear_form, read_trees, read_written
from annotated.parsing.parser import PAPERS
from annotated.recipes import recipe

SECTIONS = {"02": "cat", "21": "dog", "22": "cow", "23": "hen", "24": "fox", "01": "owl"}
TREE = """( (S (NP-SBJ-1 (DT The) (NN {}) )
    (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1) ) (VP (TO to) (VP (VB sleep) )))) (. .) ))
( (FRAG (NP (PRP$ Its) (NN bed) ) (-LRB- -LRB-) (NP (QP ($ $) (CD 5) ) (-NONE- *U*) ) (-RRB- -RRB-) ))
"""


@pytest.fixture
def wsj(tmp_path: Path) -> Path:
    for number in range(25):
        name = f"{number:02d}"
        (tmp_path / "wsj" / name).mkdir(parents=True)
        text = TREE.format(SECTIONS.get(name, "emu"))
        (tmp_path / "wsj" / name / f"wsj_{name}01.mrg").write_text(text, encoding="utf-8")
    return tmp_path / "wsj"


def test_the_sections_become_pairs_of_sentence_and_tree(wsj: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out"
    assert _command(["data", "treebank", str(wsj), "--out", str(out)]).run() == 0
    said = capsys.readouterr().out
    assert f"{out}/train.tsv\t40 trees" in said and "annotated train wsj --data.train" in said
    lines = {
        split: (out / f"{split}.tsv").read_text(encoding="utf-8").splitlines() for split in ("train", "valid", "test")
    }
    assert {split: len(found) for split, found in lines.items()} == {"train": 40, "valid": 2, "test": 2}
    assert "cat" in lines["train"][0] and "dog" in lines["train"][-2] and "cow" in lines["valid"][0]
    assert not any(word in line for found in lines.values() for line in found for word in ("fox", "owl", "-NONE-"))
    assert (
        lines["test"][0]
        == "The hen wants to sleep .\tʿS ʿNP The hen NPʾ ʿVP wants ʿS ʿVP to ʿVP sleep VPʾ VPʾ Sʾ VPʾ . Sʾ"
    )
    for split, found in lines.items():
        trees = list(read_trees((out / f"{split}.mrg").read_text(encoding="utf-8")))
        for line, tree in zip(found, trees, strict=True):
            source, form = line.split("\t")
            assert read_written(form) == linear_form(tree, "word") and tuple(source.split()) == tree.words()
    assert list(open_corpus(f"{out}/test.tsv", "test", recipe("wsj").data))[1][0] == "Its bed -LRB- $ 5 -RRB-"


def test_without_a_folder_it_is_the_treebank_of_the_classroom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def few(split: Any, count: int) -> list[Tree]:
        asked[split] = count
        return classroom_trees(split, min(count, 20))

    monkeypatch.setattr("annotated.parsing.classroom_trees", few)
    assert Treebank(out=tmp_path, trees=20).run() == 0
    assert asked == {"train": 20, "valid": 1000, "test": 1000}
    trees = list(read_trees((tmp_path / "train.mrg").read_text(encoding="utf-8")))
    assert trees == classroom_trees("train", 20)
    sources = [line.split("\t")[0] for line in (tmp_path / "train.tsv").read_text(encoding="utf-8").splitlines()]
    assert sources == [" ".join(tree.words()) for tree in trees]
    assert len((tmp_path / "test.tsv").read_text(encoding="utf-8").splitlines()) == 20


def test_a_folder_that_lacks_a_section_leaves_nothing_behind(wsj: Path, tmp_path: Path) -> None:
    for file in (wsj / "23").iterdir():
        file.unlink()
    with pytest.raises(FileNotFoundError, match="23 has no .mrg files"):
        Treebank(wsj=wsj, out=tmp_path / "out").run()
    assert not list((tmp_path / "out").glob("*.tsv"))


def test_the_recipe_is_table_4s() -> None:
    parser = recipe("wsj")
    model, decoding = parser.model, parser.decoding
    assert (model.num_encoder_layers, model.num_decoder_layers, model.d_model) == (4, 4, 1024)
    assert (model.d_ff, model.num_heads, model.d_k) == (2048, 8, 64), "all else as in base"
    assert parser.data.vocab_size == 16_000 and parser.training.batch_tokens == 25_000
    assert (decoding.beam_size, decoding.alpha, decoding.extra_tokens) == (21, 0.3, 300)
    assert decoding == PAPERS and Parser.parse.__defaults__[0] == PAPERS  # type: ignore[index]
