"""The widgets' JavaScript: modules become one that runs, short and without faults."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotated_book.viz.engine.script import live_files
from annotated_book.viz.javascript import classic_script, esm
from book.tests.javascript import PACKAGE, evaluate
from tests.house_rules import MOST_LINES_OF_A_FILE, MOST_LINES_OF_A_FUNCTION

pytestmark = pytest.mark.process

ROOT = PACKAGE.parents[1]
CONFIGURATION = ROOT / ".oxlintrc.json"
WIDGETS = sorted(path for path in PACKAGE.rglob("*.js") if "export default { render" in path.read_text("utf-8"))


def lint(*paths: Path) -> list[dict[str, Any]]:
    """What oxlint finds wrong, with the rules of the repository."""
    program = shutil.which("oxlint", path=Path(sys.executable).parent) or shutil.which("oxlint")
    if not program:
        pytest.skip("oxlint is in the extra `dev`")
    command = [program, "--config", str(CONFIGURATION), "--format", "json", *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)["diagnostics"]


def test_no_script_has_a_fault_or_is_too_long() -> None:
    faults = lint(PACKAGE, ROOT / "book" / "_assets")
    assert not faults, [f"{fault['filename']}: {fault['message']}" for fault in faults]


def test_the_rule_sees_long_functions_and_files(tmp_path: Path) -> None:
    """The limits are those of Python, and a function in a function, an arrow or a method counts too."""
    lines = ["  x += 1;"] * MOST_LINES_OF_A_FUNCTION
    forms = {
        "plain": ("export function f(x) {", "  return x;", "}"),
        "arrow": ("export const f = x => {", "  return x;", "};"),
        "method": ("export class A { f(x) {", "  return x;", "} }"),
        "inner": ("export const g = [1].map(x => { let y = x;", "  return y;", "});"),
    }
    for name, (begin, *end) in forms.items():
        (tmp_path / f"{name}.js").write_text("\n".join([begin, *lines, *end]) + "\n")
    (tmp_path / "short.js").write_text("\n".join(["export function f(x) {", *lines[3:], "  return x;", "}"]) + "\n")
    (tmp_path / "file.js").write_text("export const a = 1;\n" + "a.b = 1;\n" * MOST_LINES_OF_A_FILE)
    (tmp_path / "unknown.js").write_text("export const a = nobody + 1;\n")
    found = {(Path(fault["filename"]).stem, fault["code"]) for fault in lint(tmp_path)}
    length = "eslint(max-lines-per-function)"
    assert {name for name, code in found if code == length} == set(forms)
    assert ("file", "eslint(max-lines)") in found and ("unknown", "eslint(no-undef)") in found


def test_each_widget_is_one_module_that_loads(tmp_path: Path) -> None:
    """Names of the joined files do not collide, and nothing asks for the page before it is drawn."""
    assert len(WIDGETS) >= 19
    for file in WIDGETS:
        (tmp_path / f"{file.parent.name}-{file.stem}.mjs").write_text(esm(file), encoding="utf-8")
    modules = {path.stem: path.as_uri() for path in tmp_path.iterdir()}
    load = """async (_, modules) => {
        const found = {};
        for (const [name, file] of Object.entries(modules)) {
          found[name] = await import(file).then(module => typeof module.default.render, error => String(error));
        }
        return found;
      }"""
    found = evaluate(PACKAGE / "viz" / "drawing.js", load, modules)
    assert found == dict.fromkeys(modules, "function")


@pytest.mark.parametrize("page", live_files())
def test_the_live_panels_of_a_page_are_one_classic_script(page: str) -> None:
    """Names of the joined files do not collide, and nothing but the panels that the page has is asked for."""
    code = classic_script(live_files()[page])
    assert evaluate(PACKAGE / "viz" / "drawing.js", "(_, code) => typeof new Function(code)", code) == "function"


def test_files_are_joined_after_those_that_they_need(tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "b.js").write_text("// b\nexport const b = 2; // stays\nexport function g() { return b; }\n")
    (tmp_path / "c.js").write_text('import {\n  b, g\n} from "./kit/b.js";\nexport const c = b + g();\n')
    (tmp_path / "a.js").write_text(
        'import { c } from "./c.js";\nimport { b } from "./kit/b.js";\n\n  // a\nexport default { sum: b + c };\n'
    )
    joined = esm(tmp_path / "a.js")
    assert joined == (
        "const b = 2; // stays\nfunction g() { return b; }\n\nconst c = b + g();\n\n\nexport default { sum: b + c };\n"
    )
    (tmp_path / "joined.mjs").write_text(joined)
    assert evaluate(tmp_path / "joined.mjs", "names => names.default.sum") == 6


def test_what_cannot_be_joined_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = b;\n')
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = a;\n')
    with pytest.raises(ValueError, match=r"circle of imports: a\.js -> b\.js -> a\.js"):
        esm(tmp_path / "a.js")
    for wrong in ('import d from "./d.js";', 'import { a as b } from "./a.js";', 'import { a } from "package";'):
        (tmp_path / "c.js").write_text(f"{wrong}\n")
        with pytest.raises(ValueError, match=r"c\.js: write imports as"):
            esm(tmp_path / "c.js")


def test_the_kit_cuts_and_clamps() -> None:
    drawing, controls = PACKAGE / "viz" / "drawing.js", PACKAGE / "viz" / "controls.js"
    cut = "({ shorten, unmarked, longest }, t) => [shorten(t, 4), shorten(t, 6), unmarked('▁a'), longest([t, 'a'])]"
    assert evaluate(drawing, cut, "abcdef") == ["abc…", "abcdef", "a", 6]
    keys = "({ clamp, arrowOf }) => [clamp(-1, 3), clamp(3, 3), ...['ArrowUp', 'a'].map(key => arrowOf({ key }) ?? 0)]"
    assert evaluate(controls, keys) == [0, 2, [-1, 0], 0]


def test_fields_tell_what_was_typed_and_menus_have_groups() -> None:
    code = """({ field, numberField, select }) => {
      globalThis.document = { createElement: tag => ({ tag, children: [], heard: {},
        append(...more) { this.children.push(...more); }, addEventListener(name, act) { this.heard[name] = act; } }) };
      const told = [], say = what => told.push(what), made = [field(say), field(say, { rows: 2 }), numberField(say)];
      for (const [i, value] of ["a", "b c", "2.5"].entries()) { made[i].value = value; made[i].heard.input(); }
      made[2].value = "none"; made[2].heard.input();
      const menu = select([["kind", [[0, "one"], [1, "two"]]], [2, "three"]], say);
      menu.value = "2"; menu.heard.change();
      const shape = ({ tag, label, textContent, children }) => [tag, label ?? textContent, ...children.map(shape)];
      return [made.map(input => [input.tag, input.type ?? "", input.spellcheck ?? ""]), told, menu.children.map(shape)];
    }"""
    made, told, options = evaluate(PACKAGE / "viz" / "controls.js", code)
    assert made == [["input", "", False], ["textarea", "", False], ["input", "number", ""]]
    assert told == ["a", "b c", 2.5, 0, "2"]
    assert options == [["optgroup", "kind", ["option", "one"], ["option", "two"]], ["option", "three"]]


def test_a_picture_grows_and_its_fitted_views_take_the_width() -> None:
    chart = {
        "width": "container",
        "height": 100,
        "hconcat": [{"width": 50, "height": {"step": 8}, "layer": [{"mark": "bar", "width": 10}]}],
        "layer": [{"mark": {"type": "square", "size": 9}}, {"mark": {"type": "circle", "size": 9}}],
    }
    grown = evaluate(PACKAGE / "viz" / "chart_drawing.js", "({ grow }, chart) => grow(chart, 2)", chart)
    view = {"width": 100, "height": {"step": 16}, "layer": [{"mark": "bar", "width": 20}]}
    assert grown["layer"] == [{"mark": {"type": "square", "size": 36}}, {"mark": {"type": "circle", "size": 9}}]
    assert (grown["width"], grown["height"], grown["hconcat"]) == ("container", 200, [view])
    code = (
        "({ fit }, width) => [fit({usermeta: {fit: true}, vconcat: [{}]}, width), fit({usermeta: {columns: 2}}, width)]"
    )
    fitted, columns = evaluate(PACKAGE / "viz" / "chart_drawing.js", code, 572)
    assert fitted["vconcat"] == [{"width": 500}] and columns["columns"] == 1


def test_a_picture_that_keeps_its_shape_grows_with_its_figure_up_to_its_widest() -> None:
    code = """({ fit }, widths) => widths.map(width =>
      fit({ usermeta: { aspect: 0.5, widest: 400, beside: 60 }, width: 100, height: 100 }, width))"""
    narrow, wide = evaluate(PACKAGE / "viz" / "chart_drawing.js", code, [260, 900])
    assert (narrow["width"], narrow["height"]) == (200, 100) and (wide["width"], wide["height"]) == (400, 200)
