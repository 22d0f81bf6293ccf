// Live panels of the chapter on greedy search: the reader's sentence, the five best tokens of each step, and any of them
// forced; and translations that are drawn.
import { button, html, knob, labelled, select } from "../../viz/controls.js";
import { NEVER } from "../../viz/engine/decoding.js";
import { livePanels, nextTask, panel, stream } from "../../viz/engine/panel.js";
import { choicesOf, drawn } from "../../viz/engine/sampling.js";
import { complete } from "../../viz/engine/switches.js";
import { BOS, EOS } from "../../viz/engine/tokenizer.js";
import { caption, nats, percent, timesText, writtenView } from "../../viz/engine/views.js";

const EXAMPLES = ["The bats were old.", "The grandmother opened the green school bag.", "The small dog sees the cat."];

// The tokens that must be written so that `id` stands at place `at` of a translation.
export const forcedPrefix = (steps, at, id) => [...steps.slice(0, at).map(step => step.id), id];

// What the reader's choice costs or gains, and how many decoder positions n steps compute.
export function verdict(own, found) {
  const n = found.steps.length, positions = `${n} steps: ${n} decoder positions with a cache, ${n * (n + 1) / 2} without.`;
  const sum = `Log-probability ${nats(found.logProbability)} nats${found.ended ? "" : ", without an end token"}. `;
  if (found.text === own.text || !found.ended || !own.ended) return sum + positions;
  return `${sum}This is ${timesText(found.logProbability - own.logProbability)} than “${own.text}”. ${positions}`;
}

const choice = (name, p, isTaken, choose) => html("li", {}, button(name, choose, { "aria-pressed": String(isTaken), "aria-label": `write ${name}` }),
  html("span", { className: "live-bar", style: `--p:${p.toFixed(3)}` }), html("span", { textContent: percent(p) }));

const DRAWS = 20;

// One translation, each token drawn from what `how` leaves of the model's probabilities.
function sampled(engine, text, how) {
  const set = complete({}), source = engine.read(text), most = engine.bound(text), written = [BOS];
  const state = engine.transformer.start(engine.encoded(source, set), most);
  while (written.length <= most && written.at(-1) !== EOS) {
    const row = engine.transformer.next(written, state, set, {});
    written.push(drawn(choicesOf(row, { ...how, never: NEVER }), Math.random()));
  }
  return engine.tokenizer.decode(written.slice(1).filter(id => id !== EOS));
}

// Different texts with how often each was drawn, the most frequent first.
export function tallied(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a);
}

function sampling(box) {
  const how = { temperature: 1, topK: 0, topP: 1 }, list = html("ol", { className: "draws", "aria-label": "Translations that were drawn" });
  const set = name => value => { how[name] = +value; made.rerun(); };
  const temperature = knob("temperature", { min: 0.1, max: 2, step: 0.1, value: 1, digits: 1 }, set("temperature"));
  const topP = knob("top-p", { min: 0.1, max: 1, step: 0.05, value: 1, digits: 2 }, set("topP"));
  const topK = select([["0", "all tokens"], ...["1", "2", "5", "20", "100"].map(k => [k, k])], set("topK"));
  const made = panel(box, {
    examples: ["The grandmother opened the green school bag.", "The small dog sees the cat.", "The bats were old."], wide: () => "",
    controls: [html("div", { className: "live-switches draw-knobs" }, temperature.label, topP.label, labelled("top-k", topK), button("draw", () => made.rerun()))],
    output: [list],
    async run({ engine, text, isCurrent, say }) {
      const greedy = engine.translation(text).text, texts = [];
      say(`Drawing ${DRAWS} translations.`);
      for (let n = 0; n < DRAWS; n++) {
        texts.push(sampled(engine, text, how));
        list.replaceChildren(...tallied(texts).map(([one, count]) =>
          html("li", {}, html("b", { textContent: `${count} ×` }), one === greedy ? html("strong", { textContent: one }) : one || "(nothing)")));
        await nextTask();
        if (!isCurrent()) return;
      }
      const same = texts.filter(one => one === greedy).length;
      const different = tallied(texts).length;
      say(`${different} different ${different === 1 ? "translation" : "translations"} in ${DRAWS} draws. That of greedy search, in bold where it is drawn, came ${same} times: “${greedy}”`);
    },
  });
}

livePanels({
  sampling,
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
      examples: EXAMPLES, wide: () => "",
      controls: [html("div", { className: "live-switches" }, button("greedy again", () => { prefix = []; made.rerun(); }))],
      output: [caption("The translation; point at a token to see its step"), view.element], below: [heading, choices],
      async run({ engine, text, isCurrent, say }) {
        if (text !== before || engine !== engineOf) { prefix = []; at = 1; }
        [before, engineOf, steps] = [text, engine, []];
        const own = engine.translation(text), places = [];
        view.start(engine);
        const found = await stream(engine.write(text, { prefix }), step => { places.push(step); view.add(step); }, isCurrent);
        if (!found) return;
        steps = places;
        at = Math.min(at, steps.length - 1);
        view.pick(at);
        drawChoices();
        say(verdict(own, found));
      },
    });
  },
});
