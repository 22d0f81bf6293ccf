"""Captions of pictures: models that differ in what they are told of the places of patches, with three seeds each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from annotated.config import ModelConfig
from annotated.decoding import greedy_decode
from annotated_book.results.plans.patches import PatchTransformer, Places, patches
from annotated_book.results.plans.pictures import (
    LENGTH,
    SIDE,
    WORDS,
    Kind,
    Scene,
    caption,
    draw,
    ids,
    inside,
    scenes,
    targets,
)
from annotated_book.results.plans.training import inverse_root, train

CONFIG = ModelConfig(
    vocab_size=len(WORDS),
    d_model=64,
    d_ff=128,
    num_heads=4,
    d_k=16,
    d_v=16,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dropout=0.0,
)
PATCH, UPDATES, BATCH, RATE, WARMUP = 4, 800, 64, 2e-3, 150
PICTURES, SEEDS, SHOWN = 1_000, (1, 2, 3), (3, 3)
KINDS: tuple[Kind, ...] = ("seen", "held out")
PLACES: tuple[Places, ...] = ("grid", "sequence", "none")
PARTS = ("size", "colour", "shape", "relation", "size", "colour", "shape")
"""What each of the seven words of a caption says."""


def run(smoke: bool = False) -> dict[str, Any]:
    """Train each model, read both sets of new pictures, and keep some of the first model's; `smoke` is a small part."""
    torch.set_num_threads(1)
    updates, count, seeds = (5, 20, SEEDS[:1]) if smoke else (UPDATES, PICTURES, SEEDS)
    runs, shown, looks, mixed = [], [], [], {}
    for seed in seeds:
        for places in PLACES:
            model, losses = trained(places, seed, updates)
            row = {"places": places, "seed": seed, "loss": round(sum(losses[-50:]) / len(losses[-50:]), 4)}
            runs.append({**row, "scores": {kind: score(model, scenes(count, 7, kind)) for kind in KINDS}})
            if places == "grid":
                looks += [{"seed": seed, **look} for look in where_it_looks(model, scenes(min(count, 300), 8))]
            if places == "grid" and seed == seeds[0]:
                mixed = mixed_up(model, scenes(count, 7, "held out"))
                shown = [
                    one
                    for kind, n in zip(KINDS, SHOWN, strict=True)
                    for one in examples(model, various(scenes(60, 21, kind), n), kind)
                ]
    settings = {"updates": updates, "batch": BATCH, "pictures": count, "parameters": model.num_parameters()}
    return {
        "config": CONFIG.to_dict(),
        "settings": settings,
        "runs": runs,
        "looks": looks,
        "mixed_up": mixed,
        "shown": shown,
    }


def trained(places: Places, seed: int, updates: int = UPDATES) -> tuple[PatchTransformer, list[float]]:
    """A model and its losses."""
    torch.manual_seed(seed)
    model = PatchTransformer(CONFIG, SIDE, PATCH, places=places)
    return model, train(model, _batches(seed), updates, inverse_root(RATE, WARMUP))


def _batches(seed: int) -> Iterator[tuple[tuple[Tensor, ...], Tensor]]:
    """New pictures for every update; none is seen twice but by chance."""
    batch = 0
    while True:
        batch += 1
        some = scenes(BATCH, 100_000 * seed + batch)
        target_in, target_out = targets(some)
        yield (draw(some, batch).flatten(1), target_in), target_out


def read(model: PatchTransformer, some: Sequence[Scene], attention: bool = False) -> list[Any]:
    """Greedy search of the library on the pictures of some scenes."""
    pictures = draw(list(some), 99).flatten(1)
    return greedy_decode(model, pictures, max_new_tokens=LENGTH, return_attention=attention)


def score(model: PatchTransformer, some: Sequence[Scene]) -> dict[str, float]:
    """The share of captions that are right as a whole, and of the words of each part."""
    rows = [(found.tokens, ids(caption(scene))) for found, scene in zip(read(model, some), some, strict=True)]
    right = {"caption": sum(a == b for a, b in rows) / len(rows)}
    for part in dict.fromkeys(PARTS):
        at = [i for i, name in enumerate(PARTS) if name == part]
        right[part] = sum(len(a) > i and a[i] == b[i] for a, b in rows for i in at) / (len(rows) * len(at))
    return {name: round(share, 4) for name, share in right.items()}


def mixed_up(model: PatchTransformer, some: Sequence[Scene]) -> dict[str, int]:
    """Of the things with a held-out colour and shape: how many have both words right, one of them, or none."""
    counts = {"both right": 0, "shape wrong": 0, "colour wrong": 0, "both wrong": 0}
    for found, scene in zip(read(model, some), some, strict=True):
        words = [WORDS[token] for token in found.tokens] + [""] * len(PARTS)
        for thing, at in zip(scene, (1, 5), strict=True):
            if thing.new:
                colour, shape = words[at] == thing.colour, words[at + 1] == thing.shape
                counts[list(counts)[2 * (not colour) + (not shape)]] += 1
    return counts


def where_it_looks(model: PatchTransformer, some: Sequence[Scene]) -> list[dict[str, Any]]:
    """For each layer and each word: the share of cross-attention on the thing that the word is about, and on the other.

    The share is the mean over heads and pictures. A thing's patches are those with at least one of its pixels; `even`
    is their share of all patches, which equal weights would give.
    """
    found, rows = read(model, some, attention=True), []
    things = torch.tensor([[_on_patches(thing) for thing in scene] for scene in some])  # [B, 2, S]
    for layer in range(model.config.num_decoder_layers):
        maps = torch.stack([one.attention.cross[layer].mean(dim=0)[: len(PARTS)] for one in found])  # [B, 7, S]
        share = torch.einsum("bts,bos->bto", maps, things.float()).mean(dim=0)
        even = things.float().mean(dim=(0, 2))
        for i, part in enumerate(PARTS):
            first, second = share[i].tolist()
            row = {
                "layer": layer + 1,
                "word": i + 1,
                "part": part,
                "first": round(first, 4),
                "second": round(second, 4),
            }
            rows.append({**row, "even": [round(x, 4) for x in even.tolist()]})
    return rows


def _on_patches(thing: Any) -> list[bool]:
    pixels = torch.from_numpy(inside(thing))[None, ..., None]
    return patches(pixels, PATCH).any(dim=-1)[0].tolist()


def various(some: Sequence[Scene], count: int) -> list[Scene]:
    """The first scenes of which no two have a colour and shape in common, at most `count`."""
    chosen: list[Scene] = []
    known: set[tuple[str, str]] = set()
    for scene in some:
        kinds = {(thing.colour, thing.shape) for thing in scene}
        if len(kinds) == 2 and not kinds & known and len(chosen) < count:
            chosen.append(scene)
            known |= kinds
    return chosen


def examples(model: PatchTransformer, some: Sequence[Scene], kind: Kind) -> list[dict[str, Any]]:
    """Pictures to show, with what was written and where each step looked.

    Returns
    -------
    list of dict
        `pixels`: colours as hexadecimal text, six digits a pixel, row by row. `words`, `right`: what was written, and
        what should be. `looks`: for each layer and step the cross-attention, mean over heads, as S whole numbers
        in thousandths.
    """
    pictures, shown = draw(list(some), 99), []
    for scene, picture, found in zip(some, pictures, read(model, some, attention=True), strict=True):
        pixels = ((picture + 1) * 127.5).round().clamp(0, 255).to(torch.uint8).flatten().tolist()
        looks = [layer.mean(dim=0).mul(1000).round().int().tolist() for layer in found.attention.cross]
        words = [WORDS[token] for token in found.tokens]
        row = {"kind": kind, "pixels": bytes(pixels).hex(), "words": words, "right": caption(scene), "looks": looks}
        shown.append(row)
    return shown
