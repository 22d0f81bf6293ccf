"""The book's own directives and roles: code by object name, formulas beside code, the paper, claims and questions."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from book.tests.sites import build_site

ATTENTION = "annotated.model.attention.scaled_dot_product_attention"


@pytest.fixture
def site(extension: Any, tmp_path: Path) -> Callable[..., tuple[dict[str, str], str]]:
    """Build a small site from pages of Markdown: HTML by page, and what was complained about."""
    parts = ("authoring.paper", "authoring.source", "api.source_pages", "claims.claim_boxes", "delivery.no_break")

    def build(**pages: str) -> tuple[dict[str, str], str]:
        texts = {name: f"---\norphan: true\n---\n# {name}\n\n{text}\n" for name, text in pages.items()}
        out, complaints = build_site(tmp_path, {"index": "# Index\n", **texts}, parts, nitpicky=True)
        return {name: (out / f"{name}.html").read_text(encoding="utf-8") for name in pages}, complaints

    return build


def test_the_empty_corner_of_a_table_is_no_header(extension: Any) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"BLEU": [25.8]}, index=pandas.Index(["base"], name="row")).to_html()
    assert "<th></th>" in table
    page = extension("delivery.accessibility").repair(table)
    assert "<th></th>" not in page and "<th>BLEU</th>" in page and "<th>base</th>" in page


@pytest.mark.parametrize(("page", "said"), [("attention/masks", False), ("attention/mask", True)])
def test_a_chapter_alone_says_what_is_wrong_with_it_and_not_that_others_are_missing(
    extension: Any, page: str, said: bool
) -> None:
    for text in (f"Unknown source document '{page}'", f"there is no page {page} to play on"):
        warning = logging.makeLogRecord({"msg": text})
        assert extension("running.one_page").OfOtherPages().filter(warning) == said


def test_code_is_the_librarys_own(extension: Any) -> None:
    from annotated.model.attention import scaled_dot_product_attention

    code, path, line, paper = extension("authoring.source").source_of(ATTENTION)
    assert code == inspect.getsource(scaled_dot_product_attention)
    assert path.as_posix() == "annotated/model/attention.py"
    assert paper == "section 3.2.1, equation 1, figure 2"
    lines = (Path(inspect.getsourcefile(scaled_dot_product_attention)).read_text(encoding="utf-8")).splitlines()
    assert lines[line - 1].startswith("def scaled_dot_product_attention")


def test_without_docstring_only_the_docstring_is_gone(extension: Any) -> None:
    source_of = extension("authoring.source").source_of
    whole, short = source_of(ATTENTION)[0], source_of(ATTENTION, with_docstring=False)[0]
    assert '"""' not in short and len(short) < len(whole)
    assert [line for line in whole.splitlines() if line in short.splitlines()] == short.splitlines()
    compile(short, ATTENTION, "exec")


def test_of_a_listing_the_matching_lines_can_stand_alone(site: Any, extension: Any, repository: Path) -> None:
    text = f"```{{library-source}} {ATTENTION}\n:match: scores = q @ k|, weights$\n```"
    pages, complaints = site(page=text)
    code = re.sub(r"<[^>]+>", "", re.search(r"<pre>.*?</pre>", pages["page"], re.DOTALL)[0])
    assert complaints == "" and re.fullmatch(r"\s*scores = .*\n\.\.\.\n\s*return .*, weights\s*", code)
    _, path, start, _ = extension("authoring.source").source_of(ATTENTION)
    number = int(re.search(r"#line-(\d+)", pages["page"])[1])
    assert (
        number > start and "scores = q @ k" in (repository / path).read_text(encoding="utf-8").splitlines()[number - 1]
    )
    assert (
        "scores = q @ k" in (plain := extension("delivery.notebook_export").Writer(repository).plain(text))
        and "def " not in plain
    )


def test_methods_and_properties_are_found_and_dedented(extension: Any) -> None:
    code, _, _, _ = extension("authoring.source").source_of("annotated.model.MultiHeadAttention.w_q")
    assert code.startswith("@property\ndef w_q")


@pytest.mark.parametrize("name", ["annotated.model.attention.no_such_thing", "nowhere.at_all"])
def test_a_name_that_does_not_exist_is_an_error(extension: Any, name: str) -> None:
    with pytest.raises(LookupError):
        extension("authoring.source").source_of(name)


CODE = '''def f(x):
    """Return y.

    y = 3
    """
    y = g(
        x,
        [a for a in x],
    )
    for z in y:
        print(z)
    return y
'''


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("[a for a", [6, 7, 8, 9]),  # text, though it would be no expression; the statement is shown whole
        ("y = ", [6, 7, 8, 9]),  # not the docstring
        ("for z", [10]),  # of a compound statement the line alone
        (r"print|return \w", [11, 12]),
    ],
)
def test_a_text_picks_whole_statements(extension: Any, pattern: str, lines: list[int]) -> None:
    assert extension("authoring.source").statements(CODE, pattern) == lines


@pytest.mark.parametrize("pattern", ["y = 3", "nothing like it", "[unclosed"])
def test_a_text_that_the_code_lacks_is_an_error(extension: Any, pattern: str) -> None:
    with pytest.raises(LookupError):
        extension("authoring.source").statements(CODE, pattern)


def test_formulas_stand_beside_their_statements(site: Any) -> None:
    pages, complaints = site(
        page=f":::{{equation-code}} {ATTENTION}\n:equation: 1\n:match: scores = q @ k|, weights$\n:::\n\n"
        f":::{{equation-code}} {ATTENTION}\n:match: math.sqrt\n\n$$\\text{{ours}}$$\n:::"
    )
    boxes = pages["page"].split('class="equation-code ')[1:]
    assert complaints == "" and len(boxes) == 2
    assert r"\sqrt{d_k}" in boxes[0] and r"\text{ours}" in boxes[1]
    code = [re.sub(r"<[^>]+>", "", re.search(r"<pre>.*?</pre>", box, re.DOTALL)[0]) for box in boxes]
    assert code[1].strip() == "scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))"
    assert re.fullmatch(r"\n*scores = .*\n\.\.\.\nreturn .*, weights\n*", code[0]), "each block begins at the margin"
    assert "annotated/model/attention.html#line-" in boxes[0] and "1706.03762v7#S3.SS2.SSS1" in boxes[0]


def test_every_shown_module_has_a_page_with_a_target_for_every_line(site: Any, tmp_path: Path) -> None:
    names = (ATTENTION, "annotated.model.masks.causal_mask", "annotated.speed.kernels.fused.fused_attention")
    site(page="\n\n".join(f"```{{library-source}} {name}\n```" for name in names))
    for path in ("annotated/model/attention.py", "annotated/model/masks.py", "annotated/speed/kernels/fused.py"):
        page = (tmp_path / "build" / "html" / "source" / path).with_suffix(".html").read_text(encoding="utf-8")
        lines = (Path(__file__).parents[2] / path).read_text(encoding="utf-8").splitlines()
        assert f'id="line-{len(lines)}"' in page and f"<title>{path}" in page and "@" not in page.partition("<pre")[0]
        assert re.search(r'href="(?:\.\./)+_static', page)[0].count("../") == path.count("/") + 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (":match: no such text\n:equation: 1\n", "no line has or matches 'no such text'"),
        (":match: math.sqrt\n", "a formula is missing"),
        (":match: math.sqrt\n:equation: 9\n", "the paper has no equation 9"),
        (":equation: 1\n", ":match: must name the line"),
    ],
)
def test_a_formula_without_its_statement_fails_the_build(site: Any, options: str, complaint: str) -> None:
    _, complaints = site(page=f":::{{equation-code}} {ATTENTION}\n{options}:::")
    assert "ERROR" in complaints and complaint in complaints


def test_shown_code_marks_statements_and_links_to_the_paper(site: Any) -> None:
    pages, complaints = site(page=f"```{{library-source}} {ATTENTION}\n:no-docstring:\n:highlight: scores = q @ k\n```")
    assert complaints == "", "an object that the reference lacks is plain text, without a warning"
    marked = re.findall(r'<span class="hll">(.*?)\n</span>', pages["page"])
    assert len(marked) == 1 and "scores" in marked[0]
    assert 'title="The paper, equation 1: Scaled dot-product attention"' in pages["page"]


@pytest.mark.parametrize(
    ("text", "shown", "anchor"),
    [
        ("3.2.1", "section 3.2.1", "#S3.SS2.SSS1"),
        ("equation 1", "equation 1", "#S3.SS2.SSS1"),
        ("Table 3", "Table 3", "#S6.SS2"),
    ],
)
def test_references_to_the_paper_lead_there(extension: Any, text: str, shown: str, anchor: str) -> None:
    found, title, url = extension("authoring.paper").resolve(text)
    assert found == shown and title and url.endswith(anchor)


def test_a_reference_to_the_paper_has_a_capital_where_it_begins_a_sentence(site: Any) -> None:
    pages, _ = site(a='{paper}`5.1`: "One." In {paper}`5.2` two. {paper}`equation 1` is it: {paper}`3.4`.')
    shown = re.findall(r'<a class="paper[^>]*>([^<]*)</a>', pages["a"])
    assert shown == ["Section 5.1", "section 5.2", "Equation 1", "section 3.4"]


def test_every_equation_figure_and_table_has_an_address(extension: Any) -> None:
    from annotated.paper import entries

    for key in entries():
        assert extension("authoring.paper").resolve(key.removeprefix("section "))[2].startswith("https://arxiv.org/")


def test_a_section_that_the_paper_lacks_is_an_error(extension: Any) -> None:
    with pytest.raises(KeyError):
        extension("authoring.paper").resolve("3.9")


def test_all_claims_and_questions_are_there(extension: Any) -> None:
    from annotated.paper import entries

    claims, questions = (
        extension("claims.claim_boxes").ledger("claim"),
        extension("claims.claim_boxes").ledger("question"),
    )
    assert list(claims) == [f"C{n:02}" for n in range(1, 50)] + ["A1", "A2", "A3"]
    assert list(questions) == [f"Q{n}" for n in range(1, 60)]
    for entry in (*claims.values(), *questions.values()):
        keys = {f"section {text}" if text[0].isdigit() else text for text in entry.paper}
        assert keys and keys <= set(entries()), f"{entry.name}: the paper lacks {keys - set(entries())}"
        assert entry.statement[-1] in ".?" and entry.truth.endswith("."), entry.name
        assert not set("$`\\{}") & set(entry.title), f"{entry.name}: marks in its title {entry.title!r}"
    assert all(re.match(r"false$|misleading$|true only \w", entry.verdict) for entry in claims.values())


def test_a_claim_has_a_box_and_links_from_every_page(site: Any) -> None:
    pages, complaints = site(
        box=":::{claim} C09\nEach row of $W$ sums to one.\n:::\n\nSee {claim}`C09`.",
        other="Of {claim}`C09`, {claim}`own words <C09>`, {question}`Q7`.",
    )
    assert complaints == ""
    box = pages["box"]
    assert 'id="claim-c09"' in box and "normalises each embedding" in box
    assert re.search(r'title="C09">Often said: <span class="ledger-verdict">no</span></a>', box)
    (misread, _) = site(box=":::{claim} C10\nThe sum runs over the keys.\n:::")
    verdict = '>Said or suggested: <span class="ledger-verdict">refuted</span></a>'
    assert verdict in misread["box"], "the word of the list of claims"
    assert 'href="#claim-c09"' in box and "Each row of" in box
    links = re.findall(r'<a [^>]*href="box.html#claim-c09"[^>]*>.*?</a>', pages["other"])
    assert [re.sub(r"<[^>]+>", "", link) for link in links] == ["what is often said", "own words"]
    assert 'title="Often said: no (C09). The softmax' in links[0]
    assert re.search(r'<abbr title="Readers ask \(Q7\)\. Why do[^"]*">what readers ask</abbr>', pages["other"])


def test_links_follow_a_box_that_moves(site: Any) -> None:
    refers = "See {claim}`C09`."
    pages, _ = site(one=":::{claim} C09\nHere.\n:::", two="Nothing.", refers=refers)
    assert "one.html#claim-c09" in pages["refers"]
    pages, _ = site(one="Nothing.", two=":::{claim} C09\nNow here.\n:::", refers=refers)
    assert "two.html#claim-c09" in pages["refers"]
    pages, complaints = site(two="Nothing.", refers=refers)
    assert "<abbr" in pages["refers"] and "#claim-c09" not in pages["refers"] and complaints == ""


def test_a_percent_sign_stays_with_its_number_but_in_code_and_formulas(site: Any) -> None:
    pages, complaints = site(page="At 95 % and **5 %**, a % sign, `7 % 3`, $50 \\%$.\n\n    9 % 4\n")
    assert complaints == ""
    text = pages["page"]
    assert "95\u00a0% and" in text and "5\u00a0%</strong>" in text and "a % sign" in text
    assert "\u00a0% 3" not in text and "\u00a0% 4" not in text and "\u00a0\\%" not in text


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (":::{claim} C99\nText.\n:::", "claims.yaml has no C99"),
        (":::{question} C01\nText.\n:::", "questions.yaml has no C01"),
        (":::{claim} C01\n:::", "say what is true"),
        (":::{claim} C01\nText.\n:::\n\n:::{claim} C01\nText.\n:::", "has a box on this page already"),
        ("{claim}`C99`", "there is no claim C99"),
    ],
)
def test_mistakes_with_claims_are_complained_about(site: Any, text: str, complaint: str) -> None:
    assert complaint in site(page=text)[1]


def test_the_planned_chapter_is_preferred(extension: Any) -> None:
    class Environment:
        metadata = {"b": {"chapter": '{"number": 7}'}, "c": {"chapter": {"number": 8}}}

    domain = object.__new__(extension("claims.claim_boxes").LedgerDomain)
    domain.env, domain.data = Environment(), {"boxes": {name: [("claim", "C01")] for name in "abc"}}
    assert domain.pages("claim", "C01") == ["b", "a", "c"]


def test_small_drawings_are_whole(extension: Any) -> None:
    import xml.etree.ElementTree as ET

    thumbs = extension("authoring.thumbs")
    for name in thumbs.THUMBS:
        drawing = ET.fromstring(thumbs.thumb(name))
        assert drawing.tag == "svg" and len(drawing) > 2 and drawing.attrib["aria-hidden"] == "true"


def test_a_page_without_a_number_opens_as_a_chapter_does(extension: Any) -> None:
    kicker = extension("chapter.chapter_header").kicker
    assert "Chapter 7 · Attention" in kicker({"number": 7}, "Attention").astext()
    assert kicker({"question": "Why?"}, "Start").astext().endswith("Start</p>")
    assert "Chapter" not in kicker({"question": "Why?"}, "Start").astext()
