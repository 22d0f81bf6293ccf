"""The rules of the house see what breaks them; `make lint` holds every file to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house_rules import (
    MOST_LINES_OF_A_FILE,
    WRITES_IN_PLACE,
    no_noun,
    nodes_of,
    place_of,
    through_the_front_door,
    too_long,
    violations,
    writes_in_place,
)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A repository that keeps every rule: files with a reason to write in place, which do."""
    for name in WRITES_IN_PLACE:
        (tmp_path / place_of(name)).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place_of(name)).write_text('"""Writes."""\nos.replace(one, other)\n')
    return tmp_path


def test_a_house_in_order_has_no_violations(house: Path) -> None:
    assert list(violations(house)) == []


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("annotated/model/masks.py", '"""What masks are."""', "annotated/model/masks.py:1: the first line begins"),
        ("annotated/model/masks.py", "\nopen(path, 'w')", "annotated/model/masks.py:2: take storage.atomic_write"),
        ("annotated/model/masks.py", "from annotated import Transformer", "annotated/model/masks.py:1: import Trans"),
        ("grader/annotated_grader/x.py", "\nopen(path, 'w')", "grader/annotated_grader/x.py:2: take storage.atomic"),
        ("annotated/saving.py", "x = 1", "annotated/saving.py:1: writes nothing in place"),
        (
            "annotated/one.py",
            "class A: ...\n\nclass A: ...",
            "annotated/one.py:3: annotated/one.py:1 has a class A too",
        ),
        ("book/_ext/terms.py", "\n" * (MOST_LINES_OF_A_FILE + 1), "book/_ext/terms.py:401: the file has 401 lines"),
        ("benchmarks/curves.py", "def f():\n" + "    x = 1\n" * 61, "benchmarks/curves.py:1: f has 61 lines"),
    ],
)
def test_each_violation_is_listed_with_its_place(house: Path, name: str, source: str, expected: str) -> None:
    (house / name).parent.mkdir(parents=True, exist_ok=True)
    (house / name).write_text(source)
    (found,) = violations(house)
    assert found.startswith(expected)


def test_what_has_no_file_any_more_needs_no_reason(house: Path) -> None:
    (house / "annotated" / "saving.py").unlink()
    assert list(violations(house)) == ["annotated/saving.py: WRITES_IN_PLACE names it"]


@pytest.mark.parametrize(("lines", "count"), [(60, 0), (61, 1)])
@pytest.mark.parametrize("head", ["def f():\n", "async def f():\n", 'def f():\n    """It.\n\n    More.\n    """\n'])
def test_a_function_may_have_sixty_lines_besides_its_docstring(head: str, lines: int, count: int) -> None:
    source = head + "    x = 1\n" * lines
    assert len(list(too_long(nodes_of(source), source))) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""Masks: who may attend to whom."""', 0),
        ('"""How masks are made."""', 1),
        ('"""what a mask is."""', 1),
        ("masks = 1", 0),
    ],
)
def test_a_first_line_begins_with_a_noun(source: str, count: int) -> None:
    assert len(list(no_noun(nodes_of(source)))) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("from annotated import __version__", 0),
        ("from annotated import storage", 0),
        ("from annotated.model import Transformer", 0),
        ("import annotated\nprint(annotated.__version__)", 0),
        ("import annotated.storage\nannotated.storage.atomic_write(path)", 0),
        ("from annotated import Transformer", 1),
        ("def f():\n    from annotated import Transformer", 1),
        ("import annotated\nannotated.Transformer(config)", 1),
        ("import annotated.storage\nannotated.Transformer(config)", 1),
    ],
)
def test_nothing_is_fetched_through_the_front_door(source: str, count: int) -> None:
    assert len(list(through_the_front_door(nodes_of(source), {"storage", "model"}))) == count


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("path.write_text(text, encoding='utf-8')", 1),
        ("Path(name).write_bytes(data)", 1),
        ("open(path, 'w')", 1),
        ("path.open('wb')", 1),
        ("path.open(mode='x')", 1),
        ("os.replace(draft, path)", 1),
        ("storage.rename(draft, path)", 1),
        ("draft.replace(path)", 1),
        ("draft.rename(path)", 1),
        ("path.open('a')", 0),
        ("open(path, 'rb')", 0),
        ("text.replace('w', 'b')", 0),
        ("config.replace(d_ff=1)", 0),
        ("dataclasses.replace(config, **changes)", 0),
        ("table.rename(columns={})", 0),
        ("write_text(path, text)", 0),
    ],
)
def test_every_way_to_write_in_place_is_seen(line: str, count: int) -> None:
    assert len(list(writes_in_place(nodes_of(line)))) == count
