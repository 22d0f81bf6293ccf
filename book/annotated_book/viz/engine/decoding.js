// Decoding in the page, token by token: greedy search and the score of a given text. Beam search is in beam.js.
import { BOS, EOS, PAD } from "./tokenizer.js";
import { largest, logSoftmax } from "./arithmetic.js";

export const NEVER = [PAD, BOS]; // tokens that no search writes; they keep their share of the probability
const SHOWN = 5; // rivals that a step tells of

// Most tokens that are written unless the caller says otherwise, the end token included.
export const bound = source => 2 * source.length + 10;

// What a step tells: its token and the most probable ones, and where each head of each layer looked.
// `cross[l][h]` holds a weight for each source token, `own[l][h]` one for each token so far, the start token first.
function stepOf(id, logProbabilities, maps, layers, sources) {
  const lastRow = (kind, l) => maps[`decoder.${l + 1}.${kind}_attention`].map(all => {
    const width = kind === "cross" ? sources : maps.width;
    return all.subarray(all.length - width);
  });
  const rows = kind => Array.from({ length: layers }, (_, l) => lastRow(kind, l)), cross = rows("cross"), last = cross.at(-1);
  return {
    id, logProbability: logProbabilities[id], probability: Math.exp(logProbabilities[id]),
    best: largest(logProbabilities, SHOWN, NEVER).map(other => [other, Math.exp(logProbabilities[other])]),
    looks: Float32Array.from({ length: sources }, (_, s) => last.reduce((sum, head) => sum + head[s], 0) / last.length),
    cross, own: rows("self"),
  };
}

// Writes the most probable token again and again, until the end token or `most` tokens; yields each step as it is made.
// `prefix` holds tokens that the translation must begin with; `encoded` is what `encode` made of the source. Returns { steps, ended, logProbability }.
export function* greedy(transformer, source, set, { most = bound(source), prefix = [], encoded = transformer.encode(source, set) } = {}) {
  const state = transformer.start(encoded, most), written = [BOS], steps = [];
  while (steps.length < most && written.at(-1) !== EOS) {
    const maps = { width: written.length }, row = transformer.next(written, state, set, { maps });
    const id = prefix[steps.length] ?? largest(row, 1, NEVER)[0];
    const step = stepOf(id, row, maps, transformer.config.num_decoder_layers, source.length);
    steps.push(step);
    written.push(id);
    yield step;
  }
  return { steps, ended: written.at(-1) === EOS, logProbability: total(steps) };
}

const total = steps => steps.reduce((sum, step) => sum + step.logProbability, 0);

// The steps in which the model would write a given target and then the end token. As in writing, no token sees a later one:
// with the causal mask off each prefix is read by itself. `read` is what the decoder reads in each step, if not the target.
export function score(transformer, encoded, target, set, read = [BOS, ...target]) {
  const wanted = [...target, EOS];
  const layers = transformer.config.num_decoder_layers, state = transformer.start(encoded, read.length);
  const steps = wanted.map((id, t) => {
    const maps = { width: t + 1 };
    return stepOf(id, transformer.next(read.slice(0, t + 1), state, set, { maps }), maps, layers, encoded.length);
  });
  return { steps, logProbability: total(steps) };
}

// The same sum without the steps: all tokens in one pass where the causal mask allows it.
export function logProbability(transformer, encoded, target, set) {
  if (!set.causal) return score(transformer, encoded, target, set).logProbability;
  const read = [BOS, ...target], state = transformer.start(encoded, read.length);
  const x = transformer.decode(read, state, set);
  return [...target, EOS].reduce((sum, id, t) => sum + logSoftmax(transformer.logits(x, t))[id], 0);
}
