// Panel that takes parts out of the model: what the whole model writes, what the changed one writes, and what the loss costs.
//
//   livePanels({ positions: box => switchPanel(box, { parts: ["positions"], examples: ["The small dog sees the cat."] }) });
//
// `parts`: names in switchboard.js ("positions", "embedScale", "causal", "residual", "norm", "feedForward"), "divisor",
// "heads" (all 36) or "heads:encoder", "heads:decoder", "heads:cross". `start` holds the switches when the panel opens, such
// as { positions: false }. `extra(found)`, if given, hears of every result: { engine, text, switches, whole, found, loss }.
// Other controls than those of switchboard.js come as `board`: a function of what must run after each change, which returns
// { switches, elements, set }. `tell` says in words what came of the switches. `framed` draws the source and the lines of
// attention, and shows the sentence of the whole model only beside that of a changed one.
import { button, html } from "../controls.js";
import { framedView } from "./framed.js";
import { nextTask, panel, stream } from "./panel.js";
import { nats, sentenceView, timesText, writtenView } from "./views.js";
import { isPlain } from "./switches.js";
import { switchboard } from "./switchboard.js";

export const EXAMPLES = [
  "The grandmother opened the green school bag.", "The children do not eat the cold soup.",
  "Yesterday the old teacher bought a red car.", "The small dog sees the cat.",
];

// Below each head, what the whole model's translation loses without it; one head after another, so that the page stays quick.
async function measureHeads(grid, { engine, text, isCurrent }) {
  if (grid.measured === text && grid.engine === engine) return;
  for (const place of grid.places) grid.cost(place, null);
  for (const place of grid.places) {
    await nextTask();
    if (!isCurrent()) return;
    grid.cost(place, engine.loss(text, { off: new Set([place]) }).change);
  }
  Object.assign(grid, { measured: text, engine });
}

// What came of a change, in words.
export function verdict(whole, found, loss) {
  const words = found.text === whole.text ? "The words stay the same." : "The words change.";
  const cut = found.ended ? "" : ` The changed model did not stop by itself: cut off after ${found.steps.length} tokens.`;
  return `${words}${cut} Log-probability of the whole model's translation: ${nats(loss.before)} nats with every part, ` +
    `${nats(loss.after)} with the change: ${timesText(loss.change)}.`;
}

const told = (whole, found, loss, switches) => isPlain(switches)
  ? `Every part is on. Log-probability of the translation: ${nats(loss.before)} nats.` : verdict(whole, found, loss);

export function switchPanel(box, { parts, start = {}, board: boardFor = run => switchboard(parts, start, run), examples = EXAMPLES,
  label = "Changed model", tell = told, framed = false, extra, ...options }) {
  const whole = sentenceView("Whole model"), view = framed ? framedView() : writtenView("German, token by token, each with its probability");
  const title = html("p", { className: "live-caption" });
  const board = boardFor(() => made.rerun());
  const reset = button("Put everything back", () => board.set({}), { className: "live-reset" });
  const made = panel(box, {
    examples, restore: () => board.set(start), ...options, controls: board.elements, output: [whole.element, title, view.element], below: [...(board.grid ? [board.grid.element] : []), reset],
    async run({ engine, text, isCurrent, say }) {
      const switches = { ...board.switches, off: new Set(board.switches.off) }, plain = isPlain(switches), intact = engine.translation(text);
      title.textContent = plain ? "Whole model, token by token" : `${label}, token by token`;
      reset.disabled = plain;
      whole.show(intact.text);
      if (framed) whole.element.hidden = plain;
      view.start(engine, engine.read(text));
      const found = await stream(engine.write(text, { switches }), view.add, isCurrent);
      if (!found) return;
      const loss = engine.loss(text, switches);
      whole.show(intact.text, found.text);
      view.compare(found.text, intact.text);
      say(tell(intact, found, loss, switches));
      extra?.({ engine, text, switches, whole: intact, found, loss });
      if (board.grid) measureHeads(board.grid, { engine, text, isCurrent });
    },
  });
  return { ...made, board, view };
}
