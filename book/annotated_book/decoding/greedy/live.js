// Live panel of the chapter on greedy search: the reader's sentence, the five best tokens of each step, and any of them forced.
import { button, html } from "../../viz/controls.js";
import { livePanels, panel, stream } from "../../viz/engine/panel.js";
import { caption, nats, percent, timesText, writtenView } from "../../viz/engine/views.js";

const EXAMPLES = ["The bats were old.", "The grandmother opened the green school bag.", "The small dog sees the cat."];

export const DOUBT = -0.4; // nats a token: every sentence of the classroom has more, one with strange words less

// The tokens that must be written so that `id` stands at place `at` of a translation.
export const forcedPrefix = (steps, at, id) => [...steps.slice(0, at).map(step => step.id), id];

// What the reader's choice costs or gains, and how many decoder positions n steps compute.
export function verdict(own, found) {
  const n = found.steps.length, positions = `${n} steps: ${n} decoder positions with a cache, ${n * (n + 1) / 2} without.`;
  const sum = `Log-probability ${nats(found.logProbability)} nats${found.ended ? "" : ", without an end token"}. `;
  const known = own.logProbability / own.steps.length < DOUBT ? "The model knows only the words of the classroom; some of yours seem not to be among them. " : "";
  if (found.text === own.text || !found.ended || !own.ended) return sum + known + positions;
  return `${sum}This is ${timesText(found.logProbability - own.logProbability)} than “${own.text}”. ${positions}`;
}

const choice = (name, p, isTaken, choose) => html("li", {}, button(name, choose, { "aria-pressed": String(isTaken), "aria-label": `write ${name}` }),
  html("span", { className: "live-bar", style: `--p:${p.toFixed(3)}` }), html("span", { textContent: percent(p) }));

livePanels({
  greedy(box) {
    const heading = caption(""), choices = html("ol", { className: "live-bars", "aria-label": "Most probable tokens of the step" });
    let steps = [], prefix = [], at = 0, before = "", engineOf;
    const view = writtenView("The translation, each token with its probability", { choose(_, place) {
      if (!steps[place]) return; // still being written
      at = place;
      drawChoices();
    } });
    function drawChoices() {
      heading.textContent = `Step ${at + 1}: the five most probable tokens. Choose another one to force it.`;
      choices.replaceChildren(...steps[at].best.map(([id, p]) => choice(engineOf.tokenizer.readable(id).replace("▁", "") || "␣", p, id === steps[at].id, () => {
        prefix = forcedPrefix(steps, at, id);
        made.rerun().then(() => choices.querySelector("[aria-pressed=true]")?.focus());
      })));
    }
    const made = panel(box, {
      examples: EXAMPLES,
      controls: [html("div", { className: "live-switches" }, button("greedy again", () => { prefix = []; made.rerun(); }))],
      output: [caption("The translation; point at a token to see its step"), view.element], below: [heading, choices],
      async run({ engine, text, isCurrent, say }) {
        if (text !== before) { prefix = []; at = 1; }
        [before, steps] = [text, []];
        const own = engine.translation(text), places = [];
        view.start(engine);
        const found = await stream(engine.write(text, { prefix }), step => { places.push(step); view.add(step); }, isCurrent);
        if (!found) return;
        [steps, engineOf] = [places, engine];
        at = Math.min(at, steps.length - 1);
        view.pick(at);
        drawChoices();
        say(verdict(own, found));
      },
    });
  },
});
