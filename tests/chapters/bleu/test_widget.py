"""The widget's own tokenisers and score are sacreBLEU's, on nasty strings; its charts hold what they are given."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from annotated.chapters.bleu import widget as module
from annotated.chapters.bleu.widget import (
    TOKENIZERS,
    bootstrap_chart,
    brevity_chart,
    ngram_highlighter,
    power_chart,
    rulers_chart,
)
from annotated.evaluation.ngrams import bleu_of, bleu_statistics
from annotated.evaluation.paper_bleu import paper_style

NASTY = [
    "",
    " ",
    "Hello, world!",
    "It's 3.14, or 3,14.",
    "1,000.5-6 pages (pp. 3-4)",
    "a-b-c, rich-text E-Mail",
    "...,,,.",
    "&quot;R&amp;D&quot; &lt;b&gt; &amp;lt; &apos;",
    "end-\nof line\nnext",
    "x<skipped>y",
    "„Ja“, sagte sie – «nein» …",
    "€5 + $7 = 100 %",
    "a\u00a0b\u2009c\u3000d",
    "tab\tand\x85next\x1cfs",
    "\ufeffmark",
    "😀.😀,5",
    "2.😀",
    "½.½ ², ٣٫٤",
    "[brackets] {braces} `ticks` ~tilde^ a_b \\ | /",
    "don't \"quote\" 'single'",
    "U.S.A.",
    "no.1",
    "1.",
    "5-",
    "-5",
    "a -",
    "trailing \n",
    "word-\n",
    "中文。句子，好",
    "é.",
    "‚a‘ ‹b›",
    "..1.,2,.",
    "A&B",
    "&",
    "x&lt",
    "9-9-9",
    "a--b - c",
]
PAIRS = [
    ("the the the cat", "the cat on the mat"),
    ("a b c d e", "a b c d e f g"),
    ("a b", "a b"),
    ("x", "y"),
    ("", "a"),
    ("E-Mail, 3.5 km.", "Die E-Mail, 3.5 km."),
    ("a x b y c z", "a b c d e f"),
]


def run_javascript(expression: str, data: object) -> object:
    """The value of an expression of the widget's module, where `data` is given."""
    node = shutil.which("node")
    if not node:
        pytest.skip("no node on this machine: the browser test of chapter 26 compares the tokenisers")
    source = Path(module.__file__).with_suffix(".js").read_text(encoding="utf-8").split("function render")[0]
    code = f"{source}\nconst data = {json.dumps(data)};\nconsole.log(JSON.stringify({expression}));"
    done = subprocess.run([node, "-"], input=code, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def expected(text: str, name: str) -> list[str]:
    if name == "paper":
        return paper_style(text).split()
    return BLEU(tokenize=name).tokenizer(text.rstrip()).split()


def test_tokenisers_in_the_page_are_sacrebleus() -> None:
    for name in TOKENIZERS:
        found = run_javascript(f"data.map(text => tokens(text, {name!r}))", NASTY)
        for text, ours in zip(NASTY, found, strict=True):
            assert ours == expected(text, name), (name, text)


def test_scores_in_the_page_are_sacrebleus() -> None:
    found = run_javascript("data.map(([h, r]) => score(tokens(h, '13a'), tokens(r, '13a')).bleu)", PAIRS)
    for (hypothesis, reference), ours in zip(PAIRS, found, strict=True):
        assert ours == pytest.approx(BLEU().corpus_score([hypothesis], [[reference]]).score, abs=1e-9)
        assert ours == pytest.approx(float(bleu_of(bleu_statistics([hypothesis], [reference])[0])), abs=1e-9)


def test_the_widget_starts_with_the_first_example() -> None:
    widget = ngram_highlighter({"one": ("a b", "a c"), "two": ("x", "y")}, tokenizer="char", n=3)
    assert (widget.hypothesis, widget.reference, widget.tokenizer, widget.n) == ("a b", "a c", "char", 3)
    assert [e["title"] for e in widget.examples] == ["one", "two"]
    for wrong in ({"tokenizer": "moses"}, {"n": 5}):
        with pytest.raises(ValueError, match="tokenizer must be one of"):
            ngram_highlighter({"one": ("a", "b")}, **wrong)
    with pytest.raises(ValueError, match="at least one"):
        ngram_highlighter({})


def test_charts_hold_what_they_are_given() -> None:
    curve = brevity_chart().to_dict()["layer"][0]["data"]["values"]
    assert next(row["y"] for row in curve if row["x"] == 0.5) == pytest.approx(np.exp(-1), abs=1e-3)
    assert all(row["y"] == 1 for row in curve if row["x"] >= 1)
    bars = bootstrap_chart([-0.05, 0.01, 0.02, 0.19], ("a", "b"), score=0.04).to_dict()["layer"][0]["data"]["values"]
    assert [(row["from"], row["share"]) for row in bars] == [(-0.1, 0.25), (0.0, 0.5), (0.1, 0.25)]
    assert [row["side"] for row in bars] == ["a is better", "b is better", "b is better"]
    rows = [{"system": s, "ruler": r, "bleu": 1.0} for s in "xy" for r in ("13a", "char")]
    assert rulers_chart(rows).to_dict()["params"][0]["value"] == "y"
    power = power_chart([{"sentences": 100, "pair": "p", "share": 0.5}]).to_dict()
    assert "97.5" in power["description"]
