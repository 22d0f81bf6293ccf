// The front page's panel: the classroom model translates as you watch. Its first picture is already in the page (frame.py).
import { html } from "../viz/controls.js";
import { livePanels, panel, stream } from "../viz/engine/panel.js";
import { attentionLines, farthest } from "../viz/engine/lines.js";
import { isPlain } from "../viz/engine/switches.js";
import { switchboard } from "../viz/engine/switchboard.js";
import { EXAMPLES } from "../viz/engine/switch_panel.js";
import { percent, sourceView, timesText, writtenView } from "../viz/engine/views.js";

const PARTS = ["positions", "embedScale", "causal", "residual", "norm", "feedForward"];
const FIRST = 110, LATER = 30; // milliseconds from token to token, the first time and after a change

// What came of a change, for readers who have not met logarithms yet.
export function outcome(whole, found, change) {
  const words = found.text === whole.text ? "The words stay the same." : "The words change.";
  const cut = found.ended ? "" : ` The changed model did not stop by itself: cut off after ${found.steps.length} tokens.`;
  return `${words}${cut} The whole model's translation is now ${timesText(change)}.`;
}

function front(box) {
  const first = JSON.parse(box.querySelector(".live-frame").dataset.looks), fixed = [".live-source", ".live-written"]
    .map(place => box.querySelector(place));
  const read = sourceView("English, as the encoder reads it"), written = writtenView("German, as the decoder writes it", { choose: look });
  const note = box.querySelector(".live-caption"); // as it stands
  const frame = html("div", { className: "live-frame" }, read.element, written.element, note), board = switchboard(PARTS, {}, () => made.rerun());
  const lines = attentionLines(frame, read.tokens, written.tokens);
  let steps = [], pace = FIRST;

  function look(step, i) {
    read.weigh(step.looks);
    lines.light(i);
  }
  read.element.replaceChildren(...fixed[0].childNodes);
  written.element.replaceChildren(...fixed[1].childNodes);
  const made = panel(box, {
    examples: EXAMPLES, load: "now", wide: () => "", restore: () => board.set({}), output: [frame], below: board.elements,
    async run({ engine, text, isCurrent, say }) {
      const switches = { ...board.switches };
      read.show(engine, engine.read(text));
      written.start(engine);
      lines.clear();
      steps = [];
      const found = await stream(engine.write(text, { switches }), step => {
        steps.push(step);
        written.add(step);
        lines.add(step.looks);
        read.weigh(step.looks);
      }, isCurrent, pace);
      if (!found) return;
      pace = LATER;
      const whole = engine.translation(text), loss = engine.loss(text, switches);
      written.compare(found.text, whole.text);
      const at = farthest(steps.map(step => step.looks));
      written.pick(at);
      look(steps[at], at);
      say(isPlain(switches) ? `Every part is on. Probability of the whole translation: ${percent(Math.exp(loss.before))}.`
        : outcome(whole, found, loss.change));
    },
  });
  lines.show(first);
  lines.light(farthest(first));
}

livePanels({ front });
