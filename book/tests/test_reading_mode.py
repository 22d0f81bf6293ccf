"""What waits behind marks on a first reading, and how it opens."""

from __future__ import annotations

from typing import Any

from docutils import nodes

PAGE = "attention/masks"


def cell(code: str, *tags: str) -> nodes.container:
    made = nodes.container(nb_element="cell_code", classes=["cell", *(f"tag_{tag}" for tag in tags)])
    made += nodes.literal_block("", code)
    return made


def section(title: str, *children: nodes.Node, layer: str = "") -> nodes.section:
    heading = nodes.title("", title)
    if layer:
        heading += nodes.inline("", layer, classes=["layer"])
    return nodes.section("", heading, *children, ids=[title.lower()])


def test_one_mark_stands_for_each_run_of_what_waits(extension: Any) -> None:
    mode = extension("chapter.reading_mode")
    box = nodes.container(classes=["ledger", "claim"])
    text = [nodes.paragraph("", "text") for _ in range(2)]
    page = section(
        "Page", text[0], cell("draw()", "hide-input"), cell("assert a\nassert b", "check"), box, text[1],
        cell("softmax(x)"), cell("assert c", "check"),
    )  # fmt: skip
    mode.set_marks(page)
    kinds = ["mark" if isinstance(one, nodes.raw) else type(one).__name__ for one in page.children[1:]]
    assert kinds == [
        *["paragraph", "container", "mark", "container", "container"],
        *["paragraph", "container", "mark", "container"],
    ]
    marks = [one.astext() for one in page.children if isinstance(one, nodes.raw)]
    assert "code · 2 checks · often said</button>" in marks[0] and ">1 check</button>" in marks[1]
    assert "waits-code" in page[2]["classes"] and "waits" in box["classes"] and "waits" not in page[7]["classes"]


def test_a_proof_waits_as_a_whole_and_keeps_the_address_that_it_had(extension: Any) -> None:
    mode = extension("chapter.reading_mode")
    proof = section("Proof", nodes.paragraph("", "word " * 450), cell("assert a", "check"), layer="prove")
    proof["ids"] = ["proof-prove"]
    page = section("Page", proof)
    document = nodes.document("", "")
    document += page
    mode.keep_addresses(None, document)
    mode.set_marks(page)
    assert proof["ids"] == ["proof-prove", "proof"] and "waits-section" in proof["classes"]
    assert "3 min more" in proof[1].astext() and "waits" not in proof[3]["classes"], "its checks open with it"


def test_what_waits_takes_no_time_on_a_first_reading(extension: Any) -> None:
    take_stock = extension("chapter.page_facts").take_stock
    words = nodes.paragraph("", "word " * 400)
    facts = take_stock(section("One", words, section("Two", words.deepcopy(), cell("x = 1"), layer="prove")))
    assert (facts.minutes, facts.minutes_with_proofs) == (3, 5) and facts.layers == ("prove",)


def test_answers_to_choices_not_made_take_no_time(extension: Any) -> None:
    take_stock = extension("chapter.page_facts").take_stock
    fold = nodes.raw("", "<details><summary>If you chose this</summary>", format="html")
    reason, end = nodes.paragraph("", "word " * 900), nodes.raw("", "</details>", format="html")
    words = nodes.paragraph("", "word " * 390)
    waiting = section("Two", nodes.container("", nodes.paragraph("", "Try"), classes=["try"]), layer="prove")
    facts = take_stock(section("One", words, nodes.container("", fold, reason, end, classes=["quiz"]), waiting))
    assert (facts.words, facts.minutes) == (391, 2)
    assert (facts.questions, facts.waiting_questions) == (1, 1)


def test_a_reader_opens_one_mark_or_everything(visit: Any) -> None:
    with visit(f"{PAGE}.html", alone=True) as v:
        v.page.evaluate("localStorage.setItem('reading', 'read')")
        v.page.reload()
        checks, box = v.page.locator("details.checks"), v.page.locator("#claim-c12")
        assert not any(one.is_visible() for one in checks.all()) and not box.is_visible()
        assert not v.page.locator(".graded").first.is_visible() and v.overflow() <= 0
        short = v.page.evaluate("document.body.scrollHeight")
        mark = v.page.locator(".waits-mark button", has_text="check").first
        mark.click()
        assert mark.get_attribute("aria-expanded") == "true" and checks.first.is_visible()
        assert checks.first.get_attribute("open") is not None, "one click is enough"
        mark.click()
        assert not checks.first.is_visible()
        v.page.evaluate("location.hash = 'claim-c12'")
        box.wait_for(state="visible")
        everything = v.page.get_by_role("button", name="with proofs")
        everything.click()
        assert everything.get_attribute("aria-pressed") == "true" and all(one.is_visible() for one in checks.all())
        assert v.page.evaluate("document.body.scrollHeight") > 1.3 * short
        v.page.reload()
        assert checks.first.is_visible(), "the choice is kept"
        v.page.get_by_role("button", name="read", exact=True).click()
        assert not checks.first.is_visible() and v.axe() == [] and v.errors == []
