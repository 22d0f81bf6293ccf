"""Checks of ex01-2: predict shapes.

The table below was written by hand from figure 1, box by box, and compared with a recording of the library's model.

Paper: figure 1
"""

import re
from typing import Any

from annotated_grader import Case, Student, expect, graded

TABLE = {
    "source.embedding": "BSD", "source.positions": "SD", "source.sum": "BSD",
    "target.embedding": "BTD", "target.positions": "TD", "target.sum": "BTD",
    "encoder.*.self_attention": "BSD", "encoder.*.add_norm_1": "BSD",
    "encoder.*.feed_forward": "BSD", "encoder.*.add_norm_2": "BSD",
    "encoder.*.self_attention.maps": "BHSS", "memory": "BSD",
    "decoder.*.self_attention": "BTD", "decoder.*.add_norm_1": "BTD",
    "decoder.*.cross_attention": "BTD", "decoder.*.add_norm_2": "BTD",
    "decoder.*.feed_forward": "BTD", "decoder.*.add_norm_3": "BTD",
    "decoder.*.self_attention.maps": "BHTT", "decoder.*.cross_attention.maps": "BHTS",
    "linear": "BTV", "softmax": "BTV",
}  # fmt: skip

Expected = dict[str, tuple[int, ...]]


def ask(student: Student, case: Case) -> tuple[dict[str, Any], Expected, dict[str, Any]]:
    """What the answer gives, what it should give, and the inputs to show; all sizes differ from one another."""
    sizes = dict(zip("BSTH", (2 + case.permutation(4)).tolist(), strict=True))
    widths = (8 + case.permutation(12)).tolist()
    config = {
        "vocab_size": 40 + case.between(0, 50), "d_model": 100 + case.between(0, 20), "d_ff": 300 + case.between(0, 50),
        "num_heads": sizes["H"], "d_k": widths[0], "d_v": widths[1],
        "num_encoder_layers": (1, 3, 2, 1)[case.level], "num_decoder_layers": (2, 1, 4, 3)[case.level],
    }  # fmt: skip
    sizes |= {"D": config["d_model"], "V": config["vocab_size"]}
    counts = {"encoder": config["num_encoder_layers"], "decoder": config["num_decoder_layers"]}
    expected = {
        name.replace("*", str(i)): tuple(sizes[letter] for letter in letters)
        for name, letters in TABLE.items()
        for i in range(1, counts.get(name.split(".")[0], 1) + 1)
    }
    inputs = {"config": config, **{letter: sizes[letter] for letter in "BST"}}
    got = student.call("shapes", dict(config), sizes["B"], sizes["S"], sizes["T"])
    expect.true(isinstance(got, dict), "`shapes` must return a dictionary", **inputs)
    return got, expected, inputs


def compare(student: Student, case: Case, pattern: str) -> None:
    """The shapes of the boxes whose name the pattern fits."""
    got, expected, inputs = ask(student, case)
    for name, shape in expected.items():
        if re.fullmatch(pattern, name):
            expect.true(name in got, f"there is no {name}", **inputs)
            expect.equal(got[name], shape, f"the shape that leaves {name}", **inputs)


@graded(points=1, levels=3)
def every_box_once(student: Student, case: Case) -> None:
    """Each box of each layer is there, and nothing else."""
    got, expected, inputs = ask(student, case)
    missing, extra = sorted(expected.keys() - got.keys()), sorted(map(str, got.keys() - expected.keys()))
    expect.true(not missing, f"missing: {', '.join(missing[:4])}", **inputs)
    expect.true(not extra, f"there is no box {', '.join(extra[:4])}", **inputs)


@graded(points=2, levels=3, claim="C17")
def english_side(student: Student, case: Case) -> None:
    """Embeddings, encoder and memory have the length of the source."""
    compare(student, case, r"(source|encoder)\.(?!.*maps).*|memory")


@graded(points=2, levels=3, claim="C18")
def german_side(student: Student, case: Case) -> None:
    """Every box of the decoder has a row for each German piece."""
    compare(student, case, r"(target|decoder)\.(?!.*maps).*")


@graded(points=2, levels=3)
def self_attention_maps(student: Student, case: Case) -> None:
    """In self-attention the maps are square, one for each head."""
    compare(student, case, r".*\.self_attention\.maps")


@graded(points=2, levels=3, claim="C18")
def cross_attention_maps(student: Student, case: Case) -> None:
    """In cross-attention German rows read English columns."""
    compare(student, case, r".*\.cross_attention\.maps")


@graded(points=1, levels=3)
def output(student: Student, case: Case) -> None:
    """The output has a number for every piece of the vocabulary at every German position."""
    compare(student, case, r"linear|softmax")
