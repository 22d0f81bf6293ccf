"""Penn Treebank files: what is removed, what stays, and which sections are which split. The files are our own."""

from __future__ import annotations

import pytest

from annotated.parsing import BracketError, penn_trees, plain_tree, read_tree, wsj_trees
from annotated.parsing.penn import plain_label

FILE = """
( (S
    (NP-SBJ-1 (DT The) (NN cat) )
    (VP (VBZ wants)
      (S
        (NP-SBJ (-NONE- *-1) )
        (VP (TO to)
          (VP (VB sleep) ))))
    (. .) ))

( (SBARQ
    (WHNP-2 (WP What) )
    (SQ (VBZ does)
      (NP-SBJ (NNP Anna) )
      (VP (VB see)
        (NP (-NONE- *T*-2) )))
    (. ?) ))
( (S
    (NP-SBJ=3 (NP (PRP It) ) (S (-NONE- *EXP*-4) ))
    (VP (VBD rained) (PRT|ADVP (RB down)) (, ,)
      (PRN (-LRB- -LRB-) (ADVP-TMP (RB often) ) (-RRB- -RRB-) ))
    (. .) ))
"""
TREES = [
    "(S (NP (DT The) (NN cat)) (VP (VBZ wants) (S (VP (TO to) (VP (VB sleep))))) (. .))",
    "(SBARQ (WHNP (WP What)) (SQ (VBZ does) (NP (NNP Anna)) (VP (VB see))) (. ?))",
    # The S of *it* held only a trace; NP over NP alone is one NP then.
    "(S (NP (PRP It)) (VP (VBD rained) (PRT (RB down)) (, ,) (PRN (-LRB- -LRB-) (ADVP (RB often)) (-RRB- -RRB-))) "
    "(. .))",
]


def test_a_file_of_several_trees(tmp_path):
    path = tmp_path / "wsj_0001.mrg"
    path.write_text(FILE, encoding="utf-8")
    assert [str(tree) for tree in penn_trees(path)] == TREES


@pytest.mark.parametrize(
    ("label", "plain"),
    [
        ("NP", "NP"), ("NP-SBJ", "NP"), ("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("NP-LGS=3", "NP"), ("PRT|ADVP", "PRT"),
        ("-LRB-", "-LRB-"), ("-NONE-", "-NONE-"), ("PRP$", "PRP$"), ("", ""),
    ],
)  # fmt: skip
def test_labels(label, plain):
    assert plain_label(label) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("(NP (NP (NP (NN dog))))", "(NP (NN dog))"),
        ("(NP (NP-SBJ (NP (NN dog)) (-NONE- *)))", "(NP (NN dog))"),
        ("(NP (VP (NP (NN dog))))", "(NP (VP (NP (NN dog))))"),
        ("(NP (NP (NN dog)) (, ,))", "(NP (NP (NN dog)) (, ,))"),
        ("(TOP (S (VP (VB go))))", "(S (VP (VB go)))"),
        ("( (S (VB go)) (. .))", "(TOP (S (VB go)) (. .))"),
        ("( (UH Yes))", "(TOP (UH Yes))"),
        ("(X (X go))", "(X (X go))"),
    ],
)
def test_chains_and_roots(text, plain):
    assert str(plain_tree(read_tree(text))) == plain


def test_traces_alone(tmp_path):
    assert plain_tree(read_tree("( (S (NP (-NONE- *)) (VP (-NONE- *?*))))")) is None
    path = tmp_path / "wsj_0002.mrg"
    path.write_text("( (S (NN a)))\n( (S (-NONE- *)))", encoding="utf-8")
    with pytest.raises(ValueError, match="wsj_0002.mrg: tree 2 holds nothing but empty elements"):
        list(penn_trees(path))


def test_a_malformed_file_is_named_with_its_line(tmp_path):
    path = tmp_path / "wsj_0003.mrg"
    path.write_text("( (S (NN a)) )\n( (S (NN b)", encoding="utf-8")
    with pytest.raises(BracketError, match="wsj_0003.mrg, line 2, column 3: .*'\\(S' is never closed"):
        list(penn_trees(path))


@pytest.fixture
def wsj(tmp_path):
    """A treebank of two files in each section, one tree in each: its section and file as the word."""
    for section in range(25):
        folder = tmp_path / "wsj" / f"{section:02d}"
        folder.mkdir(parents=True)
        for number in (1, 0):
            name = f"wsj_{section:02d}{number:02d}"
            (folder / f"{name}.mrg").write_text(f"( (NP (NN {name})))\n", encoding="utf-8")
            (folder / f"{name}.txt").write_text("no tree", encoding="utf-8")
    return tmp_path / "wsj"


@pytest.mark.parametrize(("split", "first", "last"), [("train", 2, 21), ("valid", 22, 22), ("test", 23, 23)])
def test_splits_are_the_usual_sections(wsj, split, first, last):
    words = [tree.words()[0] for tree in wsj_trees(wsj, split)]
    assert words == [f"wsj_{section:02d}{number:02d}" for section in range(first, last + 1) for number in (0, 1)]


def test_a_missing_section_and_an_unknown_split(wsj):
    (wsj / "22" / "wsj_2200.mrg").unlink()
    (wsj / "22" / "wsj_2201.mrg").unlink()
    with pytest.raises(FileNotFoundError, match="22 has no .mrg files; give the treebank's folder wsj"):
        wsj_trees(wsj, "valid")
    with pytest.raises(ValueError, match="train, valid, test"):
        wsj_trees(wsj, "dev")  # type: ignore[arg-type]
