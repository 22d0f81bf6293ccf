"""Messages of tyro about a wrong command line, said in one line as every error of this program is."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

_FRAME = set("─-╭╮╰╯│|+ ")
"""What the frame of a message is made of, on terminals with and without such characters."""
_ENDS = ("Argument helptext", "For full helptext", "Perhaps you meant", "Unrecognized options:")
"""How what follows the message begins."""
_OWN_NAME = re.compile(r"Error parsing (?:\w*[a-z]\w*: )?")
"""How a refused value is introduced; before what a configuration refuses comes the name of the field that holds it."""


def in_one_line(box: str, command: Sequence[str], arguments: Sequence[str]) -> str:
    """What is wrong, from the box that tyro draws: a title, a rule, lines, a rule, and where help is to be had.

    Parameters
    ----------
    command
        Its words, such as 'data', 'show'.
    arguments
        The whole command line.
    """
    title, *lines = [line.strip("│|").rstrip() for line in box.splitlines()] or [""]
    lines = textwrap.dedent("\n".join(line for line in lines if not set(line) <= _FRAME)).splitlines()
    name = " ".join(["annotated", *command])
    first = lines[0] if lines else title.strip("".join(_FRAME))
    if found := re.match(r"Unrecognized options: (\S+?)(?:, |$)", first):
        return _unknown(found[1], lines, name, arguments)
    if lines and lines[0].startswith("Missing from"):
        return _missing(lines, name)
    if found := re.match(r"Missing value for argument '(.*?)'\. Expected (\S+) value", first):
        what = found[1].strip("(',)")  # a tuple, in some releases
        if not what.startswith("-"):
            return f"{name} needs {what.upper()}; {name} --help says more"
        wanted = "a value is missing" if found[2] == "1" else f"{found[2]} values are wanted"
        return f"{what}: {wanted}; {name} --help says which"
    if found := re.match(r"invalid choice '(.*)' for argument '(.*?)'\. Expected one of \((.*?),?\)\.", first):
        return f"{found[2]}: {found[1]!r} is none of {found[3].replace(chr(39), '')}"
    text = " ".join(line.strip() for line in _before_ends(lines)) or first
    return name_options(_OWN_NAME.sub("", text), arguments)


def name_options(text: str, arguments: Sequence[str]) -> str:
    """A message of the library, in which the fields that were given as options have the options' names.

    A field of several words is known wherever it stands, one of a single word where it begins the message.
    """
    given = [argument.partition("=")[0] for argument in arguments if argument.startswith("--")]
    for option in reversed(given):
        field = option.removeprefix("--").rpartition(".")[2].replace("-", "_")
        where = rf"(?<![\w.-]){re.escape(field)}\b" if "_" in field else rf"^{re.escape(field)}(?= |:)"
        text = re.sub(where, option, text)
    return text


def _before_ends(lines: Sequence[str]) -> list[str]:
    ends = (number for number, line in enumerate(lines) if number and line.startswith(_ENDS))
    return list(lines[: next(ends, len(lines))])


def _unknown(word: str, lines: Sequence[str], name: str, arguments: Sequence[str]) -> str:
    """Of an option that the command does not have, or a word too many."""
    if not word.startswith("-"):
        pairs = zip(arguments, arguments[1:], strict=False)
        where = next((at for at, (one, two) in enumerate(pairs) if two == word and not one.startswith("-")), 0)
        options = [argument for argument in arguments[:where] if argument.startswith("--")]
        after = f"after {options[-1]}" if options else f"for {name}"
        return f"one word too many {after}: {word!r}; {name} --help says what is taken"
    near = next((line.split()[0].rstrip(",") for line in lines if line.startswith("    --")), None)
    hint = f"did you mean {near}?" if near else f"{name} --help lists them"
    return f"no option {word.partition('=')[0]} of {name}; {hint}"


def _missing(lines: Sequence[str], name: str) -> str:
    """Of arguments that have to be given: what each is called, and the first sentence about it."""
    found: list[str] = []
    about: list[str] = []
    for line in _before_ends(lines)[1:]:
        if line.startswith("        "):
            about.append(line.strip())
        else:
            found.append(line.strip())
            about = []
        if found and about and "(" not in found[-1]:
            sentence = re.split(r"[.;:](?:\s|$)| \(", about[0])[0]
            found[-1] += f" ({sentence[0].lower()}{sentence[1:]})"
    return f"{name} needs {', '.join(found)}; {name} --help says more"
