"""Cells of a stranger's notebook in the sandbox: what hangs, or needs what is not there, costs nothing but itself."""

from __future__ import annotations

import json

import pytest

from annotated_grader.exercise.catalogue import find
from annotated_grader.exercise.submission import read
from annotated_grader.instructor.remote import grade_code
from annotated_grader.sandbox import isolation
from annotated_grader.sandbox.process import SandboxLimits


def test_a_hung_cell_is_skipped_and_said_and_costs_no_restart() -> None:
    try:
        level = isolation.best_level()
    except isolation.NotIsolated as error:
        pytest.skip(str(error))
    cells = (
        "import asyncio\nBASE = await asyncio.sleep(0, 4000)\nTABLE = []",
        "import time\nTABLE.append(time.sleep(100))",
        "from annotated import recipes\nTABLE.append(recipes)",
        "import time\ntime.sleep(100)",
        "import torch\n" + find("ex20-1").solution_code.replace("def rate", "@torch.compile\ndef rate"),
        "def first_rates(count, d_model, warmup=BASE):\n    assert TABLE == []\n"
        "    return [rate(update, d_model, warmup) for update in range(1, count + 1)]",
    )
    made = [{"cell_type": "code", "metadata": {}, "source": code} for code in cells]
    submission = read(json.dumps({"cells": made, "nbformat": 4}).encode(), "a.ipynb")
    limits = SandboxLimits(call_seconds=4, restarts=0)
    result, status, _ = grade_code(find("ex20-1"), submission, "salt", level, limits)
    assert (result.score, status) == (result.maximum, "ok"), result.checks
    hung, library, others = result.notes
    assert hung.startswith("cell 2 did not run to its end") and "longer than 4 seconds" in hung
    assert "longer than 4 seconds together" in others and "1 of their statements was not run" in others
    assert "cell 3" in library and "annotated.recipes cannot be imported" in library
