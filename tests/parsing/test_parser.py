"""The parser that the package ships: what it writes, that it is small, and that meaning decides for it."""

from __future__ import annotations

from pathlib import Path

import pytest

import annotated
from annotated.config import DecodingConfig
from annotated.parsing import bracket_score, classroom_trees, load_parser, read_tree, tree_from_linear
from annotated.saving import CheckpointError, load_model, save_pretrained

FOLDER = Path(annotated.__file__).parent / "assets" / "parsing"
GREEDY = DecodingConfig(beam_size=1, alpha=0.3, extra_tokens=300)


@pytest.fixture(scope="module")
def parser():  # noqa: ANN201
    return load_parser()


def test_it_is_small_and_has_the_papers_four_layers(parser) -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 2_000_000
    config = parser.model.config
    assert (config.num_encoder_layers, config.num_decoder_layers, config.d_model) == (4, 4, 64)
    assert set(parser.labels) == set("ADJP ADVP INTJ NP PP PRT S SBAR SBARQ SQ VP WHADJP WHADVP WHNP".split())


def test_the_noun_decides(parser) -> None:
    with_spoon = parser("Tom eats the soup with the spoon.")
    assert with_spoon == read_tree(
        "(S (NP (XX Tom)) (VP (XX eats) (NP (XX the) (XX soup)) (PP (XX with) (NP (XX the) (XX spoon)))) (XX .))"
    )
    with_carrots = parser("Tom eats the soup with the carrots.")
    assert "(NP (NP (XX the) (XX soup)) (PP (XX with)" in str(with_carrots)


def test_held_out_sentences_and_malformed_outputs(parser) -> None:
    """Far fewer than the record's thousand; the rule leaves nothing malformed, and is no worse."""
    gold = classroom_trees("test", 40)
    words = [tree.words() for tree in gold]
    bound, free = (parser.parse(words, GREEDY, rule) for rule in (True, False))
    assert all(one.tree is not None and one.fault == "" for one in bound)
    assert bracket_score(gold, [one.tree for one in bound]).f1 > 95
    assert bracket_score(gold, [one.tree for one in free]).f1 > 90
    for rule, unruled, sentence in zip(bound, free, words, strict=True):
        assert tree_from_linear(rule.tokens, sentence, "word") == rule.tree
        if unruled.tree is not None:
            assert unruled.tree == rule.tree or rule.hypothesis.log_probability != unruled.hypothesis.log_probability
    wide = parser.parse(words[:4])  # a beam of 21
    assert all(w.hypothesis.score >= g.hypothesis.score - 1e-4 for w, g in zip(wide, bound[:4], strict=True))


def test_words_that_no_tree_had_are_written_all_the_same(parser) -> None:
    tree = parser("Zebulon sees the xylophone.")
    assert tree.words() == ("Zebulon", "sees", "the", "xylophone", ".")


def test_weights_of_two_bytes_are_read_like_any_other(parser, tmp_path: Path) -> None:
    model, tokenizer = load_model(FOLDER)
    save_pretrained(tmp_path / "again", model.half(), tokenizer)  # half the size
    again = load_parser(tmp_path / "again")
    assert str(again("Anna sleeps.")) == str(parser("Anna sleeps."))
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == (FOLDER / "model.safetensors").read_bytes()
    save_pretrained(tmp_path / "bare", model)
    with pytest.raises(CheckpointError, match="without its tokenizer"):
        load_parser(tmp_path / "bare")
