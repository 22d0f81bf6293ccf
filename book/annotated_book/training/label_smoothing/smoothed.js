// Smoothed loss of the model's own translation, token by token, as annotated.training.loss has it (section 5.4).
import { BOS } from "../../viz/engine/tokenizer.js";
import { complete } from "../../viz/engine/switches.js";
import { logSoftmax } from "../../viz/engine/arithmetic.js";

// The lowest loss that any prediction can have: the target's own entropy, in nats.
export function floorOf(epsilon, V) {
  return epsilon ? -(1 - epsilon) * Math.log(1 - epsilon) - epsilon * Math.log(epsilon / (V - 1)) : 0;
}

// For each token of the translation its loss without smoothing, and the mean loss of its V - 1 rivals, in nats. A smoothed
// loss is a weighted mean of the two, whatever epsilon is. All logits are divided by `temperature`.
export function lossesOf(engine, text, temperature = 1) {
  const { steps } = engine.translation(text), ids = steps.map(step => step.id), { transformer } = engine;
  return engine.remembered(`smoothed|${temperature}|${text.trim()}`, () => {
    const set = complete({}), read = [BOS, ...ids.slice(0, -1)];
    const state = transformer.start(transformer.encode(engine.read(text), set), read.length), x = transformer.decode(read, state, set);
    return ids.map((id, t) => {
      const row = logSoftmax(transformer.logits(x, t).map(logit => logit / temperature)), sum = row.reduce((a, b) => a + b, 0);
      return { id, right: -row[id], others: (row[id] - sum) / (row.length - 1), V: row.length };
    });
  });
}

// Means over the tokens: the plain loss, the smoothed one, and its floor.
export function meanLoss(losses, epsilon) {
  const mean = of => losses.reduce((sum, loss) => sum + of(loss), 0) / losses.length;
  return { plain: mean(loss => loss.right), floor: floorOf(epsilon, losses[0].V),
    smoothed: mean(loss => (1 - epsilon) * loss.right + epsilon * loss.others) };
}
