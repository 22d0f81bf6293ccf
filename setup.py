"""All about the package stands in pyproject.toml; only what that cannot say is here."""

import re
from pathlib import Path

from setuptools import setup


def readme() -> str:
    """The README without its pictures: they lie in the repository, and whoever reads a wheel's has only the text."""
    text = Path("README.md").read_text(encoding="utf-8")
    return re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", "", text, flags=re.MULTILINE)


setup(long_description=readme(), long_description_content_type="text/markdown")
