// BLEU from the counts of sentences, and its interval from test sets that are drawn from this one (section 6.1).
const NUMBERS = 10, ORDER = 4; // of a sentence: its length, the reference's, shared n-grams and all n-grams for n = 1..4

// The counts of each system's sentences, from a byte each.
export function unpack(text, systems) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0)), size = bytes.length / systems;
  return [...Array(systems).keys()].map(i => bytes.subarray(i * size, (i + 1) * size));
}

// Of the sums over a corpus, with sacreBLEU's smoothing "exp".
export function bleuOf(sums) {
  let halving = 1, logs = 0;
  if (!sums[2] || !sums[NUMBERS - 1]) return 0;
  for (let n = 0; n < ORDER; n++) logs += Math.log((sums[2 + n] || (halving /= 2)) / sums[2 + ORDER + n]);
  return 100 * Math.exp(logs / ORDER + Math.min(0, 1 - sums[1] / sums[0]));
}

// BLEU of each system when sentence i counts `times[i]` times.
export function scores(systems, times) {
  return systems.map(counts => {
    const sums = new Float64Array(NUMBERS);
    for (let i = 0, at = 0; i < times.length; i++, at += NUMBERS)
      if (times[i]) for (let k = 0; k < NUMBERS; k++) sums[k] += times[i] * counts[at + k];
    return bleuOf(sums);
  });
}

// One test set of `size` sentences, drawn with replacement: how often each sentence is in it.
export function draw(sentences, random, size = sentences) {
  const times = new Uint16Array(sentences);
  for (let i = 0; i < size; i++) times[Math.floor(random() * sentences)]++;
  return times;
}

// The middle 95 % of some values, ends interpolated as by NumPy.
export function interval(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.025, 0.975].map(share => {
    const place = share * (sorted.length - 1), low = Math.floor(place), high = Math.ceil(place);
    return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
  });
}

// How many values are in each bin of a width, from bin `first` on; every bin starts at a multiple of the width, so none holds both
// signs. All series have the same bins.
export function binned(series, width) {
  const all = series.flat(), bin = v => Math.floor(v / width), end = pick => bin(all.reduce((a, b) => pick(a, b)));
  const first = end(Math.min), count = end(Math.max) - first + 1;
  return { first, counts: series.map(values => values.reduce((found, v) => { found[bin(v) - first]++; return found; }, Array(count).fill(0))) };
}
