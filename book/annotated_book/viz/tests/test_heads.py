"""The widget gets every weight of one sentence, in the order that its script reads them, and refuses the rest."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import annotated
from annotated_book.viz.heads import SentenceMaps, attention_atlas, attention_heads


@pytest.fixture(scope="module")
def maps() -> annotated.AttentionMaps:
    """Maps of two sentences, of which the second is padded: 3 of 5 source and 2 of 4 target tokens are real."""
    torch.manual_seed(0)
    model = annotated.Transformer(annotated.tiny(vocab_size=30, num_encoder_layers=2, num_decoder_layers=3)).eval()
    source = torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 0, 0]])
    target_in = torch.tensor([[1, 5, 6, 7], [1, 8, 0, 0]])
    with torch.no_grad():
        return model(source, target_in, return_attention=True)[1]


def shown(widget, use: int) -> np.ndarray:
    """The weights of one use as the script finds them: [L, H, q, k]."""
    data, start = np.frombuffer(widget.weights, dtype=np.uint8), 0
    for i, u in enumerate(widget.uses):
        shape = (u["layers"], u["heads"], len(u["queries"]), len(u["keys"]))
        if i == use:
            return data[start : start + np.prod(shape)].reshape(shape) / 255
        start += np.prod(shape)
    raise AssertionError


@pytest.mark.parametrize(("use", "name"), [(0, "encoder"), (1, "decoder"), (2, "cross")])
def test_every_weight_arrives(maps: annotated.AttentionMaps, use: int, name: str) -> None:
    widget = attention_heads(maps, list("abcd") + ["</s>"], ["<s>", "x", "y", "z"])
    expected = torch.stack(getattr(maps, name))[:, 0].numpy()
    assert np.allclose(shown(widget, use), expected, atol=0.5 / 255 + 1e-6)
    assert len(widget.weights) == 4 * (2 * 25 + 3 * 16 + 3 * 20)


def test_padding_is_cut_off(maps: annotated.AttentionMaps) -> None:
    widget = attention_heads(maps, ["a", "b", "</s>"], ["<s>", "x"], sentence=1)
    cross = shown(widget, 2)
    assert cross.shape[-2:] == (2, 3)
    assert np.allclose(cross, torch.stack(maps.cross)[:, 1, :, :2, :3].numpy(), atol=0.003)


def test_labels_say_what_is_read_and_what_is_written_next(maps: annotated.AttentionMaps) -> None:
    widget = attention_heads(
        maps, ["a", "b", "</s>"], ["<s>", "x"], sentence=1, next_tokens=["x", "</s>"], gold=[(0, 1)]
    )
    encoder, decoder, cross = widget.uses
    assert encoder["queries"] == encoder["keys"] == cross["keys"] == ["a", "b", "</s>"]
    assert decoder["queries"] == cross["queries"] == ["<s> → x", "x → </s>"] and decoder["keys"] == ["<s>", "x"]
    assert cross["gold"] == [[0, 1]] and encoder["gold"] == decoder["gold"] == []
    assert widget.use == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_tokens": ["a", "b"]}, "tokens are missing"),
        ({"source_tokens": list("abcdef")}, "do not fit maps"),
        ({"next_tokens": ["x"]}, "bos is read, eos is next"),
        ({"gold": [(2, 0)]}, "gold names"),
        ({"use": "self"}, "encoder, decoder, cross"),
        ({"layer": 3}, "counted from 0"),
        ({"head": 4}, "counted from 0"),
    ],
)
def test_what_does_not_fit_is_refused(maps: annotated.AttentionMaps, changes: dict, message: str) -> None:
    arguments = {"source_tokens": ["a", "b", "</s>"], "target_tokens": ["<s>", "x"], "sentence": 1} | changes
    with pytest.raises(ValueError, match=message):
        attention_heads(maps, **arguments)


def test_scores_instead_of_weights_are_refused(maps: annotated.AttentionMaps) -> None:
    broken = maps._replace(cross=[weights * 3 for weights in maps.cross])
    with pytest.raises(ValueError, match=r"between 0 and 1|sums to"):
        attention_heads(broken, list("abcde"), list("wxyz"))


def test_the_atlas_holds_every_sentence_one_after_the_other(maps: annotated.AttentionMaps) -> None:
    first = SentenceMaps("one", [*"abcd", "</s>"], ["<s>", "x", "y", "z"], gold=[(0, 1)])
    second = SentenceMaps("two", ["a", "b", "</s>"], ["<s>", "x"])
    atlas = attention_atlas(maps, [first, second], notes={("cross", 2, 1): "a note"}, layer=2, head=1)
    alone = [
        attention_heads(maps, one.source_tokens, one.target_tokens, sentence=n) for n, one in enumerate((first, second))
    ]
    assert atlas.weights == alone[0].weights + alone[1].weights
    assert [s["title"] for s in atlas.sentences] == ["one", "two"]
    heads = atlas.uses[2]["heads"]
    assert atlas.notes[2][2 * heads + 1] == "a note" and set(atlas.notes[0]) == {""}
    assert len(atlas.notes[2]) == 3 * heads and atlas.uses[2]["gold"] == [[0, 1]]
    with pytest.raises(ValueError, match="1 sentences do not fit"):
        attention_atlas(maps, [first])
