"""Copies are flagged, with other names too; honest answers to the same small task are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotated.cli import main
from annotated_grader.instructor.similarity import SimilarAnswers, similar

STUB = "import math\nimport torch\n\ndef attention(q, k, v, mask=None):\n"
HONEST = {
    "ada": """
    s = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    w = s.softmax(-1).nan_to_num()
    return w @ v, w
""",
    "ben": """
    d = q.size(-1)
    scores = torch.matmul(q, k.transpose(-1, -2)) * d ** -0.5
    if mask is not None:
        scores[~mask.expand_as(scores)] = float('-inf')
    p = torch.softmax(scores, dim=-1)
    p = torch.where(torch.isnan(p), torch.zeros_like(p), p)
    return torch.matmul(p, v), p
""",
    "cleo": """
    weights = torch.einsum('...td,...sd->...ts', q, k)
    weights = weights / (q.shape[-1] ** 0.5)
    if mask is not None: weights = weights + torch.log(mask.float())
    top = weights.amax(-1, keepdim=True)
    e = (weights - top.clamp_min(-1e30)).exp()
    weights = e / e.sum(-1, keepdim=True).clamp_min(1e-30)
    return weights @ v, weights
""",
    "dan": """
    k_t = k.transpose(-2, -1)
    out = q.matmul(k_t).div(q.size(-1) ** 0.5)
    blocked = None if mask is None else mask.logical_not()
    if blocked is not None:
        out.masked_fill_(blocked, -torch.inf)
    out = out.softmax(dim=-1)
    if blocked is not None:
        out = out.masked_fill(blocked, 0)
    return out.matmul(v), out
""",
}


def code(body: str) -> str:
    return STUB + body


def test_honest_answers_are_not_flagged() -> None:
    assert similar({name: code(body) for name, body in HONEST.items()}, STUB).pairs == ()


def test_a_copy_and_a_copy_with_other_names_are_flagged() -> None:
    answers = {name: code(body) for name, body in HONEST.items()}
    answers["eve"] = code("# my own work\n" + HONEST["ben"]).replace("# my own", "    # my own")
    answers["finn"] = (
        answers["cleo"]
        .replace("weights", "attn")
        .replace("top", "largest")
        .replace("e ", "expo ")
        .replace("e.", "expo.")
    )
    found = {(pair.first, pair.second): pair for pair in similar(answers, STUB).pairs}
    assert set(found) == {("ben", "eve"), ("cleo", "finn")}
    assert found["ben", "eve"].text > 0.9
    assert found["cleo", "finn"].structure > 0.97 > 0.9 > found["cleo", "finn"].text


def test_two_stubs_or_broken_files_are_no_pair() -> None:
    assert similar({"ada": STUB, "ben": STUB}, STUB) == SimilarAnswers()
    assert similar({"ada": code("    return (((\n"), "ben": "def f(:"}) == SimilarAnswers()


def test_two_copies_alone_in_a_folder_are_flagged() -> None:
    copies = similar({"ada": code(HONEST["ada"]), "eve": code(HONEST["ada"])}, STUB)
    assert [pair.text for pair in copies.pairs] == [1.0]
    assert similar({name: code(HONEST[name]) for name in ("ada", "ben")}, STUB).pairs == ()


def test_where_most_answers_are_the_same_no_pair_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bodies = {f"s{i}": HONEST["ada"] for i in range(9)} | {"zoe": HONEST["ben"]}
    for name, body in bodies.items():  # 36 of 45 pairs are the same
        (tmp_path / f"{name}_ex05-1.py").write_text(code(body), encoding="utf-8")
    assert main(["exercise", "similarity", str(tmp_path)]) == 0
    _, line = capsys.readouterr().out.splitlines()
    assert "9 of 10 answers are nearly the same as written: s0, s1," in line and "zoe" not in line
