// The rule that makes weights of scores in the decoder's top feed-forward network: the ReLU, or a softmax over the same scores.
import { multiply, softmax } from "../../viz/engine/arithmetic.js";
import { Transformer } from "../../viz/engine/transformer.js";

export const RULES = [
  ["relu", "ReLU (the paper)"],
  ["softmax", "softmax: weights that sum to one"],
  ["scaled", "softmax, times the sum of the ReLU's weights"],
];

// Turns the scores of one token into weights, in place.
export function weigh(scores, rule) {
  const sum = scores.reduce((total, score) => total + Math.max(0, score), 0);
  if (rule === "relu") return scores.forEach((score, i) => { scores[i] = Math.max(0, score); });
  softmax(scores);
  if (rule === "scaled") scores.forEach((weight, i) => { scores[i] = weight * sum; });
}

// The model with another rule in the top layer of its decoder.
const ruled = rule => class extends Transformer {
  feedForward(name, x, n, set) {
    const { d_model: d, d_ff: inner, num_decoder_layers: layers } = this.config, t = this.tensors;
    if (name !== `decoder.layers.${layers - 1}.feed_forward`) return super.feedForward(name, x, n, set);
    const hidden = this.buffer("hidden", n * inner), y = this.buffer("y", n * d);
    multiply(x, n, t[`${name}.inner.weight`], inner, hidden, t[`${name}.inner.bias`]);
    for (let i = 0; i < n; i++) weigh(hidden.subarray(i * inner, (i + 1) * inner), rule);
    multiply(hidden, n, t[`${name}.outer.weight`], d, y, t[`${name}.outer.bias`]);
    return y;
  }
};

// The engine with a rule; the engine itself with the paper's.
export const engineWith = (engine, rule) => rule === "relu" ? engine : engine.derived(ruled(rule));
