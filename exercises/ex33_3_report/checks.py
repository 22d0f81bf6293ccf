"""Checks of ex33-3: reports that differ in one thing at a time.

Paper: section 6.1, Table 2
"""

from typing import Any

from annotated_grader import Case, Student, expect, graded

NEEDED = ("score", "signature", "test", "pair", "sentences", "text", "averaged", "beam", "alpha")
TOKENIZERS = ("13a", "intl", "none", "char")


def signed(drawn: Case, **changes: str) -> str:
    """A signature in sacreBLEU's order."""
    parts = {"nrefs": "1", "case": "mixed", "eff": "no", "tok": "13a", "smooth": "exp"}
    parts |= {"version": f"2.{drawn.between(3, 6)}.{drawn.between(0, 2)}"} | changes
    return "|".join(f"{name}:{value}" for name, value in parts.items())


def made(case: Case, **changes: Any) -> dict[str, Any]:
    """A complete report."""
    return {
        "score": 26.0 + case.between(0, 300) / 113,
        "signature": signed(case),
        "test": "newstest2014",
        "pair": "en-de",
        "sentences": 3003,
        "text": "plain",
        "averaged": 5 + case.between(0, 15),
        "beam": 4 + case.between(0, 3),
        "alpha": 0.6,
    } | changes


@graded(points=1, levels=2)
def parts_of_a_signature(student: Student, case: Case) -> None:
    """A signature is taken apart at bars and at the first colon."""
    expected = {"nrefs": "1", "case": "lc", "tok": case.choice(TOKENIZERS), "seed": "12:07", "version": "2.6.0"}
    signature = "|".join(f"{name}:{value}" for name, value in expected.items())
    expect.equal(student.call("fields", signature), expected, "the fields", signature=signature)


@graded(points=2, levels=3)
def what_is_missing(student: Student, case: Case) -> None:
    """Missing: what is absent, None or empty; 0 is an answer."""
    report = made(case, averaged=0, alpha=0.0)
    expect.equal(student.call("missing", report), [], "what a complete report lacks", report=report)
    absent, none, empty = (NEEDED[int(k)] for k in case.permutation(len(NEEDED))[:3])
    poor = {name: value for name, value in report.items() if name != absent} | {none: None, empty: ""}
    expect.equal(student.call("missing", poor), sorted({absent, none, empty}), "what the report lacks", report=poor)
    expect.equal(student.call("missing", {}), sorted(NEEDED), "what an empty report lacks")


@graded(points=1, levels=2)
def half_a_signature(student: Student, case: Case) -> None:
    """A signature without tokeniser or version is none."""
    for cut in ("tok", "version"):
        parts = [part for part in signed(case).split("|") if not part.startswith(cut)]
        report = made(case, signature="|".join(parts), beam=None)
        expect.equal(student.call("missing", report), ["beam", "signature"], "what the report lacks", report=report)
    short = made(case, signature="tok:13a|version:2.6.0", beam=None)
    expect.equal(student.call("missing", short), ["beam"], "what the report lacks", report=short)


def asked(student: Student, a: dict[str, Any], b: dict[str, Any], expected: bool) -> None:
    """In both orders."""
    for one, two in ((a, b), (b, a)):
        got = student.call("comparable", one, two)
        expect.equal(got, expected, "whether the two may be compared", first=one, second=two)


@graded(points=2, levels=2)
def one_question(student: Student, case: Case) -> None:
    """Other models, averages, searches, versions and scores of one test with one BLEU setting are comparable."""
    a = made(case, signature=signed(case, version="2.4.0"))
    b = made(case, score=31.5, averaged=1, beam=1, alpha=1.0, signature=signed(case, version="2.6.0"))
    asked(student, a, b, True)
    swapped = "|".join(reversed(a["signature"].split("|")))
    asked(student, a, {**a, "signature": swapped}, True)


@graded(points=2, levels=3)
def another_setting(student: Student, case: Case) -> None:
    """Another BLEU setting, or text that was treated first: not comparable, even with the same score."""
    a = made(case)
    version = a["signature"].rsplit(":", 1)[1]
    for change in ({"tok": case.choice(TOKENIZERS[1:])}, {"case": "lc"}, {"smooth": "floor"}, {"nrefs": "2"}):
        asked(student, a, {**a, "signature": signed(case, version=version, **change)}, False)
    asked(student, a, {**a, "text": case.choice(("compounds split", "tokenised"))}, False)


@graded(points=1, levels=2)
def another_test(student: Student, case: Case) -> None:
    """Another test set, pair, or a part of the sentences: not comparable."""
    a = made(case)
    for change in ({"test": "newstest2013"}, {"pair": "en-fr"}, {"sentences": 2737}):
        asked(student, a, {**a, **change}, False)


@graded(points=1, levels=2)
def one_line(student: Student, case: Case) -> None:
    """The line has everything in its order."""
    r = made(case)
    expected = [
        f"{round(r['score'], 2):.2f} BLEU",
        f"newstest2014 en-de ({r['sentences']})",
        f"average of {r['averaged']}",
        f"beam {r['beam']}",
        "alpha 0.6",
        "plain",
        r["signature"],
    ]
    expect.equal(student.call("line", r), ", ".join(expected), "the line", report=r)
