// How sharp attention is: the largest weight of a query, over all maps of a trace.
// The largest weight of a query, averaged over all queries of all heads; `maps` as in tracing.js.
export function sharpness(maps, columns) {
  let sum = 0, rows = 0;
  for (const [name, heads] of Object.entries(maps)) for (const weights of heads) {
    const width = columns(name);
    for (let start = 0; start < weights.length; start += width, rows++) sum += Math.max(...weights.subarray(start, start + width));
  }
  return sum / rows;
}

// The same, if every query gave all keys that it may attend to equal weights; a query of the decoder has those up to its own.
export function evenSharpness(maps, columns) {
  let sum = 0, rows = 0;
  for (const [name, heads] of Object.entries(maps)) for (const weights of heads) {
    const width = columns(name), isCausal = isTarget(name);
    for (let row = 0; row * width < weights.length; row++, rows++) sum += 1 / (isCausal ? row + 1 : width);
  }
  return sum / rows;
}

const isTarget = name => /^decoder.*self_attention$/.test(name);

// The keys of an attention are the target's in the decoder's self-attention, and the source's elsewhere.
export const columnsOf = (source, read) => name => isTarget(name) ? read : source;
