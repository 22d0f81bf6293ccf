"""Small drawing of figure 1: what a chapter names is lit, and boxes keep apart; every chapter names what is there."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from annotated_book.intro.frame import SWITCHED
from annotated_book.pages import page_files
from annotated_book.viz.figure_one import BOXES, small_drawing
from annotated_book.viz.figure_one.small import HEIGHT, WIDTH, lit_labels, part_names, place
from book.tests.javascript import PACKAGE, evaluate

SVG = "{http://www.w3.org/2000/svg}"


def no_link(_: object) -> tuple[str, str]:
    return "", ""


def lit_boxes(drawing: str) -> set[str]:
    links = ET.fromstring(drawing).iter(f"{SVG}a")
    return {link.attrib["data-box"] for link in links if "lit" in link.attrib["class"].split()}


def test_a_part_lights_its_box_and_a_stack_all_of_its_boxes() -> None:
    assert lit_boxes(small_drawing(["decoder.cross_attention"], no_link)) == {"decoder.*.cross_attention"}
    assert lit_boxes(small_drawing([], no_link)) == set()
    encoder = {f"encoder.*.{name}" for name in ("self_attention", "add_norm_1", "feed_forward", "add_norm_2")}
    assert lit_boxes(small_drawing(["encoder"], no_link)) == encoder
    assert 'class="loop lit"' in small_drawing(["feedback"], no_link)
    assert 'class="loop"' in small_drawing(["next"], no_link)


def test_every_box_is_a_link_with_a_name() -> None:
    drawing = small_drawing(["memory"], lambda box: (f"{box.part}.html?a&b", "A <title>"))
    links = list(ET.fromstring(drawing).iter(f"{SVG}a"))
    assert [link.attrib["data-box"] for link in links] == [box.name for box in BOXES]
    assert links[8].attrib["href"] == "memory.html?a&b"
    assert links[8].attrib["aria-label"] == "Memory (encoder); leads to A <title>"


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match="no decoder.memory; it has .*memory"):
        small_drawing(["decoder.memory"], no_link)


def test_boxes_lie_inside_and_apart() -> None:
    for i, one in enumerate(BOXES):
        x, y, w, h = place(one)
        assert x >= 0 and x + w <= WIDTH and y >= 0 and y + h < HEIGHT
        for other in BOXES[:i]:
            ox, oy, ow, oh = place(other)
            assert x >= ox + ow or ox >= x + w or y >= oy + oh or oy >= y + h, f"{one.name} covers {other.name}"


def test_the_switches_of_the_front_page_act_on_boxes_that_there_are() -> None:
    names = {box.name for box in BOXES}
    assert all(set(boxes) <= names for boxes in SWITCHED.values())
    assert SWITCHED["causal mask"] == ("decoder.*.self_attention",)


def test_words_name_the_stack() -> None:
    found = lit_labels(["memory", "decoder.feed_forward", "feedback"])
    assert found == ["Encoder: Memory", "Decoder: Feed-forward", "The written token goes back"]
    both = lit_labels(["encoder.self_attention", "encoder.add_norm_1", "encoder.add_norm_2"])
    assert both == ["Encoder: Self-attention, Add & Norm"], "once for a stack"


def chapters() -> list[Path]:
    numbered = re.compile(r"^  number: [1-9]", re.MULTILINE)
    pages = [page for page in page_files() if numbered.search(page.read_text("utf-8"))]
    return [page for page in pages if page.stem != "one_sentence"]  # which has the large drawing


@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.stem)
def test_every_chapter_names_parts_of_the_figure(page: Path) -> None:
    found = re.search(r"^  figure: \[(.*)\]$", page.read_text("utf-8"), re.MULTILINE)
    assert found, "front matter: `figure: [...]`"
    assert {name for name in found[1].split(", ") if name} <= part_names()


def test_arrow_keys_follow_the_flow_and_cross_over() -> None:
    boxes = [{"name": box.name, "side": box.side, "place": list(box.place)} for box in BOXES]
    code = """({ neighbour }, boxes) => boxes.map(box => ["Up", "Down", "Left", "Right"]
      .map(way => neighbour(boxes, box, `Arrow${way}`)?.name ?? null))"""
    names = [box["name"] for box in boxes]
    for i, (up, down, left, right) in enumerate(evaluate(PACKAGE / "viz" / "figure_one" / "neighbour.js", code, boxes)):
        assert up == (names[i + 1] if i + 1 < len(names) else None) and down == (names[i - 1] if i else None)
        crossing = right if boxes[i]["side"] == "source" else left
        other = next(box for box in boxes if box["name"] == crossing)
        assert other["side"] != boxes[i]["side"] and (left if boxes[i]["side"] == "source" else right) is None
