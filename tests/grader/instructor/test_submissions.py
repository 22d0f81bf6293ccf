"""Folders of submissions are looked into and not believed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from annotated_grader.exercise.submission import BadSubmission
from annotated_grader.instructor.folders import RENAME
from annotated_grader.instructor.submissions import collect


def folder(top: Path, *names: str) -> Path:
    """A folder of these files."""
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text("x = 1\n", encoding="utf-8")
    return top


def test_three_layouts(tmp_path: Path) -> None:
    folder(tmp_path, "ada/ex05-1_final.py", "ada/week-7/ex07-2.ipynb", "ben_li_ex05_1.py", "cleo.py", ".git/ex05-1.py")
    found = collect(tmp_path)
    assert [(one.student, one.exercise) for one in found.submissions] == [
        ("ada", "ex05-1"), ("ada", "ex07-2"), ("ben_li", "ex05-1"),
    ]  # fmt: skip
    assert found.skipped == (("cleo.py", "it does not say which exercise it answers"),)
    only = collect(tmp_path, "ex05-1")
    assert [one.student for one in only.submissions] == ["ada", "ben_li", "cleo"]
    assert only.skipped == (("ada/week-7/ex07-2.ipynb", "it is for ex07-2"),)


def test_of_several_files_the_last_by_name_counts(tmp_path: Path) -> None:
    folder(tmp_path, "ada/ex05-1.py", "ada/ex05-1 (10).py", "ada/ex05-1 (9).py", "ada/ex05-11.py")
    found = collect(tmp_path)
    assert {one.exercise: one.path for one in found.submissions} == {
        "ex05-1": "ada/ex05-1 (10).py", "ex05-11": "ada/ex05-11.py",
    }  # fmt: skip
    assert set(found.skipped) == {
        ("ada/ex05-1.py", "replaced by ada/ex05-1 (10).py"), ("ada/ex05-1 (9).py", "replaced by ada/ex05-1 (10).py"),
    }  # fmt: skip


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = folder(tmp_path / "outside", "ex05-1.py", "secret/ex05-1.py")
    top = folder(tmp_path / "class", "ada/ex05-1.py")
    (top / "eve").symlink_to(outside / "secret")
    (top / "ada" / "ex05-2.py").symlink_to(outside / "ex05-1.py")
    found = collect(top)
    assert [(one.path, one.refused) for one in found.submissions] == [
        ("ada/ex05-1.py", ""), ("ada/ex05-2.py", "it is a symbolic link"),
    ]  # fmt: skip
    assert found.skipped == (("eve", "it is a symbolic link"),)
    with pytest.raises(BadSubmission, match="symbolic link"):
        found.submissions[1].read()


@pytest.mark.parametrize("bad", ["../ex05-1.py", "/etc/ex05-1.py", "a\\..\\..\\ex05-1.py", "C:/ex05-1.py"])
def test_an_archive_with_one_path_that_leads_outside_is_refused_whole(tmp_path: Path, bad: str) -> None:
    for name, members in (("good", ["x/ex05-1.py", "__MACOSX/ex05-1.py"]), ("bad", ["ex05-1.py", bad])):
        with zipfile.ZipFile(tmp_path / f"{name}_ex05-1.zip", "w") as archive:
            for member in members:
                archive.writestr(zipfile.ZipInfo(member), "x = 1")
    refused, good = collect(tmp_path).submissions
    assert (refused.student, "leads outside" in refused.refused) == ("bad", True)
    assert (good.student, good.path, good.read()) == ("good", "good_ex05-1.zip/x/ex05-1.py", b"x = 1")


def rows(top: Path, exercise: str = "") -> dict[str, tuple[str, str]]:
    """File and note by student; each has one exercise."""
    found = collect(top, exercise).submissions
    return {one.student: (one.path, one.note.partition("also handed in")[0].rstrip("; ")) for one in found}


def test_in_the_top_folder_a_student_may_stand_after_the_exercise(tmp_path: Path) -> None:
    folder(
        tmp_path / "flat", "ex05-1_karl.py", "ex05-1_lisa.py", "ex05-1 - Mia Wolf.py", "ex05-1_4711.py", "ex05-1_s_1.py"
    )
    folder(
        tmp_path / "flat", "ex05-1_s_2.py", "ex05-1_lisa (2).py", "ex05-1_karl-2.py", "ex05-1.ipynb.txt", "ex05-1.pdf"
    )
    assert rows(tmp_path / "flat") == {
        "karl": ("ex05-1_karl-2.py", ""), "lisa": ("ex05-1_lisa (2).py", ""), "Mia Wolf": ("ex05-1 - Mia Wolf.py", ""),
        "4711": ("ex05-1_4711.py", ""), "s_1": ("ex05-1_s_1.py", ""), "s_2": ("ex05-1_s_2.py", ""),
    }  # fmt: skip
    for name in ("ex05-1_karl", "ex05-1_lisa"):
        (tmp_path / "zips").mkdir(exist_ok=True)
        with zipfile.ZipFile(tmp_path / "zips" / f"{name}.zip", "w") as archive:
            archive.writestr(zipfile.ZipInfo("work.py"), "x = 1")
    assert set(rows(tmp_path / "zips")) == {"karl", "lisa"}


def test_names_that_go_on_differently_do_not_replace_each_other(tmp_path: Path) -> None:
    folder(tmp_path, "Blatt ex05-1 karl.py", "Blatt ex05-1 karl (2).py", "Blatt ex05-1 lena.py")
    folder(tmp_path, "Blatt ex05-2 lena.py", "ada_ex05-1.py", "ada_ex05-1_2.py", "ada_ex05-1-Copy1.py")
    folder(tmp_path, "ada_ex05-1_mia.py", "ada_ex05-1_notes.txt")
    note = RENAME.format(exercise="ex05-1")
    assert rows(tmp_path) == {
        "Blatt": ("Blatt ex05-2 lena.py", ""),
        "Blatt ex05-1 karl": ("Blatt ex05-1 karl (2).py", note),
        "Blatt ex05-1 lena": ("Blatt ex05-1 lena.py", note),
        "ada": ("ada_ex05-1.py", ""), "ada_ex05-1_mia": ("ada_ex05-1_mia.py", note),
    }  # fmt: skip


def test_no_row_has_the_name_of_the_folder(tmp_path: Path) -> None:
    folder(tmp_path / "flat", "ex05-1.py", "ex05-1 (2).py", "ex05-1-3.py")
    note = RENAME.format(exercise="ex05-1")
    assert rows(tmp_path / "flat") == {name: (f"{name}.py", note) for name in ("ex05-1", "ex05-1 (2)", "ex05-1-3")}
    assert rows(tmp_path / "flat" / "ex05-1.py") == {"ex05-1": ("ex05-1.py", note)}
    (alone,) = collect(tmp_path / "flat", student="submission").submissions
    assert (alone.student, alone.path) == ("submission", "ex05-1-3.py")
