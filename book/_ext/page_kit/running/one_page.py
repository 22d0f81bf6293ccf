"""One page alone, for its author (`make chapter`): what only the other pages would mend is not said.

`make book` has all pages and says everything.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from sphinx.application import Sphinx

from annotated_book.pages import page_file

_OTHER_PAGE = re.compile(r"Unknown source document '([^']+)'|there is no page (\S+) to play on")


class OfOtherPages(logging.Filter):
    """Lets through what is wrong with the page itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        """False for a link to a page that the whole book has."""
        other = _OTHER_PAGE.search(record.getMessage())
        return other is None or not page_file(other[1] or other[2]).is_file()


def be_quiet(app: Sphinx, config: Any) -> None:
    """Where the table of contents has one page. Its sources and terms are listed on others."""
    if len(config.external_site_map) == 1:
        config.suppress_warnings = [*config.suppress_warnings, "bibtex.key_not_found", "ref.term"]
        for handler in logging.getLogger("sphinx").handlers:
            handler.filters.insert(0, OfOtherPages())  # before they are counted


def setup(app: Sphinx) -> None:
    """Connect the above, when it is known which pages there are."""
    app.connect("config-inited", be_quiet, priority=950)
