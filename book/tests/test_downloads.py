"""A chapter as a notebook for elsewhere: plain Markdown, and a first cell that finds the library or installs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import page_file
from book.tests.kinds import CHAPTERS, source

pytestmark = pytest.mark.process

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")

CHAPTER = """---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# Title

```{prediction}
How many?

- [ ] one
- [x] two

Two, see {paper}`3.2.1`.
```

:::{margin} Name
Also *dot-product attention*.
:::

::::{div} the-paper
It says {cite}`vaswani2017` so.
::::

```{code-cell} ipython3
:tags: [hide-input]
x = "{paper}`1`"
```

```{library-source} annotated.model.masks.causal_mask
:no-docstring:
```

```python
untouched = "{term}`head`"
```

See [chapter 7](../../attention/masks/masks.md) and {py:class}`torch.nn.Linear`, a {term}`heads <head>`. [play]{.layer}
"""


@pytest.fixture(scope="module")
def plain(extension: Any) -> Any:
    return extension("delivery.notebook_export")


@pytest.fixture(scope="module")
def downloads(extension: Any) -> Any:
    return extension("delivery.downloads")


def test_directives_become_plain_markdown(plain: Any, repository: Path) -> None:
    notebook = plain.notebook_of(CHAPTER, "print('set up')", page_file("machine/positions"))
    kinds = [cell["cell_type"] for cell in notebook["cells"]]
    assert kinds == ["code", "markdown", "code", "markdown"]
    setup, first, code, last = (cell["source"] for cell in notebook["cells"])
    assert setup == "print('set up')"
    assert code == 'x = "{paper}`1`"', "code is code"
    asked, _, told = first.partition("<details><summary>What happens</summary>")
    assert "- one\n- two" in asked and "Two, see" not in asked
    assert "Two, see [section 3.2.1](https://arxiv.org/html/1706.03762v7#S3.SS2.SSS1)." in told
    assert "> **Name.** Also *dot-product attention*." in first
    assert "> It says [Vaswani et al., 2017] so." in first
    assert notebook["cells"][2]["metadata"]["jupyter"] == {"source_hidden": True}, "folded in the page, and here"
    assert "```python\ndef causal_mask(" in last
    assert 'untouched = "{term}`head`"' in last, "an ordinary code block stays as it is"
    assert "[chapter 7](../attention/masks.ipynb) and `torch.nn.Linear`, a heads. (play)" in last


def test_nested_fences_close_where_they_should(plain: Any, repository: Path) -> None:
    text = "::::{div} the-paper\n:::{div} inner\nwithin\n:::\nstill quoted\n::::\nafter"
    assert plain.Writer(repository).plain(text) == "> **The paper.**\n>\n> within\n> still quoted\nafter"


def test_a_quoted_formula_stands_on_one_line(plain: Any, repository: Path) -> None:
    """Jupyter sets formulas before it knows quotations, and would set the sign of the second line with them."""
    text = "::::{div} the-paper\nIt has\n\n$$a \\\\\nb$$\n\nand $c\nd$ too.\n::::"
    quoted = plain.Writer(repository).plain(text)
    assert quoted == "> **The paper.**\n>\n> It has\n>\n> $$a \\\\ b$$\n>\n> and $c d$ too."


def test_a_notebook_says_nothing_to_readers_without_scripts(plain: Any, repository: Path) -> None:
    assert (
        plain.Writer(repository).plain("A.\n\n<noscript><p>It needs\nJavaScript.</p></noscript>\n\nB.") == "A.\n\n\nB."
    )


def test_no_chapter_keeps_anything_of_myst(plain: Any) -> None:
    for name in CHAPTERS:
        for cell in plain.notebook_of(source(name), "", page_file(name))["cells"]:
            if cell["cell_type"] == "markdown":
                prose = re.sub(r"^(```+|~~~+).*?^\1", "", cell["source"], flags=re.DOTALL | re.MULTILINE)
                assert not re.search(r"^[:`~]{3,}\{|\{[\w:-]+\}`|\]\{\.layer\}", prose, re.MULTILINE), (name, prose)


def test_the_graders_wheel_carries_the_exercises_but_no_answers_of_strangers(
    wheels: dict[str, Path], repository: Path
) -> None:
    assert list(repository.glob("exercises/ex*/answers.py"))
    with zipfile.ZipFile(wheels["annotated_grader"]) as archive:
        names = archive.namelist()
    exercises = list(repository.glob("exercises/ex*/exercise.md"))
    carried = [name for name in names if re.search("/exercises/ex[^/]*/exercise.md$", name)]
    assert len(carried) == len(exercises)
    assert [name for name in names if name.endswith("/answers.py") and "exercises" in name] == []


def test_the_librarys_wheel_has_neither_grader_nor_doctor_nor_exercises(wheels: dict[str, Path]) -> None:
    with zipfile.ZipFile(wheels["annotated"]) as archive:
        names = archive.namelist()
    places = {"/".join(name.split("/")[:2]) for name in names}
    assert not {"annotated/grading", "annotated/doctor", "annotated/exercises"} & places
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"annotated"}


def test_the_books_wheel_has_what_pages_read_but_neither_their_texts_nor_their_tests(wheels: dict[str, Path]) -> None:
    with zipfile.ZipFile(wheels["annotated_book"]) as archive:
        names = {name for name in archive.namelist() if ".dist-info" not in name}
    page = {name.rpartition("/")[2] for name in names if name.startswith("annotated_book/attention/masks/")}
    assert {"__init__.py", "charts.py", "widget.js", "widget.css", "live.js", "record.json"} <= page
    assert "annotated_book/results/table_3/runs.jsonl" in names and "annotated_book/viz/drawing.js" in names
    assert not [name for name in names if name.endswith((".md", ".yaml")) or "/tests/" in name]


@pytest.mark.slow
def test_who_has_only_the_wheels_can_do_what_the_readme_says(
    wheels: dict[str, Path], repository: Path, tmp_path: Path
) -> None:
    for wheel in wheels.values():
        zipfile.ZipFile(wheel).extractall(tmp_path)  # as pip unpacks it
    script, environment = repository / "tests" / "wheels_alone.py", os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-P", str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "annotated --help" in done.stdout, done.stdout + done.stderr


def test_each_wheel_says_who_may_use_it_and_needs_the_others_of_its_release(wheels: dict[str, Path]) -> None:
    for package, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            (place,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            about = archive.read(place).decode()
            licences = [name for name in archive.namelist() if "/licenses/LICENSE" in name]
        version = re.search(r"^Version: (.*)$", about, re.MULTILINE)[1]
        assert licences and "License-Expression: MIT" in about and "Description-Content-Type: text/markdown" in about
        assert package == "annotated" or f"Requires-Dist: annotated-attention=={version}" in about
        assert wheel.stat().st_size < 14 * 2**20  # three models, one of them of everyday English


def test_cells_are_short() -> None:
    import jupytext

    for name in CHAPTERS:
        notebook = jupytext.read(page_file(name), fmt="md:myst")
        for cell in notebook.cells:
            is_folded = {"check", "hide-input"} & {*cell.metadata.get("tags", [])}
            if cell.cell_type == "code" and not is_folded:
                assert len(cell.source.splitlines()) <= 25, f"{name}: {cell.source[:60]}"


def test_the_built_book_offers_the_notebook_and_the_wheel(book: Path) -> None:
    assert len(list((book / "_static" / "wheel").glob("annotated_*.whl"))) == 3
    for name in CHAPTERS:
        notebook = json.loads((book / "_sources" / f"{name}.ipynb").read_text(encoding="utf-8"))
        assert "import annotated" in notebook["cells"][0]["source"]
        page = (book / f"{name}.html").read_text(encoding="utf-8")
        assert f'_sources/{name}.ipynb"' in page
        links = re.findall(r'href="([^"]+\.whl)"', page)
        offered = [(book / name).parent.joinpath(link).resolve().is_file() for link in links]
        assert offered == [True, True, True], f"{name} does not offer the wheels"
        menu = re.search(r'<div class="dropdown dropdown-download-buttons">.*?</ul>', page, re.DOTALL)[0]
        words = re.findall(r'<span class="btn__text-container">(.*?)</span>', menu)
        assert len(words) >= 5 and not [text for text in words if text.startswith(".")], "a suffix is no name"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A Python that has pip and nothing else, and an environment in which pip may ask nobody."""
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "env", with_pip=True)
    quiet = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONPATH": ""}
    return folder, os.environ | quiet


def run_first_cell(
    downloads: Any, where: tuple[Path, dict[str, str]], folder: Path, wheels: dict[str, str], book: str = ""
) -> Any:
    code = downloads.first_cell(book, wheels).replace(', "vl-convert-python"', "")
    # Without its dependencies the library cannot be imported there: the test ends where the import begins.
    assert "\nimport annotated\n" in code
    code = code.replace("import annotated\n", "print(importlib.util.find_spec('annotated').origin); raise SystemExit\n")
    command = [str(where[0] / "env" / "bin" / "python"), "-c", code]
    return subprocess.run(command, cwd=folder, env=where[1], capture_output=True, text=True)


@pytest.mark.slow
def test_the_first_cell_says_what_to_do_and_then_installs_from_the_wheel_beside_it(
    downloads: Any, elsewhere: Any, wheels: dict[str, Path], tmp_path: Path
) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    library = {"annotated": wheels["annotated"].name}
    failed = run_first_cell(downloads, elsewhere, alone, library)
    assert failed.returncode == 1 and "Installing" not in failed.stdout, "a name that is not ours is not asked for"
    assert library["annotated"] in failed.stderr and "ANNOTATED_SOURCE" in failed.stderr
    published = run_first_cell(downloads, elsewhere, alone, {"annotated": "none.whl"}, book="http://127.0.0.1:1/book/")
    assert "Installing it from http://127.0.0.1:1/book/_static/wheel/none.whl" in published.stdout
    assert "Put none.whl\n(from the page's download menu)" in published.stderr

    shutil.copy(wheels["annotated"], alone)
    done = run_first_cell(downloads, elsewhere, alone, library)
    assert done.returncode == 0, done.stderr
    assert f"Installing it from {alone / library['annotated']}" in done.stdout and "site-packages" in done.stdout

    again = run_first_cell(downloads, elsewhere, tmp_path, library)
    assert "Installing" not in again.stdout, "what is there is found"

    both = {package: wheels[package].name for package in ("annotated", "annotated_grader")}
    lacking = run_first_cell(downloads, elsewhere, tmp_path, both)
    assert lacking.returncode == 1 and "Download annotated_grader-" in lacking.stderr, "the library is there already"
    elsewhere[1]["ANNOTATED_SOURCE"] = str(wheels["annotated"])  # the grader's lies beside it
    whole = run_first_cell(downloads, elsewhere, tmp_path, both)
    assert whole.returncode == 0 and f"Installing it from {wheels['annotated_grader']} ..." in whole.stdout
    again = run_first_cell(downloads, elsewhere, tmp_path, both)
    assert "Installing" not in again.stdout, "both are there"


def test_a_chapters_notebook_asks_for_the_grader_only_where_a_cell_imports_it(downloads: Any) -> None:
    asking = {name for name in CHAPTERS if "annotated_grader" in downloads.wheels_for(source(name))}
    assert asking == {"training/first_run", "results/since_2017", "reference/doctor"}
