"""Exported notebooks hold every check with its points, keep the salt from students, and grade rightly."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.instructor.exports import gradescope
from annotated_grader.instructor.exports.canvas import canvas_table
from annotated_grader.instructor.exports.moodle import moodle_table
from annotated_grader.instructor.exports.notebooks import as_text, nbgrader, otter
from annotated_grader.instructor.exports.roster_table import Grades, table_of
from annotated_grader.instructor.gradebook import Graded
from annotated_grader.instructor.roster import Roster
from annotated_grader.instructor.strangers_text import clean, harmless, plain
from annotated_grader.learner.notebook_check import require
from annotated_grader.sandbox import isolation

yaml = pytest.importorskip("yaml")
SALT = "not for students"


@pytest.fixture
def exercise() -> Exercise:
    return find("ex05-1")


def code_of(notebook: dict[str, Any], **metadata: bool) -> list[str]:
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    tagged = [(cell["metadata"].get("nbgrader", {}), cell["source"]) for cell in cells]
    return [source for data, source in tagged if all(data[key] == value for key, value in metadata.items())]


def test_nbgrader_has_every_point_and_hides_what_is_hidden(exercise: Exercise) -> None:
    notebook = nbgrader(exercise, SALT)
    graded = [cell["metadata"]["nbgrader"] for cell in notebook["cells"] if cell["metadata"]["nbgrader"]["grade"]]
    assert sum(cell["points"] for cell in graded) == exercise.points_public + exercise.points_hidden
    ids = [cell["metadata"]["nbgrader"]["grade_id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    released = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", as_text(notebook))
    assert SALT in as_text(notebook) and SALT not in released


def test_nbgrader_cells_pass_with_the_solution_and_fail_with_the_stub(exercise: Exercise) -> None:
    notebook = nbgrader(exercise, SALT)
    names: dict[str, Any] = {}
    for source in code_of(notebook, solution=True) + code_of(notebook, grade=True):
        exec(source, names)
    stub: dict[str, Any] = {}
    exec(exercise.stub_code, stub)
    for source in code_of(notebook, grade=True):
        with pytest.raises(AssertionError):
            exec(source, stub)


def test_otter_has_one_test_a_check_and_a_twin(exercise: Exercise) -> None:
    notebook = otter(exercise, SALT)
    raw = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "raw"]
    marks = [text.partition("\n")[0] for text in raw]
    assert marks == [
        "# ASSIGNMENT CONFIG", "# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION", "# BEGIN TESTS", "# END TESTS",
        "# END QUESTION",
    ]  # fmt: skip
    tests = [
        yaml.safe_load(m[1]) for text in code_of(notebook) if (m := re.search(r'TEST CONFIG\n(.*?)"""', text, re.S))
    ]
    assert sum(test["points"] for test in tests) == exercise.points_public + exercise.points_hidden
    assert [test["hidden"] for test in tests] == [False, True] * len(exercise.checks)
    assert len({test["name"] for test in tests}) == len(tests)
    for text in code_of(notebook):
        assert SALT not in text or "hidden: true" in text


def test_two_exports_are_the_same_bytes(exercise: Exercise) -> None:
    for make in (nbgrader, otter):
        assert as_text(make(exercise, SALT)) == as_text(make(exercise, SALT))
        json.loads(as_text(make(exercise, SALT)))


def test_a_check_inside_a_notebook_says_why(exercise: Exercise) -> None:
    names: dict[str, Any] = {}
    exec(exercise.solution_code.replace("/ math.sqrt(q.size(-1))", ""), names)
    require("ex05-1", "rows_sum_to_one", names)
    with pytest.raises(AssertionError, match="root of d_k"):
        require("ex05-1", "scale", names)
    with pytest.raises(ValueError, match="it has rows_sum_to_one"):
        require("ex05-1", "nothing", names)


def rows_in(text: str) -> list[list[str]]:
    """Of a CSV file."""
    return list(csv.reader(io.StringIO(text)))


CANVAS_GRADES = """student,id,exercise,score,maximum
adlerada,101,ex05-1,15,15
brandtben,102,ex05-1,12,15
Cleo Clark,,ex05-1,9,15
adlerada,107,ex05-1,1,15
somebody,101x,ex05-1,2,15
"""
CANVAS_PEOPLE = (
    "\ufeffStudent;ID;SIS User ID;SIS Login ID\n    Points Possible;;;\nAdler, Ada;101;s1;aa\nBrandt, Ben;102;101;bb\n"
    "Clark, Cleo;103;s3;cc\nAdler, Ada;107;s7;aa7\n"
)


def test_canvas_grades_go_by_number_and_by_name_in_either_order() -> None:
    table = canvas_table(CANVAS_GRADES, CANVAS_PEOPLE)
    scores = {row.split(";")[1]: row.split(";")[4] for row in table.text.splitlines()[1:]}
    assert scores == {"": "15", "101": "15", "102": "12", "103": "9", "107": "1"}
    assert table.unknown == ("somebody",) and not table.ambiguous


def test_a_number_that_belongs_to_another_name_gives_nobody_a_grade() -> None:
    grades = "student,id,exercise,score,maximum\nadlerada,102,ex05-1,15,15\n"
    table = canvas_table(grades, CANVAS_PEOPLE.replace("Adler, Ada;107;s7;aa7\n", ""))
    assert [row.split(";")[4] for row in table.text.splitlines()[2:]] == ["", "", ""]
    assert [reason.partition(" (")[0] for reason in table.ambiguous] == ["Adler, Ada", "Brandt, Ben"]


WORKSHEET = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Feedback comments
Participant 4001,Ada Adler,ada@u.edu,Submitted,,100.00,Yes,
Participant 4002,Ben Brandt,ben@u.edu,Submitted,40.00,100.00,Yes,
Participant 4003,Ada Adler,ada3@u.edu,Submitted,,100.00,Yes,
Participant 4004,Gil Graf,gil@u.edu,Submitted,7.00,100.00,No,
Participant 4005,Zo\u00e9 Dupont,zoe@u.edu,No submission,,100.00,Yes,
"""
MOODLE_GRADES = """student,id,exercise,score,maximum
Ada Adler (4001),4001,ex05-1,15,15
Ada Adler (4003),4003,ex05-1,3,15
Zoe\u0301 Dupont,,ex05-1,12,15
Gil Graf,4004,ex05-1,12,15
"""


def test_moodle_gets_its_worksheet_back_with_grades_out_of_its_maximum() -> None:
    table = moodle_table(MOODLE_GRADES, WORKSHEET)
    assert [row[4] for row in rows_in(table.text)] == ["Grade", "100.00", "40.00", "20.00", "7.00", "80.00"]
    assert [row[:4] + row[5:] for row in rows_in(table.text)] == [row[:4] + row[5:] for row in rows_in(WORKSHEET)]
    assert table.ambiguous == ("Gil Graf (line 5): Moodle says that the grade cannot be changed",)
    assert moodle_table(MOODLE_GRADES, WORKSHEET.replace("100.00", '"10,00"')).text.count('"2,00"') == 1


def test_moodle_s_worksheet_is_of_one_assignment() -> None:
    more = f"{MOODLE_GRADES}Ada Adler (4001),4001,ex07-1,0,5\n"
    with pytest.raises(ValueError, match="say --exercises with those of it, of ex05-1, ex07-1"):
        moodle_table(more, WORKSHEET)
    both = moodle_table(more, WORKSHEET, ["ex05-1", "ex07-1"]).text
    assert [row[4] for row in rows_in(both)][1:4] == ["75.00", "40.00", "15.00"]
    with pytest.raises(ValueError, match="has no column Grade .*in English"):
        moodle_table(MOODLE_GRADES, WORKSHEET.replace(",Grade,", ",Bewertung,"))
    with pytest.raises(ValueError, match="has no exercise ex09-9"):
        moodle_table(MOODLE_GRADES, WORKSHEET, ["ex09-9"])


def test_any_table_of_people_takes_the_scores() -> None:
    people = "Last Name,First Name,Username\nAdler,Ada,aa\nBrandt,Ben,bb\nGraf,Gil,gil\n"
    grades = Grades.read(GRADEBOOK.replace("ada,", "Ada Adler,"), "g", ["ex05-1"])
    table = table_of(Roster.read(people), grades, {"ex05-1": "ex05-1"})
    assert [row[3] for row in rows_in(table.text)] == ["ex05-1", "15", "", ""]
    assert table.unknown == ("ben", "mallory")


FORMULAS = {
    "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(1)": "'@SUM(1)", "\t=1": " '=1", "\r=1": " '=1", "\n=1": " '=1",
    "\uff1d1": "'\uff1d1", "\uff0b1": "'\uff0b1", "\uff0d1": "'\uff0d1", "\uff201": "'\uff201", "a;=1": "a;'=1",
    "a, -1": "a, '-1", 'a";@b': "a\";'@b", "'=1": "''=1", "a|+1": "a|'+1", "a;;\t=1": "a;; '=1",
}  # fmt: skip


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_cell_of_the_gradebook_begins_a_formula(cell: str) -> None:
    assert harmless(cell) == FORMULAS[cell]
    assert plain(FORMULAS[cell]) == clean(cell)


def test_a_cell_that_begins_none_is_left_as_it_is() -> None:
    for cell in ("Jean-Luc Picard", "x = 1", "a+b@c.edu", "values:hidden scale", "O'Neil; Pat", "10 - 3", -1, 2.5, ""):
        assert harmless(cell) == cell


GRADEBOOK = """student,exercise,score,maximum,note
ada,ex05-1,15,15,
ben,ex05-1,12,15,
ben,ex07-1,3,9,
mallory,ex05-1,9,15,
gil,ex05-1,,15,grader
"""
ROSTER = (
    "\ufeffStudent,ID,SIS Login ID,Section,Essay (7)\n    Points Possible,,,,20\n"
    '"Adler, Ada",101,ada,A,18\n"Brandt, Ben",102,ben,A,\n"Graf, Gil",103,gil,A,5\n'
)


def test_canvas_gets_its_own_columns_back_with_the_scores() -> None:
    table = canvas_table(GRADEBOOK, ROSTER)
    assert table.text == (
        "Student,ID,SIS Login ID,Section,Essay (7),ex05-1,ex07-1\n    Points Possible,,,,20,15,9\n"
        '"Adler, Ada",101,ada,A,18,15,\n"Brandt, Ben",102,ben,A,,12,3\n"Graf, Gil",103,gil,A,5,,\n'
    )
    assert table.unknown == ("mallory",) and table.without == ("Graf, Gil",)
    with pytest.raises(ValueError, match="no column `Student`"):
        canvas_table(GRADEBOOK, "Name\nada\n")
    with pytest.raises(ValueError, match=re.escape("no gradebook.csv")):
        canvas_table("a,b\n1,2\n", ROSTER)


def test_canvas_columns_of_an_earlier_import_are_filled_again() -> None:
    roster = "Student,SIS Login ID,ex05-1 (4711)\n    Points Possible,,15\nAda,ada,3\nIvo,ivo,7\n"
    text = canvas_table(GRADEBOOK, roster, ["ex05-1"]).text
    assert text == "Student,SIS Login ID,ex05-1 (4711)\n    Points Possible,,15\nAda,ada,15\nIvo,ivo,7\n"


def test_a_grade_that_may_be_anothers_goes_to_nobody() -> None:
    roster = (
        "Student,ID,SIS User ID,SIS Login ID,ex05-1\nBen A,1,,ben,\nBen B,2,ben,bb,7\nAda,3,mallory,ada,\n"
        "Gil,4,,gil,\nGil,4,,gil,\n"
    )
    table = canvas_table(GRADEBOOK.replace("gil,ex05-1,,", "gil,ex05-1,2,"), roster, ["ex05-1"])
    assert [row.split(",")[-1] for row in table.text.splitlines()] == ["ex05-1", "15", "", "7", "", "2", "2"]
    both = "several rows of the roster name the student ben of the gradebook: "
    both += "line 2 by SIS Login ID, line 3 by SIS User ID"
    assert table.ambiguous == (
        f"Ben A (line 2): {both}", f"Ben B (line 3): {both}",
        "Ada (line 4): its columns name several students of the gradebook: ada, mallory",
    )  # fmt: skip
    assert table.unknown == ()


def test_a_line_with_a_field_too_many_is_named() -> None:
    with pytest.raises(ValueError, match=r"r\.csv, line 3: it has 1 field more than the 2 columns"):
        canvas_table(GRADEBOOK, "Student,ID\nAda,1\nBrandt, Ben,2\n", roster_file="r.csv")
    with pytest.raises(ValueError, match=r"g\.csv, line 7: it has 2 fields more than the 5 columns"):
        canvas_table(GRADEBOOK + "ada,ex05-1,15,15,,,\n", ROSTER, gradebook_file="g.csv")
    short = canvas_table(GRADEBOOK, "Student,SIS Login ID\nAda,ada\nMia\n", ["ex05-1"])
    assert short.text.endswith("Ada,ada,15\nMia,,\n")


def graded(score: int | None) -> Graded:
    checks = (
        {"name": "scale", "title": "Scaled.", "hidden": False, "points": 3, "earned": 3, "message": "", "line": ""},
        {
            "name": "scale:hidden",
            "title": "Scaled.",
            "hidden": True,
            "points": 2,
            "earned": 0,
            "message": "off",
            "line": "line 3",
        },
    )
    return Graded("ada", "ex05-1", "f", "ok", score, 5, "", checks, "by_d_k", "You divided by d_k.", seconds=1.6)


def test_gradescope_sees_points_reasons_and_what_is_hidden() -> None:
    form = gradescope.results(graded(3))
    assert [(t["score"], t["max_score"], t["visibility"], t["output"]) for t in form["tests"]] == [
        (3, 3, "visible", "passed"),
        (0, 2, "after_published", "off line 3"),
    ]
    assert form["output"] == "Public points: 3 of 3.\n\nYou divided by d_k." and form["execution_time"] == 2
    with pytest.raises(ValueError, match="the grader failed, so there is no score"):
        gradescope.results(graded(None))


def test_the_autograder_zip_is_complete_and_reproducible(exercise: Exercise, tmp_path: Path) -> None:
    wheels = [tmp_path / f"annotated_{name}-0-py3-none-any.whl" for name in ("attention", "grader")]
    for wheel in wheels:
        wheel.write_bytes(b"wheel")
    packed = gradescope.autograder_zip(exercise, SALT, wheels)
    assert packed == gradescope.autograder_zip(exercise, SALT, wheels)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert set(archive.namelist()) == {"setup.sh", "run_autograder", "salt.txt", *(w.name for w in wheels)}
        assert "ex05-1 /autograder/source/salt.txt" in archive.read("run_autograder").decode()
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o755
        assert b"--trust" not in archive.read("run_autograder")


def test_without_isolation_gradescope_gets_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = isolation.Availability("landlock", False, "not here")
    monkeypatch.setattr(isolation, "available", lambda level: nowhere)
    (tmp_path / "salt.txt").write_text(SALT, encoding="utf-8")
    arguments = [str(tmp_path), str(tmp_path / "results.json"), "ex05-1", str(tmp_path / "salt.txt")]
    with pytest.raises(isolation.NotIsolated):
        gradescope.main(arguments)
    assert not (tmp_path / "results.json").exists()
