"""Reach of a change: tests that import what changed, pages whose text changed, and the commands that test them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("grimp", reason="the graph of imports is in the extra `dev`")
pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")

from tests.reach import commands, module_of, on_path, pages_reached, reach


def test_a_file_belongs_to_a_module_or_to_the_package_of_its_folder() -> None:
    assert module_of("annotated/model/masks.py") == "annotated.model.masks"
    assert module_of("annotated/model/__init__.py") == "annotated.model"
    assert module_of("book/annotated_book/attention/masks/record.json") == "annotated_book.attention.masks"
    assert [
        module_of(f"book/annotated_book/attention/masks/{name}") for name in ("masks.md", "quiz.yaml", "live.js")
    ] == [None] * 3
    assert module_of("book/annotated_book/results/table_3/runs.jsonl") == "annotated_book.results.table_3"
    assert module_of("book/_ext/page_kit/formulas/tex.py") == "page_kit.formulas.tex"
    assert module_of("README.md") is None


def test_a_module_reaches_the_tests_that_import_it_and_no_others() -> None:
    found = {path.as_posix() for path in reach(["grader/annotated_grader/sandbox/names.py"]).tests}
    assert {"tests/grader/sandbox/test_names.py", "tests/grader/exercise/test_forbidden_calls.py"} <= found
    assert not {"tests/model/test_attention.py", "book/annotated_book/attention/masks/tests/test_charts.py"} & found
    below = {path.as_posix() for path in reach(["annotated/model/masks.py"]).tests}
    assert {"tests/model/test_masks.py", "tests/decoding/test_beam.py", "tests/runs/test_resume.py"} <= below


def test_data_reaches_the_tests_of_their_package() -> None:
    assert (
        Path("book/annotated_book/attention/masks/tests/test_experiment.py")
        in reach(["book/annotated_book/attention/masks/record.json"]).tests
    )


def test_a_changed_page_is_built_alone_and_looked_at() -> None:
    found = reach(["book/annotated_book/attention/masks/masks.md"])
    assert (
        found.pages == ["attention/masks"]
        and Path("book/annotated_book/attention/masks/tests/test_page.py") in found.tests
    )
    said = [" ".join(command) for command in commands(found)]
    assert "make chapter CHAPTER=attention/masks" in said and "make book" not in said
    assert said[-1].endswith("-k attention/masks")


def test_a_changed_chart_reaches_its_page_before_any_book_was_built(monkeypatch: pytest.MonkeyPatch) -> None:
    with on_path():
        from page_kit.running import output_cache
    monkeypatch.setattr(output_cache, "pages_that_read", lambda changed, outputs: [])
    inside = "book/annotated_book/attention/multi_head"
    assert list(pages_reached([f"{inside}/charts.py", f"{inside}/tests/test_charts.py"])) == ["attention/multi_head"]
    assert list(pages_reached(["book/annotated_book/viz/theme.py", "annotated/config.py"])) == []


def test_an_exercise_is_verified_and_a_pin_asks_for_everything() -> None:
    assert reach(["exercises/ex05_1_attention/bank.yaml"]).exercises == ["ex05-1"]
    found = reach(["constraints.txt"])
    assert found.is_everything and ["make", "test"] in list(commands(found))
