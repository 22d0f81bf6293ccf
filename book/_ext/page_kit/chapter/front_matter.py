"""What a chapter says about itself in its front matter, under `chapter:`."""

from __future__ import annotations

import json
from typing import Any


def chapter(env: Any, docname: str) -> dict[str, Any]:
    """The fields of a page's front matter under `chapter:`; empty if it is no chapter."""
    found = env.metadata.get(docname, {}).get("chapter", {})
    fields = json.loads(found) if isinstance(found, str) and found else found  # MyST keeps nested fields as JSON
    return fields if isinstance(fields, dict) else {}
