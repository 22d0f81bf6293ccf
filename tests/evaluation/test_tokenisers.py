"""Tokenisers of BLEU: by language as sacreBLEU's program chooses, by script where the language is not known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from annotated.evaluation import bleu, bleu_of, bleu_statistics
from annotated.evaluation.tokenisers import divides_words, tokeniser_of

CHINESE = ["猫在睡觉。", "两只狗在花园里跑。", "今天天气很好，我们去公园。"]
WRONG = ["猫在睡觉。", "两只狗在花园里走。", "今天天气不好，我们去学校。"]
TEXTS = {
    "The cat sleeps in Peking (北京).": "13a",
    "Кот спит.": "13a",
    "القطة نائمة.": "13a",
    "고양이가 잔다.": "13a",
    "2014 - 2015, 100 %": "13a",
    "": "13a",
    CHINESE[1]: "zh",
    "猫は寝ています。": "char",
    "แมวกำลังนอนหลับ": "char",
    "ឆ្មាកំពុងដេក": "char",
    "ကြောင်အိပ်နေသည်": "char",
}


@pytest.mark.parametrize("text", TEXTS)
def test_the_script_decides(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert tokeniser_of([text]) == TEXTS[text]
    assert divides_words(TEXTS[text]) == (TEXTS[text] == "13a")


def test_the_language_decides_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for found, japanese, korean in ((None, "char", "13a"), ("there", "ja-mecab", "ko-mecab")):
        monkeypatch.setattr("importlib.util.find_spec", lambda name, found=found: found)
        of = {language: tokeniser_of(CHINESE, language) for language in ("de", "zh", "ja", "ko", "th")}
        assert of == {"de": "13a", "zh": "zh", "ja": japanese, "ko": korean, "th": "char"}


def test_the_score_is_that_of_sacrebleus_own_program(tmp_path: Path) -> None:
    (tmp_path / "ref").write_text("\n".join(CHINESE), encoding="utf-8")
    (tmp_path / "hyp").write_text("\n".join(WRONG), encoding="utf-8")
    command = [sys.executable, "-m", "sacrebleu", "ref", "-i", "hyp", "-l", "en-zh", "-b", "-w", "10"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    ours = bleu(WRONG, CHINESE)
    assert ours.bleu == pytest.approx(float(said.stdout), abs=1e-9) and 30 < ours.bleu < 90
    assert "tok:zh" in ours.signature
    assert float(bleu_of(bleu_statistics(WRONG, CHINESE).sum(0))) == pytest.approx(ours.bleu, abs=1e-9)
