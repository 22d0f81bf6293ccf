"""The picture of a page: each part has its note, its classes are its own, and its words are those of real pages."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from annotated_book.pages import page_file, page_texts
from annotated_book.start.how_to_use.page_picture import PARTS, page_picture


def test_each_part_stands_beside_its_note() -> None:
    markup = re.sub(r"<style>.*?</style>", "", page_picture()._repr_html_(), flags=re.DOTALL)
    places = list(ET.fromstring(markup.replace("&nbsp;", " ")))
    kinds = [place.attrib["class"].split() for place in places]
    assert [kind[:2] for kind in kinds] == [[row, f"of-{part.kind}"] for part in PARTS for row in ("shown", "note")]
    assert "first" in kinds[0] and "last" in kinds[-2]


def test_what_is_shown_stands_on_the_page_of_masks() -> None:
    page = page_file("attention/masks").read_text(encoding="utf-8")
    assert page.count("number: 7") == 1 and "# 7. Masks" in page
    layers = re.findall(r'class="layer">(\w+)<', "".join(part.note for part in PARTS))
    used = set(re.findall(r"\[(\w+)\]\{\.layer\}", "".join(page_texts().values())))
    assert set(layers) == used
    guide = page_file("start/how_to_use").read_text(encoding="utf-8")
    assert all(f"*{layer}*, " in guide for layer in used), "each grey word is explained above the picture"
