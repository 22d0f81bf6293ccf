"""The widget of figure 1 gets the recorded numbers, and shows code that is really there."""

from __future__ import annotations

import numpy as np
import pytest

import annotated
from annotated.analysis.tracing import Trace, trace
from annotated_book.start.one_sentence.widget import Architecture, architecture, architecture_twin
from annotated_book.viz.figure_one.boxes import BOXES
from book.tests.javascript import PACKAGE, evaluate

TEXTS = ["The grandmother gets up.", "The cat sleeps."]


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return annotated.load("classroom")


@pytest.fixture(scope="module")
def widget(translator: annotated.Translator) -> Architecture:
    return architecture(translator, TEXTS, step=2)


@pytest.fixture(scope="module")
def traced(translator: annotated.Translator) -> Trace:
    return trace(translator, TEXTS[1])


def test_every_tensor_arrives_where_the_script_looks_for_it(widget: Architecture, traced: Trace) -> None:
    sent, data = widget.sentences[1], np.frombuffer(widget.data, dtype=np.uint8)
    assert set(sent["tensors"]) == set(traced.boxes) - {"linear", "softmax"}
    for name, (start, rows, columns, scale, low, high, dark) in sent["tensors"].items():
        shown = (data[start : start + rows * columns].reshape(rows, columns).astype(float) - 128) / 127 * scale
        values = traced.boxes[name].numpy()
        assert np.abs(shown - values).max() <= scale / 254 + 1e-4, name
        assert low == pytest.approx(values.min(), abs=1e-4) and high == pytest.approx(values.max(), abs=1e-4)
        assert 0 < dark <= 1
    for name, (start, *shape) in sent["maps"].items():
        shown = data[start : start + np.prod(shape)].reshape(shape) / 255
        assert np.abs(shown - traced.maps[name].numpy()).max() <= 0.5 / 255 + 1e-6, name


def test_tensors_do_not_overlap(widget: Architecture) -> None:
    pieces = []
    for sent in widget.sentences:
        pieces += [(t[0], t[1] * t[2]) for t in sent["tensors"].values()]
        pieces += [(m[0], int(np.prod(m[1:]))) for m in sent["maps"].values()]
    end = 0
    for start, size in sorted(pieces):
        assert start == end
        end += size
    assert end == len(widget.data)


def test_the_distributions_are_those_of_the_steps(widget: Architecture, traced: Trace) -> None:
    for t, step in enumerate(widget.sentences[1]["steps"]):
        p = traced.boxes["softmax"][t]
        assert sum(step["counts"]) == len(p) == 2000
        assert step["top"][0][0] == traced.next_tokens[t], "the model writes its most probable piece here"
        assert step["top"][0][1] == pytest.approx(float(p.max()), abs=1e-4)
        chances = [piece[1] for piece in step["top"]]
        assert chances == sorted(chances, reverse=True)


def test_without_a_script_there_is_a_drawing(translator: annotated.Translator, traced: Trace) -> None:
    config = translator.model.config
    drawing = architecture_twin(traced, config)._repr_html_()
    s, t = len(traced.source_ids), len(traced.target_ids)
    for box in BOXES:
        assert f'data-box="{box.name}"' in drawing
    assert drawing.count(f"{s} × 128") == 8 and f"{t} × 2,000" in drawing and 'role="img"' in drawing


def test_other_sentences_can_be_shown_later(translator: annotated.Translator) -> None:
    widget = architecture(translator, TEXTS, step=3)
    widget.sentence = 1
    widget.show(translator, ["The dog sings."])
    assert (widget.sentence, len(widget.sentences)) == (0, 1)
    assert widget.sentences[0]["text"] == "The dog sings." and widget.step < len(widget.sentences[0]["next"])


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ([], {}, "at least one"),
        ("The cat sleeps.", {}, "list"),
        (TEXTS, {"box": "encoder"}, "no box"),
        (TEXTS, {"layer": 0}, "no layer"),
        (TEXTS, {"step": 99}, "no step"),
    ],
)
def test_what_does_not_exist_is_refused(translator: annotated.Translator, texts, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        architecture(translator, texts, **options)


def test_the_notebook_reads_the_numbers_of_the_trace(widget: Architecture, traced: Trace) -> None:
    """Every matrix and map of a sentence, to the step of one byte."""
    sent = widget.sentences[1]
    code = """({ recordedMaps, recordedMatrix }, { data, sent }) => {
      const bytes = Uint8Array.from(data), all = (n, make) => Array.from({ length: n }, (_, i) => make(i));
      const matrix = one => all(one.rows, r => all(one.columns, c => one.at(r, c)));
      const maps = one => all(one.count, h => all(one.rows, r => all(one.columns, c => one.weight(h, r, c))));
      const each = (entries, make) => Object.fromEntries(Object.entries(entries).map(([name, e]) => [name, make(e)]));
      return { tensors: each(sent.tensors, entry => matrix(recordedMatrix(bytes, entry))),
        maps: each(sent.maps, entry => maps(recordedMaps(bytes, entry))) };
    }"""
    given = {"data": list(widget.data), "sent": {"tensors": sent["tensors"], "maps": sent["maps"]}}
    found = evaluate(PACKAGE / "viz" / "figure_one" / "tensors.js", code, given)
    for name, own in found["tensors"].items():
        expected = traced.boxes[name].reshape(np.shape(own))
        assert np.abs(np.array(own) - np.asarray(expected)).max() <= sent["tensors"][name][3] / 254 + 1e-4, name
    for name, own in found["maps"].items():
        assert np.allclose(np.array(own).sum(-1), 1, atol=np.shape(own)[-1] / 255), name


def test_a_point_on_a_map_names_its_cell() -> None:
    ask = "({ cellAt }, [x, y]) => cellAt(x, y, 11, 10)"
    drawing = PACKAGE / "viz" / "figure_one" / "tensor_table.js"
    assert evaluate(drawing, ask, [0.05, 0.05]) == {"row": 0, "column": 0}
    assert evaluate(drawing, ask, [0.95, 0.75]) == {"row": 8, "column": 9}
    assert evaluate(drawing, ask, [1.0, 1.0]) == {"row": 10, "column": 9}, "the edge belongs to the last cell"
