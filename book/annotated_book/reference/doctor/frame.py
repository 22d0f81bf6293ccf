"""Data of the game in the page, for its script to take over, and the looks of the doctor's report."""

from __future__ import annotations

import json

from annotated_book.reference.doctor.cases import game
from annotated_grader.doctor.report.page import STYLE


def doctor(sentence: str | None) -> str:
    """The data of the game as a script that is not run."""
    data = json.dumps(game(), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'<style>{STYLE}</style><script type="application/json" class="doctor-data">{data}</script>'
