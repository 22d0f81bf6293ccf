// The shared matrix in use: a token's row on its way in, and a decoder output against all rows on its way out.
const LISTED = 8; // rows that a picture shows

const rowOf = ({ data, columns }, id) => data.subarray(id * columns, (id + 1) * columns);
export const lengthOf = vector => Math.hypot(...vector);
export const cosine = (a, b) => a.reduce((sum, x, j) => sum + x * b[j], 0) / (lengthOf(a) * lengthOf(b));

// The way in, at a position: the row, the row times the root of d_model, the position's encoding, and their sum. `share` is
// the word's part of the sum, by squared length.
export function wayIn(transformer, id, position) {
  const table = transformer.tensors["embedding.weight"], d = table.columns, row = rowOf(table, id);
  const scaled = row.map(x => x * Math.sqrt(d)), place = transformer.places(position + 1).slice(position * d, (position + 1) * d);
  const [word, other] = [scaled, place].map(lengthOf);
  return { row, scaled, place, sum: scaled.map((x, j) => x + place[j]), share: word ** 2 / (word ** 2 + other ** 2) };
}

// The way out: the rows whose dot product with z is largest, [id, logit, probability], and what is left for all others.
export function wayOut(transformer, z) {
  const table = transformer.tensors["embedding.weight"];
  const logits = Array.from({ length: table.rows }, (_, id) => rowOf(table, id).reduce((sum, x, j) => sum + x * z[j], 0));
  const most = Math.max(...logits), total = logits.reduce((sum, x) => sum + Math.exp(x - most), 0);
  const order = logits.map((_, id) => id).sort((a, b) => logits[b] - logits[a]);
  const probability = id => Math.exp(logits[id] - most) / total, others = order.slice(LISTED);
  return {
    top: order.slice(0, LISTED).map(id => [id, logits[id], probability(id)]),
    rest: { count: others.length, high: logits[others[0]], low: logits[others.at(-1)], share: others.reduce((sum, id) => sum + probability(id), 0) },
  };
}

// The tokens whose rows stand in the picture of the way in: those of the sentence, the chosen one among them.
export function listed(ids, chosen) {
  const different = [...new Set(ids)], at = different.indexOf(chosen), from = Math.max(0, Math.min(at - LISTED / 2, different.length - LISTED));
  return different.slice(from, from + LISTED);
}

// What the decoder's stack returned, a row for each token that it read.
export function outputs({ boxes }, layers) {
  const { data, columns } = boxes[`decoder.${layers}.add_norm_3`];
  return t => data.subarray(t * columns, (t + 1) * columns);
}
