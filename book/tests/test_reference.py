"""The back matter: API pages, inventories, the paper map, formulas, glossary and bibliography."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from annotated_book.pages import BOOK, page_files
from book.tests.sites import build_site

PARTS = [
    "authoring.paper",
    "authoring.source",
    "claims.claim_boxes",
    "api.inventories",
    "api.modules",
    "api.objects",
    "find.filters",
    "reference.paper_map",
]


@pytest.fixture
def site(extension: Any, tmp_path: Path) -> Callable[..., tuple[Callable[[str], str], str]]:
    """Build a small site from whole pages of Markdown: a reader of files, and what was complained about."""

    def build(pages: dict[str, str]) -> tuple[Callable[[str], str], str]:
        out, complaints = build_site(tmp_path, pages, PARTS, ("myst_parser", "sphinx_exercise"), nitpicky=True)
        return (lambda name: (out / name).read_text(encoding="utf-8")), complaints

    return build


def text_of(html: str) -> str:
    """The text of HTML, white space made one space."""
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


# API and inventories


def test_every_module_of_the_library_has_one_page(extension: Any, repository: Path) -> None:
    api = extension("api.modules")
    pages = sorted((BOOK / "reference" / "api").glob("*.md"))
    own = api.lines_of(BOOK / "reference" / "api")
    shown = [m for page in pages for name in api.LINE.findall(page.read_text("utf-8")) for m in api.modules(name, own)]
    assert len(shown) == len(set(shown)), "a module stands on two pages"
    library = {name for name in api.modules("annotated") if not name.startswith("annotated.cli")}
    missing = {*library, *api.modules("annotated_grader")} - set(shown)
    former = {f"annotated.{name}" for name in ("moved", "grading", "doctor")}  # names alone, which lead elsewhere
    assert missing == {"annotated"} | former, (
        "add `% api: annotated.part` to a page of book/annotated_book/reference/api, and the page to _toc.yml"
    )


def test_names_resolve_however_they_are_written(site: Any) -> None:
    read, complaints = site(
        {
            "reference/api/masks": "# Masks\n\n% api: annotated.model.masks\n",
            "page": "# Page\n\n{py:func}`annotated.causal_mask`, {py:func}`annotated.model.masks.causal_mask`, "
            "{py:class}`torch.nn.Linear`, {py:func}`annotated.greedy_decode`\n",
        }
    )
    page, api = read("page.html"), read("reference/api/masks.html")
    assert page.count('href="reference/api/masks.html#annotated.model.masks.causal_mask"') == 2
    assert 'href="https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html#torch.nn.Linear"' in page
    assert [line for line in complaints.splitlines() if "page.md" in line and "greedy_decode" in line], (
        "a name that no page documents is complained about"
    )
    assert complaints.count("WARNING") == 1
    signature = re.search(r'<dt class="sig[^>]*id="annotated.model.masks.padding_mask">.*?</dt>', api, re.DOTALL)[0]
    assert "docs/stable/tensors.html#torch.Tensor" in signature and "functions.html#int" in signature
    described = text_of(api[api.index('id="annotated.model.masks.padding_mask"') :])
    assert "Boolean [B, 1, 1, S]" in described.split("Returns")[1]
    assert "Section 3.2.3" in described.split("Paper")[1]


@pytest.mark.parametrize("name", ["altair", "numpy", "pandas", "python", "torch"])
def test_inventories_name_what_exists(extension: Any, name: str) -> None:
    source, inventories = extension("authoring.source"), extension("api.inventories")
    _, base, objects = inventories.read(inventories.FOLDER / f"{name}.txt")
    assert base.startswith("https://") and base.endswith("/")
    for dotted, kind, place in objects:
        if kind != "py:module":
            full = dotted if "." in dotted else f"builtins.{dotted}"
            assert full == "builtins.None" or source.find(full) is not None, dotted
        assert place.partition("#")[2] in (dotted, f"module-{dotted}") or dotted == "torch.nn.Parameter", dotted


def test_inventories_are_read_by_sphinx(extension: Any) -> None:
    from sphinx.util.inventory import InventoryFile

    data = extension("api.inventories").compiled("Some", [("a.b", "py:function", "c/a.b.html#a.b")])
    found = InventoryFile.load(io.BytesIO(data), "https://x.org", lambda base, path: f"{base}/{path}")
    assert found["py:function"]["a.b"][2] == "https://x.org/c/a.b.html#a.b"


def test_a_damaged_inventory_says_where(extension: Any, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    for line, complaint in (
        ("py:class only-an-address", "are needed"),
        ("py:class $.html a a", "a stands there twice"),
    ):
        file.write_text(f"# X https://x.org/\n{line}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=f"x.txt, line 2: .*{complaint}"):
            extension("api.inventories").read(file)


def test_a_description_is_no_letter_with_a_dot_which_would_begin_a_list(repository: Path) -> None:
    pattern = re.compile(r'^ *(?:""")?([A-Za-z]|\d+)\.(?:""")?$', re.MULTILINE)
    assert pattern.search("num_heads\n        H.") and pattern.search('    """V."""')
    for file in sorted((repository / "annotated").rglob("*.py")):
        found = pattern.search(file.read_text("utf-8"))
        assert found is None, f"{file.relative_to(repository)}: {found[0].strip()} is read as the beginning of a list"


def test_a_page_of_source_leads_to_its_names_and_back_to_their_entries(extension: Any) -> None:
    module, entry = "annotated.model.masks", SimpleNamespace(docname="reference/api/model", node_id="at")
    objects = {f"{module}.causal_mask": entry, f"{module}.padding_mask.inner": entry, "annotated.model.other": entry}
    said = extension("api.source_pages").outline(objects, "annotated/model/masks.py", "../../../")
    line = extension("api.objects").lines_of(module)["causal_mask"]
    assert f'<a href="#line-{line}"><code>causal_mask</code></a>' in said
    assert said.count("<li>") == 1 and 'href="../../../reference/api/model.html#at"' in said
    assert extension("api.source_pages").outline(objects, "tests/test_paper.py", "") == ""


def test_names_at_the_top_level_stand_under_the_page_that_documents_them(extension: Any, repository: Path) -> None:
    import annotated

    text = extension("api.modules").exports("annotated", BOOK / "reference" / "api")
    groups = {part.split("]")[0]: part for part in text.split("**[")[1:]}
    assert "`annotated.causal_mask`" in groups["The model"] and "`annotated.beam_search`" in groups["Decoding"]
    assert "beam_search" not in groups["The model"]
    assert sorted(re.findall(r"^- \{py:obj\}`annotated\.(\w+)`", text, re.MULTILINE)) == sorted(annotated.__all__)


def test_what_python_says_of_a_field_is_left_out(extension: Any) -> None:
    def described(text: str) -> list[str]:
        lines, app = [text, ""], SimpleNamespace(env=SimpleNamespace(temp_data={}))
        extension("api.modules").protect(app, "attribute", "Maps.cross", None, {}, lines)
        extension("api.modules").link_paper(app, "attribute", "Maps.cross", None, {}, lines)
        return [line for line in lines if line]

    assert described("Alias for field number 2") == []
    assert described("Weights, `[B, H, T, S]`.") == ["Weights, `[B, H, T, S]`."]


# The paper map

CHAPTER = """---
chapter: {{number: {number}, paper: {paper}}}
---
# {number}. Title

{body}
"""
MAP = "# Map\n\n" + "\n".join(
    f":::{{paper-map}} {part}\n:::\n" for part in ("gaps", "sections", "equations", "tables", "claims", "questions")
)


def test_the_map_shows_what_is_there_and_what_is_missing(site: Any) -> None:
    exercise = ":::{exercise} Do it\n:label: ex05-1\nThus.\n:::\n\n:::{claim} C10\nTrue.\n:::\n"
    chapter = CHAPTER.format(number=5, paper='["3.2.1", "equation 1"]', body=exercise)
    read, complaints = site({"map": MAP, "five": chapter})
    assert "WARNING" not in complaints and "ERROR" not in complaints
    cards = {card.split('"')[0]: card for card in read("map.html").split('id="paper-')[1:]}
    one = text_of(cards["equation-1"])
    assert "Chapters : 5. Title" in one.replace("Chapters:", "Chapters :") and "5.1 Attention in four lines" in one
    assert "scaled_dot_product_attention" in one and "test_attention.py" not in one, "tests are in the data only"
    assert cards["equation-1"].count("<details>") == 1, "what is beyond the best links is folded"
    assert 'href="five.html#claim-c10"' in cards["equation-1"] and 'href="five.html#ex05-1"' in cards["equation-1"]
    assert "yet" not in one and "no chapter yet" in cards["equation-3"]
    assert "No code here" in cards["appendix"]
    data = json.loads(read("paper_map.json"))
    assert data["parts"]["equation 1"]["chapters"] == ["five"] and data["claim"]["C10"] == ["five"]
    assert data["claim"]["C01"] == [] and data["parts"]["equation 1"]["gaps"] == []
    shown = text_of(read("map.html"))
    assert "Claims without a page: C01" in shown and "comes with chapter 24" in shown
    assert "C10 (planned" not in shown


def test_an_exercise_without_parts_of_its_own_counts_for_those_of_its_chapter(site: Any) -> None:
    body = ":::{exercise} Small\n:label: small\nThus.\n:::\n\n:::{exercise} Own\n:label: ex05-1\nThus.\n:::\n"
    read, _ = site({"map": MAP, "five": CHAPTER.format(number=5, paper='["3.2.1", "figure 2"]', body=body)})
    parts = json.loads(read("paper_map.json"))["parts"]
    assert parts["section 3.2.1"]["exercises"] == ["ex05-1", "small"]
    assert parts["figure 2"]["exercises"] == ["small"] and parts["equation 1"]["exercises"] == ["ex05-1"]


def test_the_map_follows_a_chapter_that_changes(site: Any) -> None:
    without = CHAPTER.format(number=5, paper="[]", body="Text.")
    read, _ = site({"map": MAP, "five": without})
    assert "five.html" not in read("map.html").split('id="paper-equation-1"')[1].split("map-card")[0]
    read, _ = site({"map": MAP, "five": CHAPTER.format(number=5, paper='["equation 1"]', body="Text.")})
    assert 'href="five.html"' in read("map.html").split('id="paper-equation-1"')[1].split("map-card")[0]


def test_a_chapter_that_names_no_part_of_the_paper_is_complained_about(site: Any) -> None:
    _, complaints = site({"map": MAP, "five": CHAPTER.format(number=5, paper='["9.9"]', body="Text.")})
    assert "the paper has no section 9.9" in complaints


def test_members_stand_for_their_classes_and_modules(extension: Any) -> None:
    names = ["a.m", "a.m.f", "a.m.K", "a.m.K.method", "a.n"]
    assert extension("reference.coverage").without_members(names) == ["a.m.f", "a.m.K", "a.n"]


def test_the_objects_that_are_a_part_come_before_those_that_touch_it(extension: Any) -> None:
    from annotated.paper import implementations, paper_lines

    def first(key: str) -> list[str]:
        names = coverage.subject_first(key, coverage.without_members(implementations()[key]), paper_lines())
        return [name.rpartition(".")[2] for name in names]

    coverage = extension("reference.coverage")
    assert set(first("section 3.1")[:4]) == {"EncoderLayer", "DecoderLayer", "Encoder", "Decoder"}
    assert first("Table 3")[0] == "table_3" and first("section 3")[0] == first("figure 1")[0] == "Transformer"
    assert first("section 3.4")[0] == "TokenEmbedding"
    assert "scaled_dot_product_attention" in first("section 3.2.1")[:2]
    lines = {"annotated.a.big": "Table 3, row big", "annotated.b.all": "section 13; Table 3"}
    assert coverage.subject_first("Table 3", list(lines), lines) == ["annotated.b.all", "annotated.a.big"]


def test_a_fold_of_the_map_says_what_it_holds(extension: Any) -> None:
    rows = [("Chapters", 3), ("Code", 6), ("Exercises", 1), ("Often said", 1), ("Readers ask", 2)]
    assert extension("reference.paper_map").counted(rows) == "3 chapters, 6 objects, 1 exercise, 1 belief, 2 questions"
    assert extension("reference.paper_map").counted([("Chapters", 0)]) == ""


def test_a_part_of_the_map_is_found_by_its_symbols_and_its_number(extension: Any) -> None:
    from annotated.paper import entries

    found = extension("reference.paper_map").symbols_of()
    assert found.keys() <= entries().keys() and "P_drop" in found["section 5.4"].split()
    assert extension("reference.paper_map").for_filter("Table 2").endswith(' data-own="table 2"></span>')
    assert "data-own" not in extension("reference.paper_map").for_filter("appendix")


def test_tests_mirror_the_library(extension: Any) -> None:
    found = extension("reference.coverage").tests_of
    assert "tests/model/test_attention.py" in found(["annotated.model.attention.fused_attention"])
    assert found(["annotated.paper"]) == ["tests/test_paper.py"]
    assert found(["annotated.model.attention"]) == found(["annotated.model.attention.MultiHeadAttention.w_q"])


# Text


def test_every_formula_still_has_its_statement(extension: Any, repository: Path) -> None:
    source, pattern = extension("authoring.source"), re.compile(r"\{equation-code\} (\S+)\n((?::.*\n)+)")
    found = [(f, m) for f in page_files() for m in pattern.finditer(f.read_text("utf-8"))]
    assert len(found) > 20
    for file, (name, options) in ((file, match.groups()) for file, match in found):
        match = re.search(r"^:match: ?(.+)$", options, re.MULTILINE)
        assert match, f"{file.name}: {name} lacks :match:"
        assert source.statements(source.source_of(name)[0], match[1].strip()), file.name


def test_what_is_cited_is_in_the_bibliography(repository: Path) -> None:
    pybtex = pytest.importorskip("pybtex.database")
    known = pybtex.parse_file(str(BOOK / "references.bib")).entries
    cited = {
        key.strip()
        for file in page_files()
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`<]+)`", file.read_text("utf-8"))
        for key in keys.split(",")
    }
    assert cited and cited <= set(known), sorted(cited - set(known))
    for key, entry in known.items():
        assert entry.persons["author"] and entry.fields["title"] and entry.fields["year"] in key, key
        identifier = entry.fields.get("eprint", "")
        assert re.fullmatch(r"\d{4}\.\d{4,5}", identifier) or {
            "url",
            "doi",
            "journal",
            "publisher",
            "institution",
        } & set(entry.fields), key


def test_terms_are_in_the_glossary(repository: Path) -> None:
    glossary = (BOOK / "reference" / "glossary.md").read_text("utf-8")
    blocks = re.findall(r":::\{glossary\}\n(.*?)\n:::", glossary, re.DOTALL)
    terms = [line for block in blocks for line in block.splitlines() if line and not line.startswith(" ")]
    assert len(terms) == len({term.lower() for term in terms}), "a term stands there twice"
    used = {
        " ".join((re.search(r"<(.+)>$", text) or [None, text])[1].split())
        for file in page_files()
        for text in re.findall(r"\{term\}`([^`]+)`", file.read_text("utf-8"))
    }
    missing = {text for text in used if text.lower() not in {term.lower() for term in terms}}
    assert not missing, f"book/annotated_book/reference/glossary.md lacks {sorted(missing)}"


def test_an_entry_has_its_names_its_definition_and_its_chapter(extension: Any) -> None:
    names = '<dt id="term-key">key<a class="headerlink" href="#term-key">#</a></dt>\n<dt id="term-1">键</dt>'
    place = '<a class="reference internal" href="x.html"><span class="std std-doc">Chapter 6</span></a>'
    page = f'<dl class="simple glossary">\n{names}<dd><p>A vector, as <a href="y">here</a>.\n{place}</p></dd></dl>'
    made = extension("terms.glossary").grouped(page)
    assert '<dt class="chinese" id="term-1">' in made and '<dt id="term-key">' in made
    assert f'here</a>.</p></dd><dd class="entry-chapter">{place}</dd></div></dl>' in made
    assert extension("terms.glossary").grouped("<dl><dt>a</dt><dd>b</dd></dl>") == "<dl><dt>a</dt><dd>b</dd></dl>"


def test_every_chinese_character_of_the_pages_is_in_the_shipped_font(repository: Path) -> None:
    fonts = repository / "book" / "_assets" / "fonts"
    shipped = set((fonts / "chinese.txt").read_text("utf-8"))
    for page in [*page_files(), BOOK / "references.bib"]:
        missing = set(re.findall(r"[\u3001-\u303f\u4e00-\u9fff\uff00-\uffef]", page.read_text("utf-8"))) - shipped
        assert not missing, f"{page.name} has {missing}: run book/_ext/make_fonts.py"
    assert 20_000 < (fonts / "chinese.woff2").stat().st_size < 80_000
    assert "SIL Open Font License, Version 1.1" in (fonts / "OFL-Noto-Serif-SC.txt").read_text("utf-8")


def test_chinese_is_marked_as_chinese(extension: Any) -> None:
    marked = extension("delivery.languages").mark('<p title="注意">See 注意力, and 头.</p><p>None</p>')
    chinese = '<span lang="zh-Hans">{}</span>'.format
    assert marked == f'<p title="注意">See {chinese("注意力")}, and {chinese("头")}.</p><p>None</p>'


def test_entries_are_labelled_as_they_are_cited(extension: Any) -> None:
    pybtex = pytest.importorskip("pybtex.database")
    entry = "@misc{{k, author = {{{}}}, title = {{T}}, year = {{2017}}}}".format
    names = [
        "Press, Ofir and Wolf, Lior",
        "van den Oord, A and B, C and D, E",
        "Graves, Alex",
        "Black, Ezra and others",
    ]
    entries = [pybtex.parse_string(entry(name), "bibtex").entries["k"] for name in names]
    labels = list(extension("reference.citations").AuthorYearLabels().format_labels(entries))
    assert labels == ["Press and Wolf, 2017", "van den Oord et al., 2017", "Graves, 2017", "Black et al., 2017"]
    people = [pybtex.parse_string(entry(name), "bibtex").entries["k"] for name in ("Murray, K", "Müller, R", "Mao, A")]
    order = sorted(people, key=extension("reference.citations").FirstAuthorYear().sorting_key)
    assert [one.persons["author"][0].last_names for one in order] == [["Mao"], ["Müller"], ["Murray"]]


def test_the_bibtex_is_that_of_the_file_and_years_are_whole(extension: Any, repository: Path) -> None:
    pybtex = pytest.importorskip("pybtex.database")
    citations, file = extension("reference.citations"), BOOK / "references.bib"
    found, known = citations.bibtex(file), pybtex.parse_file(str(file)).entries
    assert set(found) == set(known)
    for key, text in found.items():
        (again,) = pybtex.parse_string(text, "bibtex").entries.values()
        assert again.fields == known[key].fields, key
    assert [citations.period(year) for year in (1948, 2013, 2014, 2017, 2018, 2020, 2021)] == [
        *["before 2014"] * 2, *["2014 to 2017"] * 2, *["2018 to 2020"] * 2, "from 2021",
    ]  # fmt: skip


def test_a_number_of_the_bibliography_leads_to_the_citation(book: Path) -> None:
    page = book / "reference" / "bibliography.html"
    if not page.is_file():
        pytest.skip("a preview of one chapter has no bibliography")
    places = re.findall(r'href="\.\./([^"#]+)#(cited-[^"]+)"', page.read_text("utf-8"))
    assert len(places) > 100
    for name, anchor in places:
        assert (book / name).read_text("utf-8").count(f'id="{anchor}"') == 1, (name, anchor)


def test_an_exercise_counts_for_the_parts_that_it_names(extension: Any) -> None:
    coverage = extension("reference.coverage")
    assert coverage.about("ex05-1") == ["section 3.2.1", "equation 1"]
    assert coverage.about("a-small-one") == []


def test_the_built_reference_is_whole(book: Path) -> None:
    reference = book / "reference"
    if not (reference / "paper_map.html").is_file():
        pytest.skip("a preview of one chapter has no back matter")
    assert 'id="annotated.model.attention.MultiHeadAttention"' in (reference / "api" / "model.html").read_text("utf-8")
    parts = json.loads((book / "paper_map.json").read_text("utf-8"))["parts"]
    modelled = [
        key for key in parts if key.startswith(("section 3", "section 4", "equation 1", "equation 2", "Table 1"))
    ]
    empty = [key for key in modelled if parts[key]["gaps"]]
    assert not empty, f"the first half of the book treats sections 1 to 4: {empty}"
    assert "multihead" in (book / "searchindex.js").read_text("utf-8").lower()
