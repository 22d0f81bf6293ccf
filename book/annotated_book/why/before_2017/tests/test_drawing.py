"""The drawing of the recurrent encoder-decoder: its numbers are those of the model, and its arrows have heads."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from annotated_book.pages import page_folder
from annotated_book.why.before_2017.drawing import HALF, HEIGHT, WIDTH, encoder_decoder_drawing
from annotated_book.why.before_2017.experiment import build
from book.tests.javascript import evaluate

SVG = "{http://www.w3.org/2000/svg}"


def pictures() -> list[ET.Element]:
    found = encoder_decoder_drawing().pictures
    return [
        ET.fromstring(found[kind].replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"'))
        for kind in ("plain", "attention")
    ]


def numbers(picture: ET.Element, top: float, bottom: float) -> list[int]:
    texts = [text for text in picture.iter(f"{SVG}text") if top < float(text.attrib["y"]) < bottom]
    return [int(text.text) for text in texts if text.text and text.text.isdigit()]


def test_the_widths_are_those_of_the_trained_model() -> None:
    model = build("plain")
    assert model.backward_reader.step is not None and model.start.in_features // 2 == HALF
    assert all(f"{2 * HALF} numbers" in picture for picture in encoder_decoder_drawing().pictures.values())


def test_each_state_has_the_earliest_step_in_which_it_can_be_computed() -> None:
    plain, attention = pictures()
    for picture in (plain, attention):
        assert numbers(picture, 180, 205) == [1, 2, 3, 4], "the reader to the right begins with the first letter"
        assert numbers(picture, 225, 245) == [4, 3, 2, 1], "the other one with the last"
        assert numbers(picture, 40, 70) == [5, 6, 7, 8], "the decoder waits for both, and for its own last step"


def test_arrows_have_heads_and_nothing_leaves_the_picture() -> None:
    names = set()
    for picture in pictures():
        markers = {marker.attrib["id"] for marker in picture.iter(f"{SVG}marker")}
        used = {path.attrib["marker-end"][5:-1] for path in picture.iter(f"{SVG}path") if "marker-end" in path.attrib}
        assert used == markers and not markers & names, "ids are unique in the page"
        names |= markers
        for box in picture.iter(f"{SVG}rect"):
            x, y, w, h = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
            assert x >= 0 and x + w <= WIDTH and y >= 0 and y + h <= HEIGHT


def test_only_the_model_with_attention_has_weights() -> None:
    plain, attention = (ET.tostring(picture, encoding="unicode") for picture in pictures())
    assert 'class="weight"' not in plain and attention.count('class="weight"') == 4 * 4  # each step, each position
    assert "context vector" in encoder_decoder_drawing().titles["plain"]


def test_a_state_lights_up_in_the_step_that_it_names() -> None:
    for picture in pictures():
        for part in picture.iter(f"{SVG}g"):
            for text in part.iter(f"{SVG}text"):
                if text.text and text.text.isdigit():
                    assert part.attrib["data-step"] == text.text


def test_parts_light_up_wait_and_give_way() -> None:
    code = """({ lookOf }) => [
      [4, 5, 6].map(now => lookOf({ step: 5, only: false }, now, 5)),
      [4, 5, 6].map(now => lookOf({ step: 5, only: true }, now, 5)),
      [4, 5, 6].map(now => lookOf({ step: 6, only: true }, now, 5)),
    ]"""
    state, first, second = evaluate(page_folder("before_2017") / "drawing.js", code)
    assert state == ["later", "now", ""]
    assert first == ["later", "now", "gone"] and second == ["gone", "gone", "now"]


def test_each_step_has_a_sentence_for_each_model() -> None:
    drawing = encoder_decoder_drawing()
    assert all(len(said) == drawing.last == 8 for said in drawing.said.values())
    assert "same vector" in drawing.said["plain"][5] and "weighted mean" in drawing.said["attention"][5]
