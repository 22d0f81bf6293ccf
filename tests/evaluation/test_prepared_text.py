"""References that are no plain text are noticed; plain text in many languages is not."""

from __future__ import annotations

import pytest

from annotated.evaluation.prepared_text import looks_prepared

PLAIN = [
    "The cat sleeps.", "Où est-il ?", "Elle dit : « Oui ! »", "a @ b.example", "AT&T, Q&A; R&B", "3 . 5", "v. 2 .",
    "x ▁ y", "«Привет.»", "猫在睡觉。", "https://a.example/?b=1&c=2", "",
]  # fmt: skip
PREPARED = {
    "The c@@ at sle@@ eps.": "cut into subwords",
    "▁The ▁c at ▁sleeps .": "SentencePiece",
    "It &apos;s &quot; fine &quot; .": "escaped",
    "an E @-@ Mail .": "tokenised (`@-@`)",
    "an E ##AT##-##AT## Mail .": "tokenised (`@-@`)",
    "The cat , it sleeps .": "before the last full stop",
    "Es ist ka\u0308lter.": "another Unicode form than NFC",
}


@pytest.mark.parametrize("text", PREPARED)
def test_prepared_text_is_named_with_its_lines_and_the_way_out(text: str) -> None:
    said = looks_prepared([*PLAIN, text, text, text])
    assert said.startswith(f"3 of {len(PLAIN) + 3} references look") and PREPARED[text] in said
    assert f"such as line {len(PLAIN) + 1}, {len(PLAIN) + 2}, {len(PLAIN) + 3}:" in said
    assert looks_prepared([*PLAIN, text]) == "", "one line is an accident"


def test_plain_text_is_not() -> None:
    assert looks_prepared(PLAIN) == looks_prepared([]) == ""
