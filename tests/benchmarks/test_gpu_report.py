"""Report of the GPU benchmark, by made-up numbers: promises, tables, and what goes into gpu.md."""

from __future__ import annotations

import pytest

from benchmarks.gpu import modes, outcomes, report

HEAD = "| mode | change | prediction | outcome |\n|---|---|---|---|\n"
DOCUMENT = (
    f"# Speed\n\n{HEAD}| `bf16` | autocast | 50 ms | pending a GPU |\n"
    "| `bf16_static_graphs` | one graph | **25 ms** | pending a GPU |\n\n"
    f"| mode | why |\n|---|---|\n| `bf16` | no outcome here |\n\n{outcomes.BEGIN}\n\nNone yet.\n\n{outcomes.END}\n\n"
    f"{HEAD}| `fp32` | the start | 180 ms | pending a GPU |\n"
)


def side(ms=40.0, rate=1000.0, share=0.2, steady=None, loss=9.0, **fresh):
    numbers = {"ms_a_step": ms, "tokens_s": rate, "share_of_peak": share, "ms_without_stalls": ms, "worst_ms": 2 * ms}
    numbers |= {"graphs": 1, "recordings": 2, "memory_growth_mib": 64.0, "stalled_steps": 3, **fresh}
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
    assert report.promises({"base": {"sides": rows}}) == [], "none of ours trains as fp32 does"


@pytest.mark.parametrize(
    ("ms", "peer_rate", "share", "kept"),
    [(29.9, 1000, 0.46, [True, True, True, True]), (30.1, 1400, 0.44, [False, False, False, False])],
)
def test_promises_are_judged_on_fresh_batches(ms, peer_rate, share, kept):
    ours = side(ms, 2000, share, steady=99.0)
    rows = {
        "fp32": side(1.0, 9e9, 1.0),
        "bf16": side(99.0, 600, 0.1, steady=1.0),
        "bf16_static_graphs": ours,
        "bf16_static": {"failed": "RuntimeError: no kernel"},
        "torch_nn": side(99.0, 900, 0.1, steady=1.0),
        "hf_marian_compiled": side(99.0, peer_rate, 0.1),
    }
    found = report.promises({"base": {"sides": rows}, "big": {"sides": rows}})
    assert [one for _, one in found] == kept
    assert "(hf_marian_compiled)" in found[1][0], "the best peer counts"


def test_a_promise_beside_eager_peers_says_so():
    rows = {"bf16": side(20.0, 2000), "torch_nn": side(rate=1000)}
    (_, (text, kept)) = report.promises({"base": {"sides": rows}})
    assert kept and "no compiled peer was measured" in text


def test_tables_name_failures_and_what_was_left_out():
    text = report.table(result({"bf16": side(50.0), "bf16_static": {"failed": "RuntimeError: no kernel"}}))
    assert "RuntimeError: no kernel" in text and "big/fp32" in text
    assert "50.0 ms fresh (3 new graphs, worst 100 ms, memory +64 MiB)" in text
    assert "promise MISSED: base: a step of at most 30 ms (aim 22): 50.0 ms (bf16)" in text


def test_outcomes_fill_their_column_and_the_tables():
    sides = {"bf16": side(48.2, steady=44.0), "bf16_static_graphs": {"failed": "recording failed"}}
    text = outcomes.filled(DOCUMENT, result(sides))
    assert "| `bf16` | autocast | 50 ms | 48.2 ms fresh, 44.0 seen before; 3 new graphs |" in text
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
