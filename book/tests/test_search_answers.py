"""What the search knows beside the index of words: numbers, parts of the paper, and terms of the glossary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from book.tests.javascript import evaluate

PASSAGES = Path(__file__).parents[2] / "book" / "_assets" / "search" / "passages.js"


def passages(call: str, data: Any) -> Any:
    return evaluate(PASSAGES, f"(_, data) => globalThis.annotatedPassages.{call}", data)


def answered(v: Any) -> None:
    v.page.wait_for_selector("#search-results[data-done]")


def test_numbers_and_parts_are_counted_as_they_are_asked_for(extension: Any) -> None:
    answers = extension("find.answers")
    said = ["BLEU of 28.4 and 37,000 tokens, 37000 of them; section 3.2.1, equation 3.", "E4000 and 1 are no numbers"]
    counted = answers.numbers({"a": [("", "28.4", said)], "b": [("", "", ["In 4000 steps. Equation 3"])]})
    assert counted == {
        "28.4": {"a": 10 + 1}, "37000": {"a": 2}, "3.2.1": {"a": 1}, "section 3.2.1": {"a": 1}, "4000": {"b": 1},
        "equation 3": {"a": 1, "b": 1},
    }  # fmt: skip
    asked = {text: passages("numbersOf(data)", text) for text in ("37,000", "28.4 BLEU", "3.2.1", "layer 6", "d_k2")}
    assert asked == {"37,000": ["37000"], "28.4 BLEU": ["28.4"], "3.2.1": ["3.2.1"], "layer 6": [], "d_k2": []}
    assert passages("withoutNumbers(data)", "why 28.4 BLEU") == "why BLEU"
    marks = passages("marked(data, ['37000', '3'], word => word)", "37,000 in 3.5; 3 of 370000")
    assert marks[1::2] == ["37,000", "3"], "a number is a whole one"


def test_a_page_about_a_number_comes_before_one_that_uses_it_often(extension: Any) -> None:
    found = {
        "often": [("", "Audit", ["37,000 " * 9])],
        "heading": [("a", "What 37,000 tokens are", [])],
        "named": [("", "Subwords", ["37,000"])],
        "exercise": [("ex9-1", "Exercise 9.1 (All 37,000)", [])],
    }
    counted = extension("find.answers").numbers(found, {"named": ["The paper's vocabulary has about 37,000."]})["37000"]
    assert sorted(counted, key=lambda page: -counted[page]) == ["named", "heading", "often", "exercise"]


def test_formulas_are_found_as_they_are_typed(extension: Any) -> None:
    answers, formula = extension("find.answers"), extension("find.searching").formula
    shown = {
        "five": [("paper", formula(r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V"))],
        "ten": [("", formula(r"\max(0,\, xW_1 + b_1)\,W_2 + b_2"))],
    }
    known = answers.formulas(shown, ["five", "ten", "missing"])
    for typed, places in (
        ("softmax(QK^T/sqrt(d_k))V", ["five.html#paper"]), ("QK^T / √d_k", ["five.html#paper"]),
        ("max(0, x)", ["ten.html"]), (r"\max(0, x W_1", ["ten.html"]), ("softmax", []), ("x = 7", []), ("a)", []),
        ("QK^T", ["five.html#paper"]), ("K^T", []), ("d_k", []),
    ):  # fmt: skip
        found = passages("formulasWith(...data)", [typed, known])
        assert found == [[place, ""] for place in places], typed


def test_functions_of_formulas_are_words_and_labels_stand_apart(extension: Any) -> None:
    from docutils import nodes

    searching = extension("find.searching")
    assert searching.formula(r"\tanh(Ws) + \ln 2\quad\text{where } a \le b") == "tanh(Ws) + ln 2 where a ≤ b"
    assert searching.formula(r"\begin{cases} 1 - \epsilon_{ls} & v\\ 0 \end{cases}") == "1 - ϵ_ls v 0"
    cell = nodes.entry("", nodes.paragraph("", "", nodes.inline("", "as printed", classes=["cell-label"])))
    cell[0] += nodes.Text("28.4")
    assert searching.text_of(cell) == "as printed: 28.4"
    two = nodes.entry("", nodes.paragraph("", "model.py"), nodes.paragraph("", "Measured"))
    assert searching.text_of(two) == "model.py Measured"


def test_an_exercise_is_a_place_and_tells_no_answer(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    page, top = (
        new_document("page"),
        nodes.section("", nodes.title("", "Top"), nodes.paragraph("", "Rate:"), ids=["top"]),
    )
    task = nodes.container("", nodes.title("", "Exercise 20.1 (The schedule)"), ids=["ex20-1"], classes=["exercise"])
    content = nodes.section("", nodes.paragraph("", "easy", classes=["graded-facts"]), nodes.paragraph("", "Write it."))
    content += nodes.container("", nodes.paragraph("", "The solution"), classes=["graded-more"])
    task += content
    top += [nodes.math_block("", r"\min(a, b)"), task]
    page += top
    searching = extension("find.searching")
    assert searching.places(page) == [
        ("", "Top", ["Rate: min(a, b)"]),
        ("ex20-1", "Exercise 20.1 (The schedule)", ["Write it."]),
    ]
    assert searching.formulas(page) == [("", "min(a, b)")]


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("Equation 3", "equation 3"), ("eq. (3)", "equation 3"), ("table 3", "table 3"), ("3.2.1", "section 3.2.1"),
        ("§ 3.2.1", "section 3.2.1"), ("equation 9", None), ("3", None), ("table tennis", None),
        ("ex05-1", "exercise 5.1"), ("Exercise 5.1", "exercise 5.1"), ("5.1", None), ("ch. 7", "chapter 7"),
        ("C08", "c08"), ("c8", "c08"), ("Q8", "q8"), ("q", None),
    ],
)  # fmt: skip
def test_a_part_of_the_paper_or_the_book_is_known_by_its_number(typed: str, key: str | None) -> None:
    known = ("equation 3", "table 3", "section 3.2.1", "section 3", "exercise 5.1", "chapter 7", "c08", "q8")
    parts: dict[str, list[str]] = {name: [] for name in known}
    assert passages("partOf(...data) ?? null", [typed, parts]) == key


def test_a_part_that_the_paper_lacks_is_said_to_be_missing() -> None:
    parts: dict[str, list[str]] = {name: [] for name in ("equation 3", "section 3.2.1", "table 4")}
    asked = ("Equation 4", "eq. (4)", "§ 9", "fig 6", "equation 3", "3.2.1", "9.9", "table tennis", "chapter 90")
    found = [passages("missingPart(...data) ?? null", [typed, parts]) for typed in asked]
    assert found == ["equation 4", "equation 4", "section 9", "figure 6", None, None, None, None, None]
    assert passages("missingPart(...data) ?? null", ["equation 4", {}]) is None, "a preview has no map of the paper"


def test_a_name_of_the_library_leads_to_its_object() -> None:
    kinds = {"0": "py:module", "1": "py:function", "2": "py:class", "3": "py:method", "4": "py:attribute"}
    objects = {
        "annotated.loading": [[0, 1, 1, "", "load"]],
        "annotated.runs.dry_run.DryRun": [[1, 3, 1, "", "load"]],
        "annotated_book": [[2, 0, 0, "-", "beam_search"]],
        "annotated.decoding.beam": [[3, 1, 1, "", "beam_search"], [3, 2, 1, "", "BeamSearch"]],
        "annotated.model.layers": [[4, 2, 1, "", "Encoder"]],
        "annotated.interop": [[2, 2, 1, "", "Transformer"]],
        "annotated.model": [[4, 2, 1, "", "Transformer"]],
        "annotated.model.layers.Encoder": [[4, 3, 1, "", "forward"], [4, 4, 1, "", "d_model"]],
    }
    for asked, names in (
        ("annotated.load", ["annotated.loading.load"]), ("beam_search", ["annotated.decoding.beam.beam_search"]),
        ("annotated.beam_search", ["annotated.decoding.beam.beam_search"]), ("beam search", []),
        ("load", ["annotated.loading.load"]), ("forward", []), ("Load", []),
        ("Encoder", ["annotated.model.layers.Encoder"]),
        ("encoder", []), ("Transformer", ["annotated.model.Transformer", "annotated.interop.Transformer"]),
        ("DryRun.load()", ["annotated.runs.dry_run.DryRun.load"]), ("d_model", []), ("coder.forward", []),
        ("Encoder.forward", ["annotated.model.layers.Encoder.forward"]), ("3.2.1", []),
        ("BeamSearch", ["annotated.decoding.beam.BeamSearch"]),
        ("Encoder.d_model", ["annotated.model.layers.Encoder.d_model"]),
    ):  # fmt: skip
        found = passages("objectsNamed(...data)", [asked, objects, kinds, ["Transformer", "load"]])
        assert [name for _, name in found] == names, asked


def test_the_chapter_that_the_glossary_names_is_the_first(extension: Any) -> None:
    glossary = (
        ":::{glossary}\ncross-attention\n交叉注意力\n  Words. [Chapter\n  6](../a/six.md)\n\nloss\n  No chapter.\n:::\n"
    )
    found = {"a/six": [], "reference/glossary": [("term-cross", "cross-attention · 交叉注意力", ["Words."])]}
    known = extension("find.answers").terms(glossary, found)
    both = [("a/six.html", ""), ("reference/glossary.html#term-cross", "")]
    assert known == {"cross-attention": both, "交叉注意力": both, "loss": [("reference/glossary.html", "")]}
    data = {
        "cross-attention": ["C"],
        "残差连接": ["R"],
        "byte-pair encoding": ["B"],
        "FlashAttention": ["F"],
        "head": ["H"],
    }
    for asked, answer in (
        ("Cross attention", ["C"]), ("残差", ["R"]), ("byte pair", ["B"]), ("flash attention", ["F"]), ("heads", ["H"]),
        ("att", []), ("ross-attention", []),
    ):  # fmt: skip
        assert passages("entryOf(...data)", [asked, data]) == answer, asked


def test_a_chapter_about_a_part_comes_before_those_that_treat_it(extension: Any) -> None:
    titles = {"x": "3. Before 2017", "y": "5. Scaled dot-product attention", "z": "27. Table 2 and its costs"}
    treated = {"section 3.2.1": ("Scaled Dot-Product Attention", ["x", "y"]), "Table 2": ("BLEU", ["x", "z"])}
    known = extension("find.answers").parts(treated, titles)
    assert [a for a, _ in known["section 3.2.1"]] == [
        "y.html",
        "x.html",
        "reference/paper_map.html#paper-section-3-2-1",
    ]
    said = [
        ("", "Top", ["section 3.2.1"]),
        ("ex5-1", "Exercise 5.1 (A)", ["Section 3.2.1"]),
        ("paper", "P", ["section 3.2.1"]),
    ]
    known = extension("find.answers").parts(treated, titles, {"y": said})
    assert known["section 3.2.1"][0] == ("y.html#paper", ""), "the first section that names it, and no exercise"
    assert known["table 2"][0] == ("z.html", "")
    assert known["table 2"][-1] == ("reference/paper_map.html#paper-table-2", "Table 2: BLEU")
    both = {"Table 4": ("Parsing", ["x", "y"])}
    known = extension("find.answers").parts(
        both, titles, {"y": [("t4", "Table 4", [])], "x": [("a", "A", ["Table 4"])]}
    )
    assert [a for a, _ in known["table 4"]][:2] == ["y.html#t4", "x.html#a"], "a heading comes before a mention"


@pytest.mark.parametrize(
    ("word", "term", "begins"),
    [
        ("latention", "atention", False), ("MultiHeadAttention", "attention", True), ("log_softmax", "softmax", True),
        ("masked", "mask", True), ("unmasked", "mask", False), ("残差连接", "连接", True),
    ],
)  # fmt: skip
def test_a_word_is_found_at_its_beginning_and_not_inside(word: str, term: str, begins: bool) -> None:
    assert passages("begins(...data)", [word, term]) is begins


def test_what_is_only_in_code_is_said_to_be() -> None:
    places = [["", "Masks", ["A mask hides keys."]]]
    (only,) = passages("best(data, ['qkv'], word => word)", places)
    assert only["isOnlyCode"] and only["text"] == ""
    (answer,) = passages("best(data, ['qkv'], word => word, [], 3, true)", places)
    assert not answer["isOnlyCode"]
    assert answer["text"] == "A mask hides keys.", "a page that answers in other words shows its beginning"


def test_code_leads_to_the_section_that_has_its_words(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    page, top = new_document("page"), nodes.section("", nodes.title("", "Top"), ids=["top"])
    code = nodes.section("", nodes.title("", "Heads"), nodes.literal_block("", "torch.einsum(q_k)"), ids=["heads"])
    code += nodes.paragraph("", "In torch it is one product.")
    task = nodes.container("", nodes.title("", "Exercise 1.1"), ids=["ex1-1"], classes=["exercise"])
    inner = nodes.section("", nodes.container("", nodes.literal_block("", "einsum, roll"), classes=["graded-more"]))
    top += [code, nodes.container("", task)]
    task += inner
    page += top
    searching = extension("find.searching")
    kept = searching.code_words(page, searching.places(page))
    assert kept == [("heads", "einsum q_k"), ("ex1-1", "roll")], (
        "what a text has is found there, the rest where it is first"
    )
    known: list[Any] = [["", "Top", []], ["heads", "Heads", []], ["ex1-1", "Exercise 1.1", []]]
    for terms, anchor in ((["einsum"], "heads"), (["roll", "einsum"], "heads"), (["roll"], "ex1-1"), (["masks"], None)):
        found = passages("placeInCode(...data, word => word)?.anchor ?? null", [kept, known, terms])
        assert found == anchor, terms


def test_the_index_has_words_as_they_are_typed(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    page, said = new_document("page"), nodes.paragraph("", "Łukasz Müller, ϵ ")
    said += [nodes.math("", r"warmup\_steps"), nodes.math("", r"\mathrm{softmax}(\beta_1)")]
    page += said
    text = extension("find.searching").for_index(page).astext()
    assert {"Lukasz", "Muller", "beta"} <= set(text.split()) and "mathrm" not in text and r"\_" not in text
    assert "warmup_steps" in text and page.astext().endswith(r"(\beta_1)"), "the page stays as it is"
    for name, plain in (
        ("Łukasz Müller", "Lukasz Muller"),
        ("Søgaard, Groß", "Sogaard, Gross"),
        ("ϵ², 连接", "ϵ², 连接"),
    ):
        assert passages("fold(data)", name) == extension("reference.citations").folded(name) == plain
    assert passages("marked(data, ['muller'], word => word)", "Müller et al.")[1] == "Müller"


def test_a_sentence_that_is_shown_has_a_word_that_was_asked_for() -> None:
    places = [
        ["", "Transformers", ["A question of the page."]],
        ["widget", "A Transformer here", ["Zero nats is certainty, and this sentence is long enough."]],
        ["ex1-1", "Exercise 1.1 (A transformer of transformers)", ["Write a transformer."]],
        ["more", "More", ["The transformer reads all words at once."]],
        ["term-transformer", "transformer", ["A stack of layers."]],
    ]
    found = passages("best(data, ['transformer'], word => word, [], 9)", places)
    shown = {place["anchor"]: place["text"] for place in found}
    assert shown == {
        "widget": "", "term-transformer": "A stack of layers.", "more": "The transformer reads all words at once.",
        "ex1-1": "Write a transformer.",
    }  # fmt: skip
    assert list(shown)[-1] == "ex1-1", "an exercise comes behind what explains it"


def test_queries_of_readers_lead_where_they_are_answered(visit: Any, book: Path) -> None:
    if not (book / "reference" / "paper_map.html").is_file():
        pytest.skip("a preview of one chapter has no paper map")
    first = {
        "warmup_steps": ["20. Adam"], "warmup": ["20. Adam"], "positional encodings": ["14. Positional"],
        "Transformer": ["1. One sentence", "15. Assemble", "Attention Is All You Need, annotated"],
    }  # fmt: skip
    with visit("search.html") as v:
        for asked, titles in first.items():
            v.page.goto(v.page.url.partition("?")[0] + f"?q={asked}")
            answered(v)
            v.page.wait_for_function("!document.querySelector('.search-page:not([data-ready])')")
            found = v.page.locator(".search-group[data-group='0'] .search-page > a").all_inner_texts()
            assert [title.startswith(own) for title, own in zip(found, titles, strict=False)] == [True] * len(titles), (
                asked
            )
            pages = v.page.locator(".search-group[data-group='0'] .search-page").all()
            lists = [page.locator(".search-place > a").all_inner_texts() for page in pages]
            for headings in lists:
                exercises = [heading.startswith("Exercise ") for heading in headings]
                assert exercises == sorted(exercises), (asked, headings)
            marks = "all => all.every(e => e.querySelector('mark'))"
            assert v.page.locator(".search-group[data-group='0'] .context").evaluate_all(marks), asked
        for name in ("Lukasz Kaiser", "Łukasz Kaiser"):
            v.page.goto(v.page.url.partition("?")[0] + f"?q={name}")
            answered(v)
            assert v.page.locator(".search-page > a").first.inner_text().startswith("Bibliography"), name
        v.page.goto(v.page.url.partition("?")[0] + "?q=the")
        answered(v)
        assert v.page.locator(".search-summary").inner_text().startswith("“the” is too common a word")
        assert v.page.locator(".search-group").count() == 0
        v.page.goto(v.page.url.partition("?")[0] + "?q=einsum")
        answered(v)
        v.page.locator(".search-also a[href*='multi_head.html#']").wait_for()
        assert v.errors == []


FIRST = {
    "37000": "16. Subwords", "equation 3": "20. Adam", "3.2.1": "5. Scaled", "table 4": "29. Con",
    "softmax": "5. Scaled", "QKV": "6. Query", "cross attention": "6. Query", "β_2": "20. Adam",
    "max(0, x)": "10. The position", "ex05-1": "5. Scaled", "chapter 7": "7. Masks", "C08": "5. Scaled",
    "annotated.load": "Translating", "Encoder.forward": "The model", "label smoothing 0.1": "19. Label",
}  # fmt: skip
"""What is asked for, in each way that the search knows, and the page that comes first."""
MORE = {
    "28.4": "26. BLEU", "learning rate": "20. Adam", "byte pair": "16. Subwords",
    "greedy_decode": "Decoding", "n^2 d": "4. Table 1",
}  # fmt: skip
"""The same ways, with other words."""


ASKED = {
    "how do I train a model": "22. The", "O(n^2)": "4. Table 1", "self-attention vs cross attention": "6. Query",
    "机器翻译": "2. Sequence", "attention is all you need pdf": "Attention Is All You Need", "GPU hours": "27. Table 2",
    "number of parameters": "15. Assemble",
}  # fmt: skip
"""What readers of the book typed and were led astray with."""
QUERIES = ASKED | {
    "quadratic complexity": "4. Table 1", "self-attention": "6. Query", "cross-attention": "6. Query",
    "positional encoding": "14. Pos", "positonal encodng": "14. Pos", "atention": "5. Scaled",
    "trasnformer": "1. One", "Beamsearch": "24. Beam", "beam search": "24. Beam", "多头注意力": "8. Multi",
    "位置编码": "14. Pos", "自注意力": "6. Query", "注意力": "5. Scaled", "why divide by sqrt(d_k)": "5. Scaled",
    "multi-head attention": "8. Multi", "mask": "7. Masks", "causal mask": "7. Masks", "padding mask": "7. Masks",
    "teacher forcing": "18. Teacher", "label smoothing": "19. Label", "dropout": "21. Dropout", "bleu": "26. BLEU",
    "learning rate schedule": "20. Adam", "warmup": "20. Adam", "checkpoint averaging": "25. ",
    "byte pair encoding": "16. Subwords", "weight tying": "13. Emb", "residual connection": "12. ",
    "layer normalization": "12. ", "feed-forward network": "10. ", "table 3": "28. ", "softmax": "5. Scaled",
    "constituency parsing": "29. ", "query key value": "6. Query", "RoPE": "14. Pos", "what is a token": "16. Sub",
    "greedy decoding": "23. ", "KV cache": "23. ", "exposure bias": "18. Teacher",
}  # fmt: skip
"""All that they typed."""


@pytest.mark.parametrize(
    "first",
    [FIRST, ASKED, *(pytest.param(more, marks=pytest.mark.nightly) for more in (MORE, QUERIES))],
    ids=["of each way", "asked", "more of each", "all asked"],
)
def test_numbers_parts_and_terms_lead_to_their_chapters(visit: Any, book: Path, first: dict[str, str]) -> None:
    if not (book / "reference" / "paper_map.html").is_file():
        pytest.skip("a preview of one chapter has no paper map")
    with visit("search.html") as v:
        for asked, chapter in first.items():
            v.page.goto(v.page.url.partition("?")[0] + f"?q={asked}")
            answered(v)
            assert v.page.locator(".search-page > a").first.inner_text().startswith(chapter), asked
        assert v.errors == []


def test_a_name_is_told_apart_and_slips_and_missing_parts_are_said(visit: Any, book: Path) -> None:
    if not (book / "reference" / "paper_map.html").is_file():
        pytest.skip("a preview of one chapter has no paper map")
    with visit("search.html") as v:
        v.page.goto(v.page.url.partition("?")[0] + "?q=greedy_decode")
        answered(v)
        named = v.page.locator(".search-group").first
        named.locator(".search-place > a").wait_for()
        assert named.locator("h2").inner_text().lower() == "the name in the library"
        assert named.locator(".search-place > a").all_inner_texts() == ["greedy_decode"]
        v.page.goto(v.page.url.partition("?")[0] + "?q=equation 4")
        answered(v)
        assert v.page.locator(".search-summary").inner_text().startswith("The paper has no equation 4; the map of")
        v.page.goto(v.page.url.partition("?")[0] + "?q=atention")
        answered(v)
        assert v.page.locator(".search-meant").inner_text() == "No page has “atention”. These pages have attention."
        # A part of "available", and no word of the book.
        v.page.goto(v.page.url.partition("?")[0] + "?q=lable smoothing")
        answered(v)
        assert "label smoothing" in v.page.locator(".search-meant").inner_text()
        assert v.errors == []
