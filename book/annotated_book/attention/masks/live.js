// Panel of chapter 7: the causal mask on or off, and the share of the decoder's attention that goes to later words.
import { html } from "../../viz/controls.js";
import { livePanels } from "../../viz/engine/panel.js";
import { switchPanel } from "../../viz/engine/switch_panel.js";
import { futureShare } from "./future.js";

livePanels({
  mask(box) {
    const share = html("p", { className: "live-caption" });
    const made = switchPanel(box, {
      parts: ["causal"], wide: () => "", start: { causal: false }, label: "Without the causal mask",
      examples: ["The grandmother opened the green school bag.", "Did their father call his uncle?",
        "The princess will come out of the church.", "The small dog sees the cat."],
      extra({ engine, text, switches, whole }) {
        const { maps, read } = engine.trace(text, whole.tokens, switches);
        share.textContent = `When it reads the whole translation at once, as in training, ${Math.round(100 * futureShare(maps, read.length))} % `
          + "of the decoder's self-attention goes to later words.";
      },
    });
    made.element.append(share);
  },
});
