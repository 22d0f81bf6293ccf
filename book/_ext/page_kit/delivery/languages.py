"""Chinese words in an English page are marked as Chinese, so that screen readers and fonts treat them as such."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_TEXT = re.compile(r">[^<>]*[\u4e00-\u9fff][^<>]*<")
_CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef](?:[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]|…)*")


def mark(body: str) -> str:
    """HTML with a `lang` around each run of Chinese text; what stands inside of tags is left alone."""
    return _TEXT.sub(lambda text: _CHINESE.sub(r'<span lang="zh-Hans">\g<0></span>', text[0]), body)


def mark_page(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Mark the body of a page."""
    if "body" in context:
        context["body"] = mark(context["body"])


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("html-page-context", mark_page)
