"""What an owner fills in, once: `.ci/owner` in a copy of the files that it writes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

FILES = (
    "README.md", "CITATION.cff", "_config.yml", "setup.py",
    "pyproject.toml", "grader/pyproject.toml", "book/pyproject.toml", ".ci/owner",
)  # fmt: skip


@pytest.fixture
def copy(repository: Path, tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository / name, tmp_path / name)
    (tmp_path / ".github").mkdir()
    return tmp_path


def fill_in(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(copy / ".ci/owner"), *words], capture_output=True, text=True)


def texts(copy: Path) -> dict[str, str]:
    places = [*copy.rglob("*.*"), copy / ".github" / "CODEOWNERS"]
    return {str(place): place.read_text(encoding="utf-8") for place in places if place.is_file()}


def test_nothing_of_an_owner_is_there_before(repository: Path) -> None:
    """A project without an address promises none."""
    assert not (repository / ".github" / "CODEOWNERS").exists()
    assert "badge" not in (repository / "README.md").read_text(encoding="utf-8")


def test_an_owner_fills_in_all_at_once_and_may_do_so_again(copy: Path) -> None:
    assert fill_in(copy, "first/try", "Nobody").returncode == 0
    done = fill_in(copy, "Me/annotated", "Ada Müller; Ben O'Neill")
    assert done.returncode == 0, done.stderr
    written = texts(copy)
    assert fill_in(copy, "Me/annotated", "Ada Müller; Ben O'Neill").returncode == 0 and texts(copy) == written
    assert not [name for name, text in written.items() if "first/try" in text or "Nobody" in text]
    readme = (copy / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("# annotated\n\n<!-- badges") and readme.count("badge.svg") == 1
    links = re.findall(r"\]\((https://[^)]*)\)", readme.split("<!-- end of badges -->")[0])
    assert "https://me.github.io/annotated/" in links and any(
        "mybinder.org/v2/gh/Me/annotated/" in one for one in links
    )
    assert (copy / ".github/CODEOWNERS").read_text() == "* @Me\n"
    for name in ("pyproject.toml", "grader/pyproject.toml", "book/pyproject.toml"):
        authors = tomllib.loads((copy / name).read_text(encoding="utf-8"))["project"]["authors"]
        assert authors == [{"name": "Ada Müller"}, {"name": "Ben O'Neill"}]
    citation = yaml.safe_load((copy / "CITATION.cff").read_text(encoding="utf-8"))
    assert [one["name"] for one in citation["authors"]] == ["Ada Müller", "Ben O'Neill"]
    assert citation["repository-code"] == "https://github.com/Me/annotated" and len(citation["references"]) == 1
    assert yaml.safe_load((copy / "_config.yml").read_text(encoding="utf-8"))["author"] == "Ada Müller, Ben O'Neill"


@pytest.mark.parametrize("words", [(), ("annotated", "Me"), ("Me/annotated",), ("Me/annotated", 'M"e')])
def test_without_an_address_and_authors_it_says_how(copy: Path, words: tuple[str, ...]) -> None:
    before = texts(copy) if (copy / ".github/CODEOWNERS").exists() else None
    done = fill_in(copy, *words)
    assert done.returncode == 1 and ".ci/owner OWNER/NAME" in done.stderr
    assert before is None and not (copy / ".github/CODEOWNERS").exists()
