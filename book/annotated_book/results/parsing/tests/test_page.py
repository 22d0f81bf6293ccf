"""Chapter 29: the parser loads on request, string and tree are linked, faults are named, charts answer."""

from __future__ import annotations

from typing import Any

from book.tests.charts import move, texts, with_control

PAGE = "results/parsing.html"
FIRST = "The girl washes the cup with the brush."
WATCH = """() => {
  const line = document.querySelector("[data-panel=parse] .live-status");
  window.told = [];
  const note = () => window.told.push(line.textContent);
  new MutationObserver(note).observe(line, { childList: true, characterData: true, subtree: true });
}"""


def panel(v: Any, name: str = "parse") -> Any:
    box = v.page.locator(f'.live[data-panel="{name}"]')
    box.scroll_into_view_if_needed()
    return box


def parsed(v: Any, box: Any) -> str:
    v.page.wait_for_selector('.live[data-panel="parse"][data-state=done]')
    return box.locator(".live-status").inner_text()


def string(box: Any) -> str:
    leaves = "all => all.map(e => e.tagName === 'BUTTON' ? e.textContent : e.firstChild.textContent).join(' ')"
    return box.locator(".parse-string > *").evaluate_all(leaves)


def test_a_sentence_is_parsed_when_it_is_asked_for(visit: Any) -> None:
    with visit(PAGE, alone=True) as v:
        box = panel(v)
        shown = string(box)
        assert shown.startswith("(S (NP The girl )NP (VP washes") and box.locator(".parse-node").count() == 6
        v.rest()
        assert not any("parser.js" in url or "model.js" in url for url in v.asked), "only on request"
        box.get_by_role("button", name="parse", exact=True).click()
        said = parsed(v, box)
        assert string(box) == shown and said.startswith("6 constituents over 9 words, in 21 tokens")
        assert said.endswith("It is the right tree."), "an offered sentence is judged"
        v.page.evaluate(WATCH)
        box.get_by_role("radio", name="beam of 4").check()
        v.page.wait_for_function("window.told.at(-1)?.endsWith('It is the right tree.')")
        assert v.page.evaluate("window.told[0]").endswith("…"), "no old verdict stands while a search runs"
        assert v.page.evaluate("window.told.filter(text => text === 'Searching …').length") == 1
        box.get_by_role("combobox", name="English").fill("The girl washes the cup with the handle.")
        v.page.wait_for_function("document.querySelectorAll('[data-panel=parse] .parse-node').length === 7")
        assert v.errors == [] and v.foreign == []


def test_strange_words_and_the_rule(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 844}) as v:
        box = panel(v)
        box.get_by_role("checkbox", name="only well-formed brackets").check()
        box.get_by_role("combobox", name="English").fill("The xylophone sleeps.")
        v.page.wait_for_function("document.querySelector('.live-status').textContent.includes('xylophone')")
        assert parsed(v, box).startswith("Not among the words of the training sentences: “xylophone”.")
        assert v.overflow() <= 0 and v.errors == []


def test_string_and_tree_are_linked_both_ways(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        box = panel(v)
        box.locator(".parse-bracket").nth(3).focus()  # (VP
        lit = box.locator(".parse-word.parse-lit").all_text_contents()
        assert lit == ["washes", "the", "cup", "with", "the", "brush"]
        assert box.locator(".parse-node.parse-own text").text_content() == "VP"
        assert box.locator(".parse-note").inner_text().startswith("VP, verb phrase: washes the cup with the brush")
        v.page.keyboard.press("ArrowRight")
        assert box.locator(".parse-node.parse-own text").text_content() == "NP"
        box.locator(".parse-node").first.focus()
        v.page.keyboard.press("ArrowDown")
        assert box.locator(".parse-bracket.parse-own").all_inner_texts() == ["(NP", ")NP"]
        v.page.keyboard.press("ArrowRight")
        assert box.locator(".parse-bracket.parse-own").all_inner_texts() == ["(VP", ")VP"]
        tabs = "all => all.filter(e => e.getAttribute('tabindex') === '0').length"
        assert box.locator(".parse-bracket").evaluate_all(tabs) == box.locator(".parse-node").evaluate_all(tabs) == 1


def test_the_inspector_names_faults_and_scores_trees(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 844}) as v:
        box = panel(v, "inspector")
        verdict = box.locator(".parse-verdict")
        assert verdict.inner_text().endswith("F1 100.0.")
        field = box.get_by_role("textbox", name="Bracket string")
        whole = field.input_value()
        faults = box.get_by_label("A fault to make").locator("option").all_inner_texts()[1:]
        for number, text in enumerate(faults, 1):
            box.get_by_label("A fault to make").select_option(index=number)
            assert verdict.inner_text().startswith(f"Malformed, {text.partition(':')[0]}. Token ")
        assert len(faults) == 9
        field.fill("(S " * 250)
        tall = box.locator(".parse-string").evaluate("e => e.offsetHeight")
        box.get_by_role("button", name="the treebank's tree").click()
        again = box.locator(".parse-string").evaluate("e => e.offsetHeight")
        assert tall > 3 * again, "a long string leaves no room behind"
        field.fill(whole.replace("(PP", "(NP", 1).replace(")PP", ")NP", 1))
        assert verdict.inner_text().endswith("F1 83.3.")  # five of six brackets on both sides
        box.get_by_role("button", name="the treebank's tree").click()
        assert field.input_value() == whole and v.overflow() <= 0 and v.errors == []


def test_charts_answer(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        caps = with_control(figures, "extra")
        move(caps, "extra", 0)
        assert any("100.0% of the trees are cut off" in text for text in texts(caps))
        sizes = with_control(figures, "measure")
        before = texts(sizes)
        move(sizes, "set", "new attachments")
        assert texts(sizes) != before
