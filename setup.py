"""All about the package stands in pyproject.toml; only what that cannot say is here.

The exercises live beside the library, in `exercises/`, and a wheel carries them inside it, as `annotated/exercises/`,
without strangers' answers, which test the grader. An editable installation copies nothing: it finds those of the
checkout.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithExercises(build_py):
    """Copies the exercises into the package that is being built."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            out = Path(self.build_lib, "annotated", "exercises")
            shutil.rmtree(out, ignore_errors=True)  # what an earlier build left behind
            shutil.copytree("exercises", out, ignore=shutil.ignore_patterns("__pycache__", "answers.py"))


def readme() -> str:
    """The README without its pictures: they lie in the repository, and whoever reads a wheel's has only the text."""
    text = Path("README.md").read_text(encoding="utf-8")
    return re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", "", text, flags=re.MULTILINE)


setup(
    cmdclass={"build_py": BuildWithExercises},
    long_description=readme(),
    long_description_content_type="text/markdown",
)
