// Masked attention computed in the page: which cells are open, the fill, the softmax, and the weight that leaks.
export const PAD = "<pad>";
export const FILLS = [["−∞ (library)", -Infinity], ["−∞ alone", -Infinity], ["−1e9", -1e9], ["−1e-12", -1e-12]];
const SLIP = 3, DECODER = 1;

// For each sentence its three maps (encoder, decoder, cross): queries, keys, scores row by row.
export function mapsOf(sentences, view) {
  const numbers = new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  let start = 0;
  return sentences.map(({ source, target }) => [[source, source], [target, target], [target, source]].map(([queries, keys]) => {
    const map = { queries, keys, scores: numbers.subarray(start, start + queries.length * keys.length) };
    start += queries.length * keys.length;
    return map;
  }));
}

export const isSquare = state => state.use < 2;

// Whether the ingredients (padding, the future) leave a cell open; the reader's painting flips some of them.
export const ingredients = (map, state, i, j) =>
  !(state.padding && map.keys[j] === PAD) && !(isSquare(state) && state.causal && j > i);
export const isOpen = (map, state, i, j) =>
  ingredients(map, state, i, j) !== state.flipped.some(([q, k]) => q === i && k === j);

// The reader's painting after one cell became `wanted`, and after a whole row was closed.
export function paintCell(map, state, i, j, wanted) {
  const rest = state.flipped.filter(([q, k]) => q !== i || k !== j);
  return wanted === ingredients(map, state, i, j) ? rest : [...rest, [i, j]];
}
export const closeRow = (map, state, i) => [...state.flipped.filter(([q]) => q !== i),
  ...map.keys.map((_, j) => [i, j]).filter(([, j]) => ingredients(map, state, i, j))];

// Masked softmax, one row: what the chosen fill makes of it.
export function weigh(map, state, i) {
  const n = map.keys.length, opened = map.keys.map((_, j) => isOpen(map, state, i, j));
  if (state.fill === 0 && !opened.includes(true)) return { opened, weights: Array(n).fill(0) };
  const scores = opened.map((yes, j) => yes ? map.scores[i * n + j] : FILLS[state.fill][1]);
  const top = Math.max(...scores), powers = scores.map(s => Math.exp(s - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return { opened, weights: powers.map(p => p / total) };
}

// All rows, and over the rows of real tokens: the weight in all, on the future, on padding; empty and broken rows.
export function reach(map, state) {
  const found = { rows: [], total: 0, future: 0, padding: 0, empty: 0, broken: 0 };
  map.queries.forEach((token, i) => {
    const { opened, weights } = weigh(map, state, i), real = token !== PAD, bad = weights.some(Number.isNaN);
    found.rows.push({ opened, weights, real, bad });
    if (!opened.includes(true)) found.empty++;
    if (bad && real) found.broken++;
    if (!real || bad) return;
    weights.forEach((w, j) => {
      const isPad = map.keys[j] === PAD;
      found.total += w;
      if (isSquare(state) && j > i && !isPad) found.future += w;
      if (isPad) found.padding += w;
    });
  });
  return found;
}

export function verdictOn({ broken, empty, future, padding }, { fill, use }) {
  if (broken) return `${broken} row${broken > 1 ? "s are" : " is"} NaN: the loss would be NaN too.`;
  if (fill === SLIP && future + padding > 1e-9) return "The mask hides nothing: −1e-12 is a score like any other.";
  if (empty && fill > 1) return "An empty row still sums to one: it attends evenly to hidden keys.";
  if (use === DECODER && future > 1e-9) return "The answers leak: the decoder sees words that it is about to predict.";
  if (padding > 1e-9) return "Padding is attended to: the result depends on how far the batch was padded.";
  if (empty) return "Nothing leaks, and the output of the empty row is zero.";
  if (use === DECODER) return "Nothing leaks.";
  return use === 0 ? "No leak: an encoder may look ahead, because the source is known." : "Nothing leaks: the source is known.";
}
