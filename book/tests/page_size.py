"""How much a page asks a network to carry: everything it loads, compressed as servers do it, with an empty cache.

Seconds are measured by `python -m benchmarks book`: a busy machine must not fail a test.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

KIB = 1024
ON_ARRIVAL = 740 * KIB
"""What a page may load before its reader scrolls or asks for anything; with a chart in the first screen, 340 of it are
Vega and the charts' letters."""
PLAIN = 390 * KIB
"""What a page without charts may load besides its own text; the Chinese letters of the glossary are 50 of it."""
WITH_CHARTS = 810 * KIB
"""What a page may load until its last chart is drawn: Vega comes with the first chart, and is 300 of this; the charts'
letters are 40."""
_AFTER_THE_TEXT = re.compile(r"_static/(live/model\.js|widgets/)")
"""What only panels and widgets need, the weights of the model and their data: it comes when the text is there."""


def weigh(v: Any, book: Path) -> dict[str, int]:
    """The compressed size of each file that the page asked for."""
    found = {}
    for url in set(v.asked):
        if url.startswith(v.site):
            file = book / unquote(urlsplit(url).path).lstrip("/")
            if file.is_file():
                found[file.relative_to(book).as_posix()] = _compressed(file, file.stat().st_mtime_ns)
    return found


@cache
def _compressed(file: Path, changed: int) -> int:
    """The size of a file that has not changed since: most belong to every page."""
    return len(gzip.compress(file.read_bytes(), 6))


def total(v: Any, book: Path, name: str) -> int:
    """The sum without what comes after the text; it is printed with its largest parts."""
    parts = {file: size for file, size in weigh(v, book).items() if not _AFTER_THE_TEXT.match(file)}
    largest = sorted(parts.items(), key=lambda part: -part[1])[:4]
    weight = sum(parts.values())
    print(f"{name}: {weight / KIB:.0f} KiB in {len(parts)} files;", *(f"{k} {n / KIB:.0f}" for k, n in largest))
    return weight


def check_arrival(v: Any, book: Path, name: str) -> None:
    """What a reader waits for is light."""
    v.rest()
    assert total(v, book, f"{name} on arrival") <= ON_ARRIVAL


def check_weight(v: Any, book: Path, name: str, text: str) -> None:
    """A page whose charts are drawn is no heavier than its kind may be, and loads no library that it does not need."""
    v.rest()
    assert not any("fa-brands" in url for url in v.asked), "115 KB for the icon of one link"
    weight = total(v, book, name)
    if '<figure class="chart"' in text:
        assert weight <= WITH_CHARTS
    else:
        assert weight - len(gzip.compress(text.encode(), 6)) <= PLAIN
        assert not any("vega" in url for url in v.asked), "no chart, no Vega"
