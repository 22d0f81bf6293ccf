"""Pictures of two coloured shapes, each with a caption, drawn from a seed: a small task from image to sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from annotated.config import BOS, EOS

SIDE = 32
"""Pixels along one side of a picture, each with three numbers."""
SIZES = {"small": 4, "large": 7}
"""Half the width of a thing, in pixels."""
STEP = 4
"""Centres lie on a grid of so many pixels."""
COLOURS = {
    "red": (0.84, 0.20, 0.20),
    "green": (0.15, 0.62, 0.32),
    "blue": (0.16, 0.38, 0.85),
    "yellow": (0.95, 0.77, 0.10),
}
SHAPES = ("circle", "square", "triangle", "cross")
RELATIONS = ("left-of", "above")
WORDS = ("<pad>", "<s>", "</s>", "<unk>", *SIZES, *COLOURS, *SHAPES, *RELATIONS)
HELD_OUT = frozenset({("red", "circle"), ("green", "square"), ("blue", "triangle"), ("yellow", "cross")})
"""Colours and shapes that no training picture has together; each colour and each shape is in many of them."""
PAPER_WHITE, NOISE = 0.93, 0.04
LENGTH = 8
"""Symbols of a caption: seven words and the end token."""

Kind = Literal["seen", "held out"]
_ID = {word: number for number, word in enumerate(WORDS)}


@dataclass(frozen=True)
class Thing:
    """A shape in a picture; the centre is in pixels from the upper left corner."""

    size: str
    colour: str
    shape: str
    x: int
    y: int

    @property
    def new(self) -> bool:
        """Whether no training picture has this colour with this shape."""
        return (self.colour, self.shape) in HELD_OUT


Scene = tuple[Thing, Thing]
"""Two things, the left one first, or the upper one if they stand above each other."""


def caption(scene: Scene) -> list[str]:
    """What is in the picture, in seven words: 'small red cross left-of large blue square'."""
    one, two = scene
    across, down = abs(two.x - one.x), abs(two.y - one.y)
    relation = "left-of" if across > down else "above"
    return [one.size, one.colour, one.shape, relation, two.size, two.colour, two.shape]


def ids(words: list[str]) -> list[int]:
    """The numbers of a caption's words."""
    return [_ID[word] for word in words]


def scenes(count: int, seed: int, kind: Kind = "seen") -> list[Scene]:
    """Random scenes; the same for the same seed.

    Parameters
    ----------
    count, seed
        How many, and which.
    kind
        'seen': combinations of colour and shape as in training. 'held out': one of the two things at least has a
        combination of `HELD_OUT`.
    """
    rng = np.random.default_rng(seed)
    found: list[Scene] = []
    while len(found) < count:
        scene = _ordered(_thing(rng), _thing(rng))
        if scene is not None and (scene[0].new or scene[1].new) == (kind == "held out"):
            found.append(scene)
    return found


def _thing(rng: np.random.Generator) -> Thing:
    size, colour, shape = (names[int(rng.random() * len(names))] for names in (tuple(SIZES), tuple(COLOURS), SHAPES))
    first = -(-SIZES[size] // STEP)
    x, y = (STEP * int(rng.integers(first, SIDE // STEP - first + 1)) for _ in "xy")
    return Thing(size, colour, shape, x, y)


def _ordered(one: Thing, two: Thing) -> Scene | None:
    """The two in the order of the caption; None if they touch, or if it is open which stands left or above."""
    across, down = two.x - one.x, two.y - one.y
    if max(abs(across), abs(down)) < SIZES[one.size] + SIZES[two.size] + 1 or abs(abs(across) - abs(down)) < 4:
        return None
    forward = across > 0 if abs(across) > abs(down) else down > 0
    return (one, two) if forward else (two, one)


def inside(thing: Thing) -> NDArray[np.bool_]:
    """The pixels of a thing, boolean `[SIDE, SIDE]`, rows first."""
    places = np.arange(SIDE) + 0.5
    x, y, r = places[None, :] - thing.x, places[:, None] - thing.y, SIZES[thing.size]
    if thing.shape == "circle":
        return x**2 + y**2 <= r**2
    if thing.shape == "square":
        return (abs(x) <= 0.9 * r) & (abs(y) <= 0.9 * r)
    if thing.shape == "triangle":
        return (y <= 0.8 * r) & (abs(x) <= 0.55 * (y + r))
    bar = 0.36 * r
    return ((abs(x) <= bar) & (abs(y) <= r)) | ((abs(y) <= bar) & (abs(x) <= r))


def draw(some: list[Scene], seed: int) -> Tensor:
    """The pictures, `[B, SIDE, SIDE, 3]`: numbers around -1 to 1, with a little noise drawn from the seed."""
    pictures = np.full((len(some), SIDE, SIDE, 3), PAPER_WHITE, dtype=np.float32)
    for picture, scene in zip(pictures, some, strict=True):
        for thing in scene:
            picture[inside(thing)] = COLOURS[thing.colour]
    pictures += np.random.default_rng(seed).normal(0, NOISE, pictures.shape).astype(np.float32)
    return torch.from_numpy(2 * pictures - 1)


def targets(some: list[Scene]) -> tuple[Tensor, Tensor]:
    """The captions as the decoder reads and predicts them: bos and seven words, seven words and eos, `[B, 8]` each."""
    rows = torch.tensor([ids(caption(scene)) for scene in some])
    edge = torch.ones(len(rows), 1, dtype=torch.long)
    return torch.cat((BOS * edge, rows), dim=1), torch.cat((rows, EOS * edge), dim=1)
