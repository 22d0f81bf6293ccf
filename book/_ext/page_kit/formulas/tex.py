r"""TeX of formulas to MathML: a parser for the commands that the book uses, with TeX's own spacing.

Browsers space MathML by their dictionary of operators, which differs from TeX in the places that a reader notices
(`-(1-x)`, `a/b`, `\log p`, everything in an index). So each operator here has no space of its own, and the space
between two atoms is TeX's (The TeXbook, chapter 18), written out. A command that is not known is an error.

`mathml(r"K^\top")` gives the element as text.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from page_kit.formulas.tex_signs import ACCENTS, BIG, FUNCTIONS, LETTERS, LIMITS, SIGNS, SPACES, double_struck, styled

THIN, MEDIUM, THICK = "0.1667em", "0.2222em", "0.2778em"
_SPACING = {
    "ord": {"op": THIN, "bin": MEDIUM, "rel": THICK, "inner": THIN},
    "op": {"ord": THIN, "op": THIN, "rel": THICK, "inner": THIN},
    "bin": {"ord": MEDIUM, "op": MEDIUM, "open": MEDIUM, "inner": MEDIUM},
    "rel": {"ord": THICK, "op": THICK, "open": THICK, "inner": THICK},
    "open": {},
    "close": {"op": THIN, "bin": MEDIUM, "rel": THICK, "inner": THIN},
    "punct": dict.fromkeys(("ord", "op", "rel", "open", "close", "punct", "inner"), THIN),
    "inner": {**dict.fromkeys(("ord", "op", "open", "punct", "inner"), THIN), "bin": MEDIUM, "rel": THICK},
}
_TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_NEW_ROW = "\\\\"
_NOT_BINARY_AFTER = {None, "bin", "op", "rel", "open", "punct"}
_NOT_BINARY_BEFORE = {None, "rel", "close", "punct"}


@dataclass
class Atom:
    """A part of a row: its kind in TeX's sense, and its MathML."""

    kind: str
    xml: str
    limits: bool = False


def mo(sign: str, extra: str = ' stretchy="false"') -> str:
    """An operator without a space of its own."""
    return f'<mo lspace="0" rspace="0"{extra}>{html.escape(sign)}</mo>'


def row(atoms: list[Atom], script: bool = False) -> str:
    """Atoms side by side, with TeX's spaces between them."""
    kinds: list[str | None] = [atom.kind for atom in atoms]
    seen = [k for k in range(len(atoms)) if kinds[k] != "space"]
    for place, k in enumerate(seen):
        before = kinds[seen[place - 1]] if place else None
        after = atoms[seen[place + 1]].kind if place + 1 < len(seen) else None
        if kinds[k] == "bin" and (before in _NOT_BINARY_AFTER or after in _NOT_BINARY_BEFORE):
            kinds[k] = "ord"
    made, last = [], None
    for atom, kind in zip(atoms, kinds, strict=True):
        if kind != "space":
            space = _SPACING[last].get(str(kind)) if last else None
            if space and (not script or (space == THIN and "op" in (last, kind))):
                made.append(f'<mspace width="{space}"/>')
            last = kind
        made.append(atom.xml)
    return made[0] if len(made) == 1 else f"<mrow>{''.join(made)}</mrow>"


class Parser:
    """Reads one formula.

    Parameters
    ----------
    source
        The TeX.
    block
        Whether it is displayed: limits then stand above and below.
    """

    def __init__(self, source: str, block: bool = False) -> None:
        self.source, self.block, self.place, self.script = source, block, 0, False

    def peek(self) -> str:
        """The next token, without the spaces before it; empty at the end."""
        while (found := _TOKEN.match(self.source, self.place)) and found[0].isspace():
            self.place = found.end()
        return found[0] if found else ""

    def take(self, expected: str = "") -> str:
        """The next token, which must be the expected one."""
        token = self.peek()
        if not token or (expected and token != expected):
            raise ValueError(f"{expected or 'more'} expected at {self.source[self.place :]!r} of {self.source!r}")
        self.place += len(token)
        return token

    def words(self) -> str:
        """The text in the next braces, as it is."""
        self.take("{")
        end = self.source.index("}", self.place)
        text, self.place = self.source[self.place : end], end + 1
        return text.replace("\\_", "_").replace("\\%", "%")

    def atoms(self, *stops: str) -> list[Atom]:
        """The atoms up to one of the stops, which stays."""
        found: list[Atom] = []
        while (token := self.peek()) and token not in stops:
            found.append(self.scripted())
        return found

    def group(self) -> str:
        """An argument: the row in braces, or one token, of a number its first digit."""
        token = self.peek()
        if token[:1].isdigit():
            self.place += 1
            return f"<mn>{token[0]}</mn>"
        if token != "{":
            return self.atom().xml
        self.take()
        made = row(self.atoms("}"), self.script)
        self.take("}")
        return made

    def in_script(self) -> str:
        """An argument that is set as an index."""
        outer, self.script = self.script, True
        made = self.group()
        self.script = outer
        return made

    def scripted(self) -> Atom:
        """An atom with what is above and below it."""
        base = Atom("ord", "<mrow></mrow>") if self.peek() in ("^", "_") else self.atom()
        below = above = ""
        while (token := self.peek()) in ("^", "_", "'"):
            self.take()
            if token == "_":
                below = self.in_script()
            else:
                above = "<mo>′</mo>" if token == "'" else self.in_script()
        if not below + above:
            return base
        under, over = ("munder", "mover") if base.limits and self.block else ("msub", "msup")
        name = under if not above else over if not below else "munderover" if under == "munder" else "msubsup"
        return Atom(base.kind, f"<{name}>{base.xml}{below}{above}</{name}>")

    def atom(self) -> Atom:
        """One atom, without its scripts."""
        token = self.take()
        if token == "{":
            made = row(self.atoms("}"), self.script)
            self.take("}")
            return Atom("ord", made)
        if token in SPACES:
            return Atom("space", f'<mspace width="{SPACES[token]}"/>')
        if token in LETTERS:
            upright = ' mathvariant="normal"' if LETTERS[token] in "ΓΔΘΛΞΠΣΦΨΩ∞" else ""
            return Atom("ord", f"<mi{upright}>{LETTERS[token]}</mi>")
        if token in FUNCTIONS:
            return Atom("op", f"<mi>{FUNCTIONS[token]}</mi>", FUNCTIONS[token] in LIMITS)
        if token in SIGNS:
            return self.sign(token)
        if token[0].isdigit():
            return Atom("ord", f"<mn>{token}</mn>")
        if token[0] == "\\":
            return self.command(token)
        if token.isalpha():
            return Atom("ord", f"<mi>{token}</mi>")
        raise ValueError(f"{token!r} is not known here, in {self.source!r}")

    def sign(self, token: str) -> Atom:
        """A sign, large where it sums up."""
        kind, sign = SIGNS[token]
        if kind == "sum":
            return Atom("op", mo(sign, f' largeop="{"true" if self.block and not self.script else "false"}"'), True)
        return Atom(kind, mo(sign))

    def command(self, name: str) -> Atom:
        """What a command makes of its arguments."""
        if name in ("\\text", "\\textit"):
            return Atom("ord", f"<mtext>{html.escape(self.words()).replace(' ', '&#160;')}</mtext>")
        if name in ("\\mathrm", "\\operatorname", "\\operatorname*", "\\mathbf", "\\mathit", "\\mathbb"):
            return self.named(name)
        if name in ("\\frac", "\\tfrac", "\\dfrac"):
            return Atom("inner", f"<mfrac>{self.group()}{self.group()}</mfrac>")
        if name == "\\sqrt":
            return Atom("ord", f"<msqrt>{self.group()}</msqrt>")
        if name in ACCENTS:
            return Atom("ord", f'<mover accent="true">{self.group()}{mo(ACCENTS[name], "")}</mover>')
        if name == "\\left":
            return self.fenced()
        if name in BIG:
            kind, sign = SIGNS[self.take()]
            kind = {"l": "open", "r": "close", "m": "rel"}.get(name[-1], kind)
            size = f' stretchy="true" minsize="{BIG[name]}em" maxsize="{BIG[name]}em"'
            return Atom(kind, f"<mrow>{mo(sign, size)}<mspace/></mrow>")  # alone under an index it would not grow
        if name == "\\begin":
            return self.table()
        raise ValueError(f"no MathML for {name} of {self.source!r}")

    def named(self, name: str) -> Atom:
        """A word in another letter: upright, bold, slanted or double-struck."""
        text = self.words()
        if name == "\\mathbb":
            return Atom("ord", f"<mi>{double_struck(text)}</mi>")
        if name in ("\\mathbf", "\\mathit"):
            return Atom("ord", f"<mi>{html.escape(styled(text, name[5:]))}</mi>")
        upright = ' mathvariant="normal"' if len(text) == 1 else ""
        kind = "op" if name.startswith("\\operatorname") else "ord"
        return Atom(kind, f"<mi{upright}>{html.escape(text)}</mi>", name.endswith("*"))

    def fenced(self) -> Atom:
        r"""What `\left` and `\right` enclose, between signs as tall as it."""
        opening = self.take()
        inside = row(self.atoms("\\right"), self.script)
        self.take("\\right")
        closing = self.take()

        def fence(token: str, form: str) -> str:
            return "" if token == "." else mo(SIGNS[token][1], f' stretchy="true" form="{form}"')

        return Atom("inner", f"<mrow>{fence(opening, 'prefix')}{inside}{fence(closing, 'postfix')}</mrow>")

    def rows(self, *stops: str) -> str:
        """The rows of a table up to one of the stops."""
        made = []
        while True:
            cells = []
            while True:
                right = [Atom("ord", "")] if len(cells) % 2 else []  # what follows an ampersand keeps its space
                cells.append(f"<mtd>{row([*right, *self.atoms('&', _NEW_ROW, *stops)], self.script)}</mtd>")
                if self.peek() != "&":
                    break
                self.take()
            made.append(f"<mtr>{''.join(cells)}</mtr>")
            if self.peek() != _NEW_ROW:
                return "".join(made)
            self.take()

    def table(self) -> Atom:
        r"""What stands between `\begin` and `\end`."""
        name = self.words().rstrip("*")
        if name not in ("aligned", "align", "split", "gathered", "cases", "matrix", "pmatrix", "bmatrix"):
            raise ValueError(f"no MathML for the environment {name} of {self.source!r}")
        body = self.rows("\\end")
        self.take("\\end")
        self.words()
        style = ' displaystyle="true"' if name in ("aligned", "align", "split", "gathered") else ""
        made = f'<mtable class="tex-{name}"{style}>{body}</mtable>'
        opening, closing = {"cases": "{ ", "pmatrix": "()", "bmatrix": "[]"}.get(name, "  ")
        tall = ' stretchy="true" form="{}"'
        left = mo(opening, tall.format("prefix")) if opening != " " else ""
        right = mo(closing, tall.format("postfix")) if closing != " " else ""
        return Atom("inner" if left else "ord", f"<mrow>{left}{made}{right}</mrow>" if left else made)


def mathml(tex: str, block: bool = False) -> str:
    r"""The MathML of a formula.

    Parameters
    ----------
    tex
        The source, without dollars. Lines that end in two backslashes are aligned at their ampersands.
    block
        Whether it has a line of its own.

    Raises
    ------
    ValueError
        If it has a command that is not known, or a brace that is not closed.

    Examples
    --------
    >>> mathml("a=1")
    '<math alttext="a=1"><mrow><mi>a</mi><mspace width="0.2778em"/><mo lspace="0" rspace="0" stretchy="false">=</mo>\
<mspace width="0.2778em"/><mn>1</mn></mrow></math>'
    """
    source = tex.strip()
    aligned = _NEW_ROW in source and not re.match(r"\\begin\{(align|gather|split)", source)
    aligned = aligned and not re.search(r"\\begin\{\w*(cases|matrix)", source)
    parser = Parser(rf"\begin{{aligned}}{source}\end{{aligned}}" if aligned else source, block)
    try:
        made = row(parser.atoms())
    except (KeyError, IndexError) as error:
        raise ValueError(f"no MathML for {error} of {source!r}") from error
    display = ' display="block"' if block else ""
    return f'<math{display} alttext="{html.escape(source)}">{made}</math>'
