// Panel of chapter 5: the divisor of the scores in all 36 heads, and how sharp attention is under each.
import { html } from "../../viz/controls.js";
import { livePanels } from "../../viz/engine/panel.js";
import { withIndex } from "../../viz/engine/switchboard.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";
import { percent } from "../../viz/engine/views.js";
import { columnsOf, evenSharpness, sharpness } from "./sharpness.js";

const RULES = [["root", "√d_k ≈ 5.7"], ["d_k", "d_k = 32"], ["one", "1"], ["even", "equal weights"]];

function sharpnessView() {
  const rows = RULES.map(([value, label]) => {
    const bar = html("span", { className: "live-bar" }), number = html("span");
    if (value === "even") bar.style.filter = "grayscale(1)"; // no divisor, but what to compare the others with
    return { value, bar, number, element: html("li", {}, html("span", {}, ...withIndex(label)), bar, number) };
  });
  const element = html("div", {}, html("p", { className: "live-caption",
    textContent: "Largest weight of a query, mean over all queries of all 36 heads, when scores are divided by" }),
  html("ol", { className: "live-bars", "aria-label": "Sharpness of attention" }, ...rows.map(row => row.element)));
  const show = (chosen, measure) => {
    for (const { value, bar, number, element: row } of rows) {
      const mean = measure(value);
      bar.style.setProperty("--p", mean.toFixed(3));
      number.textContent = percent(mean);
      row.style.fontWeight = value === chosen ? "700" : "";
    }
  };
  return { element, show };
}

livePanels({
  divisor(box) {
    const view = sharpnessView();
    const made = switchPanel(box, {
      parts: ["divisor"], start: { divisor: "d_k" }, label: "With this divisor",
      examples: ["The grandmother opened the green school bag.", "The bags are newer than her grandmother's parcels.",
        "The baker has 21 brown goats.", "The small dog sees the cat."],
      extra({ engine, text, switches, whole }) {
        view.show(switches.divisor ?? "root", divisor => {
          const isEven = divisor === "even", { maps, source, read } = engine.trace(text, whole.tokens, isEven ? {} : { divisor });
          return (isEven ? evenSharpness : sharpness)(maps, columnsOf(source.length, read.length));
        });
      },
    });
    made.element.append(view.element);
  },
});
