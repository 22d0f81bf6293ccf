"""Magics: a cell of IPython as plain Python, by IPython's own rules for what a magic is.

What only the running kernel can do, such as `!ls` or `help?`, becomes nothing. `%time` and its kin run their code, as
they do in a notebook, `%run` runs a Python file, `%env` sets a variable, and `%%writefile` writes its file; `%timeit`
leaves no names behind there, and so does nothing here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from annotated_grader.exercise.dependencies import span, starts_of_lines
from annotated_grader.sandbox.names import parsed

_MARK = re.compile(r"^[ \t]*(?:[%!?/,;]|>>> |In \[)|^[ \t]+\S|=[ \t]*[%!]|\?[ \t]*$", re.M)
"""Where IPython may see more than Python does: a bound on the work, and no judgement."""
_LONGEST_LINE = 2_000
_RUN_THEIR_CODE = ("time", "prun", "capture")
_OPTIONS = re.compile(r"^(?:--no-raise-error|-[lsTDq] +\S+|-[rq])\s+")


class MagicReader:
    """Turns the cells of one file into Python.

    Parameters
    ----------
    work
        How much IPython's transformer may be asked for, in characters read; a cell beyond that is not Python.
    """

    def __init__(self, work: int = 200_000) -> None:
        self.work = work
        self._transform: Callable[[str], str] | None = None

    def python(self, code: str) -> str | None:
        """A cell as plain Python with as many lines; None if it is not Python in IPython either."""
        code = re.sub(r"\r\n?", "\n", code).removeprefix("\ufeff")
        tree = parsed(code)
        if tree is None and "\ufeff" in code:
            code = code.replace("\ufeff", "")
            tree = parsed(code)
        if tree is None:
            code = self._by_ipython(code)
            tree = parsed(code) if code else None
        if tree is None:
            return None
        return self._plain(code, tree) if "get_ipython" in code else code

    def _by_ipython(self, code: str) -> str:
        """A cell with its magics written as calls of `get_ipython()`; empty if that cannot be had."""
        marks = sum(1 for _ in _MARK.finditer(code))
        self.work -= (marks + 1) * (len(code) + 300)  # it reads the cell again for each magic
        if not marks or self.work < 0 or max(map(len, code.split("\n"))) > _LONGEST_LINE:
            return ""
        try:
            return self._transformer()(code)
        except (SyntaxError, ValueError, RecursionError, ImportError):
            return ""

    def _transformer(self) -> Callable[[str], str]:
        if self._transform is None:
            from IPython.core.inputtransformer2 import TransformerManager

            self._transform = TransformerManager().transform_cell
        return self._transform

    def _plain(self, code: str, tree: ast.Module) -> str:
        """Without calls of `get_ipython()`: with the code that they run, or nothing."""
        alone = {id(node.value): node for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _kernel_does(node)]
        data = code.encode()
        starts = starts_of_lines(data)
        pieces, position = [], 0
        for call in sorted(calls, key=lambda call: span(call, starts)):
            begin, end = span(call, starts)
            if begin >= position:
                pieces += [data[position:begin], self._instead(call, id(call) in alone).encode()]
                position = end
        return b"".join([*pieces, data[position:]]).decode()

    def _instead(self, call: ast.Call, alone: bool) -> str:
        """What stands for a call: a statement if it stands alone, else an expression."""
        what = _kernel_does(call)
        texts = [part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if what == "getoutput":
            return "[]"
        if what == "run_cell_magic" and len(texts) == 3 and texts[0] in ("writefile", "file"):
            return _written(texts[1].split(), texts[2])
        if what in ("run_line_magic", "magic") and len(texts) >= 2 and texts[0] in ("env", "set_env"):
            name, _, value = texts[1].replace("=", " ", 1).strip().partition(" ")
            setting = f"__import__('os').environ.update({{{name!r}: {value.strip()!r}}})"
            return setting if value.strip() else "pass" if alone else "None"
        if what in ("run_line_magic", "magic") and len(texts) >= 2 and texts[0] == "run" and alone:
            return _run(texts[1].split())
        if what == "run_cell_magic" and len(texts) == 3 and texts[0] in _RUN_THEIR_CODE and not call.col_offset:
            return "\n" + ((self.python(texts[2]) or "").rstrip("\n") or "pass")
        if what in ("run_line_magic", "magic") and len(texts) >= 2 and texts[0] in _RUN_THEIR_CODE:
            inner = self.python(_OPTIONS.sub("", texts[1]).strip()) or ""
            tree = parsed(inner)
            if tree is not None and tree.body and (alone or _is_expression(tree)) and "\n" not in inner.strip():
                return inner.strip() if alone else f"({inner.strip()})"
        return "pass" if alone else "None"


def _kernel_does(call: ast.Call) -> str:
    """The method of `get_ipython()` that is called, or nothing."""
    method = call.func
    if not (isinstance(method, ast.Attribute) and isinstance(method.value, ast.Call)):
        return ""
    shell = method.value.func
    return method.attr if isinstance(shell, ast.Name) and shell.id == "get_ipython" else ""


def _written(options: list[str], text: str) -> str:
    """A statement that writes a file, as `%%writefile` does."""
    names, mode = [part for part in options if not part.startswith("-")], "a" if "-a" in options else "w"
    if len(names) != 1:
        return "pass"
    name = names[0].strip("\"'")
    return f"with open({name!r}, {mode!r}, encoding='utf-8') as _file: _file.write({text!r})"


def _run(options: list[str]) -> str:
    """A statement that runs a Python file, as `%run` does."""
    names = [part.strip("\"'") for part in options if not part.startswith("-")]
    if not names or names[0].endswith(".ipynb"):
        return "pass"
    name = names[0] if names[0].endswith(".py") else f"{names[0]}.py"
    return f"exec(open({name!r}, encoding='utf-8').read())"


def _is_expression(tree: ast.Module) -> bool:
    return len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
