"""Gradescope: an autograder zip for one exercise, and a result in the form of its `results.json`.

The zip runs it: `python -m annotated_grader.instructor.exports.gradescope SUBMISSION RESULTS EXERCISE SALT_FILE`,
with `--trust` where nothing can isolate the answer.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from annotated.ownership import is_json_of, output_path, require_our_file
from annotated.storage import atomic_write
from annotated_grader.exercise.exercise import Exercise
from annotated_grader.exercise.markdown import terminal
from annotated_grader.instructor.grade_folder import GradingOptions, grade_folder
from annotated_grader.instructor.gradebook import Graded, clean
from annotated_grader.sandbox.isolation import best_level
from annotated_grader.sandbox.process import Level

_MOST_LINES = 20
_SETUP = """#!/usr/bin/env bash
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv bubblewrap
python3 -m venv /autograder/venv
# torch's CPU build is a tenth of the download
/autograder/venv/bin/pip install --extra-index-url https://download.pytorch.org/whl/cpu /autograder/source/*.whl
"""

_RUN = """#!/usr/bin/env bash
exec /autograder/venv/bin/python -m annotated_grader.instructor.exports.gradescope \\
  /autograder/submission /autograder/results/results.json {exercise} /autograder/source/salt.txt{trust}
"""


def autograder_zip(exercise: Exercise, salt: str, wheels: Iterable[Path], trust: bool = False) -> bytes:
    """The zip to upload as the autograder of an assignment; the same inputs give the same bytes.

    Parameters
    ----------
    wheels
        The library's, and the grader's, which carries the exercises.
    trust
        Grade also where nothing isolates the answer, which could then write its own result.
    """
    files = {
        "setup.sh": (_SETUP.encode(), 0o755),
        "run_autograder": (_RUN.format(exercise=exercise.id, trust=" --trust" if trust else "").encode(), 0o755),
        "salt.txt": (f"{salt}\n".encode(), 0o600),
        **{wheel.name: (wheel.read_bytes(), 0o644) for wheel in wheels},
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name)  # without a date, it is always 1980
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return packed.getvalue()


def is_autograder(file: Path) -> bool:
    """Whether a file is a zip that `autograder_zip` made."""
    try:
        with zipfile.ZipFile(file) as archive:
            return {"setup.sh", "run_autograder", "salt.txt"} <= {*archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return False


def results(graded: Graded) -> dict[str, Any]:
    """A grade in the form of `results.json`: students see the hidden checks when grades are published.

    Raises
    ------
    ValueError
        If the grader failed: that is no score.
    """
    if graded.score is None:
        raise ValueError(
            f"{graded.student}, {graded.exercise}: the grader failed, so there is no score ({graded.note})"
        )
    tests = [
        {
            "name": check["title"] + (" (other inputs)" if check["hidden"] else ""),
            "score": check["earned"],
            "max_score": check["points"],
            "output": " ".join(filter(None, [check["message"], check["line"]])) or "passed",
            "visibility": "after_published" if check["hidden"] else "visible",
        }
        for check in graded.checks
    ]
    said = [
        f"Public points: {_public(graded, 'earned')} of {_public(graded, 'points')}.",
        terminal(graded.says),
        graded.note,
    ]
    return {"output": "\n\n".join(filter(None, said)), "execution_time": round(graded.seconds), "tests": tests}


def _public(graded: Graded, what: str) -> int:
    return sum(check[what] for check in graded.checks if not check["hidden"])


def grade(submission: Path, exercise: str, salt: str, level: Level) -> dict[str, Any]:
    """Grade the folder of one submission; of several files one counts, by the rule of `submissions`."""
    options = GradingOptions(level, exercise=exercise, salt=salt, jobs=1, student="submission")
    with tempfile.TemporaryDirectory() as out:
        run = grade_folder(submission, Path(out), options)
    reasons = "\n".join(clean(f"{name}: {why}") for name, why in run.skipped[:_MOST_LINES])
    if not run.graded:
        return {"score": 0, "output": f"Nothing could be graded.\n{reasons or 'there is no notebook and no .py file'}"}
    (graded,) = run.graded
    form = results(graded)
    aside = f"\n\nSet aside:\n{reasons}" if reasons else ""
    return {**form, "output": f"{form['output']}\n\nGraded: {graded.file}{aside}"}


def _is_results(file: Path) -> bool:
    return is_json_of(file, "output", "tests") or is_json_of(file, "output", "score")


def write_results(submission: Path, place: Path, exercise: str, salt: str, level: Level) -> None:
    """Grade one submission into a `results.json`, which is new or an earlier call's.

    Raises
    ------
    FileExistsError
        If the file holds something else; nothing is graded then.
    ValueError
        If the grader itself fails: no result is written, and Gradescope says so.
    """
    require_our_file(place, _is_results)
    graded = grade(submission, exercise, salt, level)
    with atomic_write(place) as file:
        file.write(json.dumps(graded, indent=1, ensure_ascii=False) + "\n")


def main(arguments: list[str]) -> int:
    """What the autograder runs."""
    submission, place, exercise, salt, *trust = arguments
    # Without isolation an answer could write its own result into the container: refused, unless it is trusted.
    level = best_level(trust=trust == ["--trust"])
    write_results(Path(submission), output_path(place), exercise, Path(salt).read_text(encoding="utf-8").strip(), level)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
