"""A line of text as HTML: code between backticks; d_k and W_O get their marks as the paper has them."""

from __future__ import annotations

import html
import re

_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"\b([dhxqv]|W)_(model|ff|[A-Za-z0-9])\b")
_PERCENT = re.compile(r"(?<=\d) %")  # no line ends between a number and its sign
_RECORDED = re.compile(r"Recorded on \d{4}-\d\d-\d\d with torch .+?, by: .+?(?=[.;](?:\s|$)|$)")
"""What `Record.caption` says; a page shows it with the proofs."""


def inline(text: str) -> str:
    """The line, escaped: '`torch.nn.GRU`, d_k and W_O' has code, an index below and a name above the line."""
    parts = _CODE.split(html.escape(text))
    made = "".join(
        f"<code>{part}</code>" if n % 2 else _NAME.sub(_marked, _PERCENT.sub("\u00a0%", part))
        for n, part in enumerate(parts)
    )
    return _RECORDED.sub(r'<span class="recorded">\g<0></span>', made)


def _marked(name: re.Match[str]) -> str:
    tag = "sup" if name[1] == "W" else "sub"
    return f"{name[1]}<{tag}>{name[2]}</{tag}>"
