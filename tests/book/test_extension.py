"""The book's own directives and roles: code by object name, and references to the paper."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")


@pytest.fixture(scope="module")
def extension(repository: Path) -> Any:
    sys.path.insert(0, str(repository / "book" / "_ext"))
    try:
        from annotated_book import paper, source
    finally:
        sys.path.pop(0)
    return paper, source


def test_code_is_the_librarys_own(extension: Any) -> None:
    from annotated.model.attention import scaled_dot_product_attention

    code, path, line, paper = extension[1].source_of("annotated.model.attention.scaled_dot_product_attention")
    assert code == inspect.getsource(scaled_dot_product_attention)
    assert path.as_posix() == "annotated/model/attention.py"
    assert paper == "section 3.2.1, equation 1, figure 2"
    lines = (Path(inspect.getsourcefile(scaled_dot_product_attention)).read_text(encoding="utf-8")).splitlines()
    assert lines[line - 1].startswith("def scaled_dot_product_attention")


def test_without_docstring_only_the_docstring_is_gone(extension: Any) -> None:
    name = "annotated.model.attention.scaled_dot_product_attention"
    whole, short = extension[1].source_of(name)[0], extension[1].source_of(name, with_docstring=False)[0]
    assert '"""' not in short and len(short) < len(whole)
    assert [line for line in whole.splitlines() if line in short.splitlines()] == short.splitlines()
    compile(short, name, "exec")


def test_methods_and_properties_are_found_and_dedented(extension: Any) -> None:
    code, _, _, _ = extension[1].source_of("annotated.model.MultiHeadAttention.w_q")
    assert code.startswith("@property\ndef w_q")


@pytest.mark.parametrize("name", ["annotated.model.attention.no_such_thing", "nowhere.at_all"])
def test_a_name_that_does_not_exist_is_an_error(extension: Any, name: str) -> None:
    with pytest.raises(LookupError):
        extension[1].source_of(name)


@pytest.mark.parametrize(
    ("text", "shown", "anchor"),
    [
        ("3.2.1", "section 3.2.1", "#S3.SS2.SSS1"),
        ("equation 1", "equation 1", "#S3.SS2.SSS1"),
        ("Table 3", "Table 3", "#S6.SS2"),
    ],
)
def test_references_to_the_paper_lead_there(extension: Any, text: str, shown: str, anchor: str) -> None:
    found, title, url = extension[0].resolve(text)
    assert found == shown and title and url.endswith(anchor)


def test_every_equation_figure_and_table_has_an_address(extension: Any) -> None:
    from annotated.paper import entries

    for key in entries():
        assert extension[0].resolve(key.removeprefix("section "))[2].startswith("https://arxiv.org/")


def test_a_section_that_the_paper_lacks_is_an_error(extension: Any) -> None:
    with pytest.raises(KeyError):
        extension[0].resolve("3.9")
