"""A published book: a banner on any version but the newest release, and buttons that run a chapter elsewhere.

The build learns by two environment variables where it is to stand, and what it is made of. Without them a page has
neither, and asks nobody:

- BOOK_URL, the book's address. One that ends in `/0.2/`, or in the tag `/v0.2.1/`, is that of a release, which stands
  there beside the newest book. Which releases there are is told by `switcher.json` (`tools/versions.py`), one folder
  up, which the theme reads from the page's own host.
- GITHUB_REPOSITORY, OWNER/NAME. Binder builds it and opens notebooks that `postBuild` writes; Colab opens those of the
  branch `notebooks`, or `notebooks-0.2` (`.ci/publish notebooks`), which install the library from BOOK_URL.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx

import annotated

_TAG = re.compile(r"/v(\d+\.\d+)\.\d+/$")
_RELEASE = re.compile(r"(?<=/)(\d+\.\d+)/$")
# In a folder, in a preview or on another host there is no such list: nothing is asked for there.
_ONLY_THERE = (
    "if (!location.href.startsWith(new URL({root}).href)) delete DOCUMENTATION_OPTIONS.theme_switcher_json_url;"
)


def address() -> str:
    """Where the book will stand, with a slash at its end; '' if that is not known."""
    given = os.environ.get("BOOK_URL", "")
    return given and _TAG.sub(r"/\1/", given.rstrip("/") + "/")


def release() -> str:
    """'0.2' if what is built is that release."""
    found = _RELEASE.search(address())
    return found[1] if found else ""


def set_address(app: Sphinx, config: Any) -> None:
    """Take the address of the book: notebooks install the wheels from there, and the theme finds other versions."""
    if not address():
        return
    config.html_baseurl = address()
    config.version = config.release = annotated.__version__ + ("" if release() else "-dev")
    root = _RELEASE.sub("", address())
    config.html_theme_options |= {
        "switcher": {"json_url": urlsplit(root).path + "switcher.json", "version_match": config.release},
        "show_version_warning_banner": True,
        "check_switcher": False,  # which would ask for it now
    }
    app.add_js_file(None, body=_ONLY_THERE.format(root=json.dumps(root)), priority=900)  # behind what the theme says


def elsewhere(page: str) -> dict[str, str]:
    """Addresses at which services of others run a page's notebook; none if the repository is unknown."""
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    if not repository or not address():
        return {}
    notebook, commit = f"{page}.ipynb", os.environ.get("GITHUB_SHA") or "HEAD"
    branch = f"notebooks-{release()}" if release() else "notebooks"
    return {
        "Binder": f"https://mybinder.org/v2/gh/{repository}/{commit}?urlpath=lab/tree/notebooks/{notebook}",
        "Colab": f"https://colab.research.google.com/github/{repository}/blob/{branch}/{notebook}",
    }


def offer_elsewhere(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let a page that offers its notebook offer to run it elsewhere, by a menu of its own."""
    if "ipynb_source" not in context or not (places := elsewhere(name)):
        return
    logos = {"Binder": "_static/images/logo_binder.svg", "Colab": "_static/images/logo_colab.png"}
    buttons = [
        {"type": "link", "url": url, "text": service, "tooltip": f"Run it on {service}", "icon": logos[service]}
        for service, url in places.items()
    ]
    menu = {"type": "group", "tooltip": "Run this chapter elsewhere", "icon": "fas fa-rocket", "buttons": buttons}
    context["header_buttons"].append({**menu, "label": "launch-buttons"})


def setup(app: Sphinx) -> None:
    """Connect the above, the address before exercises are written; the theme makes its menus at priority 501."""
    app.connect("config-inited", set_address, priority=400)
    app.connect("html-page-context", offer_elsewhere, priority=510)
