"""The desk gets every weight of its sites, and lists the keys of a query by weight."""

from __future__ import annotations

import pytest

from annotated_book.attention.query_key_value.desk import CallSite, attention_desk
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

CROSS = CallSite("cross", [[0.75, 0.25], [0.1, 0.9], [0.5, 0.5]], ["x", "y", "z"], ["a", "b"], "target", "source")
ENCODER = CallSite("encoder", [[1.0, 0.0], [0.4, 0.6]], ["a", "b"], ["a", "b"], "source", "source")


def test_sites_keep_their_weights_and_languages() -> None:
    desk = attention_desk([CROSS, ENCODER], query=3)
    assert [site["weights"] for site in desk.sites] == [CROSS.weights, ENCODER.weights]
    assert desk.query == 2 and desk.sites[0]["asks"] == "target" and desk.sites[0]["answers"] == "source"


def test_answers_come_by_weight_and_nothing_is_no_answer() -> None:
    code = "({ strongest }, rows) => rows.map(row => strongest(row))"
    found = evaluate(page_folder("query_key_value") / "desk.js", code, [[0.1, 0.9], [1.0, 0.0], [0.004, 0.996]])
    assert found == [[[1, 0.9], [0, 0.1]], [[0, 1]], [[1, 0.996]]]


def test_a_query_of_the_decoder_is_named_by_what_it_reads_and_writes() -> None:
    [site] = attention_desk([CROSS._replace(writes=["▁y", "z", "</s>"])]).sites
    code = "({ nameOf }, site) => [nameOf(site, 0), nameOf(site, 2, true), nameOf({ queries: ['▁a'], writes: [] }, 0)]"
    assert evaluate(page_folder("query_key_value") / "desk.js", code, site) == ["x → y", "“z” → “</s>”", "a"]


def test_bad_sites_are_refused() -> None:
    with pytest.raises(ValueError, match="2 tokens to write do not fit 3 queries"):
        attention_desk([CROSS._replace(writes=["y", "z"])])
    with pytest.raises(ValueError, match="'source' or 'target'"):
        attention_desk([CROSS._replace(asks="decoder")])
    with pytest.raises(ValueError, match="do not fit"):
        attention_desk([CROSS._replace(keys=["a"])])
