"""The widget's own tokenisers and score are sacreBLEU's, on nasty strings."""

from __future__ import annotations

import pytest
from sacrebleu.metrics import BLEU

from annotated.evaluation.ngrams import bleu_of, bleu_statistics, ngram_counts
from annotated.evaluation.paper_bleu import paper_style, paper_style_bleu
from annotated_book.decoding.bleu.widget import TOKENIZERS, ngram_highlighter
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

SCORE = page_folder("bleu") / "score.js"

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
STEPS = {"quotes": {"compounds": False}, "compounds": {"quotes": False}, "paper": {}}
PAIRS = [
    ("the the the cat", "the cat on the mat"),
    ("a b c d e", "a b c d e f g"),
    ("a b", "a b"),
    ("x", "y"),
    ("", "a"),
    ("E-Mail, 3.5 km.", "Die E-Mail, 3.5 km."),
    ("a x b y c z", "a b c d e f"),
]


def expected(text: str, name: str) -> list[str]:
    if name in STEPS:
        return paper_style(text, **STEPS[name]).split()
    return BLEU(tokenize=name).tokenizer(text.rstrip()).split()


def test_tokenisers_in_the_page_are_sacrebleus() -> None:
    for name in TOKENIZERS:
        found = evaluate(SCORE, f"({{ tokens }}, data) => data.map(text => tokens(text, {name!r}))", NASTY)
        for text, ours in zip(NASTY, found, strict=True):
            assert ours == expected(text, name), (name, text)


@pytest.mark.parametrize("name", ["quotes", "paper"])
def test_the_papers_way_replaces_punctuation_of_the_translation_alone(name: str) -> None:
    texts = [*NASTY, "。a． b，c、d”“《》」「１２９０∶：？）！（；～’━〈〉【】％…", "Ende。 "]
    three = f"[tokens(text, '{name}', true), tokens(text, '{name}'), tokens(text, '13a', true)]"
    code = f"({{ tokens }}, data) => data.map(text => {three})"
    for text, ours in zip(texts, evaluate(SCORE, code, texts), strict=True):
        forms = paper_style(text, translated=True, **STEPS[name]), paper_style(text, **STEPS[name])
        assert ours == [one.split() for one in (*forms, " ".join(expected(text, "13a")))], text


def test_each_step_of_the_papers_way_changes_only_what_it_names() -> None:
    # No word of this pair has a hyphen, so splitting compounds leaves the score of 13a; plain quotes raise it.
    pair = ["Das kostet (etwa) 3.14 Euro: „billig“!", 'Das kostet etwa 3,14 Euro - "billig"!']
    code = "({ score, tokens }, [names, [h, r]]) => names.map(n => score(tokens(h, n, true), tokens(r, n)).bleu)"
    base, compounds, quotes, both = evaluate(SCORE, code, [["13a", "compounds", "quotes", "paper"], pair])
    assert base == compounds == pytest.approx(BLEU().corpus_score([pair[0]], [[pair[1]]]).score, abs=1e-9)
    assert quotes == both == pytest.approx(paper_style_bleu([pair[0]], [pair[1]]).bleu, abs=1e-9)
    assert quotes > 2 * base


def test_scores_in_the_page_are_sacrebleus() -> None:
    code = "({ score, tokens }, data) => data.map(([h, r]) => score(tokens(h, '13a'), tokens(r, '13a')).bleu)"
    found = evaluate(SCORE, code, PAIRS)
    for (hypothesis, reference), ours in zip(PAIRS, found, strict=True):
        assert ours == pytest.approx(BLEU().corpus_score([hypothesis], [[reference]]).score, abs=1e-9)
        assert ours == pytest.approx(float(bleu_of(bleu_statistics([hypothesis], [reference])[0])), abs=1e-9)


def test_shared_clipped_and_missing_ngrams_are_counted_as_the_library_counts_them() -> None:
    code = "({ score }, data) => data.map(([h, r]) => score(h, r))"
    pairs = [(h.split(), r.split()) for h, r in PAIRS]
    for (hypothesis, reference), own in zip(pairs, evaluate(SCORE, code, pairs), strict=True):
        for n, (match, clipped, missing) in enumerate(own["counts"], start=1):
            ours, theirs = ngram_counts(hypothesis, n), ngram_counts(reference, n)
            assert match == (ours & theirs).total()
            assert match + clipped == sum(count for gram, count in ours.items() if gram in theirs)
            assert match + clipped + missing == ours.total()
    covered = evaluate(SCORE, "({ covered, score }, [h, r]) => covered(h, score(h, r).orders)", pairs[0])
    assert covered == [1, 1, 2, 2], "of three times 'the' two count, and 'the cat' once"


def test_the_widget_starts_with_the_first_example() -> None:
    widget = ngram_highlighter({"one": ("a b", "a c"), "two": ("x", "y")}, tokenizer="char", n=3)
    assert (widget.hypothesis, widget.reference, widget.tokenizer, widget.n) == ("a b", "a c", "char", 3)
    assert [e["title"] for e in widget.examples] == ["one", "two"]
    for wrong in ({"tokenizer": "moses"}, {"n": 5}):
        with pytest.raises(ValueError, match="tokenizer must be one of"):
            ngram_highlighter({"one": ("a", "b")}, **wrong)
    with pytest.raises(ValueError, match="at least one"):
        ngram_highlighter({})
