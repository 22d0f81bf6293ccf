"""TMX and XLIFF, the formats of translation memories, as a stream of units in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from annotated.text.text_files import CorpusError, raw_lines

_CODES = {"bpt", "ept", "ph", "it", "ut"}
"""Elements within a text that hold the mark-up of another program."""
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def read_tmx(path: Path) -> Iterator[dict[str, str]]:
    """The units of a TMX file: texts by language, without country ('en' for 'en-GB'), that of `srclang` first.

    Raises
    ------
    CorpusError
        If the file is missing or damaged.
    """
    source = ""
    for element in _elements(path, {"header"}, {"tu"}):
        if _name(element) == "header":
            source = _primary(element.get("srclang", ""))
            continue
        unit = {source: ""} if source.isalpha() else {}  # '*all*' is none
        for variant in element:
            language = _primary(variant.get(_LANGUAGE) or variant.get("lang") or "")
            segment = next((child for child in variant if _name(child) == "seg"), None)
            if language and segment is not None and not unit.get(language):
                unit[language] = _text(segment)
        yield unit


def read_xliff(path: Path) -> Iterator[dict[str, str]]:
    """The units of an XLIFF file, 1.2 or 2: 'source' and 'target', which is empty where there is no translation yet.

    Raises
    ------
    CorpusError
        If the file is missing or damaged, or holds several target languages.
    """
    targets = dict[str, None]()
    for element in _elements(path, {"xliff", "file"}, {"trans-unit", "segment"}):
        if language := element.get("target-language") or element.get("trgLang"):
            targets[language] = None
        if len(targets) > 1:
            raise CorpusError(f"{path}: holds translations into {', '.join(targets)}: save one file for each")
        if _name(element) not in ("xliff", "file"):
            sides = {_name(child): _text(child) for child in element}
            yield {side: sides.get(side, "") for side in ("source", "target")}


def _elements(path: Path, heads: set[str], units: set[str]) -> Iterator[Element]:
    """Elements by name: heads with their attributes, when they begin, and units whole; what was read is forgotten."""
    parser: Any = XMLPullParser(["start", "end"])
    open_elements, within = list[Element](), 0
    try:
        for number, raw in enumerate(raw_lines(path), start=1):
            parser.feed(raw if number == 1 else b"\n" + raw)
            for event, element in parser.read_events():
                if event == "start":
                    open_elements.append(element)
                    within += _name(element) in units
                    if _name(element) in heads:
                        yield element
                    continue
                open_elements.pop()
                if _name(element) in units:
                    within -= 1
                    yield element
                if not within and open_elements:
                    del open_elements[-1][:]
        if open_elements:
            raise ParseError("it breaks off")
    except ParseError as error:
        raise CorpusError(f"{path}: damaged XML ({error}); get the file again, or ask xmllint what is wrong") from None


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _primary(language: str) -> str:
    return language.replace("_", "-").split("-")[0].lower()


def _text(element: Element) -> str:
    """The text of an element, without the mark-up of other programs in it."""
    parts = [element.text or ""]
    for child in element:
        parts += [("" if _name(child) in _CODES else _text(child)), child.tail or ""]
    return "".join(parts)
