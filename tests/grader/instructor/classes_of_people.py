"""Classes as people lay them out, in the form of `classes`: spellings, stubs beside answers, levels of folders."""

from __future__ import annotations

from tests.grader.instructor.classes import Class

CANVAS_ROSTER = 'Student,ID,SIS User ID,SIS Login ID\n"Adler, Ada",101,s1,aadler\n"Brandt, Ben",102,s2,bb\n'
GITHUB_ROSTER = "identifier,github_username,name\naadler@uni.edu,coder99,Ada Adler\nbb@uni.edu,,Ben Brandt\n"

SPELLINGS: dict[str, Class] = {
    "spellings near our own": Class(
        """ada ex5-1.ipynb
        dan_ex051.ipynb
        ivo_ex05\u20131.ipynb
        jan_ex5.1.ipynb
        eve_exercise05-1.ipynb
        kim_Exercise 5_1 (2).ipynb
        lea_EX05-1.IPYNB
        Exercise 5.1 - Mia Wolf.py
        noa_ex05-01.py""",
        """Mia Wolf ex05-1
        ada ex05-1
        dan ex05-1
        eve ex05-1
        ivo ex05-1
        jan ex05-1
        kim ex05-1
        lea ex05-1
        noa ex05-1""",
    ),
    "figures that are no exercise, or that can be two": Class(
        "ada_ex99.py :: says ex05-1\nben_ex5.py :: says ex05-1\ncleo_2026-10-05.py :: says ex05-1",
        "ada_ex99 ex05-1 rename\nben_ex5 ex05-1 rename\ncleo_2026-10-05 ex05-1",
    ),
    "names without an exercise": Class(
        """ada.ipynb :: says ex05-1
        ada_hw7.ipynb :: says ex07-1
        ben homework.ipynb :: says ex05-1
        4711.py :: says ex05-1""",
        "4711 ex05-1\nada ex05-1\nada_hw7 ex07-1 rename\nben homework ex05-1 rename",
    ),
    "no student at all": Class(
        "ex05-1.ipynb\nex05-1 (1).ipynb\nCopy of ex05-1.ipynb\nHomework ex05-1 final.py\nUntitled.ipynb :: says ex05-1",
        """Copy of ex05-1 ex05-1 rename
        Homework ex05-1 final ex05-1 rename
        Untitled ex05-1 rename
        ex05-1 ex05-1 rename
        ex05-1 (1) ex05-1 rename""",
    ),
    "Homework is no student": Class(
        """Homework ex05-1 karl.py
        Homework ex05-1 lena.py
        hw2_lena_ex07-1.py
        HW_ex05-1_mia_final.py
        mia_ex07-1.py
        karl_solution_ex05-1.py
        the_solution_ex05-1.py""",
        """karl ex05-1 <- karl_solution_ex05-1.py
        lena ex05-1
        lena ex07-1
        mia ex05-1
        mia ex07-1
        the_solution ex05-1""",
    ),
    "two forms of Unicode": Class(
        """Zoe\u0301 Dupont_ex05-1.ipynb :: stub
        Zo\u00e9 Dupont_ex05-1 (2).ipynb
        Jose\u0301/ex07-1.py
        Jos\u00e9_ex05-1.py""",
        """Jos\u00e9 ex05-1
        Jos\u00e9 ex07-1
        Zo\u00e9 Dupont ex05-1 <- Zo\u00e9 Dupont_ex05-1 (2).ipynb""",
    ),
    "last name first": Class(
        "Adler, Ada_ex05-1.py\nAda Adler_ex07-1.py\nKing, Jr._ex05-1.py\nDoe, John, PhD/ex05-1.py\n Bob  Roe_ex05-1.py",
        "Ada Adler ex05-1\nAda Adler ex07-1\nBob Roe ex05-1\nDoe, John, PhD ex05-1\nKing, Jr ex05-1",
    ),
    "names with dots, apostrophes, addresses": Class(
        "ada.adler/ex05-1.py\nada.brandt/ex05-1.py\nO'Neil, Pat_ex05-1.py\nbb@uni.edu_ex05-1.py\nJ. R. Doe/ex05-1.py",
        "J. R. Doe ex05-1\nPat O'Neil ex05-1\nada.adler ex05-1\nada.brandt ex05-1\nbb@uni.edu ex05-1",
    ),
    "numbered students": Class(
        "student_1_ex05-1.py\nstudent_2_ex05-1.py\nstudent10/ex05-1.py\nStudent 11.zip/ex05-1.py",
        "Student 11 ex05-1\nstudent10 ex05-1\nstudent_1 ex05-1\nstudent_2 ex05-1",
    ),
}

STUBS: dict[str, Class] = {
    "a second download": Class(
        "ada/ex05-1.ipynb\nada/ex05-1 (1).ipynb :: stub\nben/ex05-1.ipynb :: stub\nben/ex05-1 (1).ipynb",
        "ada ex05-1 <- ex05-1.ipynb\nben ex05-1 <- ex05-1 (1).ipynb",
    ),
    "the answer under another name": Class(
        "ada/ex05-1.ipynb :: stub\nada/ex05-1_solution.ipynb\nben/ex05-1.ipynb :: stub\nben/ex05-1.py",
        "ada ex05-1 <- ex05-1_solution.ipynb\nben ex05-1 <- ex05-1.py",
    ),
    "in the top folder": Class(
        "ada_ex05-1.ipynb :: stub\nada_ex05-1_final.ipynb\nben_ex05-1.ipynb\nben_ex05-1-2.ipynb :: stub",
        "ada ex05-1 <- ada_ex05-1_final.ipynb\nben ex05-1 <- ben_ex05-1.ipynb",
    ),
    "a file that says it inside alone, and one in a folder": Class(
        """ada/ex05-1.ipynb :: stub
        ada/work.py :: says ex05-1
        ben/ex05-1.ipynb :: stub
        ben/deep/down/old_ex05-1.ipynb""",
        "ada ex05-1 <- work.py\nben ex05-1 <- old_ex05-1.ipynb",
    ),
    "a notebook of words, and an empty file": Class(
        "ada/ex05-1.ipynb :: # my thoughts\nada/mine_ex05-1.py\nben/ex05-1.py :: \\n\nben/ex05-1_b.py",
        "ada ex05-1 <- mine_ex05-1.py\nben ex05-1 <- ex05-1_b.py",
    ),
    "half an answer is one": Class(
        "ada/ex05-1.py :: def attention(q, k, v, mask=None):\\n    return (\nada/ex05-1-Copy1.py :: stub",
        "ada ex05-1 <- ex05-1.py",
    ),
    "stubs alone": Class("ada/ex05-1.ipynb :: stub\nada/ex05-1 (1).ipynb :: stub", "ada ex05-1 <- ex05-1 (1).ipynb"),
}

LEVELS: dict[str, Class] = {
    "a class in a folder in a folder": Class(
        "term/hw5/ada/ex05-1.py\nterm/hw5/ben/ex05-1.py\nterm/hw5/ben/ex07-1.py",
        "ada ex05-1\nben ex05-1\nben ex07-1",
    ),
    "a folder for each exercise": Class(
        "ex05-1/ada.ipynb\nex05-1/ben.ipynb\nex07-1/ada/masks.ipynb\nex07-1/ben_ex07-1.py",
        "ada ex05-1\nada ex07-1\nben ex05-1\nben ex07-1",
    ),
    "a folder for each piece of homework": Class(
        "attention/ada/ex05-1.py\nattention/ben/ex05-1.py\nmasks/ada/ex07-1.py\nmasks/ben/ex07-1.py",
        "ada ex05-1\nada ex07-1\nben ex05-1\nben ex07-1",
    ),
    "weeks, with names in the files": Class(
        "week 5/ada_ex05-1.py\nweek 5/ben_ex05-1.py\nweek 7/ada_ex07-1.py",
        "ada ex05-1\nada ex07-1\nben ex05-1",
    ),
    "sections": Class(
        "Section A/ada/ex05-1.py\nSection A/ben/ex05-1.py\nSection B/cleo/ex05-1.py\nSection B/dan/ex05-1.py",
        "ada ex05-1\nben ex05-1\ncleo ex05-1\ndan ex05-1",
    ),
    "groups hand in together": Class("Group 1/ex05-1.py\nGroup 2/ex05-1.py", "Group 1 ex05-1\nGroup 2 ex05-1"),
    "tutors' folders, with names in the files": Class(
        "Miller/ada_ex05-1.py\nMiller/ben_ex05-1.py\nSmith/cleo_ex05-1.py\nSmith/dan_ex05-1.py",
        "ada ex05-1\nben ex05-1\ncleo ex05-1\ndan ex05-1",
    ),
    "tutors' folders, as somebody says": Class(
        "Miller/ada/ex05-1.py\nMiller/ben/ex05-1.py\nSmith/ada2/ex05-1.py\nSmith/dan/ex05-1.py\nkarl_ex05-1.py",
        "ada ex05-1\nada2 ex05-1\nben ex05-1\ndan ex05-1\nkarl ex05-1",
        how="*/STUDENT",
    ),
    "students' folders with folders, as somebody says": Class(
        "ada/part/ex05-1.py\nada/other/ex05-1.py :: stub\nben/mine/ex05-1.py\nben/yours/ex05-1.py :: stub",
        "ada ex05-1 <- ex05-1.py\nben ex05-1 <- ex05-1.py",
        how="STUDENT",
    ),
    "tries in folders": Class(
        """ada/attempt 1/ex05-1.py
        ada/attempt 2/ex05-1.py
        ben/old/ex05-1.py
        ben/new/ex05-1.py
        cleo/ex05-1.py""",
        "ada ex05-1 <- ex05-1.py\nben ex05-1 <- ex05-1.py\ncleo ex05-1",
    ),
    "one student of many has odd folders": Class(
        "ada/mine/ex05-1.py\nada/yours/ex05-1.py :: stub\nben/ex05-1.py\ncleo/ex05-1.py",
        "ada ex05-1 <- ex05-1.py\nben ex05-1\ncleo ex05-1",
    ),
    "a class's zip beside late ones by mail": Class(
        """submissions.zip/ada_ex05-1.py
        submissions.zip/ben_ex05-1.py
        karl/ex05-1.py
        lena_ex05-1.zip/work.py""",
        "ada ex05-1\nben ex05-1\nkarl ex05-1\nlena ex05-1",
    ),
    "a canvas class beside a late one by mail": Class(
        "adlerada_101_900001_ex05-1.py\nbrandtben_102_900002_ex05-1.py\nkarl_ex05-1.py\nsolution_ex05-1.py",
        "adlerada (101) ex05-1\nbrandtben (102) ex05-1\nkarl ex05-1\nsolution_ex05-1 ex05-1 rename",
        "Canvas and names of files and folders",
    ),
    "a name that looks like Canvas's by chance": Class(
        "ada_2026_1005_ex05-1.py\nben_ex05-1.py\ncleo_ex05-1.py",
        "ada_2026_1005 ex05-1\nben ex05-1\ncleo ex05-1",
    ),
    "one student, one exercise given, any names": Class(
        "ada.ipynb\nben (2).ipynb\nben.ipynb\ncleo/notes.ipynb\nGrades.xlsx",
        "ada ex05-1\nben ex05-1 <- ben (2).ipynb\ncleo ex05-1",
        exercise="ex05-1",
    ),
    "zips for each student, named by the exercise": Class(
        "ex05-1_ada.zip/work.py\nex05-1_ben.zip/ex05-1.py\nex05-1.zip/ex05-1.py\nex05-1 (2).zip/ex05-1.py",
        """ada ex05-1
        ben ex05-1
        ex05-1 (2).zip / ex05-1 ex05-1 rename
        ex05-1.zip / ex05-1 ex05-1 rename""",
    ),
    "the zip of a folder, and its own folder": Class(
        "hw5.zip/hw5/ada/ex05-1.py\nhw5.zip/hw5/ben/ex05-1.py\nhw5.zip/__MACOSX/hw5/._ex05-1.py\nhw5.zip/hw5/.DS_Store",
        "ada ex05-1\nben ex05-1",
    ),
    "Teams": Class(
        """Student Work/Submitted files/Ada Adler/Attention/Version 1/ex05-1.py
        Student Work/Submitted files/Ada Adler/Attention/Version 2/ex05-1.py
        Student Work/Submitted files/Ben Brandt/Attention/ex05-1.py""",
        "Ada Adler ex05-1 <- ex05-1.py\nBen Brandt ex05-1",
    ),
    "two of one name, by their folders' numbers": Class(
        "Ada Adler 4711/ex05-1.py\nAda Adler 4712/ex05-1.py", "Ada Adler 4711 ex05-1\nAda Adler 4712 ex05-1"
    ),
    "logins and names by a roster": Class(
        "coder99/ex05-1.py\nAdler, Ada_ex07-1.py\nbb/ex05-1.py\nmallory/ex05-1.py",
        "Ada Adler (coder99) ex05-1\nAda Adler ex07-1\nBen Brandt ex05-1\nmallory ex05-1",
        roster=GITHUB_ROSTER,
    ),
    "moodle's names and mail's by a roster": Class(
        "m/Adler Ada_4001_assignsubmission_file_/ex05-1.py\nm/BEN BRANDT_4002_assignsubmission_file_/ex05-1.py\n"
        "aadler_ex07-1.py",
        "Ada Adler (4001) ex05-1\nAda Adler (aadler) ex07-1\nBen Brandt (4002) ex05-1",
        "Moodle and names of files and folders",
        roster=CANVAS_ROSTER,
    ),
    "a student has nothing that can be read": Class(
        "ada/ex05-1.pdf\nben/ex05-1.py\ncleo/ex05-1.zip/essay.pdf",
        "ada ex05-1 refused\nben ex05-1\ncleo ex05-1 refused",
    ),
    "the sheet with the task lies beside": Class(
        "ex05-1.pdf\nREADME.md\nada_ex05-1.py\nben_ex05-1.py\nben_ex05-1_notes.txt",
        "ada ex05-1\nben ex05-1 <- ben_ex05-1.py",
    ),
    "a file alone": Class("karl_ex05-1.py", "karl ex05-1", top="karl_ex05-1.py"),
}

FOUND: dict[str, Class] = {
    "numbered tries in folders, as Submitty has them": Class(
        "aadler/1/ex05-1.py\naadler/2/ex05-1.py\nbb/1/ex05-1.py\nbb/10/ex05-1.py\nbb/9/ex05-1.py",
        "aadler ex05-1 <- ex05-1.py\nbb ex05-1 <- ex05-1.py",
    ),
    "the same folders in each student's": Class(
        "ada/part/ex05-1.py\nada/whole/ex05-1.py :: stub\nben/part/ex05-1.py :: stub\nben/whole/ex05-1.py",
        "ada ex05-1 <- ex05-1.py\nben ex05-1 <- ex05-1.py",
    ),
    "Autolab": Class(
        "ada@uni.edu_3_ex05-1.py\nben@uni.edu_1_work.py :: says ex05-1\nada@uni.edu_1_ex07-1.py",
        "ada@uni.edu ex05-1\nada@uni.edu ex07-1\nben@uni.edu ex05-1",
        "Autolab",
    ),
    "the date of a mail before the name": Class(
        "2026-10-05 ada adler ex05-1.py\n2026-10-12_ada adler_ex07-1.py\n20190512_ex05-1.py",
        "20190512 ex05-1\nada adler ex05-1\nada adler ex07-1",
    ),
    "copies of Windows, macOS and Jupyter": Class(
        """ada_ex05-1 - Copy.py :: stub
        ada_ex05-1.py
        ben/ex05-1 - Copy (2).py :: stub
        ben/ex05-1 copy.py
        cleo/ex05-1-checkpoint.ipynb
        cleo/ex05-1.ipynb
        dan/Kopie von ex05-1.ipynb""",
        "ada ex05-1 <- ada_ex05-1.py\nben ex05-1 <- ex05-1 copy.py\ncleo ex05-1 <- ex05-1.ipynb\ndan ex05-1",
    ),
    "two downloads of one assignment, early and late": Class(
        """submissions.zip/adlerada_101_900001_ex05-1.py
        submissions.zip/brandtben_102_900002_ex05-1.py
        submissions (1).zip/adlerada_LATE_101_900777_ex05-1-1.py
        submissions (1).zip/brandtben_102_900002_ex05-1.py""",
        "adlerada (101) ex05-1 <- ex05-1.py\nbrandtben (102) ex05-1 <- ex05-1.py",
        "Canvas",
    ),
    "two downloads of Canvas, and both in time": Class(
        "a.zip/adlerada_101_900001_ex05-1.py\na.zip/bb_102_900002_ex05-1.py\nb.zip/adlerada_101_900777_ex05-1-1.py",
        "adlerada (101) ex05-1 <- ex05-1-1.py\nbb (102) ex05-1",
        "Canvas",
    ),
    "sections of a Canvas course": Class(
        "Miller/submissions.zip/adlerada_101_900001_ex05-1.py\nSmith/submissions.zip/brandtben_102_900002_ex05-1.py",
        "adlerada (101) ex05-1\nbrandtben (102) ex05-1",
        "Canvas",
    ),
    "Blackboard, spaces in the assignment, a zip from the student": Class(
        """HW 1 - Attention_aadler_attempt_2026-10-05-12-30-01_work.zip/src/ex05-1.py
        HW 1 - Attention_bb_attempt_2026-10-05-12-30-01_ex05-1 (1).ipynb""",
        "aadler ex05-1\nbb ex05-1",
        "Blackboard",
    ),
    "Brightspace, flat": Class(
        """7-8 - Ada Adler - Oct 5, 2026 926 PM - ex05-1.py
        7-9 - Ben Brandt - Oct 15, 2026 1200 PM - Attention.py :: says ex05-1""",
        "Ada Adler ex05-1\nBen Brandt ex05-1",
        "Brightspace",
    ),
    "nbgrader's course, with its configuration": Class(
        """nbgrader_config.py :: c = get_config()
        gradebook.db
        submitted/aadler/ps1/ex05-1.ipynb
        submitted/aadler/ps1/.ipynb_checkpoints/ex05-1-checkpoint.ipynb
        submitted/bb/ps1/solutions/ex05-1.ipynb""",
        "aadler ex05-1\nbb ex05-1",
        "nbgrader",
    ),
    "checkouts with other files in them": Class(
        """hw5-submissions/hw5-aa/tests/test_ex05-1.py
        hw5-submissions/hw5-aa/starter/ex05-1.py :: stub
        hw5-submissions/hw5-aa/ex05-1.py
        hw5-submissions/hw5-aa/setup.py :: x = 1
        hw5-submissions/hw5-bb/ex05-1.py""",
        "aa ex05-1 <- ex05-1.py\nbb ex05-1",
        "GitHub Classroom",
    ),
    "a folder for each exercise in each student's": Class(
        "ada/ex05-1/work.py\nada/ex07-1/work.py\nben/Exercise 5-1/main.py\nben/Exercise 7-1/main.py",
        "ada ex05-1\nada ex07-1\nben ex05-1\nben ex07-1",
    ),
    "a student in a folder in a folder in a zip": Class(
        "ada.zip/Desktop/uni/ex05-1.py\nben.zip/ben/ben/ex05-1.py\ncleo/Downloads/ex05-1 (3).py",
        "ada ex05-1\nben ex05-1\ncleo ex05-1",
    ),
    "names in other scripts": Class(
        """\u738b\u5c0f\u660e_ex05-1.py
        \u738b\u5c0f\u660e/ex07-1.py
        \u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432/ex05-1.py""",
        """\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432 ex05-1
        \u738b\u5c0f\u660e ex05-1
        \u738b\u5c0f\u660e ex07-1""",
    ),
    "capitals and spaces make another name, unless a roster joins them": Class(
        "Ada_Adler_ex05-1.py\nada adler_ex07-1.py\nBEN BRANDT/ex05-1.py",
        "Ada Adler ex05-1\nAda Adler ex07-1\nBen Brandt ex05-1",
        roster=CANVAS_ROSTER,
    ),
    "a download unpacked beside its zip": Class(
        """submissions.zip/adlerada_101_900001_ex05-1.py
        submissions.zip/brandtben_102_900002_ex05-1.py
        submissions/adlerada_101_900001_ex05-1.py
        submissions/brandtben_102_900002_ex05-1.py""",
        "adlerada (101) ex05-1 <- ex05-1.py\nbrandtben (102) ex05-1 <- ex05-1.py",
        "Canvas",
    ),
    "the instructor's own files beside": Class(
        "ada/ex05-1.py\nben/ex05-1.py\nrubric.xlsx\nnotes.txt\nroster.csv :: name,id\nlecture.ipynb :: # hello",
        "ada ex05-1\nben ex05-1",
    ),
    "a class where one handed in": Class("class/ada/ex05-1.py", "ada ex05-1", top="class"),
    "Google Forms and file requests": Class(
        "ex05-1 - Ada Adler.ipynb\nex05-1 (1) - Ben Brandt.ipynb\nCleo Clark - ex05-1.ipynb\nEk, Eve - ex05-1.ipynb",
        "Ada Adler ex05-1\nBen Brandt ex05-1\nCleo Clark ex05-1\nEve Ek ex05-1",
    ),
    "Google Takeout, two assignments": Class(
        """Takeout/Drive/Classroom/ML 2026/Attention/Ada Adler - ex05-1.ipynb
        Takeout/Drive/Classroom/ML 2026/Attention/Ben Brandt - ex05-1.ipynb
        Takeout/Drive/Classroom/ML 2026/Masks/Ada Adler - ex07-1.ipynb""",
        "Ada Adler ex05-1\nAda Adler ex07-1\nBen Brandt ex05-1",
    ),
    "a term with two assignments, students' folders": Class(
        """term/ML 2026/Attention/ada/ex05-1.py
        term/ML 2026/Attention/ben/ex05-1.py
        term/ML 2026/Masks/ada/ex07-1.py""",
        "ada ex05-1\nada ex07-1\nben ex05-1",
    ),
    "a term with two pieces of homework": Class(
        "term/HW5/ada/ex05-1.py\nterm/HW5/ben/ex05-1.py\nterm/HW7/ada/ex07-1.py\nterm/HW7/ben/ex07-1.py",
        "ada ex05-1\nada ex07-1\nben ex05-1\nben ex07-1",
    ),
    "Schoology": Class(
        """Attention/Adler, Ada/Revision 1 - On Time/ex05-1.py
        Attention/Adler, Ada/Revision 2 - On Time/ex05-1.py
        Attention/Brandt, Ben/Revision 1 - Late/ex05-1.py""",
        "Ada Adler ex05-1 <- ex05-1.py\nBen Brandt ex05-1 late",
        "Schoology",
    ),
    "a folder for each day": Class(
        "2026.10.05/ada/ex05-1.py\n2026.10.05/ben/ex05-1.py\n2026.10.12/ada/ex07-1.py",
        "ada ex05-1\nada ex07-1\nben ex05-1",
    ),
    "in time and late": Class(
        "on time/ada_ex05-1.py\non time/ben_ex05-1.py\nlate/cleo_ex05-1.py",
        "ada ex05-1\nben ex05-1\ncleo ex05-1",
    ),
    "modules beside an answer": Class(
        "ada/ex05-1/main.py\nada/ex05-1/utils.py :: y = 1\nben/ex05-1.ipynb\nben/helpers.py :: x = 1",
        "ada ex05-1 <- main.py\nben ex05-1",
    ),
    "Moodle, flat, two assignments": Class(
        """a5/Ada Adler_4001_assignsubmission_file_ex05-1.py
        a7/Ada Adler_5077_assignsubmission_file_ex07-1.py
        a5/Ada Li_4002_assignsubmission_file_ex05-1.py
        a5/Ada Li_4003_assignsubmission_file_ex05-1.py""",
        "Ada Adler (4001) ex05-1\nAda Adler (5077) ex07-1\nAda Li (4002) ex05-1\nAda Li (4003) ex05-1",
        "Moodle",
    ),
    "under two folders, a late one beside a platform's": Class(
        "ML/five/adlerada_101_900001_ex05-1.py\nML/five/bb_102_900002_ex05-1.py\nML/five/karl_ex05-1.py",
        "adlerada (101) ex05-1\nbb (102) ex05-1\nkarl ex05-1",
        "Canvas and names of files and folders",
    ),
    "under two folders, exercises in folders": Class(
        "ML/term/ex05-1/ada.py\nML/term/ex05-1/ben.py\nML/term/ex07-1/ada/masks.py\nML/term/ex07-1/ben_ex07-1.py",
        "ada ex05-1\nada ex07-1\nben ex05-1\nben ex07-1",
    ),
    "under two folders, one answer that can be read": Class(
        "ML/five/ada/ex05-1.pdf\nML/five/ben/ex05-1.py\nML/five/cleo/ex05-1.zip/essay.pdf",
        "ada ex05-1 refused\nben ex05-1\ncleo ex05-1 refused",
    ),
    "one student alone, with folders for topics": Class(
        "ada/attention/ex05-1.py\nada/masks/ex07-1.py\nada/masks/old_ex07-1.py", "ada ex05-1\nada ex07-1 <- ex07-1.py"
    ),
}
