"""The formula sheet: numbers in its formulas, the meanings of its symbols, and buttons that copy."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import annotated
from annotated.config import TrainingConfig
from annotated_book.pages import page_file
from book.tests.boxes import box_of
from book.tests.javascript import evaluate

SCRIPT = Path(__file__).parents[2] / "book" / "_assets" / "book" / "formula_numbers.js"


def cases(formula: Any) -> list[list[float]]:
    """Values of a formula's fields: as the page has them, twice as large, and small."""
    first = [field.value for field in formula.fields]
    double = [min(2 * field.value, field.most) if field.value > 0 else field.value - 1 for field in formula.fields]
    small = [
        max(field.least, round(field.value / 4)) if field.step != "any" else field.value for field in formula.fields
    ]
    return [first, [max(v, f.least) for v, f in zip(double, formula.fields, strict=True)], small]


def test_the_page_computes_what_the_library_does(extension: Any) -> None:
    formulas = extension("formulas.formula_numbers").FORMULAS
    asked = {name: cases(formula) for name, formula in formulas.items()}
    work = """(_, asked) => Object.fromEntries(Object.entries(asked).map(([name, cases]) =>
        [name, cases.map(values => annotatedFormulas.formulas[name](...values))]))"""
    answers = evaluate(SCRIPT, work, asked)
    for name, formula in formulas.items():
        for values, found in zip(asked[name], answers[name], strict=True):
            assert found == pytest.approx(list(formula.compute(*values)), rel=1e-5, abs=1e-9), (name, values)
            assert len(found) == len(formula.results)


def test_the_sheet_says_how_much_table_1_leaves_out(repository: Path) -> None:
    from annotated_book.why.table_1.complexity import operations

    page = " ".join(page_file("reference/formulas").read_text("utf-8").split())
    mixing, projections = operations("self-attention", 50, 512).values()
    share = projections / (mixing + projections)
    assert "$4nd^2$ multiplications against $2n^2d$" in page
    assert f"{share:.0%}".replace("%", " %") + " of the work at $n = 50$ and $d = 512$" in page


def test_the_numbers_are_those_of_other_sources(extension: Any) -> None:
    """Values from the paper, by hand and from modules of the library that the page does not use."""
    compute = {name: formula.compute for name, formula in extension("formulas.formula_numbers").FORMULAS.items()}
    attention = annotated.MultiHeadAttention(512, 8)
    weights = sum(p.numel() for p in attention.parameters() if p.dim() == 2)
    assert compute["heads"](512, 8) == (64, weights)
    assert compute["heads"](512, 16)[0] == 32
    assert compute["feed-forward"](512, 2048) == (2 * 512 * 2048, 512 + 2048)
    assert compute["root"](64) == pytest.approx((8, 1 / (1 + math.exp(-8)), 1 / (1 + math.exp(-1))))
    assert compute["embedding"](512) == pytest.approx((512**0.5, 16))
    assert compute["position"](1, 0, 512) == pytest.approx((math.sin(1), math.cos(1), 2 * math.pi))
    assert compute["position"](0, 255, 512)[2] == pytest.approx(9647 * 2 * math.pi, rel=1e-3)
    assert compute["adam"](1, 0.9, 0.98) == pytest.approx((10, 50))
    assert compute["smoothing"](0.0, 10) == (1.0, 0.0, 0.0)
    assert compute["smoothing"](0.1, 11)[1:] == pytest.approx((0.01, -0.9 * math.log(0.9) - 0.1 * math.log(0.01)))
    assert compute["length-penalty"](-10, 1, 0.6) == (1.0, -10)
    assert compute["perplexity"](-2 * math.log(5), 2)[1] == pytest.approx(5)
    assert compute["bleu"](9, 9, 1, 0.625, 2 / 7, 1 / 6) == pytest.approx((1, 41.54), abs=0.005), "chapter 26 has it"
    from sacrebleu.metrics import BLEU

    counts = {"correct": [8, 5, 3, 2], "total": [9, 8, 7, 6]}
    score = BLEU.compute_bleu(**counts, sys_len=9, ref_len=12, smooth_method="none").score
    shares = [a / b for a, b in zip(*counts.values(), strict=True)]
    assert compute["bleu"](9, 12, *shares) == pytest.approx((math.exp(-1 / 3), score))
    assert compute["bleu"](9, 9, 1, 1, 1, 0)[1] == 0
    assert compute["word-share"](512) == pytest.approx((1 / 257, 2 / 3, 1024 / 1025), rel=1e-4)
    assert compute["wrong-index"](0, 0, 0) == pytest.approx([1 / 3] * 4 + [1])


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("heads", (512, 7), "7 does not divide 512"),
        ("position", (0, 300, 512), "pair: from 0 to 255, whole"),
        ("heads", (512, 16), None),
        ("position", (0, 255, 512), None),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(
    extension: Any, name: str, values: tuple[float, ...], why: str | None
) -> None:
    found = evaluate(SCRIPT, "(_, [name, values]) => annotatedFormulas.refusals[name](...values)", [name, values])
    assert found == (why and [1, why])
    compute = extension("formulas.formula_numbers").FORMULAS[name].compute
    if why is None:
        compute(*values)
        return
    with pytest.raises(ValueError, match=re.escape(why)):
        compute(*values)
    if name == "heads":
        with pytest.raises(ValueError, match="7"):
            annotated.MultiHeadAttention(*values)


def test_fields_start_with_the_base_model_or_say_that_they_are_ours(extension: Any) -> None:
    model, training = annotated.base(), TrainingConfig()
    assert model.attention_dropout == model.feed_forward_dropout == 0.0, "the sheet says so of equations 1 and 2"
    known = {
        r"d_\text{model}": model.d_model, "d": model.d_model, "h": model.num_heads, "d_k": 64, "d_{ff}": model.d_ff,
        "warmup": training.warmup, r"\beta_1": training.adam_betas[0], r"\beta_2": training.adam_betas[1],
        r"\epsilon_{ls}": training.label_smoothing, r"\alpha": annotated.config.DecodingConfig().alpha, "V": 37_000,
    }  # fmt: skip
    for name, formula in extension("formulas.formula_numbers").FORMULAS.items():
        for field in formula.fields:
            assert field.value == known.get(field.tex, field.value), (name, field.tex)
            assert field.ours == (field.tex not in known), "what the paper does not have is marked"
            assert field.least <= field.value <= field.most


def test_page_and_build_write_numbers_alike(extension: Any) -> None:
    values = [0.0, 8.0, -10.0, 1048576.0, 0.00069877, 22.627417, 0.731058, 1.747e-5, 9.9999, 123456.789, 2.5e-7]
    written = [extension("formulas.formula_numbers").written(value) for value in values]
    assert evaluate(SCRIPT, "(_, values) => values.map(annotatedFormulas.written)", values) == written
    assert written[:5] == ["0", "8", "−10", "1,048,576", "0.0006988"]


def test_every_symbol_has_its_meaning_and_names_formulas_that_exist(extension: Any, repository: Path) -> None:
    page = page_file("reference/formulas").read_text("utf-8")
    names = set(re.findall(r"^\*\*(?:\{paper\}`)?([^*`]+)`?\*\*", page, re.MULTILINE))
    entries = extension("formulas.symbols").symbols()
    assert len({entry["name"] for entry in entries}) == len(entries) > 40
    for entry in entries:
        assert set(entry.get("in", {})) <= names, entry["name"]
    assert "</script" not in extension("formulas.symbols").data()


SHEET = "reference/formulas.html"


@pytest.fixture
def sheet(visit: Any) -> Iterator[Any]:
    """The formula sheet in a browser."""
    with visit(SHEET, as_left=True) as v:
        yield v
        assert v.errors == []


def test_a_symbol_is_explained_and_marked_wherever_it_stands(sheet: Any) -> None:
    page, menu, said = sheet.page, sheet.page.locator(".symbol-desk select"), sheet.page.locator(".symbol-said")

    def choose(name: str) -> str:
        text = next(text for text in menu.locator("option").all_inner_texts() if text.startswith(f"{name}:"))
        menu.select_option(label=text)
        return said.inner_text()

    assert "width of a head's queries and keys" in choose("d_k") and "in the base model 64" in said.inner_text()
    assert said.locator("a").all_inner_texts() == [
        "Scaled dot-product attention", "The reason for the root", "Multi-head attention",
    ]  # fmt: skip
    assert "width of a convolution's kernel" in choose("k") and "the offset between two positions" in said.inner_text()
    assert "Learning rate" in choose("step") and page.locator(".symbol-here").count() == 8
    assert "Learning rate" not in choose("t"), "the t of step is no symbol"
    page.locator("math [data-symbol]", has_text="Q").first.click()
    assert "matrix of queries" in said.inner_text()
    page.get_by_role("button", name="Clear").click()
    assert page.locator(".symbol-here").count() == 0 and said.inner_text() == ""
    unknown = (
        "[...document.querySelectorAll('div.math mi')].filter(e => !e.closest('[data-symbol]')).map(e => e.textContent)"
    )
    assert {text for text in page.evaluate(unknown) if len(text) == 1} <= set("EO∞ℝ"), "a letter without a meaning"


def test_numbers_follow_their_fields(sheet: Any) -> None:
    panel = sheet.page.locator("[data-formula='learning-rate']")
    step, result = panel.get_by_role("spinbutton", name="number of the update"), panel.locator("dd")
    assert result.inner_text() == "0.0006988"
    step.fill("1000")
    assert float(result.inner_text()) == pytest.approx(annotated.learning_rate(1000, 512, 4000), rel=1e-3)
    step.fill("0")
    assert result.inner_text() == "–" and "from 1" in panel.locator("[role=status]").inner_text()
    panel.get_by_role("button", name="Reset").click()
    assert result.inner_text() == "0.0006988"


def test_a_field_says_what_does_not_go_together(sheet: Any) -> None:
    panel = sheet.page.locator("[data-formula='heads']")
    heads, said = panel.get_by_role("spinbutton", name="heads"), panel.locator("[role=status]")
    heads.fill("7")
    assert said.inner_text() == "7 does not divide 512" and set(panel.locator("dd").all_inner_texts()) == {"–"}
    assert heads.get_attribute("aria-invalid") == "true"
    heads.fill("16")
    assert said.inner_text() == "" and panel.locator("dd").first.inner_text() == "32"
    pair = sheet.page.locator("[data-formula='position']")
    pair.get_by_role("spinbutton", name="width of the model").fill("513")
    assert pair.locator("[role=status]").inner_text().endswith(", even")


def test_the_menu_follows_the_sections_and_tells_every_meaning(sheet: Any) -> None:
    menu = sheet.page.locator(".symbol-desk select")
    groups = menu.locator("optgroup").evaluate_all("all => all.map(group => group.label)")
    headings = sheet.page.locator("article section h2").evaluate_all(
        "all => all.map(h => h.firstChild.textContent.trim())"
    )
    assert groups == [heading for heading in headings if heading in groups] and len(groups) > 5
    options = dict(text.split(": ", 1) for text in menu.locator("option").all_inner_texts() if ": " in text)
    assert {"d_ff", "P_drop", "t", "k"} <= set(options) and "corrected" in options["v-hat"]
    assert "width of a convolution's kernel" in options["k"] and "offset between two positions" in options["k"]


def test_a_heading_stops_below_the_chosen_symbol(sheet: Any) -> None:
    page, own = sheet.page, sheet.page.viewport_size
    for size in ({"width": 1440, "height": 900}, {"width": 390, "height": 844}, own):
        page.set_viewport_size(size)
        page.locator(".symbol-desk select").select_option(index=3)
        page.evaluate("document.getElementById('training').scrollIntoView({behavior: 'instant'})")
        heading, desk = (box_of(page.locator(place).first) for place in ("#training h2", ".symbol-desk.chosen"))
        assert desk["y"] + desk["height"] <= heading["y"] + 2, (size, desk, heading)


def test_each_formula_is_copied_as_latex(sheet: Any) -> None:
    page = sheet.page
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    buttons = page.get_by_role("button", name="Copy LaTeX")
    assert buttons.count() == page.locator("div.math").count() > 25
    equation = page.locator(".formula-line", has=page.locator("math[alttext*='QK^']")).first.get_by_role("button")
    equation.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("window.copied")
    assert page.evaluate("window.copied") == annotated.paper.EQUATIONS[0].tex
    assert page.locator(".formula-line button", has_text="Copied").count() == 1


def test_without_scripts_the_sheet_shows_its_numbers(book: Path) -> None:
    file = book / SHEET
    if not file.is_file():
        pytest.skip("a preview of one chapter has no formula sheet")
    page = file.read_text("utf-8")
    panel = page[page.index('data-formula="learning-rate"') :]
    assert "0.0006988" in panel[: panel.index("</dl>")] and "<input" not in panel[: panel.index("</dl>")]
    assert re.search(r'class="symbol-desk[^>]* hidden', page)


def test_fields_drive_the_numbers_of_the_table_above(visit: Any) -> None:
    with visit("reference/misreadings.html") as v:
        weights, shares = v.page.locator(".formula-numbers[data-drives]").all()
        cells = v.page.locator("table.results", has_text="Weights by equation 1").locator("td")
        computed = cells.all_inner_texts()
        fields = weights.get_by_role("spinbutton").all()
        for field in fields:
            field.fill("2")
        assert cells.all_inner_texts() == ["0.33"] * 12 + ["1.00"] * 4, "equal scores have equal weights"
        fields[0].fill("80")
        said = weights.get_by_role("status").inner_text()
        assert "from −50 to 50" in said and "The table has the last numbers that fit." in said
        assert cells.all_inner_texts() == ["0.33"] * 12 + ["1.00"] * 4
        weights.get_by_role("button", name="Reset").click()
        assert weights.get_by_role("status").inner_text() == ""
        assert cells.all_inner_texts() == computed, "the script writes what the cell computed"
        cells = v.page.locator("table.results", has_text="Share of the word").locator("td")
        computed = cells.all_inner_texts()
        shares.get_by_role("spinbutton").fill("4")
        assert cells.all_inner_texts() == ["33.3\u00a0%", "66.7\u00a0%", "88.9\u00a0%"], "1, 4 and 16 beside d / 2 = 2"
        shares.get_by_role("spinbutton").fill("512")
        assert cells.all_inner_texts() == computed and v.errors == []
