"""Report of the GPU benchmark, by made-up numbers: promises, tables, and what goes into gpu.md."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from annotated.speed.layouts.static_batch import StaticShape
from benchmarks.gpu import modes, outcomes, pairs, report

RECORDED = Path(report.__file__).resolve().parents[1] / "recorded" / "gpu_h100.json"

HEAD = "| mode | change | prediction | outcome |\n|---|---|---|---|\n"
DOCUMENT = (
    f"# Speed\n\n{HEAD}| `bf16` | autocast | 50 ms | pending a GPU |\n"
    "| `bf16_static_graphs` | one graph | **25 ms** | pending a GPU |\n\n"
    f"| mode | why |\n|---|---|\n| `bf16` | no outcome here |\n\n{outcomes.BEGIN}\n\nNone yet.\n\n{outcomes.END}\n\n"
    f"{HEAD}| `fp32` | the start | 180 ms | pending a GPU |\n"
)


def side(ms=40.0, rate=1000.0, share=0.2, steady=None, loss=9.0, each=None, **fresh):
    numbers = {"ms_a_step": ms, "tokens_s": rate, "share_of_peak": share, "ms_without_stalls": ms, "worst_ms": 2 * ms}
    numbers |= {"graphs": 1, "recordings": 2, "memory_growth_mib": 64.0, "ms": each or [ms] * 2, "stalled_steps": 0}
    numbers |= fresh
    start = {"seconds": 60.0}
    return {
        "fresh": numbers,
        "steady": {"ms_a_step": steady or ms},
        "start": start,
        "limit_hits": 0,
        "first_loss": loss,
        "first_norm": 1.0,
    }


def result(sides, device="NVIDIA H200"):
    machine = {"cores": 16, "processor": "X", "versions": {"torch": "2.13.0"}, "driver": "580.1"}
    head = {"command": "python -m benchmarks gpu", "date": "2026-11-23", "device": device, "machine": machine}
    return {**head, "settings": {"tokens": 25_000}, "shapes": {"base": {"sides": sides}}, "left_out": ["big/fp32"]}


def test_a_mode_that_trains_otherwise_is_marked_and_keeps_no_promise():
    rows = {"fp32": side(90.0), "bf16": side(50.0, loss=9.05), "bf16_static": side(10.0, loss=9.2), "torch_nn": side()}
    rows["bf16"]["first_norm"] = float("nan")
    assert report.disagreeing(rows) == [
        "bf16: first_norm nan, fp32 has 1.0000",
        "bf16_static: first_loss 9.2000, fp32 has 9.0000",
    ]
    assert report.promises({"base": {"sides": rows}}, "NVIDIA H100") == [], "none of ours trains as fp32 does"


@pytest.mark.parametrize(
    ("ms", "peer_ms", "mib", "kept"),
    [(35.9, 53.9, 22_888, [True, True, True, True]), (36.1, 54.1, 22_889, [False, False, False, False])],
)
def test_promises_are_judged_on_fresh_batches(ms, peer_ms, mib, kept):
    # 22,888 MiB are 24.0 * 10^9 bytes less 175 kB; 53.9 / 35.9 is 1.501, and 54.1 / 36.1 is 1.499.
    ours = {**side(ms, steady=99.0), "memory": {"peak_reserved_mib": mib}}
    rows = {
        "fp32": side(1.0),
        "bf16": side(99.0, steady=1.0),
        "bf16_static_graphs": ours,
        "bf16_static": {"failed": "RuntimeError: no kernel"},
        "torch_nn": side(40.0),
        "torch_nn_compiled": side(99.0, steady=1.0),
        "hf_marian_compiled": side(peer_ms),
    }
    found = report.promises({"base": {"sides": rows}, "big": {"sides": rows}}, "NVIDIA H100 80GB HBM3")
    assert [one for _, one in found] == kept
    assert "(hf_marian_compiled)" in found[1][0], "the best compiled peer counts"
    assert [text.split(":")[0] for text, _ in found] == ["base", "base", "big", "big"]


def test_what_was_promised_of_another_card_or_beside_other_peers_is_not_judged():
    rows = {"bf16": side(20.0), "torch_nn": side(90.0)}
    assert report.promises({"base": {"sides": rows}}, "NVIDIA H200") == []
    assert len(report.promises({"base": {"sides": rows}}, "NVIDIA H100")) == 1


def test_recordings_of_new_classes_are_named_beside_the_steps_that_are_judged_and_compilations_count():
    many = {"ms_without_stalls": 35.0, "each": [35.0, 285.0, 35.0, 245.0], "stalled_steps": 2, "stalled": [1, 3]}
    recorded = {"bf16_static_graphs": side(150.0, graphs=0, **many)}
    ((text, kept),) = report.promises({"base": {"sides": recorded}}, "NVIDIA H100")
    assert kept and "35.0 ms (bf16_static_graphs; 2 stalled, 0.5 s in all)" in text
    compiled = {"bf16_static_graphs": side(150.0, graphs=1, **many)}
    ((text, kept),) = report.promises({"base": {"sides": compiled}}, "NVIDIA H100")
    assert not kept and "150.0 ms" in text
    beside = {**recorded, "torch_nn_compiled": side(900.0, graphs=1, **{**many, "ms_without_stalls": 70.0})}
    _, (text, kept) = report.promises({"base": {"sides": beside}}, "NVIDIA H100")
    assert kept and ": 2.00 (" in text, "a peer's compilation keeps no promise of ours"


def test_a_line_through_the_calm_steps_says_what_a_sentence_costs():
    fresh = {"ms": [31.0, 32.0, 900.0, 34.0], "sentences": [100, 200, 300, 400], "stalled_steps": 1, "stalled": [2]}
    cost = report.sentence_cost(fresh)
    assert cost is not None and tuple(cost) == pytest.approx((0.01, 30.0, 1.0))
    same = side(each=fresh["ms"], sentences=fresh["sentences"], stalled_steps=1, stalled=[2])
    assert report.sentence_costs({"bf16": same}) == ["bf16: 30.0 ms + 0.0100 ms a sentence, R^2 1.000"]
    assert report.sentence_cost({**fresh, "sentences": [7] * 4}) is None, "no line through one column of points"
    assert report.sentence_cost({name: fresh[name] for name in ("ms", "stalled_steps")}) is None, "an earlier record"


def test_the_report_prints_what_a_sentence_costs():
    sides = {"bf16": side(33.0, each=[31.0, 32.0, 34.0], sentences=[100, 200, 400])}
    line = "bf16: 30.0 ms + 0.0100 ms a sentence, R^2 1.000"
    assert f"\n  {line}\n" in report.table(result(sides)) and f"\n- {line}\n" in report.markdown(result(sides))


@pytest.fixture(scope="module")
def lengths():
    """Source and target lengths of the batches that the benchmark on the H100 took, and of ten more."""
    store = pairs.wmt_like_store(25_000, 37_000)
    batches = pairs.our_batches(store, 25_000)
    return [store.lengths(batches.next_pairs()) for _ in range(80)]


def recorded(mode):
    return json.loads(RECORDED.read_text(encoding="utf-8"))["shapes"]["base"]["sides"][mode]["fresh"]


def test_on_the_h100_attention_cost_by_sentences(lengths):
    """Section *What a sentence costs* of gpu.md."""
    counts = [len(source) for source, _ in lengths]
    fresh = recorded("bf16_static_graphs")
    cost = report.sentence_cost(fresh, counts[20:70])
    assert cost.slope == pytest.approx(0.0178, rel=0.1) and cost.r_squared > 0.95
    assert cost.intercept == pytest.approx(34.4, abs=0.1)
    for offset in (*range(10, 20), *range(21, 31)):
        assert report.sentence_cost(fresh, counts[offset : offset + 50]).r_squared < 0.1, "other batches fit nothing"
    flex = report.sentence_cost(recorded("bf16_all_levers_flex"), counts[20:70])
    assert abs(flex.slope) < 0.001 and flex.intercept == pytest.approx(43.3, abs=0.1)
    assert flex.r_squared == pytest.approx(0.197, abs=5e-4)


def test_on_the_h100_attention_took_15_6_of_49_6_milliseconds(lengths):
    """The same with what the kernel starts: tiles of 128 queries, and segments in powers of two, empty ones too."""
    milliseconds = np.array(recorded("bf16_static_graphs")["ms"])
    shape = StaticShape.for_tokens(25_000, 256)
    rows = []
    for source, target in lengths[20:70]:
        tiles = sum(-(-side // 128).sum() for side in (source, target, target))  # own twice, and the memory
        padding = -(-max(shape.rows - source.sum(), shape.rows - target.sum()) // shape.width)
        rows.append((1, tiles, 2 ** np.ceil(np.log2(len(source) + padding))))
    line, *_ = np.linalg.lstsq(np.array(rows, float), milliseconds, rcond=None)
    assert np.corrcoef(np.array(rows) @ line, milliseconds)[0, 1] ** 2 > 0.995
    assert line[1:] == pytest.approx([0.0048, 0.0025], abs=5e-5)
    assert line[0] == pytest.approx(34.1, abs=0.05) and milliseconds.mean() - line[0] == pytest.approx(15.6, abs=0.05)


def test_on_the_h100_the_static_shape_was_full_to_95_88_percent(lengths):
    real = sum(source.sum() + target.sum() for source, target in lengths[20:70])
    rectangles = sum(len(s) * (s.max() + t.max()) for s, t in lengths[20:70])
    assert real / (50 * sum(StaticShape.for_tokens(25_000, 256).sides)) == pytest.approx(0.9588, abs=5e-5)
    assert real / rectangles == pytest.approx(0.9003, abs=5e-5), "what the benchmark had recorded"


def test_tables_name_failures_and_what_was_left_out():
    text = report.table(result({"bf16": side(50.0), "bf16_static": {"failed": "RuntimeError: no kernel"}}))
    assert "RuntimeError: no kernel" in text and "big/fp32" in text
    assert "50.0 ms fresh (3 new graphs, worst 100 ms, memory +64 MiB)" in text
    on_an_h100 = report.table(result({"bf16": side(50.0)}, device="NVIDIA H100 80GB HBM3"))
    assert "promise MISSED: base: a step of at most 36 ms on an H100: 50.0 ms (bf16)" in on_an_h100


def test_tables_name_stalls_and_what_they_took_together():
    found = result({"bf16": side(50.0, each=[50.0, 250.0, 150.0], stalled_steps=2, stalled=[1, 2])})
    assert "(3 new graphs, 2 stalled, 0.4 s in all, worst" in report.table(found)
    assert "| 3: 2 stalled, 0.4 s in all |" in report.markdown(found)


def test_outcomes_fill_their_column_and_the_tables():
    sides = {"bf16": side(48.2, steady=44.0), "bf16_static_graphs": {"failed": "recording failed"}}
    text = outcomes.filled(DOCUMENT, result(sides))
    assert "| `bf16` | autocast | 50 ms | NVIDIA H200: 48.2 ms fresh, 44.0 seen before; 3 new graphs |" in text
    assert "| `bf16_static_graphs` | one graph | **25 ms** | recording failed |" in text
    assert "| `fp32` | the start | 180 ms | pending a GPU |" in text, "was not measured"
    assert "| `bf16` | no outcome here |" in text, "a table without that column stays"
    assert "NVIDIA H200, driver 580.1, 16 cores (X), torch 2.13.0, 2026-11-23" in text
    assert "    python -m benchmarks gpu\n" in text and "big/fp32" in text and "None yet" not in text
    assert "| `bf16` | 48.2 ms | 48.2 ms | 3 | 96 ms | +64 MiB | 44.0 ms | 1,000 | 20.0% | 60 s |" in text


def test_kernels_that_were_compiled_before_do_not_pass_for_a_fast_start():
    cached = side()
    cached["start"]["graphs_from_disk"] = 2
    assert "| 60 s, in part cached |" in report.markdown(result({"bf16": cached}))


def test_outcomes_can_be_filled_again_and_are_then_those_of_the_last_run():
    sides = {"bf16": side(48.2)}
    once = outcomes.filled(DOCUMENT, result(sides))
    assert outcomes.filled(once, result(sides)) == once
    again = outcomes.filled(once, result({"bf16": side(31.5)}))
    assert "31.5" in again and "48.2" not in again


def test_outcomes_of_a_cpu_are_refused():
    with pytest.raises(outcomes.OutcomeError, match="CPU"):
        outcomes.filled(DOCUMENT, result({}, device="cpu"))


@pytest.mark.parametrize("document", ["no place", f"{outcomes.END} {outcomes.BEGIN}", DOCUMENT + outcomes.BEGIN])
def test_a_document_without_a_place_for_results_is_refused(document):
    with pytest.raises(outcomes.OutcomeError, match="put them back"):
        outcomes.filled(document, result({}))


def test_the_projects_document_has_a_prediction_for_every_mode_and_a_place_for_results():
    document = outcomes.DOCUMENT.read_text(encoding="utf-8")
    text = outcomes.filled(document, result({name: side(12.34) for name in modes.MODES}))
    for name in modes.MODES:
        rows = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        assert sum("12.3 ms fresh" in row for row in rows) == 1, f"{name} has no row with an outcome"


def test_a_run_is_written_to_disk_whole(tmp_path):
    path = tmp_path / "gpu.md"
    path.write_text(DOCUMENT, encoding="utf-8")
    outcomes.write(result({"bf16": side(48.2)}), path)
    assert "48.2 ms fresh" in path.read_text(encoding="utf-8")
