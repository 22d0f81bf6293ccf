// The view of the front page: the source above, what is written below, and between them lines for the attention.
import { html } from "../controls.js";
import { attentionLines, farthest } from "./lines.js";
import { caption, sourceView, writtenView } from "./views.js";

const SAID = "Lines: where the last layer looks in the English sentence (cross-attention, averaged over its heads) before it writes each "
  + "token. Point at a German token to see its lines alone.";

// As writtenView, with `start(engine, ids)`, where `ids` are the tokens of the source.
export function framedView() {
  const read = sourceView("English, as the encoder reads it");
  const written = writtenView("German, token by token, each with its probability", { choose(step, i) { read.weigh(step.looks); lines.light(i); } });
  const element = html("div", { className: "live-frame" }, read.element, written.element, caption(SAID));
  const lines = attentionLines(element, read.tokens, written.tokens);
  let steps = [];
  return { ...written, element,
    start(engine, ids) {
      steps = [];
      read.show(engine, ids);
      written.start(engine);
      lines.clear();
    },
    add(step) {
      steps.push(step);
      written.add(step);
      lines.add(step.looks);
      read.weigh(step.looks);
    },
    compare(text, other) {
      written.compare(text, other);
      const at = farthest(steps.map(({ looks }) => looks));
      if (!steps.length) return;
      written.pick(at);
      read.weigh(steps[at].looks);
      lines.light(at);
    } };
}
