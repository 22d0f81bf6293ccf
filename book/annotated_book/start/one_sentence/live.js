// Live panel of chapter 1: the reader's own sentence in the machine of figure 1.
import { html } from "../../viz/controls.js";
import { livePanels, panel } from "../../viz/engine/panel.js";
import { loadAbout } from "../../viz/figure_one/about.js";
import { machine } from "../../viz/figure_one/machine.js";
import { localState } from "../../viz/figure_one/reading.js";
import { tracedSentence } from "../../viz/figure_one/tensors.js";

const EXAMPLES = ["The grandmother opened the green school bag.", "The dog does not see the cat.", "She saw the bat and the ball.",
  "She saw the frog and a bat.", "The grandmother gets up."];

livePanels({
  machine(box) {
    box.classList.add("wide");
    const drawn = box.querySelector(".architecture-twin"), stage = html("div", { className: "machine-stage" }, drawn);
    let state;
    panel(box, {
      examples: EXAMPLES, output: [stage], wide: () => "",
      async run({ engine, text, isCurrent, say }) {
        const about = await loadAbout();
        if (!isCurrent()) return;
        const sentence = tracedSentence(engine, text);
        say("");
        if (state) { state.set({ sentence, step: 0 }); return; }
        state = localState({ sentence, box: "decoder.*.cross_attention", layer: 3, step: Math.min(4, sentence.next.length - 1) });
        const drawing = drawn.querySelector("svg").outerHTML;
        stage.replaceChildren(); // the panel needs its width before it draws
        stage.append(machine(about, drawing, state).element);
      },
    });
  },
});
