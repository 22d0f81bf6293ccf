"""The cases of the game: answers that the doctor can tell apart, and reports that are the doctor's own."""

from __future__ import annotations

import json
import re

import pytest

from annotated_book.record import recorded
from annotated_book.reference.doctor.cases import CASES, HEALTHY, alike, game, why_not
from annotated_book.reference.doctor.experiment import CASES as EXAMINED
from annotated_book.reference.doctor.frame import doctor
from annotated_book.viz.engine.script import page_translator
from annotated_grader.doctor import OurSubject, Report, examine, mutants
from annotated_grader.doctor.finding import CHAPTERS, CLAIMS
from annotated_grader.doctor.invariants import INVARIANTS


def report(id: str) -> Report:
    return Report.from_dict(recorded("doctor").results["reports"][id])


def test_every_case_has_its_own_answer_among_the_options_and_a_reason_against_each_other() -> None:
    made = game()
    assert [case["id"] for case in made["cases"]] == list(CASES) and set(CASES) == {HEALTHY, *EXAMINED}
    assert len({tuple(case["options"]).index(case["id"]) for case in made["cases"]}) > 2, "the right one is anywhere"
    for case in made["cases"]:
        assert len(case["options"]) == len({*case["options"]}) == 5
        assert {case["id"], HEALTHY} <= {*case["options"]} <= {*made["answers"]}
        assert {*case["whyNot"]} == {*case["options"]} - {case["id"]}
        titles = [invariant.title for invariant in INVARIANTS.values()]
        for text in case["whyNot"].values():
            assert text.endswith(tuple(titles)) or "The map" in text


def test_a_reason_names_an_invariant_in_which_both_differ() -> None:
    leak, padding = (INVARIANTS[id].title for id in ("leak-by-change", "source-padding"))
    fill, missing, well = report("mask_fill_tiny"), report("causal_mask_missing"), report(HEALTHY)
    assert why_not("mask_fill_tiny", missing) == (
        f"With that mistake this invariant would fail, and it holds here (test 2): {padding}"
    )
    assert why_not("padding_seen_by_encoder", fill).endswith(f"it fails here (test 1): {leak}")
    assert why_not(HEALTHY, missing) == f"In a healthy model this invariant holds, and it fails here (test 1): {leak}"
    assert why_not("causal_mask_missing", well).endswith(f"it holds here (test 1): {leak}")
    with pytest.raises(ValueError, match="does not tell healthy from healthy"):
        why_not(HEALTHY, well)


def test_a_reason_is_one_that_the_reader_can_see_wherever_one_of_the_tests_differs() -> None:
    """By the bank's own lists: which of the four invariants fail in the model, and which with the other answer."""
    tested = {"leak-by-change", "source-padding", "cache-equals-forward", "source-order"}
    for case in game()["cases"]:
        failed = {finding.id for finding in report(case["id"]).of("failed")}
        for option, text in case["whyNot"].items():
            expected = set() if option == HEALTHY else {*mutants.find(option).killed_by}
            assert ("(test " in text) == bool(tested & (failed ^ expected)), (case["id"], option)
            assert ("(test " in text) + ("The map" in text) + ("not by the tests here" in text) == 1
    assert "layer" in why_not("causal_mask_in_first_layer_only", report("causal_mask_missing"))


def test_the_reports_are_of_sick_models_and_of_a_healthy_one() -> None:
    assert report(HEALTHY).healthy and len(report(HEALTHY).of("passed")) > 50
    for id in EXAMINED:
        failed = {finding.id for finding in report(id).of("failed")}
        assert failed and failed <= {*mutants.find(id).killed_by}, id
        assert not report(id).of("error")


@pytest.mark.parametrize("id", ["causal_mask_missing", "positions_missing"])
def test_the_record_is_what_the_doctor_finds_now(id: str) -> None:
    some = [finding.id for finding in report(id).of("failed") if not finding.id.startswith(("beam", "greedy"))]
    with mutants.switched_on(id):
        now = examine(OurSubject(page_translator().model, id), [*some, "source-padding", "dropout-off"])
    assert {finding.id for finding in now.of("failed")} == set(some)
    for finding in now.of("failed"):
        then = report(id)[finding.id]
        assert finding.title == then.title and finding.mistakes == then.mistakes
        assert re.sub(r"[\d.e-]+", "#", finding.measured) == re.sub(r"[\d.e-]+", "#", then.measured)


def test_the_report_in_the_page_links_chapters_and_claims_and_says_must_hold_and_found() -> None:
    for case in game()["cases"]:
        number, _ = CASES[case["id"]]
        assert case["chapter"]["href"] == f"../{CHAPTERS[number][1]}.html"
        if case["id"] == HEALTHY:
            assert case["report"] == case["claim"] == ""
            continue
        claim = mutants.find(case["id"]).claim
        assert claim in CLAIMS and f"#claim-{claim.lower()}" in case["claim"]
        assert case["report"].count("<b>Must hold:</b>") == case["report"].count("<b>Found:</b>") >= 1
        assert 'href="../' in case["report"]


def test_what_looks_alike_fails_alike() -> None:
    assert alike("positions_missing") == [mutants.find("positions_in_encoder_only").sentence]
    assert mutants.find("causal_mask_too_wide").sentence in alike("causal_mask_missing")
    assert alike(HEALTHY) == []


def test_the_data_stand_in_the_page_and_close_no_script() -> None:
    html = doctor(None)
    assert html.count("</script>") == 1 and len(html) < 100_000
    data = re.search(r'class="doctor-data">(.*)</script>', html)
    assert data and json.loads(data[1]) == json.loads(json.dumps(game()))
