// Live panel of the page: a softmax in the place of the ReLU in the top layer of the decoder.
import { group, html, radios, unique } from "../../viz/controls.js";
import { livePanels, panel, stream } from "../../viz/engine/panel.js";
import { nats, sentenceView, timesText, writtenView } from "../../viz/engine/views.js";
import { engineWith, RULES } from "./rules.js";

const EXAMPLES = ["The old baker has 21 brown goats.", "The grandmother opened the green school bag.", "The small dog sees the cat.",
  "The children do not eat the cold soup."];

// What came of a rule, in words.
export function ruleText(rule, same, before, after) {
  if (rule === "relu") return `The model as trained. Log-probability of its translation: ${nats(before)} nats.`;
  const summed = rule === "softmax" ? "Each token's weights sum to one." : "Each token's weights sum to what the ReLU's do.";
  return `${summed} The words ${same ? "stay the same" : "change"}. Log-probability of the model's translation: ` +
    `${nats(before)} nats with the ReLU, ${nats(after)} with the softmax: ${timesText(after - before)}.`;
}

function ruleOfWeights(box) {
  const whole = sentenceView("With the ReLU"), view = writtenView("German, token by token, each with its probability");
  const title = html("p", { className: "live-caption" });
  let rule = "softmax";
  const choice = radios(unique("rule"), RULES, value => { rule = value; made.rerun(); });
  const rules = group("Weights of the decoder's top layer", ...choice.labels);
  rules.classList.add("live-switches");
  choice.show(rule);
  const made = panel(box, {
    examples: EXAMPLES, controls: [rules], output: [whole.element, title, view.element],
    async run({ engine, text, isCurrent, say }) {
      const chosen = rule, changed = engineWith(engine, chosen), intact = engine.translation(text);
      title.textContent = `With the rule ${RULES.find(([name]) => name === chosen)[1]}, token by token`;
      whole.show(intact.text);
      view.start(engine);
      const found = await stream(changed.write(text), view.add, isCurrent);
      if (!found) return;
      view.compare(found.text, intact.text);
      const [before, after] = [engine, changed].map(one => one.score(text, intact.tokens).logProbability);
      say(ruleText(chosen, found.text === intact.text, before, after));
    },
  });
}

livePanels({ rule_of_weights: ruleOfWeights });
