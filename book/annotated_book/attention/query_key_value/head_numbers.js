// What one head of the encoder computes for a sentence that the engine has traced, as head_numbers in projection.py.
import { multiply, softmax } from "../../viz/engine/arithmetic.js";

// A matrix of the picture from a list of rows: `rows`, `columns`, `at`, and `most`, the largest size of a number.
export const whole = table =>
  ({ rows: table.length, columns: table[0].length, most: Math.max(...table.flat().map(Math.abs)), at: (r, c) => table[r][c] });

const rowsOf = (data, columns) => Array.from({ length: data.length / columns }, (_, r) => [...data.subarray(r * columns, (r + 1) * columns)]);
const inner = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

// `sizes`: D, K, layer and head, both counted from 1. Returns the tokens, the numbers, and the matrices of the picture.
export function headNumbers({ sourceTokens, boxes, tensors }, { D, K, layer, head }) {
  const x = boxes[layer === 1 ? "source.sum" : `encoder.${layer - 1}.add_norm_2`], n = sourceTokens.length;
  const projection = tensors[`encoder.layers.${layer - 1}.self_attention.in_projection`];
  const [q, k, v] = [0, 1, 2].map(which => { // W_Q, W_K and W_V stand one above the other, K rows for each head
    const y = new Float32Array(n * K);
    multiply(x.data, n, projection, K, y, null, which * D + (head - 1) * K);
    return rowsOf(y, K);
  });
  const scores = q.map(query => k.map(key => inner(query, key) / Math.sqrt(K))), weights = scores.map(row => softmax([...row]));
  const output = weights.map(row => v[0].map((_, c) => row.reduce((sum, w, s) => sum + w * v[s][c], 0)));
  const input = rowsOf(x.data, D), numbers = { q, k, v, scores, weights, output, first: input.map(row => row.slice(0, 4)) };
  return { tokens: sourceTokens, numbers, found: { x: whole(input), q: whole(q), k: whole(k), v: whole(v), output: whole(output) } };
}
