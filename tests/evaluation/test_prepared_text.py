"""References that are no plain text are noticed; plain text in many languages is not."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from annotated.evaluation.prepared_text import looks_prepared

PLAIN = [
    "The cat sleeps.", "Où est-il ?", "Elle dit : « Oui ! »", "a @ b.example", "AT&T, Q&A; R&B", "3 . 5", "v. 2 .",
    "x ▁ y", "«Привет.»", "the dogs' house", "rock 'n' roll", "l'eau", "猫在睡觉。", "https://a.example/?b=1&c=2", "",
]  # fmt: skip
PREPARED = {
    "The c@@ at sle@@ eps.": "cut into subwords",
    "▁The ▁c at ▁sleeps .": "SentencePiece",
    "It &apos;s &quot; fine &quot; .": "escaped",
    "an E @-@ Mail .": "tokenised (`@-@`)",
    "an E ##AT##-##AT## Mail .": "tokenised (`@-@`)",
    "The cat , it sleeps .": "before the last full stop",
    "Il boit de l' eau.": "tokenised (`l' eau`)",
    "Es ist ka\u0308lter.": "another Unicode form than NFC",
    "Die Auto\u00adbahn.": "signs that nobody sees",
    "\u200fשלום\u2069.": "signs that nobody sees",
}


@pytest.mark.parametrize("text", PREPARED)
def test_prepared_text_is_named_with_its_lines_and_the_way_out(text: str) -> None:
    said = looks_prepared([*PLAIN, text, text, text])
    assert said.startswith(f"3 of {len(PLAIN) + 3} references look") and PREPARED[text] in said
    assert f"such as line {len(PLAIN) + 1}, {len(PLAIN) + 2}, {len(PLAIN) + 3}:" in said
    assert looks_prepared([*PLAIN, text]) == "", "one line is an accident"


@pytest.mark.skipif(shutil.which("perl") is None, reason="the command is Perl's")
def test_the_command_takes_out_what_nobody_sees() -> None:
    text = "Die Auto\u00adbahn \u061c\u2067می\u200cخواهم\u2069 👩\u200d👧.\n" * 2
    command = looks_prepared(text.splitlines()).partition("take them out: ")[2]
    done = subprocess.run(command, shell=True, input=text.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == "Die Autobahn می\u200cخواهم 👩\u200d👧.\n" * 2


def test_plain_text_is_not() -> None:
    assert looks_prepared(PLAIN) == looks_prepared([]) == ""
