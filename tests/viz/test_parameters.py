"""Sliders and menus of charts."""

from __future__ import annotations

from annotated.viz.parameters import menu


def test_a_menu_starts_at_its_first_option_unless_told_and_is_named_after_its_parameter() -> None:
    first = menu("task", ["copy", "sort"]).param.to_dict()
    told = menu("task", ("copy", "sort"), "sort", "show").param.to_dict()
    assert (first["value"], first["bind"]["name"]) == ("copy", "task ")
    assert (told["value"], told["bind"]) == ("sort", {"input": "select", "options": ["copy", "sort"], "name": "show "})
