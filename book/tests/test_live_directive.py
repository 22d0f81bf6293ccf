"""The directive `live`: the box, its script and its fallback; what it refuses; what a notebook gets in its stead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from book.tests.sites import build_site


@pytest.fixture(scope="module")
def built(extension: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A site of some pages in a folder `machine`, and what was complained about."""
    twice = ':::{live} positions\n:sentence: A "cat" sleeps.\n\nWithout **scripts**.\n:::\n\n'
    pages = {
        "positions": twice + ":::{live} positions\nAgain.\n:::",
        "embeddings": ":::{live} nonsense\nText.\n:::",
        "residuals": ":::{live} residual_norm\n:::",
        "nowhere": ":::{live} positions\nText.\n:::",
        "doctor": ":::{live} doctor\nText.\n:::",
    }
    texts = {f"machine/{name}": f"# {name}\n\n{text}\n" for name, text in pages.items()}
    return build_site(tmp_path_factory.mktemp("live"), texts, ["authoring.live"])


def test_the_box_holds_the_fallback_and_its_script_is_loaded_once(built: tuple[Path, str]) -> None:
    out, _ = built
    page = (out / "machine" / "positions.html").read_text(encoding="utf-8")
    assert page.count('data-panel="positions"') == 2 and page.count("<script defer") == 1
    assert 'data-sentence="A &quot;cat&quot; sleeps."' in page and "<strong>scripts</strong>" in page
    for file in ("positions.js", "panel.css", "model.js", "wide.js"):
        assert (out / "_static" / "live" / file).is_file()
    assert "../_static/live/positions.js" in page and "../_static/live/panel.css" in page


def test_a_panel_brings_its_looks_and_its_data(built: tuple[Path, str]) -> None:
    out, _ = built
    page = (out / "machine" / "doctor.html").read_text(encoding="utf-8")
    for file in ("panel.css", "doctor.css", "doctor.js"):
        assert page.count(f"../_static/live/{file}") == 1 and (out / "_static" / "live" / file).is_file()
    assert 'data-panel="doctor"' in page and page.count('class="doctor-data"') == 1
    assert "_static/live/positions.css" not in (out / "machine" / "positions.html").read_text(encoding="utf-8")


def test_a_panel_without_script_or_fallback_is_an_error(built: tuple[Path, str]) -> None:
    _, complaints = built
    assert "there is no live panel 'nonsense': live.js of the page embeddings should mount it" in complaints
    assert "live.js of the page nowhere should mount it" in complaints
    assert "the live panel 'residual_norm' needs a body" in complaints
    assert complaints.count("live panel") == 3


def test_a_notebook_gets_the_fallback_text(extension: Any, repository: Path) -> None:
    writer = extension("delivery.notebook_export").Writer(repository)
    place = "*The page of this chapter has a live panel here.*"
    for told in (
        "It translates.",
        "The panel needs JavaScript. It translates.",
        "It\nneeds JavaScript. It translates.",
    ):
        text = f"A.\n\n:::{{live}} positions\n:sentence: The cat.\n\n{told}\n:::\n\nB."
        assert writer.plain(text) == f"A.\n\n{place} It translates.\n\nB."
