"""Classes as learning platforms and people deliver them: a table from the files of a folder to the rows of a gradebook.

`build` makes the folder of one. A line of `files` is a path; what ends in `.zip` within it becomes an archive. After
two colons stands what is in the file: `stub` (untouched), `says ex05-1` (the exercise inside alone), or its text; by
default something is written. A line of `rows` is `student (id) exercise`, then what is to be seen of it: `late`,
`rename` (the note to do so), `refused`, `<- file` (the one that counts, where there were others).
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from annotated_grader.exercise.catalogue import find
from annotated_grader.instructor.submissions import ClassFiles, Collected


@dataclass(frozen=True)
class Class:
    """One class.

    Attributes
    ----------
    files, rows
        See the module's description.
    layout
        What the first line says before the colon.
    options
        Of `Looking`.
    top
        The file or folder that is graded, within the folder.
    """

    files: str
    rows: str
    layout: str = "names of files and folders"
    top: str = ""
    exercise: str = ""
    how: str = "auto"
    before: str = ""
    roster: str = ""


def build(folder: Path, files: str) -> Path:
    """Make the folder of a class."""
    lines = [line.strip() for line in files.strip().splitlines()]
    tree = {path: _content(path, text) for line in lines for path, _, text in [line.partition(" :: ")]}
    _write(folder, tree)
    return folder


def _write(folder: Path, tree: dict[str, bytes]) -> None:
    for path, data in _packed(tree).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def _packed(tree: dict[str, bytes]) -> dict[str, bytes]:
    """The same files, those of archives in archives."""
    plain: dict[str, bytes] = {}
    archives: dict[str, dict[str, bytes]] = {}
    for path, data in tree.items():
        outer, mark, inner = path.partition(".zip/")
        if mark:
            archives.setdefault(f"{outer}.zip", {})[inner] = data
        else:
            plain[path] = data
    return plain | {name: zipped(_packed(members)) for name, members in archives.items()}


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip of these."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return packed.getvalue()


def _content(path: str, text: str) -> bytes:
    if path.endswith((".yml", ".txt", ".csv")):
        return text.replace("\\n", "\n").encode()
    code = "def attention(q, k, v, mask=None):\n    return q, k\n"
    if text == "stub":
        code = find("ex05-1").stub_code
    elif text.startswith("says "):
        code = f'EXERCISE = "{text[5:]}"\n{code}'
    elif text:
        code = text.replace("\\n", "\n")
    if not path.endswith(".ipynb"):
        return code.encode()
    cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": [], "execution_count": None}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def rows_of(found: ClassFiles, collected: Collected) -> list[str]:
    """The rows in the form of the table."""
    several = {(one.student, one.exercise) for one in collected.submissions if "also handed in" in one.note}
    rows = []
    for one in collected.submissions:
        id = f" ({one.id})" if one.id not in one.student else ""
        seen = [mark for mark, holds in (("late", one.late), ("rename", "rename it" in one.note)) if holds]
        seen += ["refused"] if one.refused else []
        seen += [f"<- {(one.own or one.parts)[-1]}"] if (one.student, one.exercise) in several else []
        rows.append(" ".join([f"{one.student}{id} {one.exercise}", *seen]))
    return sorted(rows)


METADATA = r"""---\nsubmission_1:\n  :submitters:\n  - :name: Ada Adler\n    :sid: '1001'\n    :email: ada@uni.edu\n  \
:created_at: 2026-10-05 12:00:00.861687000 Z\n  :score: 0.0\n  :results: !ruby/object:Foo\n    output: |-\n      x: y\n\
submission_2:\n  :submitters:\n  - :name: Ben Brandt\n    :sid: 1002\n    :email: ben@uni.edu\n  :created_at: \
2026-10-06 03:00:00.0 Z\n""".replace("\\\n", "")
GROUP = r"submission_1:\n  :submitters:\n  - :name: Ada\n    :email: a@u\n  - :name: Ben\n    :email: b@u\n"
RECEIPT = r"Name: {} ({})\nAssignment: HW1\nDate Submitted: Monday, October 5, 2026 12:30:01 PM EDT\n"

PLATFORMS: dict[str, Class] = {
    "canvas: the zip as it comes": Class(
        """submissions.zip/adlerada_101_900001_ex05-1.ipynb
        submissions.zip/brandtben_LATE_102_900002_ex05-1.ipynb
        submissions.zip/clarkcleo_103_900003_ex05-1-2.ipynb""",
        """adlerada (101) ex05-1
        brandtben (102) ex05-1 late
        clarkcleo (103) ex05-1""",
        "Canvas",
        top="submissions.zip",
    ),
    "canvas: the zip in a folder": Class(
        "downloads/submissions (1).zip/adlerada_101_900001_ex05-1.py\ndownloads/submissions (1).zip/"
        "brandtben_102_900002_ex05-1.py",
        "adlerada (101) ex05-1\nbrandtben (102) ex05-1",
        "Canvas",
    ),
    "canvas: unpacked, one person in two exercises": Class(
        """adlerada_101_900001_ex05-1.ipynb
        adlerada_101_900555_ex07-1.ipynb
        brandtben_LATE_102_900002_ex05-1.ipynb""",
        """adlerada (101) ex05-1
        adlerada (101) ex07-1
        brandtben (102) ex05-1 late""",
        "Canvas",
    ),
    "canvas: a folder for each assignment": Class(
        """attention/adlerada_101_900001_work.ipynb :: says ex05-1
        attention/brandtben_102_900002_work.ipynb :: says ex05-1
        masks/adlerada_LATE_101_900003_masks.ipynb :: says ex07-1""",
        """adlerada (101) ex05-1
        adlerada (101) ex07-1 late
        brandtben (102) ex05-1""",
        "Canvas",
    ),
    "canvas: the assignment's folder alone says the exercise": Class(
        "ex05-1/adlerada_101_900001_work.py\nex05-1/brandtben_102_900002_homework.py",
        "adlerada (101) ex05-1\nbrandtben (102) ex05-1",
        "Canvas",
    ),
    "canvas: students' zips in the zip": Class(
        """submissions.zip/adlerada_101_900001_ex05-1.zip/work.ipynb
        submissions.zip/adlerada_101_900001_ex05-1.zip/data.csv
        submissions.zip/brandtben_102_900002_ben.zip/hw/ex05-1.ipynb
        submissions.zip/clarkcleo_103_900003_cleo.zip/old.zip/ex05-1.ipynb""",
        "adlerada (101) ex05-1\nbrandtben (102) ex05-1\nclarkcleo (103) ex05-1",
        "Canvas",
    ),
    "canvas: two people of one name": Class(
        "adlerada_101_900001_ex05-1.py\nadlerada_107_900002_ex05-1.py\nadlerada_107_900003_ex07-1.py",
        "adlerada (101) ex05-1\nadlerada (107) ex05-1\nadlerada (107) ex07-1",
        "Canvas",
    ),
    "canvas: Unicode, underscores and figures in names": Class(
        """müllerzoë_101_900001_ex05-1.py
        a_li_102_900002_2_ex05-1.py
        o0_103_900003_ex05-1.py""",
        "a_li (102) ex05-1\nmüllerzoë (101) ex05-1\no0 (103) ex05-1",
        "Canvas",
    ),
    "canvas: anonymous grading": Class(
        "anon_8kq2z_900001_ex05-1.py\nLATE_anon_Wx1y9_900002_ex05-1.py",
        "anon 8kq2z ex05-1\nanon Wx1y9 ex05-1 late",
        "Canvas",
    ),
    "canvas: text entries and pictures have no row": Class(
        """adlerada_101_text.html
        brandtben_102_900002_ex05-1.py
        brandtben_102_900003_plot.png
        clarkcleo_103_900004_essay.docx""",
        "brandtben (102) ex05-1",
        "Canvas",
    ),
    "canvas: a word processor's file is a row with its reason": Class(
        "adlerada_101_900001_ex05-1.docx\nbrandtben_102_900002_ex05-1.py",
        "adlerada (101) ex05-1 refused\nbrandtben (102) ex05-1",
        "Canvas",
    ),
    "canvas: several files in one submission": Class(
        """adlerada_101_900001_ex05-1.ipynb :: stub
        adlerada_101_900002_attention_final.ipynb :: says ex05-1
        brandtben_102_900003_ex05-1-1.ipynb
        brandtben_102_900004_ex05-1_scratch.ipynb""",
        "adlerada (101) ex05-1 <- attention_final.ipynb\nbrandtben (102) ex05-1 <- ex05-1-1.ipynb",
        "Canvas",
    ),
    "canvas: names and ids by its roster": Class(
        """adlerada_101_900001_ex05-1.py
        clarkcleo_103_900002_ex05-1.py
        adler_ex07-1.py
        Ben Brandt_ex05-1.py""",
        "Ada Adler (101) ex05-1\nAda Adler (adler) ex07-1\nBen Brandt ex05-1\nclarkcleo (103) ex05-1",
        "Canvas and names of files and folders",
        roster='Student,ID,SIS User ID,SIS Login ID,Section\n"Adler, Ada",101,s1,adler,A\n"Brandt, Ben",102,s2,bb,A\n',
    ),
    "gradescope: the export": Class(
        f"""assignment_777_export/submission_1/ex05-1.ipynb
        assignment_777_export/submission_2/ex05-1.ipynb
        assignment_777_export/submission_metadata.yml :: {METADATA}""",
        "Ada Adler (1001) ex05-1\nBen Brandt (1002) ex05-1",
        "Gradescope",
    ),
    "gradescope: the export's zip, and a time": Class(
        f"""assignment_777_export.zip/assignment_777_export/submission_1/src/ex05-1.py
        assignment_777_export.zip/assignment_777_export/submission_2/ex05-1.py
        assignment_777_export.zip/assignment_777_export/submission_metadata.yml :: {METADATA}""",
        "Ada Adler (1001) ex05-1\nBen Brandt (1002) ex05-1 late",
        "Gradescope",
        before="2026-10-05 23:59+00:00",
        top="assignment_777_export.zip",
    ),
    "gradescope: a group": Class(
        f"submission_1/ex05-1.py\nsubmission_metadata.yml :: {GROUP}",
        "Ada (a@u) ex05-1\nBen (b@u) ex05-1",
        "Gradescope",
    ),
    "gradescope: two exports, one person": Class(
        f"""e1/submission_1/ex05-1.py
        e1/submission_metadata.yml :: {METADATA}
        e2/submission_1/ex07-1.py
        e2/submission_2/ex07-1.py
        e2/submission_metadata.yml :: {METADATA}""",
        "Ada Adler (1001) ex05-1\nAda Adler (1001) ex07-1\nBen Brandt (1002) ex07-1",
        "Gradescope",
    ),
    "gradescope: metadata that are none": Class(
        "submission_1/ex05-1.py\nsubmission_2/ex05-1.py\nsubmission_metadata.yml :: a: [",
        "submission_1 ex05-1\nsubmission_2 ex05-1",
    ),
    "moodle: folders": Class(
        """Ada Adler_4001_assignsubmission_file_/ex05-1.ipynb
        Ben Brandt_4002_assignsubmission_file_/hw/ex05-1.ipynb
        Ben Brandt_4002_assignsubmission_onlinetext_/onlinetext.html""",
        "Ada Adler (4001) ex05-1\nBen Brandt (4002) ex05-1",
        "Moodle",
    ),
    "moodle: flat": Class(
        """Ada Adler_4001_assignsubmission_file_ex05-1.ipynb
        Ben Brandt_4002_assignsubmission_file_ex05-1 (1).ipynb""",
        "Ada Adler (4001) ex05-1\nBen Brandt (4002) ex05-1",
        "Moodle",
    ),
    "moodle: the zip, without the last underscore": Class(
        """ML-Attention-77.zip/Ada Adler_4001_assignsubmission_file/work.ipynb :: says ex05-1
        ML-Attention-77.zip/Ben Brandt_4002_assignsubmission_file/x.zip/work.ipynb :: says ex05-1""",
        "Ada Adler (4001) ex05-1\nBen Brandt (4002) ex05-1",
        "Moodle",
        top="ML-Attention-77.zip",
    ),
    "moodle: another number in another assignment": Class(
        """a5.zip/Ada Adler_4001_assignsubmission_file_/ex05-1.py
        a7.zip/Ada Adler_5077_assignsubmission_file_/ex07-1.py""",
        "Ada Adler (4001) ex05-1\nAda Adler (5077) ex07-1",
        "Moodle",
    ),
    "moodle: two people of one name": Class(
        """a5/Ada Adler_4001_assignsubmission_file_/ex05-1.py
        a5/Ada Adler_4002_assignsubmission_file_/ex05-1.py""",
        "Ada Adler (4001) ex05-1\nAda Adler (4002) ex05-1",
        "Moodle",
    ),
    "moodle: last name first, and a name in two forms of Unicode": Class(
        """a/Adler, Ada_4001_assignsubmission_file_/ex05-1.py
        b/Ada Adler_4011_assignsubmission_file_/ex07-1.py
        a/Zoe\u0301 Dupont_4002_assignsubmission_file_/ex05-1.py
        b/Zo\u00e9 Dupont_4012_assignsubmission_file_/ex07-1.py""",
        """Ada Adler (4001) ex05-1
        Ada Adler (4011) ex07-1
        Zo\u00e9 Dupont (4002) ex05-1
        Zo\u00e9 Dupont (4012) ex07-1""",
        "Moodle",
    ),
    "moodle: blind marking": Class(
        "Participant_4001_assignsubmission_file_/ex05-1.py\nParticipant_4002_assignsubmission_file_/ex05-1.py",
        "Participant 4001 ex05-1\nParticipant 4002 ex05-1",
        "Moodle",
    ),
    "moodle: teams": Class(
        "Team Blue_12_assignsubmission_file_/ex05-1.py\nDefault group_assignsubmission_file_/ex05-1.py",
        "Default group ex05-1\nTeam Blue (12) ex05-1",
        "Moodle",
    ),
    "blackboard: with receipts": Class(
        f"""HW1_aadler_attempt_2026-10-05-12-30-01.txt :: {RECEIPT.format("Ada Adler", "aadler")}
        HW1_aadler_attempt_2026-10-05-12-30-01_ex05-1.ipynb
        HW1_b_brandt_attempt_2026-10-06-08-00-00.txt :: {RECEIPT.format("Ben Brandt", "b_brandt")}
        HW1_b_brandt_attempt_2026-10-06-08-00-00_ex05-1.ipynb""",
        "Ada Adler (aadler) ex05-1\nBen Brandt (b_brandt) ex05-1 late",
        "Blackboard",
        before="2026-10-05 23:59",
    ),
    "blackboard: without receipts, logins with underscores": Class(
        """gradebook_ML_HW_1.zip/HW_1_a_li_attempt_2026-10-05-12-30-01_ex05-1.py
        gradebook_ML_HW_1.zip/HW_1_b_li_attempt_2026-10-05-12-30-01_ex05-1.py""",
        "a_li ex05-1\nb_li ex05-1",
        "Blackboard",
    ),
    "blackboard: two attempts, the newer one an untouched notebook": Class(
        f"""HW1_aadler_attempt_2026-10-05-12-30-01_ex05-1.ipynb
        HW1_aadler_attempt_2026-10-06-12-30-01_ex05-1.ipynb :: stub
        HW1_bb_attempt_2026-10-05-12-30-01_ex05-1_b.ipynb
        HW1_bb_attempt_2026-10-06-12-30-01_ex05-1_a.ipynb
        HW1_bb_attempt_2026-10-06-12-30-01.txt :: {RECEIPT.format("Ben", "bb")}""",
        "aadler ex05-1 <- ex05-1.ipynb\nBen (bb) ex05-1 <- ex05-1_a.ipynb",
        "Blackboard",
    ),
    "brightspace: a folder for each time": Class(
        """index.html
        397063-2557369 - Ada Adler - Oct 5, 2026 926 PM/ex05-1.py
        397064-2557370 - Mary-Ann Smith - Oct 6, 2026 1126 AM/ex05-1.py
        397065-2557371 - Ada Adler - Oct 6, 2026 1201 AM/ex05-1_new.py""",
        "Ada Adler ex05-1 <- ex05-1.py\nMary-Ann Smith ex05-1 late",
        "Brightspace",
        before="2026-10-05 23:59",
    ),
    "sakai": Class(
        """Attention/grades.csv :: Display ID,ID,Last Name,First Name,grade
        Attention/Adler, Ada(aadler)/Submission attachment(s)/ex05-1.ipynb
        Attention/Adler, Ada(aadler)/timestamp.txt :: 20261005123001123
        Attention/Brandt, Ben(bb)/Submission attachment(s)/ex05-1.ipynb""",
        "Ada Adler (aadler) ex05-1\nBen Brandt (bb) ex05-1",
        "Sakai",
    ),
    "nbgrader: submitted, with times": Class(
        """submitted/aadler/ps1/ex05-1.ipynb
        submitted/aadler/ps1/timestamp.txt :: 2026-10-05 12:30:01.123456 UTC
        submitted/bb/ps1/ex05-1.ipynb
        submitted/bb/ps1/timestamp.txt :: 2026-10-06 12:30:01.123456 UTC
        submitted/bb/ps2/ex07-1.ipynb
        source/ps1/ex05-1.ipynb
        release/ps1/ex05-1.ipynb
        autograded/aadler/ps1/ex05-1.ipynb""",
        "aadler ex05-1\nbb ex05-1 late\nbb ex07-1",
        "nbgrader",
        before="2026-10-05 23:59Z",
    ),
    "nbgrader: the folder submitted itself": Class(
        "submitted/aadler/ps1/ex05-1.ipynb\nsubmitted/bb/ps1/ex05-1.ipynb",
        "aadler ex05-1\nbb ex05-1",
        "nbgrader",
        top="submitted",
    ),
    "nbgrader: the exchange": Class(
        "inbound/aadler+ps1+2026-10-05 12:30:01.123456 UTC+a1b2/ex05-1.ipynb\n"
        "inbound/bb+ps1+2026-10-06 12:30:01 UTC+c3d4/ex05-1.ipynb",
        "aadler ex05-1\nbb ex05-1 late",
        "nbgrader",
        before="2026-10-05T23:59+00:00",
    ),
    "github classroom: checkouts": Class(
        """hw5-submissions/hw5-ada-adler/ex05-1.ipynb
        hw5-submissions/hw5-bb/src/ex05-1.ipynb
        hw5-submissions/hw5-bb/README.md""",
        "ada-adler ex05-1\nbb ex05-1",
        "GitHub Classroom",
    ),
    "github classroom: within its folder": Class(
        """ex05-1-ada/.git/HEAD.txt :: x
        ex05-1-ada/work.py :: says ex05-1
        ex05-1-bb/.git/HEAD.txt :: x
        ex05-1-bb/work.py :: says ex05-1""",
        "ada ex05-1\nbb ex05-1",
        "GitHub Classroom",
    ),
    "google classroom: files with names": Class(
        """Classroom/ML/Attention/Ada Adler - ex05-1.ipynb
        Classroom/ML/Attention/Ben Brandt - ex05-1.ipynb""",
        "Ada Adler ex05-1\nBen Brandt ex05-1",
    ),
    "google classroom: Drive's zips, files without names": Class(
        """Attention-20261005T123001Z-001.zip/Attention/ex05-1.ipynb
        Attention-20261005T123001Z-001.zip/Attention/ex05-1 (1).ipynb
        Attention-20261005T123001Z-001.zip/Attention/Copy of ex05-1.ipynb
        Attention-20261005T123001Z-002.zip/Attention/Ada Adler - ex05-1.ipynb""",
        """Ada Adler ex05-1
        Attention-20261005T123001Z-001.zip / Attention / Copy of ex05-1 ex05-1 rename
        Attention-20261005T123001Z-001.zip / Attention / ex05-1 ex05-1 rename
        Attention-20261005T123001Z-001.zip / Attention / ex05-1 (1) ex05-1 rename""",
    ),
    "plain: a class in a zip": Class(
        "class.zip/ada/ex05-1.ipynb\nclass.zip/ben/ex05-1.ipynb", "ada ex05-1\nben ex05-1", top="class.zip"
    ),
    "plain: a class in a zip, flat": Class(
        "class.zip/ada_ex05-1.ipynb\nclass.zip/ben_ex05-1.ipynb", "ada ex05-1\nben ex05-1", top="class.zip"
    ),
    "plain: a zip for each student": Class(
        "ada.zip/ada/ex05-1.ipynb\nada.zip/ada/ex07-1.ipynb\nben.zip/ex05-1.ipynb\nben.zip/data.csv",
        "ada ex05-1\nada ex07-1\nben ex05-1",
    ),
}
