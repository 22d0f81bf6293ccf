// The recurrent encoder-decoders of chapter 3 at work in the page; a test holds them to the library's.
import { softmax } from "../../viz/engine/arithmetic.js";
import { unpacked } from "../../viz/engine/weights.js";

const BOS = 1, EOS = 2;
export const FIRST = 4; // the token of the letter A

const sigmoid = x => 1 / (1 + Math.exp(-x));

// W x, with a bias where there is one.
function product({ data, rows, columns }, x, bias) {
  const y = new Float32Array(rows);
  for (let r = 0, k = 0; r < rows; r++) {
    let sum = bias ? bias[r] : 0;
    for (let c = 0; c < columns; c++, k++) sum += data[k] * x[c];
    y[r] = sum;
  }
  return y;
}

const joined = (a, b) => Float32Array.of(...a, ...b);

export class Recurrent {
  constructor(manifest, bytes) {
    this.weights = Object.fromEntries(Object.entries(manifest).map(([name, where]) => [name, unpacked(bytes, ...where)]));
  }

  linear(name, x) {
    return product(this.weights[`${name}.weight`], x, this.weights[`${name}.bias`]);
  }

  embedding(token) {
    const { data, columns } = this.weights["embedding.weight"];
    return data.subarray(token * columns, (token + 1) * columns);
  }

  // One step of a gated unit, as GRULayer.step.
  step(layer, x, h) {
    const input = this.linear(`${layer}.from_input`, x), state = this.linear(`${layer}.from_state`, h), n = h.length;
    return h.map((old, i) => {
      const reset = sigmoid(input[i] + state[i]), update = sigmoid(input[n + i] + state[n + i]);
      const candidate = Math.tanh(input[2 * n + i] + reset * state[2 * n + i]);
      return candidate + update * (old - candidate);
    });
  }

  // The states of one reader, in the order in which it reads.
  read(layer, tokens) {
    let h = new Float32Array(this.weights[`${layer}.from_state.weight`].columns);
    return tokens.map(token => h = this.step(layer, this.embedding(token), h));
  }

  // The weighted mean of the states for a query, and the weights.
  attend(query, memory, prepared) {
    const asked = product(this.weights["score.w.weight"], query), v = this.weights["score.v"];
    const weights = softmax(prepared.map(key => v.reduce((sum, x, i) => sum + x * Math.tanh(asked[i] + key[i]), 0)));
    return { weights, context: query.map((_, i) => memory.reduce((sum, state, j) => sum + weights[j] * state[i], 0)) };
  }

  // Writes as many tokens as the source has, each step reading its own last one: [{ token, probability, weights }].
  write(letters) {
    const source = [...letters, EOS], there = this.read("forward_reader", source);
    const back = this.read("backward_reader", source.toReversed()).reverse(), memory = there.map((state, j) => joined(state, back[j]));
    const summary = joined(there.at(-1), back[0]), prepared = this.weights["score.v"]
      ? memory.map(state => product(this.weights["score.u.weight"], state)) : null;
    let h = this.linear("start", summary).map(Math.tanh), token = BOS;
    return letters.map(() => {
      const { context, weights } = prepared ? this.attend(h, memory, prepared) : { context: summary, weights: null };
      h = this.step("writer", joined(this.embedding(token), context), h);
      const p = softmax(this.linear("output", joined(h, context)));
      token = p.indexOf(Math.max(...p));
      return { token, probability: p[token], weights };
    });
  }
}
