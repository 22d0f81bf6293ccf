// Switches of the engine: the parts of the model that a reader may take out, and how the paper has them.
export const AS_PUBLISHED = {
  positions: true,   // add the sinusoids (3.5)
  embedScale: true,  // multiply embeddings by the root of d_model (3.4)
  divisor: "root",   // divide scores by "root" of d_k, by "d_k", or by "one" (3.2.1)
  causal: true,      // the decoder may not look ahead (3.2.3)
  residual: true,    // x + sublayer(x) (3.1)
  norm: true,        // layer normalisation (3.1)
  feedForward: true, // (3.3)
  off: new Set(),    // heads that return zeros: "cross.0.3" is the fourth of the first layer; also "encoder", "decoder"
                     // and networks: "decoder.layers.0.feed_forward"
};

// All switches, those that are not named as the paper has them.
export const complete = switches => ({ ...AS_PUBLISHED, ...switches, off: new Set(switches?.off) });

// A text that is the same for the same setting: by it results are remembered.
export function keyOf(switches) {
  const { off, ...others } = complete(switches);
  return JSON.stringify([Object.entries(others).sort(([a], [b]) => a < b ? -1 : 1), [...off].sort()]);
}

// The same of what changes the memory: without the causal mask, and without heads and networks of the decoder.
export function memoryKeyOf({ off, ...others }) {
  return keyOf({ ...others, causal: true, off: [...off].filter(place => place.startsWith("encoder")) });
}

export const isPlain = switches => keyOf(switches) === keyOf({});
