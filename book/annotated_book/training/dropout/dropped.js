// The model in training mode: dropout on sums and on outputs of sub-layers, as section 5.4 prints it.
import { EOS } from "../../viz/engine/tokenizer.js";
import { Transformer } from "../../viz/engine/transformer.js";
import { greedy } from "../../viz/engine/decoding.js";
import { complete } from "../../viz/engine/switches.js";
import { finish } from "../../viz/engine/engine.js";
import { randomFrom } from "../../viz/random_numbers.js";

// Inverted dropout of the first `count` entries, in place.
export function drop(x, count, p, random) {
  for (let k = 0; k < count; k++) x[k] = random() < p ? 0 : x[k] / (1 - p);
}

// The same weights, in training mode.
export function inTraining(transformer, p, random) {
  const made = Object.create(transformer), d = transformer.config.d_model, plain = Transformer.prototype;
  made.embed = (ids, first, x, ...rest) => { plain.embed.call(made, ids, first, x, ...rest); drop(x, ids.length * d, p, random); };
  made.after = (name, x, y, n, set) => { drop(y, n * d, p, random); plain.after.call(made, name, x, y, n, set); };
  return made;
}

// What the model writes if `eval()` was forgotten; another seed is another call.
export function writtenInTraining(engine, text, p, seed) {
  const model = p ? inTraining(engine.transformer, p, randomFrom(seed)) : engine.transformer;
  const { steps } = finish(greedy(model, engine.read(text), complete({})));
  return engine.tokenizer.decode(steps.map(step => step.id).filter(id => id !== EOS));
}
