"""The page with a training loop of one's own: each of its blocks runs, and says what is true."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import torch

import annotated
from annotated.cli import main
from annotated_book.pages import page_file


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    """The part with a loop of one's own; what follows trains by the library's."""
    whole = page_file("reference/own_loop").read_text(encoding="utf-8")
    own, heading, _ = whole.partition("(training-with-the-library)=")
    assert heading
    return own


@pytest.fixture(scope="module")
def names(page: str) -> dict[str, Any]:
    """What the page's cells have defined: the trained model among them."""
    found: dict[str, Any] = {}
    for cell in cells(page):
        exec(compile(cell, "own_loop.md", "exec"), found)
    return found


def cells(page: str) -> list[str]:
    found = re.findall(r"^```{code-cell} ipython3\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return [re.sub(r"^:tags:.*\n", "", cell) for cell in found]


def block(page: str, word: str) -> str:
    """The block of Python that is not run in the page and speaks of a word."""
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (found,) = [one for one in blocks if word in one]
    return found


def test_the_loop_is_short_and_needs_torch_only(page: str) -> None:
    shown = page.replace(
        "```{code-cell} ipython3\n:tags: [hide-input]", "```folded"
    )  # its chart is no part of the loop
    before_the_chart, chart, _ = shown.partition("```folded")
    assert chart
    loop = "".join(cells(before_the_chart)[2:])  # the first two are the data
    assert "CrossEntropyLoss" in loop and "DataLoader" in loop and "optimizer.step()" in loop
    assert len([line for line in loop.splitlines() if line.strip()]) < 50
    modules = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]
        for node in ast.walk(ast.parse("".join(cells(shown))))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert modules == {"random", "torch", "annotated"}


def test_it_trains_a_model_that_translates(names: dict[str, Any]) -> None:
    assert names["right"] >= 90
    assert len(names["source"]) == len(names["target_in"])  # the blocks that are not run here go on with these


def test_accelerate_goes_on_with_the_same_model(page: str, names: dict[str, Any]) -> None:
    pytest.importorskip("accelerate", reason="the page's second loop needs accelerate")
    model = names["model"]
    before = model.embedding.weight.detach().clone()
    updates = names["schedule"].last_epoch
    exec(compile(block(page, "Accelerator"), "own_loop.md", "exec"), scope := dict(names))
    assert scope["model"] is model and not torch.equal(before, model.embedding.weight)
    assert scope["schedule"].scheduler.last_epoch == updates + len(names["loader"])
    assert float(scope["loss"].detach()) < 1  # 0.6 is the least that a smoothed target allows here
    assert annotated.greedy_decode(model, names["source"][:2])


def small() -> annotated.Transformer:
    torch.manual_seed(0)
    shape = dict(d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=8, num_encoder_layers=1, num_decoder_layers=1)
    return annotated.Transformer(annotated.tiny(vocab_size=20, dropout=0.0, **shape))


SOURCE, TARGET = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]]), torch.tensor([[1, 5, 9], [1, 4, 0]])


def test_the_whole_model_is_one_graph() -> None:
    """By the compiler's front end; its code generator is measured, not tested, for it needs a minute."""
    model = small()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    expected = model(SOURCE, TARGET)
    assert torch.equal(compiled(SOURCE, TARGET), expected)
    weight = model.decoder.layers[0].feed_forward.inner.weight
    (wanted,) = torch.autograd.grad(expected.sum(), weight)
    (found,) = torch.autograd.grad(compiled(SOURCE, TARGET).sum(), weight)
    torch.testing.assert_close(found, wanted)
    logits, maps = torch.compile(model, fullgraph=True, backend="eager")(SOURCE, TARGET, return_attention=True)
    torch.testing.assert_close(logits, expected)
    assert maps.cross[0].shape == (2, 2, 3, 4)
    decoded = [annotated.greedy_decode(one, SOURCE, max_new_tokens=4) for one in (compiled, model)]
    assert decoded[0] == decoded[1]


def test_an_exported_program_takes_other_sizes(page: str) -> None:
    model = small()
    scope = {"torch": torch, "model": model, "source": SOURCE, "target_in": TARGET}
    exec(compile(block(page, "torch.export.export"), "own_loop.md", "exec"), scope)
    program = scope["program"].module()
    for batch, source, target in ((1, 1, 1), (5, 9, 12)):
        ids = torch.randint(4, 20, (batch, source)), torch.randint(4, 20, (batch, target))
        torch.testing.assert_close(program(*ids), model(*ids))
    with pytest.raises(AssertionError, match="512"):
        program(torch.randint(4, 20, (1, 600)), TARGET[:1])


@pytest.fixture
def two_texts(repository: Path) -> Any:
    """The page's function for data sets of Hugging Face."""
    whole = page_file("reference/own_loop").read_text(encoding="utf-8")
    (cell,) = [one for one in cells(whole) if "def two_texts" in one]
    scope: dict[str, Any] = {}
    exec(compile(cell, "own_loop.md", "exec"), scope)
    return scope["two_texts"]


RECORDS = [
    {"translation": {"de": f"Satz {n},\r\nzwei\u2028Zeilen.", "en": f" Sentence {n}, one\tline. "}} for n in range(20)
]
"""As the feature `Translation` has them, with the line breaks that text from the web has."""


def test_a_data_set_becomes_two_files_that_the_commands_read(
    two_texts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = two_texts(iter(RECORDS), tmp_path / "train")  # once through: a stream has no length
    assert spec == f"{tmp_path}/train.de,{tmp_path}/train.en"
    assert main(["data", "show", spec]) == 0
    assert "Satz 0, zwei Zeilen." in (shown := capsys.readouterr().out) and "Sentence 0, one line." in shown
    few = two_texts([record["translation"] for record in RECORDS[:3]], tmp_path / "valid")  # a column a language
    model = "--model.d-model=16 --model.d-ff=24 --model.num-heads=2 --model.num-encoder-layers=1"
    options = f"--data.train {spec} --data.valid {few} --data.vocab-size 280 --training.updates 1 --training.device cpu"
    assert main(["train", str(tmp_path / "run"), "--quiet", *model.split(), *options.split()]) == 0
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()


def test_a_real_data_set_is_such_records(two_texts: Any, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features({"translation": datasets.Translation(["de", "en"])})
    real = datasets.Dataset.from_list(RECORDS, features=features)
    for name, records in {"whole": real, "stream": real.to_iterable_dataset()}.items():
        two_texts(records, tmp_path / name)
        written = [(tmp_path / f"{name}.{one}").read_text(encoding="utf-8").splitlines() for one in ("de", "en")]
        assert written[0][7] == "Satz 7, zwei Zeilen." and written[1][7] == "Sentence 7, one line."
        assert [len(lines) for lines in written] == [20, 20]
