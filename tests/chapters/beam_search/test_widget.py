"""The beam tree's data; what its JavaScript makes of them is tested in the chapter's page."""

from __future__ import annotations

import zlib

import pytest

import annotated
from annotated.chapters import recorded
from annotated.chapters.beam_search.search_record import unpack
from annotated.chapters.beam_search.widget import beam_tree


def test_the_widget_holds_thirty_searches_in_little_room() -> None:
    results, tokenizer = recorded("beam_search/tree").results, annotated.load("classroom").tokenizer
    widget = beam_tree(results, tokenizer, sentence=3, beam=2)
    assert len(widget.sentences) == 30 and widget.sentence == 3 and widget.beam == 2
    assert len(widget.searches) < 150_000 and len(widget._esm) < 27_000
    records = unpack(results["searches"])
    assert len(zlib.decompress(widget.searches)) == sum(4 + len(r.to_bytes()) for r in records) + 4
    for record, about in zip(records, results["sentences"], strict=True):
        assert tokenizer.decode(record.reference[:-1]) == about["reference"]
        assert all(str(t) in widget.tokens for t in record.tree.tokens[1:] if t != 2)
    for options in ({"sentence": 30}, {"beam": 9}, {"alpha": 2.5}):
        with pytest.raises(ValueError, match="there are|recorded"):
            beam_tree(results, tokenizer, **options)
