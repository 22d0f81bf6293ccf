"""Former names of the grader: notebooks that learners have already go on working, or learn what to install."""

from __future__ import annotations

import sys

import pytest

import annotated_grader
from annotated.moved import names_of
from annotated_grader import doctor as doctor_package


def test_what_notebooks_import_is_found_under_its_former_name() -> None:
    from annotated import doctor, grading

    assert grading.check is annotated_grader.check and grading.expect is annotated_grader.expect
    assert doctor.doctor is doctor_package.doctor and doctor.Subject is doctor_package.Subject
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = grading.no_such_name
    assert not hasattr(grading, "__path__"), "torch.compile asks every module for such names"


def test_without_the_grader_the_former_name_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "annotated_grader", None)
    find = names_of("annotated.grading", "annotated_grader", "annotated-grader")
    with pytest.raises(ModuleNotFoundError, match="is annotated_grader now, in the package annotated-grader"):
        find("check")


def test_a_module_that_the_grader_lacks_is_not_blamed_on_the_grader() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        names_of("annotated.grading", "no_such_package.part", "annotated-grader")("check")
