"""The map of a head on the reader's own sentence: which rows and columns each kind of attention has."""

from __future__ import annotations

from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

MAP = page_folder("atlas") / "map.js"


def test_each_kind_has_its_own_rows_and_columns() -> None:
    found = evaluate(
        MAP,
        """({ mapOf }) => {
          const maps = { "encoder.1.self_attention": [[1], [2]], "decoder.2.self_attention": [[3], [4]],
            "decoder.3.cross_attention": [[5], [6]] };
          const trace = { maps, sourceTokens: ["The", "▁dog"],
            readTokens: ["<s>", "Der"], nextTokens: ["Der", "</s>"] };
          return ["encoder.0.1", "decoder.1.0", "cross.2.1"].map(place => mapOf(trace, place));
        }""",
    )
    assert [(m["queries"], m["keys"], m["weights"]) for m in found] == [
        (["The", "dog"], ["The", "dog"], [2]),
        (["<s>", "Der"], ["<s>", "Der"], [3]),
        (["Der", "</s>"], ["The", "dog"], [6]),
    ]
