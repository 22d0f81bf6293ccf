// Two recurrent encoder-decoders, step by step: what is computed lights up, what waits stays faint.
import { html, onTraits, readout } from "../../viz/controls.js";
import { player } from "../../viz/player.js";

// How a part looks at a step: "now", "later", "gone" or "". Parts of one step alone give way to those of the next; before
// the first of them, at `first`, that one is there, faint.
export function lookOf({ step, only }, now, first) {
  if (only && step !== Math.max(now, first)) return "gone";
  return step === now ? "now" : step > now ? "later" : "";
}

const KINDS = ["plain", "attention"]; // the older network, with the problem, comes first

function figureOf(kind, title, picture) {
  const said = readout("p", { className: "said" }), drawn = html("div", { innerHTML: picture });
  const parts = [...drawn.querySelectorAll("[data-step]")].map(element => ({ element, step: +element.dataset.step, only: "only" in element.dataset }));
  const first = Math.min(...parts.filter(part => part.only).map(part => part.step));
  return { element: html("div", { className: kind }, html("p", { className: "title", textContent: title }), drawn, said),
    show(now, sentence) {
      for (const { element, ...part } of parts) element.setAttribute("class", lookOf(part, now, first));
      said.replaceChildren(html("b", { textContent: `Step ${now}. ` }), sentence);
    } };
}

function render({ model, el }) {
  const [pictures, titles, said, last] = ["pictures", "titles", "said", "last"].map(name => model.get(name));
  const figures = KINDS.map(kind => ({ kind, ...figureOf(kind, titles[kind], pictures[kind]) }));
  // The player counts moments from 0, the picture steps from 1.
  const counted = { get: () => model.get("step") - 1, set: (_, n) => model.set("step", n + 1), save_changes: () => model.save_changes() };
  const steps = player({ model: counted, el, trait: "step", last: () => last - 1, every: 1600, one: "step", what: "step of the two networks" });
  const number = html("output");
  el.append(html("div", { className: "encoder-decoder" }, html("div", { className: "controls" }, ...steps.controls, number),
    html("div", { className: "both" }, ...figures.map(figure => figure.element))));
  function draw() {
    const now = model.get("step");
    number.textContent = `step ${now} of ${last}`;
    steps.show(now - 1, number.textContent);
    for (const figure of figures) figure.show(now, said[figure.kind][now - 1]);
  }
  onTraits(model, ["step"], draw);
  draw();
  return steps.stop;
}

export default { render };
