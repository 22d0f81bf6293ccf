"""The page of claims: its data, effect sizes from cells to the page, and complaints about a proof that is gone."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from annotated_book.pages import page_file, page_files
from book.tests.sites import build_site

PAGE = "results/claims.html"


def all_proofs(extension: Any) -> dict[str, set[str]]:
    """Pages with all anchors that proofs need."""
    found: dict[str, set[str]] = {}
    for one in extension("claims.sentences").sentences().values():
        page, _, anchor = one.proof.partition("#")
        if page:
            found.setdefault(page, set()).add(anchor)
    return found


def all_effects(extension: Any) -> set[str]:
    """The names of all claims that promise an effect."""
    every = [
        *extension("claims.sentences").sentences().items(),
        *extension("claims.claim_boxes").ledger("claim").items(),
    ]
    return {id for id, one in every if one.effect}


def test_proofs_and_effects_that_are_there_are_not_complained_about(extension: Any) -> None:
    anchors = all_proofs(extension)
    assert list(extension("claims.sentences").faults(anchors, {"page": all_effects(extension)}, anchors)) == []
    assert list(extension("claims.sentences").faults({}, {}, anchors, whole=False)) == [], "a chapter alone"


def test_a_claim_that_loses_its_proof_is_complained_about(extension: Any) -> None:
    faults, anchors, effects = extension("claims.sentences").faults, all_proofs(extension), all_effects(extension)
    without = anchors | {"attention/masks": anchors["attention/masks"] - {"claim-c01"}}
    assert list(faults(without, {"page": effects}, anchors)) == [
        "the proof of P3.2.3-5 is gone: attention/masks has no #claim-c01"
    ]
    (told,) = faults(anchors, {"page": effects - {"C08"}}, anchors)
    assert told.startswith("no cell records the effect of C08")
    (told,) = faults(anchors, {"page": effects | {"C05"}}, anchors)
    assert "C05" in told and "effect: true" in told
    (told,) = faults(anchors, {"page": effects | {"C99"}}, anchors)
    assert told == "page records an effect of C99, and there is no such claim"
    moved = {page: names for page, names in anchors.items() if page != "machine/embeddings"}
    assert len(list(faults(moved, {"page": effects}, anchors))) == 2, "both sentences of section 3.4"


def test_quotations_are_short_and_names_are_of_their_section(extension: Any) -> None:
    for one in extension("claims.sentences").sentences().values():
        for quoted in re.findall(r'"([^"]+)"', one.says):
            assert len(quoted.split()) <= 12, f"{one.id} quotes more than a dozen words"
        place = re.match(r"P(.+)-\d+$", one.id)
        assert place
        expected = {"A": "abstract", "E": "early appendix", "F": "appendix"}.get(place[1], place[1])
        assert one.section == expected, f"{one.id} is of section {one.section}"


def test_the_sections_where_proofs_are_exist_in_the_sources(extension: Any, repository: Path) -> None:
    """Without a build: each proof's page has the box, the label, or the heading that its anchor is made of."""
    from docutils.nodes import make_id

    for page, names in all_proofs(extension).items():
        text = page_file(page).read_text("utf-8")
        boxes = {f"claim-{id.lower()}" for id in re.findall(r"^:::\{claim\} (\w+)", text, re.M)}
        labels = set(re.findall(r"^\(([\w-]+)\)=", text, re.M))
        plain = (re.sub(r"\{\.?layer\}|\{(\w+)\}(?=`)", "", head) for head in re.findall(r"^#+ (.+)$", text, re.M))
        headings = {make_id(head) for head in plain}
        kept = {name.removesuffix("-prove") for name in headings | labels}  # `reading_mode.keep_addresses`
        assert names <= boxes | labels | headings | kept, (page, names)


def test_an_address_with_the_mark_of_a_section_is_complained_about(
    extension: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark may go, and come; the address without it stays."""
    part, anchors = extension("claims.sentences"), all_proofs(extension)
    known = part.sentences()
    id, one = next((id, one) for id, one in known.items() if "#" in one.proof)
    marked = dataclasses.replace(one, proof=f"{one.proof}-prove")
    monkeypatch.setattr(part, "sentences", lambda: {**known, id: marked})
    told = list(part.faults(anchors, {"page": all_effects(extension)}, anchors))
    assert f"the proof of {id}: write {one.proof}, which holds with and without a mark" in told


def test_every_promised_effect_is_recorded_in_a_check_of_a_chapter(extension: Any, repository: Path) -> None:
    """Without a build: the calls of `effect_size` in the sources name exactly the claims that promise an effect."""
    found: set[str] = set()
    for page in page_files():
        for cell in re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            options, code = re.match(r"((?:^:[^\n]*\n)*)(.*)", cell, re.S).groups()  # type: ignore[union-attr]
            named = {id for claims in extension("claims.effects").calls(code) for id in claims.split()}
            assert not named or "check" in options, f"{page.name}: {named} outside a check"
            found |= named
    assert found == all_effects(extension)


def test_the_chapter_counts_what_the_data_has(extension: Any, repository: Path) -> None:
    """The prediction and the first lines name numbers: a hundred sentences, three contradicted, twelve not tested."""
    verdicts = Counter(one.verdict for one in extension("claims.sentences").sentences().values())
    text = " ".join(page_file("results/claims").read_text("utf-8").split())
    assert "this chapter has a hundred of them" in text and "- [x] Three." in text and "twelve are not tested" in text
    assert (verdicts.total(), verdicts["not tested"]) == (100, 12)
    assert (verdicts["imprecise"], verdicts["refuted"]) == (2, 1)
    assert "Two are imprecise" in text and "one is refuted" in text
    deeds = [one.id for one in extension("claims.sentences").sentences().values() if one.tested]
    assert len(deeds) == 5 and all(f'href="#{id}"' in text for id in [*deeds, "P2-4"]), "the wider rule names them"
    assert "more than a quarter hold only under a condition" in text and verdicts["depends"] > 25


NOTEBOOK = """---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

# Masks

(the-place)=
## A place

```{{code-cell}} ipython3
:tags: [check]
from annotated_book import effect_size
assert 2 + 2 == 4
effect_size("C01 P9-1", 2 + 2, "nats", "of something")
{more}
```
"""
SENTENCES = {
    "P9-1": {
        "section": "3.1",
        "says": "A short sentence $x$.",
        "verdict": "confirmed",
        "why": "It is so, as computed.",
        "proof": "five#the-place",
        "effect": True,
        "by": "arithmetic",
        "tested": "it is as short as it says",
        "claims": ["C01"],
    },
    "P9-2": {"section": "7", "says": "Another sentence.", "verdict": "not tested", "why": "It would take long."},
}


PARTS = ("authoring.paper", "claims.claim_boxes", "authoring.checks", "claims.effects", "claims.claims_page")


@pytest.fixture
def small_book(extension: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Build a page of claims and a chapter that proves one: a reader of files, and what was complained about."""
    extension("claims.claims_page")  # what it imports shall keep the ledger of the book, for tests that come later
    (tmp_path / "sentences.yaml").write_text(yaml.safe_dump(SENTENCES, sort_keys=False), encoding="utf-8")
    claims = {"C01": extension("claims.claim_boxes").ledger("claim")["C01"]}
    monkeypatch.setattr(extension("claims.sentences"), "FILE", tmp_path / "sentences.yaml")
    for part in ("claims.claim_boxes", "claims.sentences"):
        monkeypatch.setattr(extension(part), "ledger", lambda kind: claims if kind == "claim" else {})
    monkeypatch.setattr(extension("claims.claim_boxes").ledger, "cache_clear", lambda: None, raising=False)
    extension("claims.sentences").sentences.cache_clear()

    def build(chapter: str) -> tuple[Any, str]:
        page = "# Claims\n\n" + "\n".join(f":::{{claims}} {part}\n:::\n" for part in ("counts", "chart", "list"))
        settings = {
            "source_suffix": {".md": "myst-nb"},  # else what an earlier site of this process has said holds
            "nb_execution_mode": "force",
            "nb_execution_in_temp": True,
        }
        pages = {"five": chapter, "results/claims": page}
        out, complaints = build_site(tmp_path, pages, PARTS, ("myst_nb", "sphinx_exercise"), **settings)
        return (lambda name: (out / name).read_text(encoding="utf-8")), complaints

    yield build
    extension("claims.sentences").sentences.cache_clear()


def test_a_number_that_a_cell_records_is_on_the_page_and_in_the_data(small_book: Any) -> None:
    read, complaints = small_book(NOTEBOOK.format(more=""))
    assert "claims" not in complaints, complaints
    page, chapter = read(PAGE), read("five.html")
    assert "<strong>4 nats</strong> of something" in page and 'href="../five.html#effect-c01-p9-1"' in page
    assert chapter.index("<details") < chapter.index('id="effect-c01-p9-1"') < chapter.index("</details>")
    assert "papermill" not in chapter, "what is recorded is not shown where it is computed"
    assert 'data-verdict="confirmed;by arithmetic"' in page and "confirmed, by arithmetic</span>" in page
    assert "Tested here: it is as short as it says." in page and page.count("Tested here") == 1
    assert "1 of these verdicts are by arithmetic" in page and "</i>by arithmetic <b>1</b>" in page
    assert 'id="P9-1"' in page and "1 of 2 sentences are under test" in page
    data = json.loads(read("results/claims.json"))
    by_id = {claim["id"]: claim for claim in data["claims"]}
    assert [by_id[id]["by"] for id in ("P9-1", "P9-2", "C01")] == ["arithmetic", "", ""]
    assert by_id["P9-1"]["effects"] == by_id["C01"]["effects"]
    (effect,) = by_id["C01"]["effects"]
    assert effect == {"value": 4.0, "unit": "nats", "what": "of something", "cell": "../five.html#effect-c01-p9-1"}
    assert by_id["P9-2"]["proof"] is None and by_id["C01"]["related"] == ["P9-1"]


def test_a_build_warns_of_a_place_and_of_an_effect_that_are_gone(small_book: Any) -> None:
    _, complaints = small_book(NOTEBOOK.format(more="").replace("the-place", "elsewhere"))
    assert "the proof of P9-1 is gone: five has no #the-place" in complaints
    _, complaints = small_book(NOTEBOOK.format(more="").replace('effect_size("C01 P9-1"', 'print("C01 P9-1"'))
    assert "no cell records the effect of P9-1 any more" in complaints
    assert "no cell records the effect of C01 any more" in complaints


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(0.3949, "%", "39.5 %"), (1.19e-7, "", "1.2 · 10⁻⁷"), (41004, "entries", "41,004 entries"), (0.0, "", "0")],
)
def test_sizes_are_written_as_a_reader_writes_them(extension: Any, value: float, unit: str, shown: str) -> None:
    effect = extension("claims.effects").Effect(("C01",), value, unit, "part of it", "page", "x")
    assert effect.size == shown
    assert effect.sentence == (f"{shown} part of it" if unit else f"Part of it: {shown}")


# The built book


def test_the_data_fits_its_schema_and_every_address_leads_somewhere(book: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    path = book / "results" / "claims.json"
    if not path.is_file():
        pytest.skip("the page of claims is not built")
    data = json.loads(path.read_text("utf-8"))
    jsonschema.validate(data, json.loads(path.with_name("claims.schema.json").read_text("utf-8")))
    assert len(data["claims"]) == len({claim["id"] for claim in data["claims"]}) == 152
    pages: dict[str, str] = {}
    for claim in data["claims"]:
        places = [effect["cell"] for effect in claim["effects"]] + ([claim["proof"]] if claim["proof"] else [])
        for place in places:
            page, _, anchor = place.partition("#")
            text = pages.setdefault(page, (path.parent / page).read_text("utf-8"))
            assert f'id="{anchor}"' in text, f"{claim['id']} leads to {place}"
    assert sum(bool(claim["effects"]) for claim in data["claims"]) > 100


def test_claims_are_chosen_by_verdict_section_and_words(visit: Any) -> None:
    with visit(PAGE) as v:
        rows = v.page.locator(".claim-row:visible")

        def choose(menu: str) -> Any:
            return v.page.get_by_role("combobox", name=menu, exact=True)

        assert rows.count() == 152
        choose("Verdict").select_option("refuted")
        choose("Kind").select_option("the paper's sentence")
        assert rows.count() == 1
        choose("Verdict").select_option("imprecise")
        assert rows.count() == 2
        v.page.locator(".claims-bar a[title='3 depends']").first.click()
        values = (choose("Verdict").input_value(), choose("Section").input_value())
        assert values == ("depends", "3.2.1") and rows.count() == 3, "a part of a bar chooses its sentences"
        choose("Verdict").select_option("")
        choose("Section").select_option("3.2.1")
        assert rows.count() == 9
        choose("Section").select_option("")
        v.page.get_by_role("searchbox", name="Show claims with").fill("wavelengths")
        assert "P3.5-2" in [row.get_attribute("id") for row in rows.all()]
        entry = v.page.locator('[id="P3.5-2"]')
        if not entry.locator(".claim-why").is_visible():
            entry.locator("summary").click()
        entry.get_by_role("link", name="C27").click()
        v.page.locator("#C27 .claim-why").wait_for()  # a link unfolds its entry
        assert v.errors == []
