// Live panel of the chapter on label smoothing: two losses of one translation, and a number that is no perplexity.
import { html, knob } from "../../viz/controls.js";
import { livePanels, panel } from "../../viz/engine/panel.js";
import { caption, writtenView } from "../../viz/engine/views.js";
import { lossesOf, meanLoss } from "./smoothed.js";

const EXAMPLES = ["The small dog sees the cat.", "The grandmother opened the green school bag.", "The cat reads a wooden cloud.",
  "Because the teacher sleeps, the children sing."];

const bar = (name, nats, most, { floor = 0, faint = false } = {}) => html("li", {},
  html("span", { textContent: name }),
  html("div", { className: "live-bar", title: floor ? `floor ${floor.toFixed(3)}` : "", style: `--p: ${Math.min(1, nats / most)}${faint ? "; opacity: 0.4" : ""}` }),
  html("span", { textContent: nats.toFixed(3) }));

livePanels({
  smoothing(box) {
    const view = writtenView("The translation, each token with its probability"), bars = html("ul", { className: "live-bars" });
    let epsilon = 0.1, temperature = 1;
    const strength = knob("epsilon", { min: 0, max: 0.4, step: 0.05, value: epsilon, digits: 2 }, x => { epsilon = x; made.rerun(); });
    const divisor = knob("divide all logits by", { min: 1, max: 2, step: 0.1, value: temperature, digits: 1 }, x => { temperature = x; made.rerun(); });
    const made = panel(box, {
      examples: EXAMPLES,
      controls: [html("div", { className: "live-switches" }, strength.label, divisor.label)],
      output: [view.element, caption("Loss in nats per token"), bars],
      async run({ engine, text, say }) {
        const losses = lossesOf(engine, text, temperature), { plain, smoothed, floor } = meanLoss(losses, epsilon);
        view.show(engine, engine.translation(text).steps.map((step, i) =>
          ({ ...step, probability: Math.exp(-losses[i].right), logProbability: -losses[i].right })));
        const most = Math.max(4, smoothed);
        bars.replaceChildren(bar("plain", plain, most), bar("smoothed", smoothed, most, { floor }), bar("its floor", floor, most, { faint: true }));
        say(`Perplexity ${Math.exp(plain).toFixed(2)}. The smoothed loss would give ${Math.exp(smoothed).toFixed(2)}, `
          + `and cannot give less than ${Math.exp(floor).toFixed(2)}.`);
      },
    });
  },
});
