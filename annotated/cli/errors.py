"""Errors of a command as one line that a person can use."""

from __future__ import annotations

from collections.abc import Sequence

from annotated.cli.messages import name_options

_OUT_OF_MEMORY = ("can't allocate memory", "out of memory", "not enough memory")
_MEMORY_ADVICE = {
    "train": "give --training.micro-batch-tokens a smaller number, which makes the same updates in smaller pieces",
    "finish": "give --batch-tokens or --beam a smaller number",
    "translate": "give --beam-size or --batch-tokens a smaller number",
    "evaluate": "give --beam-size or --batch-tokens a smaller number",
}


def explain(error: Exception, arguments: Sequence[str] = ()) -> str:
    """One line: the message of errors that are meant for users, and for others their kind as well.

    Parameters
    ----------
    arguments
        Of the command, whose options the advice names.
    """
    text = " ".join(str(error).split()) or type(error).__name__
    if arguments[:1] == ["evaluate"] or arguments[:2] in (["data", "show"], ["data", "texts"]):
        text = text.replace("--data.format", "--format")
    if isinstance(error, MemoryError) or any(sign in text for sign in _OUT_OF_MEMORY):
        advice = _MEMORY_ADVICE.get(arguments[0] if arguments else "", "ask for less at a time")
        return f"there is not enough memory: {advice} ({text})"
    if isinstance(error, OSError) and error.strerror:
        return _of_the_system(error)
    meant = isinstance(error, ValueError | OSError | ImportError) or type(error).__module__.startswith("annotated")
    return name_options(text, arguments) if meant else f"{type(error).__name__}: {text} (--debug shows where)"


def _of_the_system(error: OSError) -> str:
    """Name of the file first, then what is wrong with it, without the number of the error."""
    what = " ".join(str(error.strerror).split())
    if isinstance(error, FileExistsError | NotADirectoryError):
        what = "a file stands where a folder is needed; name another folder, or move the file away"
    if error.filename is None:
        return what
    return f"{error.filename}: {what[0].lower()}{what[1:]}"
