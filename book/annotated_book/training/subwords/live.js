// Live panel of the chapter on subwords: the reader's text cut in five ways, and what the model writes from each cut.
import { html } from "../../viz/controls.js";
import { livePanels, nextTask, panel } from "../../viz/engine/panel.js";
import { caption } from "../../viz/engine/views.js";
import { cutOf, writtenFrom } from "./cuts.js";

const MERGES = [0, 100, 500, 1000, Infinity];
const EXAMPLES = ["The grandmother sells apples.", "The small dog sees the cat.", "Grandmother buys a spellchecker 🍎.",
  "The teacher opened seven green school bags."];

const chip = token => html("span", { className: "cut-token", textContent: token });

function rowOf(label, cut) {
  const written = html("p", { className: "cut-written" });
  const element = html("div", { className: "cut" },
    html("p", { className: "cut-name" }, html("strong", { textContent: label }), ` ${cut.tokens.length} tokens`),
    html("div", { className: "cut-tokens", role: "group", "aria-label": label }, ...cut.tokens.map(chip)), written);
  return { element, written };
}

const sameTokens = (a, b) => a.tokens.length === b.tokens.length && a.tokens.every((token, i) => token === b.tokens[i]);
const nameOf = (merges, all) => merges === Infinity ? `all ${all} merges` : merges ? `${merges} merges` : "bytes, no merge";

livePanels({
  tokens(box) {
    const rows = html("div", { className: "cuts" });
    panel(box, {
      examples: EXAMPLES, output: [caption("Your text, cut by the first merges, and what the model writes from it"), rows],
      async run({ engine, text, isCurrent, say }) {
        const all = engine.tokenizer.rank.size, cuts = MERGES.map(merges => cutOf(engine.tokenizer, text, merges));
        const own = cuts.at(-1), names = MERGES.map(merges => nameOf(merges, all));
        const made = cuts.map((cut, i) => rowOf(cut !== own && sameTokens(cut, own) ? `${names[i]}, the same cut as by all` : names[i], cut));
        rows.replaceChildren(...made.map(row => row.element));
        for (const i of [...made.keys()].reverse()) { // the model's own cut first
          await nextTask();
          if (!isCurrent()) return;
          made[i].written.textContent = `→ ${writtenFrom(engine, cuts[i].ids)}`;
        }
        say(`${cuts[0].tokens.length} bytes become ${cuts.at(-1).tokens.length} tokens. The model was trained with the cut by all merges.`);
      },
    });
  },
});
