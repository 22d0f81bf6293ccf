"""Mends what the theme's pages owe to readers with a keyboard, a screen reader, or no scripts.

Everything here is a change of the finished HTML. `book/tests/test_accessibility.py` looks at the result.
"""

from __future__ import annotations

import re

_SIDEBAR = (
    '<div id="pst-primary-sidebar" class=',
    '<div id="pst-primary-sidebar" role="region" aria-label="Book" class=',
)
# The button's name must hold the words that it shows.
_SEARCH = re.compile(r'(<button class="btn search-button-field[^>]*?) aria-label="Search"')
# A title alone is no reliable name, and Bootstrap's tooltips take it away.
_TITLED = re.compile(r'<button(?![^>]*aria-label)([^>]*?) title="([^"]+)"')
_ICON = re.compile(r'<(i|span) class="((?:fa-\w+|fas|far|fab|theme-switch)\b[^"]*)"(?![^>]*aria-hidden)')
# MyST-NB names the fold of a hidden cell otherwise than the words that it shows.
_FOLD = '<summary aria-label="Toggle hidden content">'
_BRANCH = '<summary><span class="toctree-toggle"'
# pandas leaves the corner of a table empty: a header of nothing.
_CORNER = ("<th></th>", "<td></td>")
_NO_SCRIPT = (
    '<noscript><p class="no-script">Scripts are off. Pictures show their first state, formulas their TeX source, and '
    "answers unfold by hand; nothing of the text is missing.</p></noscript>"
)


def repair(page: str) -> str:
    """A page of the theme without its faults."""
    page = page.replace(*_SIDEBAR, 1)
    page = _TITLED.sub(r'<button\1 title="\2" aria-label="\2"', page)
    page = _SEARCH.sub(r"\1", page)
    page = _ICON.sub(r'<\1 class="\2" aria-hidden="true"', page)
    page = page.replace(*_CORNER)
    page = page.replace(_FOLD, "<summary>")
    page = page.replace(_BRANCH, _BRANCH.replace("<summary>", '<summary aria-label="Pages of this section">'))
    return page.replace('<article class="bd-article">', f'{_NO_SCRIPT}<article class="bd-article">', 1)
