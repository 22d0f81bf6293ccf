// Live panel of the chapter on dropout: one sentence, translated five times by a model that is still in training mode.
import { html, knob } from "../../viz/controls.js";
import { EXAMPLES } from "../../viz/engine/switch_panel.js";
import { livePanels, nextTask, panel } from "../../viz/engine/panel.js";
import { sentenceView } from "../../viz/engine/views.js";
import { writtenInTraining } from "./dropped.js";

const CALLS = [1, 2, 3, 4, 5];

livePanels({
  training(box) {
    const whole = sentenceView("evaluation"), calls = CALLS.map(call => sentenceView(`training, call ${call}`));
    let p = 0.3;
    const rate = knob("rate p", { min: 0, max: 0.5, step: 0.05, value: p, digits: 2 }, x => { p = x; made.rerun(); });
    const made = panel(box, {
      examples: EXAMPLES,
      controls: [html("div", { className: "live-switches" }, rate.label)],
      output: [whole.element, ...calls.map(call => call.element)],
      async run({ engine, text, isCurrent, say }) {
        const intact = engine.translation(text).text;
        let changed = 0;
        whole.show(intact);
        for (const [i, call] of CALLS.entries()) {
          await nextTask();
          if (!isCurrent()) return;
          const written = writtenInTraining(engine, text, p, call);
          calls[i].show(written, intact);
          changed += written !== intact;
        }
        say(`${changed} of ${CALLS.length} calls differed from evaluation mode.`);
      },
    });
  },
});
