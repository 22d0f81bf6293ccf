"""The ledger's page computes from the counts what the library computes, and what the entry's report says."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from annotated.evaluation import bleu, bleu_of, resample
from annotated.runs.report import RunReport
from annotated.runs.report.scoring import read_statistics, settings_of, statistics
from annotated.saving import read_json
from annotated.storage import verify_checksums
from annotated_book.pages import page_folder
from annotated_book.results.ledger import reports
from annotated_book.results.ledger.frame import counts, page_data
from book.tests.javascript import RANDOM, evaluate

SCORES = page_folder("ledger") / "scores.js"


@pytest.fixture(scope="module")
def entry() -> RunReport:
    return reports()[-1]


def test_the_page_scores_any_selection_of_sentences_as_the_library(entry: RunReport) -> None:
    data, numbers = page_data(), counts(entry.folder)
    assert numbers.shape == (2, 600, 10)
    times = np.random.default_rng(3).integers(0, 4, (5, 600))
    times[0], times[1] = 1, np.arange(600) < 1  # the whole test set; one sentence alone
    times[2] = np.arange(600) == 1  # the second sentence shares no 4-gram: smoothed
    found = evaluate(
        SCORES, "({ scores, unpack }, [text, times]) => times.map(one => scores(unpack(text, 2), one))",
        [data["counts"], times.tolist()],
    )  # fmt: skip
    expected = bleu_of(np.einsum("ts,ksn->tkn", times, numbers))
    assert np.allclose(found, expected, rtol=0, atol=1e-9)
    assert found[0] == pytest.approx([row[0] for row in data["reported"][:2]], abs=1e-3)


def test_nothing_shared_and_nothing_to_share_are_zero() -> None:
    sums = [[4, 4, 0, 0, 0, 0, 4, 3, 2, 1], [3, 4, 3, 2, 1, 0, 3, 2, 1, 0], [4, 4, 1, 0, 0, 0, 4, 3, 2, 1]]
    found = evaluate(SCORES, "({ bleuOf }, rows) => rows.map(bleuOf)", sums)
    assert found[:2] == [0, 0] and found[2] == pytest.approx(float(bleu_of(sums[2])), abs=1e-9)


def test_the_intervals_agree_with_other_draws_of_the_library_and_of_the_report(entry: RunReport) -> None:
    data = page_data()
    code = """async ({ draw, interval, scores, unpack }, [text, seed, file]) => {
      const systems = unpack(text, 2), random = (await import(file)).randomFrom(seed);
      const drawn = Array.from({ length: 1000 }, () => scores(systems, draw(600, random)));
      return [0, 1].map(s => interval(drawn.map(one => one[s])));
    }"""
    found = evaluate(SCORES, code, [data["counts"], 1, RANDOM.as_uri()])
    expected = np.percentile(resample(counts(entry.folder), 4000, seed=5), [2.5, 97.5], axis=0).T
    assert np.allclose(found, expected, atol=0.25)
    assert np.allclose(found, [row[1:] for row in data["reported"][:2]], atol=0.25)


def test_what_the_page_says_of_other_sizes_holds_for_several_draws(entry: RunReport) -> None:
    """The two systems overlap at every size; their difference excludes zero from 1,200 sentences on."""
    code = """async ({ draw, interval, scores, unpack }, [text, file]) => {
      const { randomFrom } = await import(file), systems = unpack(text, 2);
      return [600, 1200, 2400].flatMap(size => [1, 2].map(seed => {
        const random = randomFrom(seed), once = () => scores(systems, draw(600, random, size));
        const drawn = Array.from({ length: 1000 }, once);
        return [...[0, 1].map(s => interval(drawn.map(one => one[s]))), interval(drawn.map(([a, b]) => a - b))];
      }));
    }"""
    found = evaluate(SCORES, code, [page_data()["counts"], RANDOM.as_uri()])
    for number, (average, last, difference) in enumerate(found):
        assert average[0] < last[1]
        assert number < 2 or difference[0] > 0.2
    random = np.random.default_rng(7)
    times = random.multinomial(1200, np.full(600, 1 / 600), 2000)
    drawn = bleu_of(np.einsum("ts,ksn->tkn", times, counts(entry.folder)))
    expected = np.percentile(drawn[:, 0] - drawn[:, 1], [2.5, 97.5])
    assert np.allclose(found[2][2], expected, atol=0.2)


def test_what_the_page_says_of_the_luck_of_the_draws(entry: RunReport) -> None:
    """Of thousands of drawn test sets, the lower end of the difference differs; of all of them, it is near 0.05."""
    random, numbers = np.random.default_rng(11), counts(entry.folder).astype(float)
    drawn = []
    for _ in range(40):
        times = random.multinomial(600, np.full(600, 1 / 600), 1000).astype(float)
        average, last = (bleu_of(times @ system) for system in numbers)
        drawn.append(average - last)
    ends = np.percentile(drawn, 2.5, axis=1)
    assert -0.15 < ends.min() < 0 < ends.max() < 0.25 and (ends < 0).mean() < 0.25
    assert 0.03 < np.percentile(drawn, 2.5) < 0.07


def test_a_bin_starts_at_a_multiple_of_its_width_and_holds_one_sign() -> None:
    found = evaluate(SCORES, "({ binned }, series) => binned(series, 0.5)", [[-0.6, -0.1, 0, 0.4, 1.0], [0.5, 0.7]])
    assert found == {"first": -2, "counts": [[1, 1, 2, 0, 1], [0, 0, 0, 2, 0]]}


def test_a_drawn_test_set_has_as_many_sentences_and_follows_its_seed() -> None:
    code = """async ({ draw }, file) => {
      const { randomFrom } = await import(file);
      return [1, 1, 2].map(seed => [...draw(50, randomFrom(seed))]);
    }"""
    one, same, other = evaluate(SCORES, code, RANDOM.as_uri())
    assert sum(one) == 50 and one == same != other and max(one) > 1


def test_the_ends_are_those_of_numpy() -> None:
    values = np.random.default_rng(0).normal(size=101).tolist()
    assert evaluate(SCORES, "({ interval }, values) => interval(values)", values) == pytest.approx(
        np.percentile(values, [2.5, 97.5]).tolist()
    )


def test_a_count_that_needs_more_than_a_byte_is_refused(entry: RunReport, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(base64.b64decode(page_data()["counts"])) == 2 * 600 * 10
    monkeypatch.setattr("annotated_book.results.ledger.frame.counts", lambda _: np.full((2, 1, 10), 256))
    with pytest.raises(ValueError, match="more than a byte"):
        page_data()


@pytest.mark.parametrize("run", reports(), ids=lambda run: run.folder.name)
def test_each_run_is_what_its_files_say(run: RunReport) -> None:
    """The files are those of `entry.json`; the scores follow from the counts, and these from the translations."""
    folder, told = run.folder, read_json(run.folder / "entry.json")["files"]
    assert verify_checksums(folder, told) is None
    assert {path.name for path in folder.iterdir()} == {*told, "entry.json"}
    references = [line.split("\t")[1] for line in (folder / "test.tsv").read_text("utf-8").splitlines()]
    counted = read_statistics((folder / "statistics.tsv").read_text(encoding="utf-8"))
    for system, file in (("average", "hypotheses.txt"), ("last", "hypotheses.last.txt")):
        scores, texts = run.content["scores"][system], (folder / file).read_text(encoding="utf-8").splitlines()
        for name, again in statistics({system: texts}, references, settings_of(scores), "de").items():
            assert np.array_equal(again, counted[name])
            score = scores[name.rpartition(".")[2]]["score"]
            assert float(bleu_of(counted[name].sum(axis=0))) == pytest.approx(score, abs=1e-3)
        assert bleu(texts, references).chrf == pytest.approx(scores["chrf"]["score"], abs=1e-3)
