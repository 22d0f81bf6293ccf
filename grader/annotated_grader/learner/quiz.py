"""Quiz of an exercise: what a letter that was chosen says."""

from __future__ import annotations

from typing import Any

from annotated_grader.exercise.exercise import Exercise, ExerciseError
from annotated_grader.learner.record import ProgressRecord


def feedback(exercise: Exercise, question: Any, choice: Any, record: ProgressRecord) -> str:
    """What there is to say about an option, in Markdown; the first letter given to a question is noted.

    Parameters
    ----------
    question
        Its number, from 1.
    choice
        "A", "B", ..., in capitals or not.

    Raises
    ------
    ExerciseError
        If there is no such question, or no such option.
    """
    if question not in range(1, len(exercise.quiz) + 1):
        raise ExerciseError(f"{exercise.id} has questions 1 to {len(exercise.quiz)}, not {question!r}")
    options = exercise.quiz[question - 1]["options"]
    letters = "ABCDEFGH"[: len(options)]
    letter = str(choice).strip().upper()
    if len(letter) != 1 or letter not in letters:
        asked = "Choose" if not letter else f"{choice!r} is none of the options; choose"
        raise ExerciseError(f"{asked} one of {', '.join(letters)}: answer({question}, {letters[0]!r}) for the first.")
    option = options[letters.index(letter)]
    with record.change(exercise.id) as entry:
        entry.answers.setdefault(str(question), letter)
    verdict = "✓ Right." if option.get("correct") else "✗ Not this one."
    return f"**{letter}. {verdict}** {str(option['feedback']).strip()}"
