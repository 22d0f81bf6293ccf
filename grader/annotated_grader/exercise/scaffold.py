"""A new exercise of an author's own: the three files of one that works, to be changed."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

from annotated.ownership import output_path
from annotated.storage import atomic_write
from annotated_grader.exercise.exercise import ID, ExerciseError

TEMPLATE = Path(__file__).resolve().parents[1] / "assets" / "new_exercise"
_LONGEST = 80  # letters of a title, which its folder's name has too


def write_exercise(id: str, title: str, folder: str | Path) -> Path:
    """Write the folder of a new exercise into a folder of exercises.

    Parameters
    ----------
    id
        Such as "ex99-1".
    title
        In a few words; the folder is named after it.
    folder
        It is made if it is not there. Nothing in it is replaced.

    Returns
    -------
    Path
        The new folder, such as `ex99_1_a_mean_without_padding`.

    Raises
    ------
    ExerciseError
        If the number is none, or the title empty or too long.
    FileExistsError
        If it is taken.
    ValueError
        If the folder is ''.
    """
    number = ID.fullmatch(id)
    if not number:
        raise ExerciseError(f"{id!r} is no number of an exercise; write it like ex99-1")
    if not 0 < len(title.strip()) <= _LONGEST:
        raise ExerciseError(f"a title has 1 to {_LONGEST} letters, and this one {len(title.strip())}")
    folder = output_path(folder)
    if (folder / "exercise.md").exists():
        raise FileExistsError(f"{folder} is an exercise; name the folder that holds exercises")
    if taken := sorted(folder.glob("ex{}_{}_*".format(*number.groups()))):
        raise FileExistsError(f"{id} is taken, by {taken[0]}")
    plain = unicodedata.normalize("NFKD", title.lower().replace("ß", "ss")).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_") or "exercise"
    place = folder / "ex{}_{}_{}".format(*number.groups(), slug)
    for file in sorted(TEMPLATE.iterdir()):
        text = (
            file.read_text(encoding="utf-8")
            .replace("ex00-0", id)
            .replace("title: A mean without padding", f"title: {json.dumps(title, ensure_ascii=False)}")
        )
        with atomic_write(place / file.name) as written:
            written.write(text)
    return place
