"""All about the package stands in pyproject.toml; only what that cannot say is here.

The exercises live beside the grader, in `exercises/` of the checkout. A wheel carries them inside it, as
`annotated_grader/exercises/`, and a source distribution beside this file, both without strangers' answers, which test
the grader. An editable installation copies nothing: it finds those of the checkout.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
EXERCISES = next(place for place in (HERE / "exercises", HERE.parent / "exercises") if place.is_dir())


def copy_exercises(out: Path) -> None:
    """Copy the exercises into a folder that is being built, without what an earlier build left there."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(EXERCISES, out, ignore=shutil.ignore_patterns("__pycache__", "answers.py"))


class BuildWithExercises(build_py):
    """Copies the exercises into the package that is being built."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            copy_exercises(Path(self.build_lib, "annotated_grader", "exercises"))


class SourcesWithExercises(sdist):
    """Copies the exercises into the source distribution."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        copy_exercises(Path(base_dir, "exercises"))


setup(cmdclass={"build_py": BuildWithExercises, "sdist": SourcesWithExercises})
