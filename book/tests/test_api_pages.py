"""The pages of the API reference: examples that run, what to read first, names to filter by, and each one's source."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import annotated
from annotated_book.pages import BOOK

PAGES = sorted((BOOK / "reference" / "api").glob("*.md"))
FIRST = re.compile(r"^(annotated(?:_grader|_book)?\.[\w.]+)(?: \| .+)?$", re.MULTILINE)
"""A line of the table of what to read first, perhaps with a sentence of its own."""
WITH_EXAMPLES = [page for page in PAGES if ">>>" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_print_what_the_pages_show(page: Path) -> None:
    text = "\n".join(re.findall(r"```pycon\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
    example = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    assert len(example.examples) >= 3
    wrong: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=wrong.append)
    assert not wrong, "".join(wrong)


def test_most_pages_have_an_example_and_all_say_what_to_read_first() -> None:
    assert len(WITH_EXAMPLES) >= 14
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert page.stem == "index" or 2 <= len(FIRST.findall(text)) <= 8, page.stem


def test_the_objects_to_read_first_are_documented_on_their_page(extension: Any) -> None:
    api, find = extension("api.modules"), extension("authoring.source").find
    own = api.lines_of(PAGES[0].parent)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        documented = {module for name in api.LINE.findall(text) for module in api.modules(name, own)}
        for name in FIRST.findall(text):
            found = find(name)
            assert found.__module__ in documented and name == f"{found.__module__}.{found.__qualname__}", name
            assert extension("api.objects").first_sentence(inspect.getdoc(found)).endswith((".", ":")), name


def test_a_name_leads_to_its_own_line(extension: Any) -> None:
    from annotated.model.attention import MultiHeadAttention, scaled_dot_product_attention

    lines = extension("api.objects").lines_of("annotated.model.attention")
    assert lines["scaled_dot_product_attention"] == inspect.getsourcelines(scaled_dot_product_attention)[1]
    assert lines["MultiHeadAttention.forward"] == inspect.getsourcelines(MultiHeadAttention.forward)[1]
    file = Path(inspect.getsourcefile(MultiHeadAttention) or "").read_text(encoding="utf-8").splitlines()
    for name, line in lines.items():
        assert name.rpartition(".")[2] in file[line - 1], (name, file[line - 1])


def test_the_paper_of_a_text_is_named_once_and_in_order(extension: Any) -> None:
    text = "x\n\n    Paper: equation 1, section 3.2.1\n\ny\n    Paper: section 3.2.1"
    assert extension("api.objects").paper_of(text) == ["equation 1", "section 3.2.1"]
    assert extension("api.objects").paper_of("No such line.") == []


def test_formulas_of_docstrings_are_set_as_formulas(extension: Any, repository: Path) -> None:
    known, used = extension("formulas.docstring_formulas"), set()
    parts = [repository / "annotated" / part for part in ("model", "speed", "training", "decoding")]
    for file in [file for part in parts for file in part.rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                said = node.value.value
                used |= {formula for formula in known.FORMULAS if formula in " ".join(said.split())}
                left = re.sub(r"`[^`]*`|\$[^$]*\$|>>>.*", "", known.with_formulas(said))
                assert not re.search(r"sqrt\(|\^", left), (file.name, left)
    assert used == set(known.FORMULAS), "an entry that no docstring has"
    for tex in known.FORMULAS.values():
        assert extension("formulas.tex").mathml(tex).startswith("<math")


def test_an_import_line_works_and_is_the_shortest(extension: Any) -> None:
    for module, name, line in (
        ("annotated.model.transformer", "Transformer", "from annotated import Transformer"),
        ("annotated.model.masks", "target_mask", "from annotated.model.masks import target_mask"),
    ):
        button = extension("api.objects").import_button(module, name).astext()
        assert f'data-copy="{line}"' in button
        exec(line, {})
    tests = extension("api.objects").tests_of
    assert tests(Path("annotated/model/attention.py")) == Path("tests/model/test_attention.py")
    assert tests(Path("grader/annotated_grader/sandbox/names.py")) == Path("tests/grader/sandbox/test_names.py")
    assert tests(Path("annotated/no_such.py")) is None


def test_an_object_leads_to_its_source_and_the_module_to_paper_and_chapters(visit: Any) -> None:
    with visit("reference/api/model.html") as v:
        facts = (
            v.page.locator(
                "section#module-annotated-model-attention, section:has(> h2:text('annotated.model.attention'))"
            )
            .first.locator(".api-facts")
            .first
        )
        assert "annotated/model/attention.py" in facts.inner_text() and "equation 1" in facts.inner_text()
        sources = v.page.locator("dt.sig .api-source")
        assert sources.count() > 50
        v.page.locator("dt[id='annotated.model.attention.MultiHeadAttention'] > .api-source").click()
        v.page.wait_for_url("**/source/annotated/model/attention.html#line-*")
        line = v.page.locator(f"[id='{v.page.url.partition('#')[2]}']").evaluate("e => e.parentElement.textContent")
        assert "class MultiHeadAttention" in line
        back = v.page.locator("a:has-text('Its entry in the reference')").get_attribute("href")
        assert back.endswith("reference/api/model.html#module-annotated.model.attention") and v.errors == []


def test_names_are_filtered_by_their_parts(visit: Any) -> None:
    with visit("reference/api/model.html", viewport={"width": 390, "height": 844}, color_scheme="dark") as v:
        field, shown = v.page.locator(".page-filter input"), v.page.locator("section section > dl.py:visible")
        everything = shown.count()
        field.fill("causal")
        names = v.page.locator("section section > dl.py:visible > dt .sig-name").all_inner_texts()
        assert "causal_mask" in names and len(names) < 6
        assert v.page.locator("section section:visible > h2").count() < 4
        field.fill("mixing head")
        field.fill("")
        assert shown.count() == everything and v.overflow() <= 0 and v.errors == []


def test_the_list_of_all_names_says_kind_place_sentence_and_part_of_the_paper(extension: Any) -> None:
    known = extension("api.all_names")
    at, page = "annotated.model.masks", "reference/api/model"
    objects = {
        at: SimpleNamespace(objtype="module", docname=page, node_id=f"module-{at}", aliased=False),
        f"{at}.padding_mask": SimpleNamespace(objtype="function", docname=page, node_id="pad", aliased=False),
        "annotated.model.attention": SimpleNamespace(objtype="module", docname=page, node_id="m", aliased=False),
        "annotated.model.attention.Masked": SimpleNamespace(objtype="class", docname=page, node_id="c", aliased=False),
        "annotated.model.attention.Masked.mask": SimpleNamespace(
            objtype="attribute", docname=page, node_id="f", aliased=False
        ),
        "annotated_grader.justice": SimpleNamespace(objtype="module", docname=page, node_id="g", aliased=False),
        "annotated_grader.justice.Verdict.points": SimpleNamespace(
            objtype="attribute", docname=page, node_id="v", aliased=False
        ),
        "elsewhere.name": SimpleNamespace(objtype="function", docname="page", node_id="n", aliased=False),
    }
    found = list(known.names(SimpleNamespace(objects=objects)))
    assert {(one.name, one.kind) for one in found if one.module == "annotated.model.attention"} == {
        ("", "module"),
        ("Masked", "class"),
        ("Masked.mask", "field"),
    }
    assert len(found) == 6 and not known.is_listed("annotated_grader.justice", "Verdict.points")
    found = [one for one in found if one.module.startswith("annotated.")]
    html = known.in_folds(found, {page: "The model"}, "reference/api/index")
    assert ">padding_<wbr>mask</a>" in html, "a narrow page breaks a name behind its underscore"
    html = html.replace("<wbr>", "")
    assert "5 names: 2 modules, 1 class, 1 function, 1 field." in html
    assert '<summary>The model <span data-entries="5 names">5 names</span>' in html
    (entry,) = [line for line in html.split("<li") if ">padding_mask</a>" in line]
    assert 'data-kind="function" data-in="model.masks"' in entry and 'href="model.html#pad"' in entry
    assert '<b data-part="section 3.2.3">section 3.2.3</b> Keys that are real tokens.' in entry
    attention = known.Name("annotated.model.attention", "scaled_dot_product_attention", "function", page, "s")
    assert ' data-words="attn sdpa"' in known.line(attention, page) and "data-words" not in entry
    assert set(known.SHORT) <= {"PositionwiseFeedForward", *annotated.__all__}
    (field,) = [line for line in html.split("<li") if ">Masked.mask</a>" in line]
    assert " <i>field</i>" in field
    assert html.index(">annotated.model.attention<") < html.index(">Masked<") < html.index(">annotated.model.masks<")


def test_the_index_of_the_reference_filters_every_name_of_the_library(visit: Any) -> None:
    with visit("reference/api/index.html", viewport={"width": 390, "height": 844}, color_scheme="dark") as v:
        field, shown = (
            v.page.get_by_role("searchbox", name="Show names with"),
            v.page.locator(".all-names li:visible > a"),
        )
        assert shown.count() == 0, "folds are closed"
        for typed, name in (
            ("cau mask", "causal_mask"),
            ("annotated.model.masks.causal_mask", "causal_mask"),
            ("eq. 3", "learning_rate"),
        ):
            field.fill(typed)
            assert name in shown.all_inner_texts() and shown.count() < 12, typed
        field.fill("chart")
        assert v.overflow() <= 0
        v.page.get_by_role("combobox", name="Kind").select_option("class")
        v.page.get_by_role("combobox", name="Part of the paper").select_option("section 3.2.2")
        field.fill("")
        assert "MultiHeadAttention" in shown.all_inner_texts()
        assert set(v.page.locator(".all-names li:visible > i").all_inner_texts()) == {"class"}
        field.press("Escape")
        assert shown.count() == 0 and v.errors == []


def test_the_chapters_code_stands_under_the_titles_of_their_pages(extension: Any, repository: Path) -> None:
    code, at = extension("api.api_chapters"), "annotated_book"
    results = f"{at}.results"
    names = [
        f"{at}.record",
        f"{results}.table_3",
        f"{results}.table_3.rows",
        f"{at}.reference.notation",
        f"{results}.table_2",
    ]
    found = dict(code.headings(names, BOOK))
    assert list(found) == [names[4], names[1], names[2], names[3], names[0]], (
        "as the book, then other pages, then others"
    )
    assert (
        found[names[1]].startswith("## 28. Table 3: which part matters?\n")
        and "/results/table_3/table_3.md" in found[names[1]]
    )
    assert found[names[2]] == f"### {names[2]}" and found[names[0]] == f"## {names[0]}"
    assert list(code.headings(["annotated.model"], BOOK)) == [("annotated.model", "## annotated.model")]


FOLDED = """<article class="bd-article"><section id="p"><h1>P</h1>FIELD<section id="one"><h2>1. One</h2><p>Its code.</p>
<section id="a"><h3>a</h3><p id="module-a">Of a.</p>
<dl class="py class"><dt id="a.K"><span class="sig-name">K</span></dt>
<dd><dl class="py method"><dt id="a.K.m">m</dt></dl></dd></dl>
<dl class="py data"><dt id="a.V"><span class="sig-name">V</span></dt></dl></section>
<section id="b"><h3>b</h3><p id="module-b">A package.</p></section></section></section></article>"""


def test_a_page_of_chapters_is_folded_and_a_link_or_a_word_opens_its_place(extension: Any, chromium: Any) -> None:
    html = extension("api.api_chapters").with_folds(FOLDED)
    assert (
        html.count("<details") == html.count("</details>") == 3
        and html.count('<span data-entries="2 definitions">') == 2
    )
    assert '<span class="api-said">Of a.</span></summary><span id="module-a"></span>' in html
    options = dict(re.findall(r"^:(\w+): (.+)$", extension("api.modules").FILTER, re.MULTILINE))
    data = " ".join(f'data-{name}="{value}"' for name, value in options.items())
    field = f'<div class="page-filter" data-what="names" {data} hidden><input type="search"><b role="status"></b></div>'
    page, opened = chromium.new_page(), "[...document.querySelectorAll('[open]')].map(fold => fold.parentElement.id)"
    page.set_content(f"<style>[hidden] {{ display: none; }}</style>{html.replace('FIELD', field)}")
    page.add_script_tag(path=Path(__file__).parents[2] / "book" / "_assets" / "book" / "filter.js")
    assert page.evaluate(opened) == []
    page.locator("input").fill("k")
    assert page.evaluate(opened) == ["one", "a"] and not page.locator("#b").is_visible(), (
        "nor a module without definitions"
    )
    assert page.locator("[role=status]").inner_text() == "1 of 2 definitions"
    page.locator("input").fill("zzzz")
    assert not page.locator("#one").is_visible() and "2 definitions" in page.locator("[role=status]").inner_text()
    page.locator("input").fill("")
    assert page.evaluate(opened) == [] and page.locator("#one").is_visible()
    for target, folds in (("one", ["one"]), ("a.K.m", ["one", "a"])):
        page.evaluate(f"location.hash = '{target}'")
        page.wait_for_function(f"document.querySelectorAll('[open]').length === {len(folds)}")
        assert page.evaluate(opened) == folds
    page.close()


def test_a_signature_has_the_values_of_the_defaults(extension: Any) -> None:
    from annotated.decoding import beam_search

    signature = "(beam_size: int = DEFAULTS.beam_size, allowed=<function f at 0x1>)"
    shown, _ = extension("api.modules").plain_defaults(None, "function", "", beam_search, None, signature, None)
    assert shown == "(beam_size: int = 4, allowed=...)"
