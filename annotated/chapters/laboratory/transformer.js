// The paper's model (section 3) without a library: an encoder-decoder Transformer in plain JavaScript, with switches.
// The readable form: everything is computed anew for each piece that is written. A test holds it to annotated.Transformer.
export const AS_PUBLISHED = {
  positions: true,   // add the sinusoids (3.5)
  embedScale: true,  // multiply embeddings by the root of d_model (3.4)
  divisor: "root",   // divide scores by "root" of d_k, by "d_k", or by "one" (3.2.1)
  causal: true,      // the decoder may not look ahead (3.2.3)
  residual: true,    // x + sublayer(x) (3.1)
  norm: true,        // layer normalisation (3.1)
  feedForward: true, // (3.3)
  off: new Set(),    // heads that return zeros: "cross.0.3"
};

// y = x Wᵀ + b for n rows; `from` chooses rows of W, which holds W_Q, W_K and W_V one above the other
function linear(x, n, { data, columns }, rows, bias, from = 0) {
  const y = new Float32Array(n * rows);
  for (let r = 0; r < rows; r++) {
    const w = (from + r) * columns;
    for (let i = 0; i < n; i++) {
      let a = 0, b = 0, c = 0, d = 0;
      for (let j = i * columns, k = w, end = j + columns; j < end; j += 4, k += 4) {
        a += x[j] * data[k]; b += x[j + 1] * data[k + 1]; c += x[j + 2] * data[k + 2]; d += x[j + 3] * data[k + 3];
      }
      y[i * rows + r] = a + b + c + d + (bias ? bias[r] : 0);
    }
  }
  return y;
}

export function softmax(row) {
  const top = Math.max(...row);
  let sum = 0;
  for (let i = 0; i < row.length; i++) sum += row[i] = Math.exp(row[i] - top);
  for (let i = 0; i < row.length; i++) row[i] /= sum;
  return row;
}

export class Transformer {
  constructor({ config, tensors, bytes }) {
    this.config = config;
    this.tensors = {};
    for (const [name, [kind, offset, rows, columns]] of Object.entries(tensors)) {
      const scales = new Float32Array(bytes, offset, rows); // one for each row, or the vector itself
      const data = kind === "vector" ? scales : new Float32Array(rows * columns);
      if (kind === "matrix") {
        const whole = new Int8Array(bytes, offset + 4 * rows, rows * columns);
        for (let i = 0; i < data.length; i++) data[i] = whole[i] * scales[Math.floor(i / columns)];
      }
      this.tensors[name] = kind === "vector" ? data : { data, rows, columns };
    }
  }

  embed(ids, set) {
    const d = this.config.d_model, table = this.tensors["embedding.weight"].data, x = new Float32Array(ids.length * d);
    const scale = set.embedScale ? Math.sqrt(d) : 1;
    ids.forEach((id, position) => {
      for (let j = 0; j < d; j++) {
        const angle = position / 10000 ** ((j - j % 2) / d);
        x[position * d + j] = table[id * d + j] * scale
          + (set.positions ? (j % 2 ? Math.cos(angle) : Math.sin(angle)) : 0);
      }
    });
    return x;
  }

  // Multi-head attention of n queries over m keys. `weights[h]` is [n, m].
  attend(name, place, x, n, memory, m, causal, set) {
    const { d_model: d, num_heads: heads, d_k: width } = this.config, projection = this.tensors[`${name}.in_projection`];
    const q = linear(x, n, projection, d), k = linear(memory, m, projection, d, null, d);
    const v = linear(memory, m, projection, d, null, 2 * d);
    const by = { root: Math.sqrt(width), d_k: width, one: 1 }[set.divisor];
    const mixed = new Float32Array(n * d), weights = [];
    for (let h = 0; h < heads; h++) {
      const all = new Float32Array(n * m), off = set.off.has(`${place}.${h}`);
      for (let i = 0; i < n; i++) {
        const seen = causal ? i + 1 : m, row = all.subarray(i * m, i * m + seen);
        for (let j = 0; j < seen; j++) {
          let score = 0;
          for (let c = h * width; c < (h + 1) * width; c++) score += q[i * d + c] * k[j * d + c];
          row[j] = score / by;
        }
        softmax(row);
        if (off) continue;
        for (let j = 0; j < seen; j++) {
          for (let c = h * width; c < (h + 1) * width; c++) mixed[i * d + c] += row[j] * v[j * d + c];
        }
      }
      weights.push(all);
    }
    return [linear(mixed, n, this.tensors[`${name}.out_projection.weight`], d), weights];
  }

  feedForward(name, x, n, set) {
    const { d_model: d, d_ff: inner } = this.config, t = this.tensors;
    if (!set.feedForward) return new Float32Array(n * d);
    const hidden = linear(x, n, t[`${name}.inner.weight`], inner, t[`${name}.inner.bias`]);
    for (let i = 0; i < hidden.length; i++) if (hidden[i] < 0) hidden[i] = 0;
    return linear(hidden, n, t[`${name}.outer.weight`], d, t[`${name}.outer.bias`]);
  }

  // LayerNorm(x + sublayer(x)): post-norm, as written
  after(name, x, y, n, set) {
    const d = this.config.d_model, gain = this.tensors[`${name}.norm.weight`], shift = this.tensors[`${name}.norm.bias`];
    const out = new Float32Array(n * d);
    for (let i = 0; i < n; i++) {
      const row = out.subarray(i * d, (i + 1) * d);
      let mean = 0, variance = 0;
      for (let j = 0; j < d; j++) mean += (row[j] = y[i * d + j] + (set.residual ? x[i * d + j] : 0)) / d;
      if (!set.norm) continue;
      for (let j = 0; j < d; j++) variance += (row[j] - mean) ** 2 / d;
      const root = Math.sqrt(variance + this.config.norm_epsilon);
      for (let j = 0; j < d; j++) row[j] = (row[j] - mean) / root * gain[j] + shift[j];
    }
    return out;
  }

  encode(ids, switches) {
    const set = { ...AS_PUBLISHED, ...switches }, n = ids.length, maps = [];
    let x = this.embed(ids, set);
    for (let l = 0; l < this.config.num_encoder_layers; l++) {
      const name = `encoder.layers.${l}`;
      const [y, weights] = this.attend(`${name}.self_attention`, `encoder.${l}`, x, n, x, n, false, set);
      maps.push(weights);
      x = this.after(`${name}.self_attention_residual`, x, y, n, set);
      x = this.after(`${name}.feed_forward_residual`, x, this.feedForward(`${name}.feed_forward`, x, n, set), n, set);
    }
    return { memory: x, length: n, maps };
  }

  // Log-probabilities of the piece after the last of `ids`, and every attention map of the decoder.
  decode(ids, { memory, length }, switches) {
    const set = { ...AS_PUBLISHED, ...switches }, n = ids.length, own = [], cross = [];
    let x = this.embed(ids, set);
    for (let l = 0; l < this.config.num_decoder_layers; l++) {
      const name = `decoder.layers.${l}`;
      let [y, weights] = this.attend(`${name}.self_attention`, `decoder.${l}`, x, n, x, n, set.causal, set);
      own.push(weights);
      x = this.after(`${name}.self_attention_residual`, x, y, n, set);
      [y, weights] = this.attend(`${name}.cross_attention`, `cross.${l}`, x, n, memory, length, false, set);
      cross.push(weights);
      x = this.after(`${name}.cross_attention_residual`, x, y, n, set);
      x = this.after(`${name}.feed_forward_residual`, x, this.feedForward(`${name}.feed_forward`, x, n, set), n, set);
    }
    const d = this.config.d_model, table = this.tensors["embedding.weight"];
    const p = softmax(linear(x.subarray((n - 1) * d), 1, table, table.rows));
    return { logProbabilities: p.map(Math.log), own, cross };
  }
}
