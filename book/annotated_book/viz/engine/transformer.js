// The paper's model (section 3) without a library: an encoder-decoder Transformer in plain JavaScript, with switches, and
// with the keys and values of what was read and written kept (`state`). A test holds it to annotated.Transformer.
import { layerNorm, logSoftmax, multiply, sinusoids, softmax } from "./arithmetic.js";
import { PAD } from "./tokenizer.js";
import { unpacked } from "./weights.js";

const LONGEST = 512; // positions that are worked out at once

export class Transformer {
  constructor({ config, tensors, bytes }) {
    this.config = config;
    this.buffers = {}; // scratch, by name: a step allocates nothing but what it hands out
    this.tensors = Object.fromEntries(Object.entries(tensors).map(([name, place]) => [name, unpacked(bytes, ...place)]));
    this.sinusoids = sinusoids(LONGEST, config.d_model);
  }

  buffer(name, size) {
    const found = this.buffers[name];
    return found?.length >= size ? found : this.buffers[name] = new Float32Array(Math.max(size, 2 * (found?.length ?? 0)));
  }

  // x becomes embeddings plus sinusoids of tokens at positions `first`, `first` + 1, ...
  embed(ids, first, x, set, keep, side) {
    const d = this.config.d_model, table = this.tensors["embedding.weight"].data, scale = set.embedScale ? Math.sqrt(d) : 1;
    ids.forEach((id, i) => { for (let j = 0; j < d; j++) x[i * d + j] = table[id * d + j] * scale; });
    keep?.(`${side}.embedding`, x, ids.length, d);
    const shift = set.positions ? this.places(first + ids.length).subarray(first * d, (first + ids.length) * d) : null;
    keep?.(`${side}.positions`, shift ?? new Float32Array(ids.length * d), ids.length, d);
    if (shift) for (let k = 0; k < shift.length; k++) x[k] += shift[k];
    keep?.(`${side}.sum`, x, ids.length, d);
  }

  places(count) {
    const d = this.config.d_model;
    if (count * d > this.sinusoids.length) this.sinusoids = sinusoids(2 * count, d);
    return this.sinusoids;
  }

  // Keys and values of n rows, written from row `first` of a cache on.
  remember(name, x, n, cache, first) {
    const d = this.config.d_model, projection = this.tensors[`${name}.in_projection`];
    multiply(x, n, projection, d, cache.keys.subarray(first * d), null, d);
    multiply(x, n, projection, d, cache.values.subarray(first * d), null, 2 * d);
  }

  // Multi-head attention of n queries over m keys, of which the first `real` are no padding; query i sees `causal ? first + i + 1
  // : real` of them. `maps` gets each head's weights [n, m]; what is returned is scratch.
  attend(name, place, x, n, cache, m, { first = -1, real = m, set, maps }) {
    const { d_model: d, num_heads: heads, d_k: width } = this.config;
    const q = this.buffer("queries", n * d), mixed = this.buffer("mixed", n * d).fill(0, 0, n * d), y = this.buffer("y", n * d);
    multiply(x, n, this.tensors[`${name}.in_projection`], d, q);
    const by = { root: Math.sqrt(width), d_k: width, one: 1 }[set.divisor], scratch = this.buffer("scores", n * m).subarray(0, n * m);
    const seen = i => first < 0 ? real : Math.min(real, first + i + 1);
    for (let h = 0; h < heads; h++) {
      const all = maps ? new Float32Array(n * m) : scratch.fill(0), off = set.off.has(`${place}.${h}`), from = h * width, to = from + width;
      maps?.push(all);
      if (off && !maps) continue;
      for (let i = 0; i < n; i++) scoresOf(q, i * d, cache.keys, d, from, to, seen(i), by, all, i * m);
      this.weigh(all, n, m, seen);
      if (!off) for (let i = 0; i < n; i++) mix(all, i * m, m, cache.values, d, from, to, mixed, i * d);
    }
    multiply(mixed, n, this.tensors[`${name}.out_projection.weight`], d, y);
    return y;
  }

  // Scores [n, m] become weights: a softmax over the keys that each query sees, zeros for the others.
  weigh(all, n, m, seen) {
    for (let i = 0; i < n; i++) softmax(all.subarray(i * m, i * m + seen(i)));
  }

  feedForward(name, x, n, set) {
    const { d_model: d, d_ff: inner } = this.config, t = this.tensors, y = this.buffer("y", n * d);
    if (!set.feedForward || set.off.has(name)) return y.fill(0, 0, n * d);
    const hidden = this.buffer("hidden", n * inner);
    multiply(x, n, t[`${name}.inner.weight`], inner, hidden, t[`${name}.inner.bias`]);
    for (let i = 0; i < n * inner; i++) if (hidden[i] < 0) hidden[i] = 0;
    multiply(hidden, n, t[`${name}.outer.weight`], d, y, t[`${name}.outer.bias`]);
    return y;
  }

  // x becomes LayerNorm(x + y): post-norm, as written.
  after(name, x, y, n, set) {
    const d = this.config.d_model, gain = this.tensors[`${name}.norm.weight`], shift = this.tensors[`${name}.norm.bias`];
    for (let k = 0; k < n * d; k++) x[k] = y[k] + (set.residual ? x[k] : 0);
    if (!set.norm) return;
    for (let i = 0; i < n; i++) layerNorm(x.subarray(i * d, (i + 1) * d), gain, shift, this.config.norm_epsilon);
  }

  // Reads a source. What comes back is kept for the whole sentence: the memory, and the cross-attention's keys and values.
  encode(ids, set, { maps, keep } = {}) {
    const n = ids.length, d = this.config.d_model, x = this.buffer("source", n * d), cache = emptyCache(n, d);
    const real = ids.includes(PAD) ? ids.indexOf(PAD) : n; // padding stands at the end
    this.embed(ids, 0, x, set, keep, "source");
    for (let l = 0; l < this.config.num_encoder_layers; l++) {
      const name = `encoder.layers.${l}`, box = `encoder.${l + 1}`, heads = maps && (maps[`${box}.self_attention`] = []);
      const done = (part, data) => keep?.(`${box}.${part}`, data, n, d);
      this.remember(`${name}.self_attention`, x, n, cache, 0);
      const y = this.attend(`${name}.self_attention`, `encoder.${l}`, x, n, cache, n, { real, set, maps: heads });
      done("self_attention", y);
      this.after(`${name}.self_attention_residual`, x, y, n, set);
      done("add_norm_1", x);
      const z = this.feedForward(`${name}.feed_forward`, x, n, set);
      done("feed_forward", z);
      this.after(`${name}.feed_forward_residual`, x, z, n, set);
      done("add_norm_2", x);
    }
    keep?.("memory", x, n, d);
    const cross = Array.from({ length: this.config.num_decoder_layers }, (_, l) => {
      const kept = emptyCache(n, d);
      this.remember(`decoder.layers.${l}.cross_attention`, x, n, kept, 0);
      return kept;
    });
    return { length: n, real, cross };
  }

  // What the decoder keeps of one translation: room for the keys and values of `most` tokens.
  start(encoded, most) {
    const own = Array.from({ length: this.config.num_decoder_layers }, () => emptyCache(most, this.config.d_model));
    return { encoded, own, length: 0 };
  }

  // The decoder over more tokens, after those that `state` holds. Returns scratch: n rows, one for each of `ids`; of the last
  // alone if it is the `lastOnly` that is asked for, whose last layer the others enter as keys and values only.
  decode(ids, state, set, { maps, keep, lastOnly = false } = {}) {
    let n = ids.length, x = this.buffer("target", n * this.config.d_model);
    const first = state.length, d = this.config.d_model, { length: m, real, cross } = state.encoded;
    this.embed(ids, first, x, set, keep, "target");
    state.length += n;
    for (let l = 0; l < this.config.num_decoder_layers; l++) {
      const name = `decoder.layers.${l}`, box = `decoder.${l + 1}`, done = (part, data) => keep?.(`${box}.${part}`, data, n, d);
      const heads = kind => maps && (maps[`${box}.${kind}_attention`] = []);
      this.remember(`${name}.self_attention`, x, n, state.own[l], first);
      if (lastOnly && l === cross.length - 1) [x, n] = [x.subarray((n - 1) * d), 1];
      let y = this.attend(`${name}.self_attention`, `decoder.${l}`, x, n, state.own[l], state.length,
        { first: set.causal ? state.length - n : -1, set, maps: heads("self") });
      done("self_attention", y);
      this.after(`${name}.self_attention_residual`, x, y, n, set);
      done("add_norm_1", x);
      y = this.attend(`${name}.cross_attention`, `cross.${l}`, x, n, cross[l], m, { real, set, maps: heads("cross") });
      done("cross_attention", y);
      this.after(`${name}.cross_attention_residual`, x, y, n, set);
      done("add_norm_2", x);
      y = this.feedForward(`${name}.feed_forward`, x, n, set);
      done("feed_forward", y);
      this.after(`${name}.feed_forward_residual`, x, y, n, set);
      done("add_norm_3", x);
    }
    return x;
  }

  // Scores of all tokens after one row of what `decode` returned; scratch.
  logits(x, row) {
    const d = this.config.d_model, table = this.tensors["embedding.weight"], y = this.buffer("logits", table.rows);
    multiply(x.subarray(row * d, (row + 1) * d), 1, table, table.rows, y);
    return y.subarray(0, table.rows);
  }

  // Log-probabilities of the token after `written`, scratch. With the causal mask off every earlier token is computed anew,
  // for it now sees what came after it: what was kept of it would be wrong.
  next(written, state, set, options) {
    if (!set.causal) state.length = 0;
    const x = this.decode(written.slice(state.length), state, set, { ...options, lastOnly: true });
    return logSoftmax(this.logits(x, 0));
  }
}

const emptyCache = (rows, d) => ({ keys: new Float32Array(rows * d), values: new Float32Array(rows * d) });

// Scores of one head's query at q[at...] with the first `seen` keys, written from all[place] on.
function scoresOf(q, at, keys, d, from, to, seen, by, all, place) {
  for (let j = 0; j < seen; j++) {
    let score = 0;
    for (let c = from; c < to; c++) score += q[at + c] * keys[j * d + c];
    all[place + j] = score / by;
  }
}

// Adds one head's average of m values, with the weights from all[place] on.
function mix(all, place, m, values, d, from, to, mixed, at) {
  for (let j = 0; j < m; j++) {
    const weight = all[place + j];
    if (weight) for (let c = from; c < to; c++) mixed[at + c] += weight * values[j * d + c];
  }
}

// A second translation that goes on from the same prefix.
export const fork = state => ({ ...state, own: state.own.map(({ keys, values }) => ({ keys: keys.slice(), values: values.slice() })) });
