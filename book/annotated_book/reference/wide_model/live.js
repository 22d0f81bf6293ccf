// Live panel of the page: the wide model on a sentence with a word that has two senses, and where it looks before each token.
import { framedView } from "../../viz/engine/framed.js";
import { WIDE_SIZE, loadWide } from "../../viz/engine/loader.js";
import { livePanels, panel, stream } from "../../viz/engine/panel.js";
import { percent } from "../../viz/engine/views.js";

const EXAMPLES = [
  "I need two glasses of water.", "He wears glasses.", "She knows the answer.", "She knows your parents.", "We missed the bus.", "I miss you.",
  "She put the book on the table.", "She put the bottle on the shelf.", "i dont know were my keys are", "Piotr and Jean-Luc live in Rio de Janeiro.",
];

function everyday(box) {
  const view = framedView();
  const made = panel(box, {
    examples: EXAMPLES, load: "asked", about: false, output: [view.element],
    loader: () => { if (!globalThis.annotatedWideEngine) made.say(`The wide model is being fetched (${WIDE_SIZE}) …`); return loadWide(); },
    async run({ engine, text, isCurrent, say }) {
      view.start(engine, engine.read(text));
      const found = await stream(engine.write(text), view.add, isCurrent);
      if (!found) return;
      view.compare(found.text, found.text);
      say(`“${found.text}” has a probability of ${percent(Math.exp(found.logProbability))}.`);
    },
  });
  made.say(`Choose a sentence or type one: the wide model (${WIDE_SIZE}) is fetched then.`);
  return made;
}

livePanels({ everyday });
