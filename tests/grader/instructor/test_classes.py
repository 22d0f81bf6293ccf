"""Classes as platforms and people deliver them: each file is whose it is, and nobody's file replaces another's."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from annotated_grader.instructor.files import LayoutDoubt
from annotated_grader.instructor.platforms import time_of
from annotated_grader.instructor.roster import Roster
from annotated_grader.instructor.submissions import Looking, choose, look
from tests.grader.instructor.classes import METADATA, PLATFORMS, Class, build, rows_of
from tests.grader.instructor.classes_of_people import FOUND, LEVELS, SPELLINGS, STUBS

pytestmark = pytest.mark.process


CLASSES = PLATFORMS | SPELLINGS | STUBS | LEVELS | FOUND


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_the_rows_that_its_files_say(tmp_path: Path, name: str) -> None:
    one = CLASSES[name]
    folder = build(tmp_path / "in", one.files)
    found = look(folder / one.top, looking(one))
    wanted = sorted(" ".join(line.split()) for line in one.rows.splitlines())
    assert rows_of(found, choose(found)) == wanted
    assert found.summary.partition(":")[0] == one.layout


def looking(one: Class) -> Looking:
    """The options of a class."""
    roster = Roster.read(one.roster) if one.roster else None
    return Looking(one.exercise, "", one.how, roster, time_of(one.before) if one.before else None)


def seen(folder: Path, files: str, **options: str) -> list[str]:
    """The rows of a class."""
    found = look(build(folder, files), looking(Class(files, "", **options)))
    return rows_of(found, choose(found))


def test_what_can_be_read_in_two_ways_is_asked_for(tmp_path: Path) -> None:
    files = "Miller/ada/ex05-1.py\nMiller/ben/ex05-1.py\nSmith/cleo/ex05-1.py\nSmith/dan/ex05-1.py"
    with pytest.raises(
        LayoutDoubt, match="'Miller' and 'Smith' or 'ada' and 'ben' in 'Miller': say --layout 'STUDENT'"
    ) as e:
        seen(tmp_path / "in", files)
    assert [layout for layout, _ in e.value.choices] == ["STUDENT", "*/STUDENT"]
    rows = [
        seen(tmp_path / layout.replace("/", "_").replace("*", "x"), files, how=layout) for layout, _ in e.value.choices
    ]
    assert [len(found) for found in rows] == [2, 4]
    with pytest.raises(ValueError, match="there is no layout 'Kanvas'; there are auto, canvas, gradescope"):
        seen(tmp_path / "again", files, how="Kanvas")


def test_a_platform_may_be_said(tmp_path: Path) -> None:
    files = "ada_2026_1005_ex05-1.py\nben_ex05-1.py"
    assert seen(tmp_path / "own", files) == ["ada_2026_1005 ex05-1", "ben ex05-1"]
    assert seen(tmp_path / "canvas", files, how="canvas") == ["ada (2026) ex05-1", "ben ex05-1"]


def test_two_people_of_a_platform_are_never_one_row(tmp_path: Path) -> None:
    files = "adlerada_101_900001_ex05-1.py\nadlerada_102_900002_ex05-1.py"
    both = 'Student,ID,SIS User ID\n"Adler, Ada",101,102\n'
    with pytest.raises(
        ValueError, match=r"Ada Adler, ex05-1: Canvas has two people here, 101 \(adlerada_101_.* and 102"
    ):
        seen(tmp_path, files, roster=both)


def test_a_roster_says_before_grading_who_is_missing(tmp_path: Path) -> None:
    files = "adlerada_101_900001_ex05-1.py\nbrandtben_109_900002_ex05-1.py\nclarkcleo_103_900003_ex05-1.py"
    roster = """Student,ID,SIS Login ID
"Adler, Ada",101,aadler
"Brandt, Ben",102,bb
"Dorn, Dan",104,dd
"Clark, Cleo",105,cc
"Other, Otto",103,oo
"""
    found = look(build(tmp_path, files), looking(Class(files, "", roster=roster)))
    assert found.roster is not None
    assert found.roster.unknown == ()
    assert found.roster.missing == ("Dan Dorn", "Cleo Clark", "Otto Other")
    # one's number is another's: neither name nor number is believed
    assert found.roster.ambiguous == ("clarkcleo (103) may be lines [6, 5] of the roster",)


def test_the_first_line_says_what_was_understood(tmp_path: Path) -> None:
    one = PLATFORMS["canvas: unpacked, one person in two exercises"]
    assert look(build(tmp_path, one.files), looking(one)).summary == "Canvas: 2 students, 2 exercises, 3 files, 1 late"


def test_files_without_names_in_one_folder_may_be_several_people_s(tmp_path: Path) -> None:
    files = "Attention/ex05-1.py\nAttention/ex05-1 (1).py\nAttention/ex05-1 (2).py"
    found = look(build(tmp_path / "in", files), Looking())
    assert found.warnings == (
        "all these are taken for tries of one student, Attention; if they are several people's: --layout '*/STUDENT'",
    )
    assert [row.split(" ex05-1 rename")[0] for row in seen(tmp_path / "again", files, how="*/STUDENT")] == [
        "Attention / ex05-1 (1)", "Attention / ex05-1 (2)", "Attention / ex05-1",
    ]  # fmt: skip


def test_who_handed_in_something_else_is_said(tmp_path: Path) -> None:
    files = "adlerada_101_text.html\nbrandtben_102_900002_essay.docx\nclarkcleo_103_900003_ex05-1.py"
    found = look(build(tmp_path, files), Looking())
    assert found.warnings == ("handed in, but nothing that can be graded: adlerada: text.html; brandtben: essay.docx",)


def test_spellings_that_may_be_one_person_are_said(tmp_path: Path) -> None:
    found = look(build(tmp_path, "Ada_Adler_ex05-1.py\nada adler_ex07-1.py\nben_ex05-1.py"), Looking())
    assert found.warnings == ("these may be one person; a roster joins them: Ada_Adler, ada adler",)


def test_in_a_class_s_archive_one_bad_entry_is_one_row(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
        for name, kind in (("adlerada_101_900001", zipfile.ZIP_BZIP2), ("brandtben_102_900002", zipfile.ZIP_STORED)):
            archive.writestr(zipfile.ZipInfo(f"{name}_ex05-1.py"), "x = 1", kind)
        link = zipfile.ZipInfo("clarkcleo_103_900003_ex05-1.py")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr(zipfile.ZipInfo("dorndan_104_900004_ex05-1.zip"), b"no archive")
    found = look(tmp_path / "submissions.zip", Looking())
    rows = {file.student: file.refused.partition(":")[0] for file in choose(found).submissions}
    assert rows == {
        "adlerada": "it is an entry in a compression other than deflate", "brandtben": "",
        "clarkcleo": "it is a symbolic link", "dorndan": "the archive cannot be read",
    }  # fmt: skip


def test_a_zip_of_macos_or_old_windows_keeps_names_and_folders(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        entry = zipfile.ZipInfo("Zoe\u0301/ex05-1.py")
        archive.writestr(entry, "x = 1")
        archive.writestr(zipfile.ZipInfo("ben\\ex05-1.py"), "x = 1")
    data = (tmp_path / "class.zip").read_bytes()
    # what macOS writes: the same bytes, without the mark that they are UTF-8
    at = [i for i in range(len(data)) if data[i : i + 4] in (b"PK\x03\x04", b"PK\x01\x02")]
    for i in at:
        flags = i + (6 if data[i + 2] == 3 else 8)
        data = data[: flags + 1] + bytes([data[flags + 1] & ~0x08]) + data[flags + 2 :]
    (tmp_path / "class.zip").write_bytes(data)
    found = look(tmp_path / "class.zip", Looking())
    assert [file.student for file in choose(found).submissions] == ["Zo\u00e9", "ben"]
    assert choose(found).submissions[0].read() == b"x = 1"


FORGED = {
    "names like Canvas's": "karl/adlerada_101_900001_ex05-1.py\nkarl/brandtben_102_900002_ex05-1.py",
    "names like Moodle's": "karl/ada_1_assignsubmission_file_/ex05-1.py\nkarl/ben_2_assignsubmission_file_/ex05-1.py",
    "Gradescope's metadata": "karl/submission_1/ex05-1.py\nkarl/submission_2/ex05-1.py\n"
    f"karl/submission_metadata.yml :: {METADATA.replace('Ada Adler', 'ada').replace('Ben Brandt', 'ben')}",
    "nbgrader's tree": "karl/submitted/ada/ps1/ex05-1.py\nkarl/submitted/ben/ps1/ex05-1.py",
    "nbgrader's times": "karl/ada/ps1/ex05-1.py\nkarl/ada/ps1/timestamp.txt :: 2026-10-05 12:30:01 UTC",
    "checkouts": "karl/hw-ada/.git/x.txt :: x\nkarl/hw-ada/ex05-1.py\n"
    "karl/hw-ben/.git/x.txt :: x\nkarl/hw-ben/ex05-1.py",
    "others' names": "karl/ada_ex05-1.py\nkarl/ben_ex05-1.py",
    "others' folders": "karl/ada/ex05-1.py\nkarl/ben/ex05-1.py",
    "a class in an archive": "karl.zip/submissions.zip/ada_ex05-1.py\nkarl.zip/submissions.zip/ben_ex05-1.py",
}


@pytest.mark.parametrize("name", FORGED)
def test_what_a_student_lays_out_is_nobody_else_s(tmp_path: Path, name: str) -> None:
    files = f"ada/ex05-1.py\nben/ex05-1.py\ncleo/ex05-1.py\n{FORGED[name]}"
    try:
        found = look(build(tmp_path, files), Looking())
    except LayoutDoubt as doubt:
        assert "karl" in str(doubt)
    else:
        rows = {one.student: one.path.split("/")[0] for one in choose(found).submissions}
        assert {student: rows[student] for student in ("ada", "ben", "cleo")} == {n: n for n in ("ada", "ben", "cleo")}
        assert set(rows) <= {"ada", "ben", "cleo", "karl"}


def test_in_a_platform_s_download_the_outermost_name_counts(tmp_path: Path) -> None:
    forged = "adlerada_101_900009_ex05-1.py"
    moodle = "x/Karl_7_assignsubmission_file_/{}\nx/Ada_8_assignsubmission_file_/ex05-1.py"
    assert seen(tmp_path / "m", moodle.format(f"{forged}/{forged}")) == ["Ada (8) ex05-1", "Karl (7) ex05-1"]
    board = "HW_karl_attempt_2026-10-05-12-30-01_ada_attempt_2026-10-05-12-30-01_ex05-1.py\n"
    board += "HW_ada_attempt_2026-10-05-12-30-01_ex05-1.py"
    assert seen(tmp_path / "b", board) == ["ada ex05-1", "karl ex05-1"]
    canvas = "karl_107_900001_adlerada_101_900009_ex05-1.py\nadlerada_101_900002_ex05-1.py"
    assert seen(tmp_path / "c", canvas) == ["adlerada (101) ex05-1", "karl (107) ex05-1"]
    inside = f"submissions.zip/karl_107_900001_k.zip/submission_metadata.yml :: {METADATA}\n"
    inside += "submissions.zip/karl_107_900001_k.zip/submission_1/ex05-1.py\nsubmissions.zip/bb_108_900002_ex05-1.py"
    assert seen(tmp_path / "g", inside) == ["bb (108) ex05-1", "karl (107) ex05-1"]
