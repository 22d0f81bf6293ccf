"""What the laboratory's page says of its examples, in the engine of the page."""

from __future__ import annotations

from annotated_book.viz.engine.script import model_data
from book.tests.javascript import PACKAGE, evaluate

ENGINE = PACKAGE / "viz" / "engine" / "engine.js"
SWITCHES = PACKAGE / "viz" / "engine" / "switch_panel.js"
CODE = """async ({ Engine }, { data, panel }) => {
  const { EXAMPLES } = await import(panel), bytes = Uint8Array.from(atob(data.bytes), c => c.charCodeAt(0)).buffer;
  const engine = new Engine({ ...data, bytes });
  const write = switches => EXAMPLES.map(text => engine.translation(text, switches).text);
  return { whole: write({}), causal: write({ causal: false }), bound: engine.bound(EXAMPLES[0]) };
}"""


def test_without_the_causal_mask_the_first_three_examples_change() -> None:
    found = evaluate(ENGINE, CODE, {"data": model_data(), "panel": SWITCHES.resolve().as_uri()})
    changed = [a != b for a, b in zip(found["whole"], found["causal"], strict=True)]
    assert changed == [True, True, True, False]
    assert found["bound"] == 30  # after which the panel cuts off
