"""All about the package stands in pyproject.toml; only what that cannot say is here."""

import os
import re
from pathlib import Path

from setuptools import setup

REPOSITORY = os.environ.get("GITHUB_REPOSITORY", "")
"""OWNER/NAME, where GitHub builds a release: the project has no address of its own that could stand in a file."""
SOURCE = f"https://github.com/{REPOSITORY}"
BOOK_URL = os.environ.get("BOOK_URL", "")


def readme() -> str:
    """The README as an index shows it: no picture, and links into the repository or none."""
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", "", text, flags=re.MULTILINE)
    elsewhere = rf"[\1]({SOURCE}/blob/{os.environ.get('GITHUB_SHA', 'HEAD')}/\2)" if REPOSITORY else r"\1"
    return re.sub(r"\[([^\]]*)\]\((?!https?:|#)([^)]*)\)", elsewhere, text)


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    project_urls=({"Documentation": BOOK_URL} if BOOK_URL else {})
    | ({"Source": SOURCE, "Issues": f"{SOURCE}/issues"} if REPOSITORY else {}),
)
