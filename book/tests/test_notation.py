"""The page of notation: its letters are those of the docstrings, its numbers, masks and ids those of the library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import yaml

import annotated
from annotated import config
from annotated.model.masks import target_mask
from annotated_book.pages import page_file

ROOT = Path(__file__).parents[2]
PAGE = page_file("reference/notation").read_text(encoding="utf-8")
FOLDERS = ("model", "data", "training", "decoding", "evaluation", "parsing")
SIZES = {"B": 3, "S": 5, "T": 4}


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    table = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0].partition("|---")[2]
    lines = re.match(r"[^\n]*\n((?:\|.*\n)+)", table)
    assert lines, heading
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1].splitlines()]


def test_every_letter_of_a_shape_in_the_docstrings_is_on_the_page() -> None:
    known = {row[0].strip("`") for row in rows("Shapes")}
    used: dict[str, str] = {}
    for file in [file for folder in FOLDERS for file in (ROOT / "annotated" / folder).rglob("*.py")]:
        for shape in re.findall(r"`\[([A-Z][^`\]]*)\]`", file.read_text(encoding="utf-8")):
            used |= {letter: file.name for letter in re.findall(r"\b[A-Z]\b", shape)}
    assert len(used) > 9 and set(used) <= known, {key: used[key] for key in set(used) - known}


def test_the_numbers_are_those_of_the_base_model() -> None:
    base = annotated.base(vocab_size=37_000)
    said = {row[0].strip("`"): row[4].replace(",", "").removeprefix("about ") for row in rows("Shapes") if row[4]}
    assert {letter: int(number) for letter, number in said.items()} == {
        "H": base.num_heads, "D": base.d_model, "K": base.d_k, "d_v": base.d_v, "F": base.d_ff,
        "V": base.vocab_size, "L": base.num_encoder_layers,
    }  # fmt: skip
    assert base.num_encoder_layers == base.num_decoder_layers


@pytest.mark.parametrize("row", rows("Masks"), ids=lambda row: row[0])
def test_masks_have_the_shapes_of_the_page(row: list[str]) -> None:
    source = torch.randint(4, 9, (SIZES["B"], SIZES["S"]))
    target = torch.randint(4, 9, (SIZES["B"], SIZES["T"]))
    made = {
        "padding_mask": annotated.padding_mask(source),
        "causal_mask": annotated.causal_mask(SIZES["T"]),
        "target_mask": target_mask(target),
    }
    mask = made[row[0].strip("`").rpartition(".")[2]]
    assert mask.dtype == torch.bool and list(mask.shape) == [int(SIZES.get(x, x)) for x in re.findall(r"\w+", row[1])]


def test_the_ids_are_those_of_the_library() -> None:
    said = {row[1].upper(): int(row[0]) for row in rows("Token ids")}
    assert said == {name: getattr(config, name) for name in ("PAD", "BOS", "EOS", "UNK")}


def test_letters_with_several_meanings_on_the_formula_sheet_are_in_the_table() -> None:
    """The menu of the sheet and this table are two lists of the same."""
    entries = yaml.safe_load((ROOT / "book" / "_data" / "symbols.yaml").read_text(encoding="utf-8"))
    several = {re.split(r"[_^-]", entry["name"])[0] for entry in entries if entry.get("in")}
    said = " ".join(row[0] for row in rows("Letters with several meanings")).replace("\\", "")
    known = set(re.findall(r"[A-Za-z]+", said))
    assert len(several) > 10 and several <= known, several - known
