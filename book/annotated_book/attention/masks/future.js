// How much of a decoder's attention goes to the future, over all maps of a trace.
// The share of the decoder's self-attention on keys later than the query, over all its heads; `maps` as in tracing.js.
export function futureShare(maps, length) {
  let later = 0, all = 0;
  for (const [name, heads] of Object.entries(maps)) {
    if (!/^decoder.*self_attention$/.test(name)) continue;
    for (const weights of heads) weights.forEach((weight, cell) => {
      all += weight;
      if (cell % length > Math.floor(cell / length)) later += weight;
    });
  }
  return later / all;
}
