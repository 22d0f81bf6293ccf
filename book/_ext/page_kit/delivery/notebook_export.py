"""A chapter as a notebook for elsewhere: the directives and roles of this book turned into plain Markdown.

Colab, VS Code and classic Jupyter know no MyST. What a directive shows in the book is written out: code pulled from the
library as a code block, predictions, quizzes and small exercises as questions with answers that unfold, links as links.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupytext

from annotated.paper import EQUATIONS
from annotated_book.pages import page_of
from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.markdown import roles
from page_kit.authoring import versions
from page_kit.authoring.cards import parse
from page_kit.authoring.inline_exercise import HINT, MISSES, SOLUTION, exercise
from page_kit.authoring.prediction import options
from page_kit.authoring.quiz import quiz_file
from page_kit.authoring.source import excerpt, source_of
from page_kit.claims.claim_boxes import ledger
from page_kit.data import table
from page_kit.reference.citations import cited

_OPEN = re.compile(r"^(?P<fence>`{3,}|~{3,}|:{3,})\{(?P<name>[\w-]+)\}[ ]*(?P<argument>.*)$")
_OPTION = re.compile(r"^:([\w-]+):\s*(.*)$")
_LAYER = re.compile(r"\s*\[(read|play|run|prove)\]\{\.layer\}")
_NO_SCRIPT = re.compile(r"<noscript>.*?</noscript>\n?", re.DOTALL)  # a notebook prints it, scripts or not
_NEEDS_SCRIPTS = re.compile(r"(?:(?<=\.)|\A)\s*[^.]*?\bneeds\s+JavaScript[^.]*\.\s*")
_CITATION = re.compile(r"\{cite(:t)?\}`([^`]+)`")
_FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\n[^$\n]+\$", re.DOTALL)
_CHAPTER_LINK = re.compile(r"\]\(([\w./-]+)\.md(#[\w-]+)?\)")


def notebook_of(text: str, first_cell: str, page: Path) -> dict[str, Any]:
    """The notebook of a chapter's source text, as nbformat 4, with `first_cell` in front of it.

    Parameters
    ----------
    text
        A MyST Markdown notebook.
    first_cell
        Python code.
    page
        The file of the text, beside which its quiz lies.
    """
    notebook = jupytext.reads(text, fmt="md:myst")
    writer = Writer(page)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = writer.plain(cell.source)
    setup = {
        "cell_type": "code",
        "id": "setup",
        "source": first_cell,
        "metadata": {},
        "outputs": [],
        "execution_count": None,
    }
    for cell in notebook.cells:
        if {"check", "hide-input"} & set(cell.metadata.get("tags", ())):  # folded in the page, and so in JupyterLab
            cell.metadata["jupyter"] = {"source_hidden": True}
    cells = [dict(cell) for cell in notebook.cells]
    return {
        "cells": [setup, *cells],
        "metadata": {"kernelspec": dict(notebook.metadata.get("kernelspec", {})), "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


class Writer:
    """Writes MyST as Markdown that needs no extension."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.directives: dict[str, Callable[[str, dict[str, str], str], str]] = {
            "prediction": self._prediction,
            "try": self._try,
            "margin": self._margin,
            "versions": self._versions,
            "versions-table": self._versions_table,
            "library-source": self._source,
            "equation-code": self._equation_code,
            "quiz": self._quiz,
            "claim": self._claim,
            "question": self._claim,
            "question-card": self._card,
            "exercise": lambda title, _, body: f"**Exercise: {title}**\n\n{self.plain(body)}",
            "graded": self._graded,
            "live": self._live,
            "fold": lambda title, _, body: _details(html.escape(title), self.plain(body)),
            "div": self._div,
            "math": lambda _, __, body: f"$$\n{body.strip()}\n$$",
        }

    def plain(self, text: str) -> str:
        """The text with every directive and role of MyST written out."""
        lines, out, prose = text.splitlines(), [], []
        at = 0

        def end_prose() -> None:
            """Write out the lines gathered so far: a role may run over the end of a line."""
            if prose:
                out.append(self._inline("\n".join(prose)))
                prose.clear()

        while at < len(lines):
            opened = _OPEN.match(lines[at])
            plain_block = opened is None and re.match(r"^(`{3,}|~{3,})", lines[at])
            if opened is None and not plain_block:
                prose.append(lines[at])
                at += 1
                continue
            end_prose()
            end = _closing(lines, at, opened["fence"] if opened else lines[at][:3])
            if opened is None:  # an ordinary code block stays as it is
                out += lines[at : end + 1]
            else:
                options, body = _split(lines[at + 1 : end])
                handler = self.directives.get(opened["name"], self._other)
                out.append(handler(opened["argument"].strip(), options, body))
            at = end + 1
        end_prose()
        return "\n".join(out)

    def _inline(self, text: str) -> str:
        text = _CITATION.sub(lambda m: cited(m[2], textual=bool(m[1])), text)
        text = _LAYER.sub(lambda m: f" ({m[1]})", roles(_NO_SCRIPT.sub("", text)))
        return _CHAPTER_LINK.sub(self._link, text)

    def _link(self, found: re.Match[str]) -> str:
        """A link to another page, from one notebook to another: both lie where their pages have their addresses."""
        here, there = page_of(self.page), page_of(Path(os.path.normpath(self.page.parent / f"{found[1]}.md")))
        return f"]({os.path.relpath(there, os.path.dirname(here) or '.')}.ipynb)"

    def _prediction(self, _: str, __: dict[str, str], body: str) -> str:
        body = "\n".join(options(body.splitlines())[0])
        blocks = re.split(r"\n\s*\n", body.strip())
        last = max(i for i, block in enumerate(blocks) if block.lstrip().startswith("- "))
        asked, told = ("\n\n".join(part) for part in (blocks[: last + 1], blocks[last + 1 :]))
        return f"**Commit to a prediction.** {self.plain(asked)}\n\n{_details('What happens', self.plain(told))}"

    def _try(self, title: str, options: dict[str, str], body: str) -> str:
        made = exercise(body.splitlines(), options)
        misses = "\n".join(f"- {made.shown(miss.value)}: {self.plain(miss.text)}" for miss in made.misses)
        unit = f", in {made.unit}" if made.unit else ""
        return "\n\n".join(
            (
                f"**Try it: {self._inline(title)}.** {self.plain(made.question)}\n\nAnswer with {made.asked}{unit}.",
                _details(HINT, self.plain(made.hint)),
                _details(SOLUTION, f"**{made.shown(made.answer)}**\n\n{self.plain(made.solution)}"),
                _details(MISSES, misses),
            )
        )

    def _margin(self, kind: str, _: dict[str, str], body: str) -> str:
        return _quote(f"**{kind}.** {self.plain(body)}") + "\n"

    def _versions(self, key: str, _: dict[str, str], __: str) -> str:
        one = versions.entries()[key]
        texts = " ".join(f"*{name}*: {getattr(one, version)}" for version, name in versions.VERSIONS.items())
        return self._margin("Versions", {}, texts)

    def _versions_table(self, *_: object) -> str:
        head = f"| | {' | '.join(versions.VERSIONS.values())} |\n|---|---|---|---|"
        rows = (
            f"| {one.title} | {self.plain(one.written)} | {self.plain(one.released)} | {self.plain(one.today)} |"
            for one in versions.entries().values()
        )
        return "\n".join((head, *rows)) + "\n"

    def _source(self, name: str, options: dict[str, str], _: str) -> str:
        code, path, start, paper = source_of(name, "no-docstring" not in options)
        if "match" in options:
            code, first = excerpt(name, options["match"])
            start += first - 1
        where = f"*{path.as_posix()}, line {start}" + (f" · Paper: {paper}*" if paper else "*")
        return f"{where}\n\n```python\n{code.rstrip()}\n```"

    def _equation_code(self, name: str, options: dict[str, str], body: str) -> str:
        formula = self.plain(body).strip()
        if "equation" in options:
            formula = (
                f"$${next(e.tex for e in EQUATIONS if str(e.number) == options['equation'])}$$\n\n{formula}".strip()
            )
        return f"{formula}\n\n```python\n{excerpt(name, options['match'])[0]}\n```"

    def _quiz(self, name: str, _: dict[str, str], __: str) -> str:
        path = quiz_file(self.page, name)
        if not path.is_file():
            return ""  # the directive itself reports what is missing
        out = []
        for number, item in enumerate(table(path), 1):
            options = "\n".join(f"- {self.plain(o['text'].strip())}" for o in item["options"])
            answers = "\n".join(
                f"- {self.plain(o['text'].strip())} **{'Yes.' if o.get('correct') else 'No.'}** "
                f"{self.plain(o['feedback'].strip())}"
                for o in item["options"]
            )
            question = self.plain(item["question"].strip())
            out.append(f"**{number}.** {question}\n\n{options}\n\n{_details('Answers', answers)}")
        return "\n\n".join(out)

    def _graded(self, name: str, _: dict[str, str], __: str) -> str:
        exercise = find(name)
        head = f"**Exercise {exercise.place} ({exercise.title})**: {exercise.kind}, {exercise.difficulty}"
        begin = f"```python\n{exercise.stub_code.strip()}\n```"
        start = f"A notebook that grades it: `annotated exercise start {name}` in a terminal."
        about = f"{head}, about {exercise.minutes} minutes"
        return "\n\n".join((about, self.plain(exercise.statement), begin, start))

    def _claim(self, name: str, _: dict[str, str], body: str) -> str:
        entry = ledger("claim" if name[0] in "CA" else "question")[name]
        return _quote(f"{entry.heading}. **{self.plain(entry.statement)}**\n\n{self.plain(body)}")

    def _card(self, name: str, _: dict[str, str], body: str) -> str:
        """Question and options; the answer unfolds, and the cell after it is the proof."""
        options, answer = parse(body.splitlines())
        listed = "\n".join(f"- {self.plain(option.text)}" for option in options)
        told = [
            f"- {self.plain(o.text)} **{'Yes.' if o.correct else 'No.'}** {self.plain(o.feedback)}".rstrip()
            for o in options
        ]
        text = "\n".join((*told, "", self.plain(answer)))
        head = f"**{name}. {self.plain(ledger('question')[name].statement)}**"
        return f"{head}\n\n{listed}\n\n{_details('The answer', text)}\n"

    def _div(self, name: str, _: dict[str, str], body: str) -> str:
        title = "**The paper.**\n\n" if name == "the-paper" else ""
        return _quote(title + self.plain(body)) if title else self.plain(body)

    def _live(self, _: str, __: dict[str, str], body: str) -> str:
        """What the page shows without scripts; a notebook cannot be given them, so it is told where the panel is."""
        told = _NEEDS_SCRIPTS.sub(" ", body).strip()
        return f"*The page of this chapter has a live panel here.* {self.plain(told)}".strip()

    def _other(self, argument: str, _: dict[str, str], body: str) -> str:
        head = f"**{self._inline(argument)}**\n\n" if argument else ""
        return head + self.plain(body)


def _closing(lines: list[str], start: int, fence: str) -> int:
    """The line that closes the fence that `start` opens; the last one if none does."""
    mark = re.compile(rf"^{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    return next((i for i in range(start + 1, len(lines)) if mark.match(lines[i])), len(lines))


def _split(lines: list[str]) -> tuple[dict[str, str], str]:
    """Options and body of a directive."""
    options: dict[str, str] = {}
    while lines and (match := _OPTION.match(lines[0])):
        options[match[1]] = match[2]
        lines = lines[1:]
    return options, "\n".join(lines).strip("\n")


def _quote(text: str) -> str:
    """As a quotation. Its formulas stand on one line each: Jupyter takes the `>` of a second line into the formula."""
    text = _FORMULA.sub(lambda formula: " ".join(formula[0].split()), text)
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def _details(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"
