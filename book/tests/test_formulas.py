r"""TeX to MathML: structure and spaces as in The TeXbook, chapter 18, and a browser's word that nothing is cut."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture(scope="module")
def tex(extension: Any) -> Any:
    return extension("formulas.tex")


def shape(tex: Any, source: str, block: bool = False) -> str:
    """A formula as nested words: tags with more than letters, letters alone, and spaces as dots for thin to thick."""
    wide = {"0.1667em": ".", "0.2222em": ":", "0.2778em": ";", "-0.1667em": "!"}

    def of(e: ET.Element) -> str:
        if e.tag in ("mi", "mn", "mo", "mtext"):
            return e.text or ""
        if e.tag == "mspace":
            return wide.get(e.get("width", ""), " ")
        inside = [of(child) for child in e]
        return "".join(inside) if e.tag in ("mrow", "math") else f"{e.tag[1:]}({', '.join(inside)})"

    return of(ET.fromstring(tex.mathml(source, block)))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a+b=c", "a:+:b;=;c"),
        ("-(1-x)", "−(1:−:x)"),  # the first minus is a sign, the second an operation
        ("a=-b", "a;=;−b"),
        (r"a/b, c", "a/b,.c"),
        (r"\log p(y \mid x)", "log.p(y;∣;x)"),
        (r"\log(x)", "log(x)"),
        (r"x_{i+1}^2", "subsup(x, i+1, 2)"),  # nothing is spaced out in an index
        (r"K^\top", "sup(K, ⊤)"),
        (r"\frac{QK^\top}{\sqrt{d_k}}", "frac(Qsup(K, ⊤), sqrt(sub(d, k)))"),
        (r"\mathrm{softmax}\!\left(\frac12\right)V", "softmax!.(frac(1, 2)).V"),  # the space taken back is TeX's own
        (r"\hat m_k", "sub(over(m, ˆ), k)"),
        (r"10^{-0.5}", "sup(10, −0.5)"),
        (r"\mathbb{R}^{d_\text{model}}", "sup(ℝ, sub(d, model))"),
        (r"f'", "sup(f, ′)"),
    ],
)
def test_a_formula_has_its_structure_and_its_spaces(tex: Any, source: str, expected: str) -> None:
    assert shape(tex, source) == expected


def test_limits_stand_above_and_below_only_on_a_line_of_their_own(tex: Any) -> None:
    assert shape(tex, r"\sum_{i=1}^n x_i", block=True) == "underover(∑, i=1, n).sub(x, i)"
    assert shape(tex, r"\sum_{i=1}^n x_i") == "subsup(∑, i=1, n).sub(x, i)"
    assert shape(tex, r"\arg\max_y p", block=True) == "arg.under(max, y).p"


def test_lines_are_aligned_and_a_relation_after_the_mark_keeps_its_space(tex: Any) -> None:
    assert shape(tex, r"a &= b \\ &= c", block=True) == "table(tr(td(a), td(;=;b)), tr(td(), td(;=;c)))"
    cases = tex.mathml(r"\begin{cases} 1 & a \\ 0 & b \end{cases}", True)
    assert cases.count("<mtr>") == 2 and "tex-cases" in cases and 'stretchy="true"' in cases


@pytest.mark.parametrize("source", [r"\unknown{x}", r"\frac{a", r"\begin{tikz}x\end{tikz}", "a & b #"])
def test_what_is_not_known_is_an_error_and_not_a_word_on_the_page(tex: Any, source: str) -> None:
    with pytest.raises(ValueError, match=re.escape(source[:5])):
        tex.mathml(source)


def test_the_source_is_the_text_for_those_who_cannot_see_it(tex: Any) -> None:
    assert ET.fromstring(tex.mathml('a < b "c"'.replace('"c"', ""))).get("alttext") == "a < b"


def test_a_wide_formula_becomes_smaller_on_a_phone_and_then_scrolls_with_a_hint(visit: Any) -> None:
    page = "attention/scaled_dot_product"
    with visit(f"{page}.html", viewport={"width": 390, "height": 844}) as v:
        box = v.page.locator("div.math").first
        v.page.wait_for_function("document.fonts.ready.then(() => true)")
        fits = "e => e.scrollWidth - e.clientWidth <= 1"  # equation 1; it becomes smaller when the fonts are there
        v.page.wait_for_function(fits, arg=box.element_handle())
        wide = "e.querySelector('math').innerHTML = '<mi>' + 'W'.repeat(90) + '</mi>';"
        box.evaluate(f"e => {{ {wide} dispatchEvent(new Event('resize')); }}")
        assert box.evaluate("e => e.classList.contains('too-wide') && e.tabIndex === 0")
        assert v.overflow() <= 0


def test_punctuation_stays_with_its_formula(extension: Any) -> None:
    """A line may not break between a formula and the comma behind it, or the bracket before it."""
    nodes = pytest.importorskip("docutils.nodes")
    visitors = extension("formulas.visitors")

    class Writer:
        def __init__(self) -> None:
            self.body: list[str] = []

        def starttag(self, node: Any, tag: str, suffix: str = "", **attributes: str) -> str:
            return f"<{tag}>"

    line = nodes.paragraph(
        "", "", nodes.Text("A rate ("), nodes.math("", "p"), nodes.Text(") and "), nodes.math("", "q")
    )
    visitors.hold_marks(SimpleNamespace(builder=SimpleNamespace(format="html")), line, "")
    assert line.astext() == "A rate (p) and q"
    made = []
    for formula in line.findall(nodes.math):
        writer = Writer()
        with pytest.raises(nodes.SkipNode):
            visitors.visit_inline(writer, formula)
        made.append("".join(writer.body))
    assert made[0].startswith('<span class="held">(<span><math') and made[0].endswith("</math></span>)</span>")
    assert made[1].startswith("<span><math") and made[1].endswith("</math></span>")
